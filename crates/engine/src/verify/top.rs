//! The devices with the greatest figure of a signal: who has to stand where, as far as the figures tell.
//!
//! Of each device it is known between which bounds its figure lies, and a database that works it out may be off by a rounding. So
//! two devices whose figures are as near as that may stand in either order, and either may be the last of those asked for. Figures
//! that no arithmetic rounds (least, greatest, count) are told apart exactly: of equal ones the lesser device stands first.

use super::{exactness::Exactness, figure::Bounds};
use iotbench_core::{Aggregate, ValueType};
use std::collections::BTreeMap;

/// Beyond this not every whole number is a float: two that differ may look equal.
const GREATEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// What a device's figure may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Whether there certainly is one.
    pub(super) certain: bool,
    /// Between which bounds.
    pub(super) bounds: Bounds,
}

/// What is asked for, and the truth of it.
pub(super) struct Top {
    /// By device.
    pub(super) standings: BTreeMap<u32, Standing>,
    /// How many are asked for.
    pub(super) limit: u64,
    pub(super) aggregate: Aggregate,
    /// Of the signal.
    pub(super) value_type: ValueType,
    pub(super) exactness: Exactness,
}

impl Top {
    /// Holds an answer against the truth: devices and figures, in the order answered.
    pub(super) fn compare(&self, answered: &[(u32, f64)]) -> Result<(), String> {
        if answered.len() as u64 > self.limit {
            return Err(format!("{} rows were answered, and {} were asked for", answered.len(), self.limit));
        }
        let mut left = self.standings.clone();
        // The least that a figure answered so far can be, at most; and the last device of each figure that is told exactly.
        let (mut least_so_far, mut last_of_equals) = (f64::INFINITY, BTreeMap::new());
        for (row, &(device, got)) in answered.iter().enumerate() {
            let standing = left.remove(&device);
            let standing =
                standing.ok_or_else(|| format!("row {row}: device {device} has no value, or stands there twice"))?;
            if !self.same(got, standing.bounds) {
                return Err(format!(
                    "row {row}: the figure of device {device} is {got} and should be {}",
                    standing.bounds
                ));
            }
            let (least, greatest) = self.around(got, standing.bounds);
            if least > least_so_far {
                return Err(format!("row {row}: device {device} stands behind one with a lesser figure"));
            }
            least_so_far = least_so_far.min(greatest);
            if let Some(figure) = self.exactly(got, standing.bounds)
                && last_of_equals.insert(figure, device).is_some_and(|before| before > device)
            {
                return Err(format!("row {row}: device {device} stands behind a greater one with an equal figure"));
            }
        }
        let is_full = answered.len() as u64 == self.limit;
        for (device, standing) in left.into_iter().filter(|(_, standing)| standing.certain) {
            if !is_full {
                return Err(format!("device {device} is missing"));
            }
            let Bounds { least, .. } = standing.bounds;
            let last = last_of_equals.get(&least.to_bits()).filter(|_| self.is_exact(standing.bounds));
            if least - self.error(least, standing.bounds) > least_so_far || last.is_some_and(|&last| last > device) {
                let figure = standing.bounds;
                return Err(format!("device {device} is missing: its figure is {figure}, and others stand there"));
            }
        }
        Ok(())
    }

    /// Whether it is a device's figure.
    fn same(&self, got: f64, bounds: Bounds) -> bool {
        match self.aggregate {
            Aggregate::Count => (bounds.least..=bounds.greatest).contains(&got),
            _ => self.exactness.same_figure(got, bounds),
        }
    }

    /// How far a database may be off, that works a figure out.
    fn error(&self, figure: f64, bounds: Bounds) -> f64 {
        if self.aggregate == Aggregate::Count { 0.0 } else { self.exactness.figure_error(figure, bounds) }
    }

    /// Between which bounds the figure lies by which the database put a device where it stands.
    fn around(&self, got: f64, bounds: Bounds) -> (f64, f64) {
        let Bounds { least, greatest, .. } = bounds;
        let error = self.error(got, bounds);
        (
            (least - self.error(least, bounds)).max(got - error),
            (greatest + self.error(greatest, bounds)).min(got + error),
        )
    }

    /// What tells a figure from all others, where nothing rounds it.
    fn exactly(&self, got: f64, bounds: Bounds) -> Option<u64> {
        match self.aggregate {
            Aggregate::Count => Some(got.to_bits()),
            _ => self.is_exact(bounds).then(|| bounds.least.to_bits()),
        }
    }

    /// Whether the figure is known and nothing rounds it. Of the two zeros a database may call one greater.
    fn is_exact(&self, bounds: Bounds) -> bool {
        let Bounds { least, greatest, .. } = bounds;
        let is_one = least.to_bits() == greatest.to_bits();
        match self.aggregate {
            Aggregate::Count => is_one,
            Aggregate::Min | Aggregate::Max => {
                let is_told = least != 0.0 && least.abs() < GREATEST_EXACT;
                is_one && is_told && !self.exactness.rounds(self.value_type)
            }
            Aggregate::First | Aggregate::Last | Aggregate::Mean | Aggregate::Sum | Aggregate::Percentile(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
