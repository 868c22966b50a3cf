//! What the rows of time buckets hold in which nothing was measured.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What a bucket without a point has for figures. Before the first bucket of a device that holds a point they are nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Nothing.
    Null,
    /// Those of the bucket before.
    Previous,
    /// What lies on the line between those of the buckets before and after that hold a point, by the number of the bucket; after the last
    /// one nothing.
    Linear,
}

impl Fill {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Null, Self::Previous, Self::Linear];

    /// What a bucket holds between one with a figure and the next one with another, which begin `from` and `to`; `at` is its own
    /// beginning.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a part of a stretch of time")]
    pub fn between(self, (from, before): (i64, Option<f64>), next: Option<(i64, Option<f64>)>, at: i64) -> Option<f64> {
        match self {
            Self::Null => None,
            Self::Previous => before,
            Self::Linear => {
                let (to, after) = next?;
                let part = (at - from) as f64 / (to - from) as f64;
                let (before, after) = (before?, after?);
                Some(before + (after - before) * part)
            }
        }
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Previous => "previous",
            Self::Linear => "linear",
        })
    }
}

impl FromStr for Fill {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|fill| fill.to_string() == text);
        known.ok_or_else(|| "write \"null\", \"previous\" or \"linear\"".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_between_two_others_is_filled_as_it_is_said() {
        let (before, next) = ((10, Some(4.0)), Some((50, Some(8.0))));
        assert_eq!(Fill::ALL.map(|fill| fill.between(before, next, 20)), [None, Some(4.0), Some(5.0)]);
        assert_eq!(Fill::ALL.map(|fill| fill.between(before, None, 20)), [None, Some(4.0), None]);
        assert_eq!(Fill::Linear.between((10, None), next, 20), None);
        assert_eq!(Fill::Linear.between(before, Some((50, None)), 20), None);
        assert!(Fill::ALL.iter().all(|fill| fill.to_string().parse() == Ok(*fill)) && "none".parse::<Fill>().is_err());
    }
}
