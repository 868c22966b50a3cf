//! A figure as the word by which it is written, and read again.

use crate::{Aggregate, Percentile};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::str::FromStr;

impl FromStr for Aggregate {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Some(known) = Self::ALL.into_iter().find(|known| known.to_string() == word) {
            return Ok(known);
        }
        if let Some(percentile) = Percentile::parse(word) {
            return Ok(Self::Percentile(percentile));
        }
        if word.strip_prefix('p').is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit())) {
            return Err(format!(
                "{word} is no percentile: write a number above 0 and below 100 with at most three digits after the point, as in \
                 p50, p99 or p99.9"
            ));
        }
        let known = Self::ALL.map(|known| format!("`{known}`")).join(", ");
        Err(format!("unknown figure `{word}`, expected {known} or a percentile, as in `p99` or `p99.9`"))
    }
}

impl Serialize for Aggregate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Aggregate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_read_as_it_is_written() {
        let p99 = Aggregate::Percentile(Percentile::parse("p99").unwrap());
        for figure in Aggregate::ALL.into_iter().chain([p99]) {
            let written = serde_json::to_string(&figure).unwrap();
            assert_eq!(written, format!("\"{figure}\""));
            assert_eq!(serde_json::from_str::<Aggregate>(&written).unwrap(), figure);
            assert_eq!(figure.is_percentile(), figure == p99);
        }
        let refused = |word: &str| word.parse::<Aggregate>().unwrap_err();
        for word in ["p0", "p100", "p99.9999", "p99x"] {
            assert!(refused(word).starts_with(&format!("{word} is no percentile: write a number above 0")));
        }
        for word in ["pp", "p", "maen", ""] {
            assert!(refused(word).starts_with(&format!("unknown figure `{word}`, expected `first`, ")));
        }
    }
}
