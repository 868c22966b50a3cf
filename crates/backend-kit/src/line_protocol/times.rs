//! Which times a server stores, and how they are written.

use iotbench_core::{Batch, Cause, Error, TimeUnit};

/// The times that a server stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRule {
    /// The unit in which they are written.
    pub unit: TimeUnit,
    /// The earliest one.
    pub earliest_ns: i64,
    /// The latest one.
    pub latest_ns: i64,
}

impl TimeRule {
    /// Refuses a batch with a time that would not come back as it is.
    ///
    /// # Errors
    /// Data with nothing applied.
    pub fn check(self, product: &str, batch: &Batch) -> Result<(), Error> {
        let stored = self.earliest_ns..=self.latest_ns;
        if let Some(time) = batch.timestamps_ns().iter().find(|time| !stored.contains(*time)) {
            return Err(Error::new(Cause::Data, format!("{product} stores no time {time}")));
        }
        let is_between = |time: &&i64| match self.unit {
            TimeUnit::Ns => false,
            TimeUnit::Us => *time % 1_000 != 0,
            TimeUnit::Ms => *time % 1_000_000 != 0,
        };
        match batch.timestamps_ns().iter().find(is_between) {
            Some(time) => {
                let unit = self.unit.ns();
                Err(Error::new(Cause::Data, format!("{product} stores no time {time}: it is no multiple of {unit} ns")))
            }
            None => Ok(()),
        }
    }

    /// A time in the unit.
    #[inline]
    pub fn in_unit(self, time_ns: i64) -> i64 {
        // A division by what is known costs a fifth of one by what is not.
        match self.unit {
            TimeUnit::Ns => time_ns,
            TimeUnit::Us => time_ns.div_euclid(1_000),
            TimeUnit::Ms => time_ns.div_euclid(1_000_000),
        }
    }
}
