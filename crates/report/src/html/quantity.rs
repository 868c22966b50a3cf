//! Numbers of one column in one unit, so that they can be compared at a glance.

use crate::terminal::figure::{NONE, significant};

/// A unit: how much of the base unit it is, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    size: f64,
    pub(super) name: &'static str,
}

const DURATIONS: [Scale; 4] = [
    Scale { size: 6e7, name: "min" },
    Scale { size: 1e6, name: "s" },
    Scale { size: 1e3, name: "ms" },
    Scale { size: 1.0, name: "µs" },
];
const BYTES: [Scale; 5] = [
    Scale { size: 1_099_511_627_776.0, name: "TiB" },
    Scale { size: 1_073_741_824.0, name: "GiB" },
    Scale { size: 1_048_576.0, name: "MiB" },
    Scale { size: 1_024.0, name: "KiB" },
    Scale { size: 1.0, name: "B" },
];

impl Scale {
    /// The unit for a column of microseconds: that of its least figure above 0, so that none loses its digits, unless the
    /// greatest would then have more than six before the point.
    pub(super) fn of_microseconds(figures: impl Iterator<Item = f64>) -> Self {
        Self::of(&DURATIONS, figures)
    }

    /// The unit for a column of bytes.
    pub(super) fn of_bytes(figures: impl Iterator<Item = f64>) -> Self {
        Self::of(&BYTES, figures)
    }

    fn of(units: &[Self], figures: impl Iterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for figure in figures.filter(|figure| *figure > 0.0) {
            (least, most) = (least.min(figure), most.max(figure));
        }
        let fits = |unit: &&Self| unit.size <= least;
        let small = units.iter().find(fits).or(units.last());
        let large = units.iter().rev().find(|unit| most / unit.size < 1e6);
        match (small, large) {
            (Some(small), Some(large)) if small.size < large.size => *large,
            (Some(unit), _) => *unit,
            (None, _) => Self { size: 1.0, name: "" },
        }
    }

    /// The figure in this unit.
    pub(super) fn show(self, figure: Option<f64>) -> String {
        figure.map_or_else(|| NONE.into(), |figure| significant(figure / self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_unit_in_which_all_its_figures_can_be_read() {
        let name = |figures: &[f64]| Scale::of_microseconds(figures.iter().copied()).name;
        assert_eq!(name(&[310.0, 4_500.0]), "µs");
        assert_eq!(name(&[1_310.0, 2.5e6]), "ms");
        assert_eq!(name(&[2e6, 3e6]), "s");
        assert_eq!(name(&[0.5, 5e7]), "ms", "seven digits before the point are too many");
        assert_eq!(name(&[]), "min");
        assert_eq!(Scale::of_bytes([3e6, 9e9].into_iter()).name, "MiB");
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_never_a_zero() {
        let unit = Scale::of_microseconds([1_000.0].into_iter());
        assert_eq!([unit.show(None), unit.show(Some(0.0)), unit.show(Some(2_345.6))], ["–", "0", "2.35"]);
    }
}
