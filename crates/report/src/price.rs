//! What a system costs to own, as the user says it. Pure.

use serde::{Deserialize, Serialize};

/// Years over which a system is paid, as TPC counts them.
pub const PRICED_YEARS: u32 = 3;

/// A price file: what a system costs to buy and to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceFile {
    /// The currency, such as `EUR`.
    pub currency: String,
    /// Since when these prices hold, as the user writes it.
    pub date: String,
    /// The targets that it is for, such as `mariadb:narrow`; empty: all.
    #[serde(default)]
    pub targets: Vec<String>,
    /// What is paid for.
    pub items: Vec<PricedItem>,
}

/// Something that is paid for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricedItem {
    /// What it is.
    pub what: String,
    /// How many of it.
    #[serde(default = "one")]
    pub count: u32,
    /// What each costs once.
    #[serde(default)]
    pub once: f64,
    /// What each costs a year: maintenance, rent, energy.
    #[serde(default)]
    pub a_year: f64,
}

fn one() -> u32 {
    1
}

/// Why a text is no price file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PriceFileError {
    /// It is no TOML, or holds unknown keys or values that do not fit.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A value out of its range.
    #[error("{key}: {message}")]
    Value {
        /// The key, dotted.
        key: String,
        /// What is wrong.
        message: String,
    },
}

/// Price files that are not for these runs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnfitPrices {
    /// It is not clear which of two is a target's.
    #[error("two price files are for {0}: name in each, by `targets = [\"{0}\"]`, what it is for")]
    Two(String),
    /// It is for no run that is there.
    #[error("a price is for {name}, and no run is of it: they are of {targets}")]
    OfNone {
        /// What it is for.
        name: String,
        /// What the runs are of.
        targets: String,
    },
}

impl PriceFile {
    /// Reads a price file.
    ///
    /// # Errors
    /// Anything that is none, prices below 0, and a system that costs nothing.
    pub fn from_toml(text: &str) -> Result<Self, PriceFileError> {
        let file: Self = toml::from_str(text)?;
        let wrong = |key: String, message: &str| Err(PriceFileError::Value { key, message: message.into() });
        for (key, value) in [("currency", &file.currency), ("date", &file.date)] {
            if value.trim().is_empty() {
                return wrong(key.into(), "is empty, and a price without it says nothing");
            }
        }
        for (place, item) in file.items.iter().enumerate() {
            for (key, price) in [("once", item.once), ("a_year", item.a_year)] {
                if !price.is_finite() || price < 0.0 {
                    return wrong(format!("items.{place}.{key}"), "a price is a number of at least 0");
                }
            }
        }
        if file.total() <= 0.0 {
            return wrong("items".into(), "they cost nothing: leave --price out where no price is known");
        }
        Ok(file)
    }

    /// The total cost of ownership over [`PRICED_YEARS`].
    #[must_use]
    pub fn total(&self) -> f64 {
        let years = f64::from(PRICED_YEARS);
        self.items.iter().map(|item| f64::from(item.count) * (item.once + years * item.a_year)).sum()
    }

    /// Whether it is for this target.
    #[must_use]
    pub fn is_for(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|own| own == target)
    }
}
