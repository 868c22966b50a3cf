//! How a cycle is read.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How a cycle is read from a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Six queries: each mark is asked for, then the cycle's datapoints.
    Individual,
    /// One query for all channels of two whole seconds; the search is in memory.
    Bulk,
    /// One query for the abscissa of two whole seconds, one for the other channels of the cycle.
    Bulk1,
}

impl Strategy {
    /// Every strategy, in the study's order.
    pub const ALL: [Self; 3] = [Self::Individual, Self::Bulk, Self::Bulk1];

    /// The study's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Individual => "individual",
            Self::Bulk => "bulk",
            Self::Bulk1 => "bulk1",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy {0:?}: use individual, bulk or bulk1")]
pub struct UnknownStrategy(pub String);

impl FromStr for Strategy {
    type Err = UnknownStrategy;
    fn from_str(word: &str) -> Result<Self, UnknownStrategy> {
        Self::ALL.into_iter().find(|s| s.name() == word).ok_or_else(|| UnknownStrategy(word.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_read_by_its_name() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert!("bulk2".parse::<Strategy>().unwrap_err().to_string().contains("individual, bulk or bulk1"));
    }
}
