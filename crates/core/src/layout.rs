//! How datapoints become stored records.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// How datapoints become stored records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// One record a value: second, nanosecond, number, measurement.
    Narrow,
    /// One record a datapoint, a column or field for each signal.
    Wide,
    /// One record a datapoint, as a JSON, BSON or JSONB document.
    Document,
    /// One record for all datapoints of one device in one second and one send, as one document.
    Bulk,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 4] = [Self::Narrow, Self::Wide, Self::Document, Self::Bulk];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Wide => "wide",
            Self::Document => "document",
            Self::Bulk => "bulk",
        }
    }

    /// One line for help.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Narrow => "one record a value (second, nanosecond, number, measurement)",
            Self::Wide => "one record a datapoint, a column for each signal",
            Self::Document => "one record a datapoint, as a JSON document",
            Self::Bulk => "one record for all datapoints of one device in one second and one send",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Layout {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|l| l.name() == text)
            .ok_or_else(|| format!("unknown layout {text:?}: choose narrow, wide, document or bulk"))
    }
}
