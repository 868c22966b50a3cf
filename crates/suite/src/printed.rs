//! What a study printed, as a suite file holds it.

use crate::{SuiteFileError, file::wrong};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A table of a study: of each contender several figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its number and title.
    pub title: String,
    /// The profile whose runs have its figures.
    pub profile: String,
    /// What stands in its columns.
    pub columns: Vec<TableColumn>,
    /// Its printed figures by row; `nan`: none is printed. A row is a contender, `backend:layout` with what distinguishes
    /// its runs behind: strategy, variant, name of the cell.
    pub rows: BTreeMap<String, Vec<f64>>,
    /// The study's figure that shows the same.
    pub figure: Option<TableFigure>,
    /// What one must know to compare.
    pub note: Option<String>,
}

/// A column of a printed table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableColumn {
    /// Which figure of a run it is.
    pub figure: String,
    /// Its head, with the study's unit.
    pub head: String,
    /// How many of the figure's units make one of the study's.
    #[serde(default = "one")]
    pub unit: f64,
}

/// A figure of a study that shows a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableFigure {
    /// Its number and title.
    pub title: String,
    /// How it shows the table.
    pub kind: FigureKind,
}

/// How a figure shows a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// Each column as parts of its greatest figure, printed and measured apart.
    Normalised,
    /// The first five columns as box plots: minimum, first quartile, median, third quartile, maximum.
    Boxes,
}

/// One figure of several contenders over sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Its number and title.
    pub title: String,
    /// The profile whose runs have the figure; none where it is over profiles.
    pub profile: Option<String>,
    /// Which figure of a run it is.
    pub figure: String,
    /// What it is, with the study's unit.
    pub head: String,
    /// How many of the figure's units make one of the study's.
    #[serde(default = "one")]
    pub unit: f64,
    /// What changes from place to place.
    pub over: Over,
    /// What that is called.
    pub of: String,
    /// The places.
    pub at: Vec<String>,
    /// What the study printed of each contender at these places; `nan`: nothing there, `[]`: nothing at all.
    pub printed: BTreeMap<String, Vec<f64>>,
    /// Whether the page plots it.
    #[serde(default)]
    pub plot: bool,
    /// Whether what is printed is worked out from another table, and so not counted again.
    #[serde(default)]
    pub derived: bool,
    /// What one must know to compare.
    pub note: Option<String>,
}

/// What changes along a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// The value of a sweep.
    Value,
    /// Classes of such values, such as `10-100`: above the one and up to the other; the first holds both.
    Class,
    /// The nodes of a cluster.
    Nodes,
    /// The profile.
    Profile,
}

fn one() -> f64 {
    1.0
}

/// A figure, if one is printed.
pub(crate) fn printed(figure: f64) -> Option<f64> {
    figure.is_finite().then_some(figure)
}

fn is_unit(unit: f64) -> bool {
    unit.is_finite() && unit > 0.0
}

impl Table {
    pub(crate) fn check(&self, place: usize) -> Result<(), SuiteFileError> {
        let key = |field: &str| format!("tables[{place}].{field}");
        if self.columns.is_empty() {
            return Err(wrong(key("columns"), "a table needs a column"));
        }
        if let Some(column) = self.columns.iter().find(|column| !is_unit(column.unit)) {
            return Err(wrong(key("columns"), format!("the unit of {:?} must be positive and finite", column.head)));
        }
        for (row, figures) in &self.rows {
            if figures.len() != self.columns.len() {
                let message = format!("has {} figures for {} columns", figures.len(), self.columns.len());
                return Err(wrong(key(&format!("rows.{row}")), message));
            }
        }
        let needs_five = self.figure.as_ref().is_some_and(|figure| figure.kind == FigureKind::Boxes);
        if needs_five && self.columns.len() < 5 {
            return Err(wrong(key("figure"), "boxes need minimum, quartiles and maximum as the first five columns"));
        }
        Ok(())
    }
}

impl Curve {
    pub(crate) fn check(&self, place: usize) -> Result<(), SuiteFileError> {
        let key = |field: &str| format!("curves[{place}].{field}");
        if !is_unit(self.unit) {
            return Err(wrong(key("unit"), "must be positive and finite"));
        }
        if self.profile.is_none() != (self.over == Over::Profile) {
            return Err(wrong(key("profile"), "a curve names its profile, or is over profiles"));
        }
        if let Some(at) = self.at.iter().find(|at| !self.over.is_place(at)) {
            return Err(wrong(key("at"), format!("{at:?} is no {}", self.over.name())));
        }
        for (contender, figures) in &self.printed {
            if !figures.is_empty() && figures.len() != self.at.len() {
                let message = format!("has {} figures for {} places", figures.len(), self.at.len());
                return Err(wrong(key(&format!("printed.{contender}")), message));
            }
        }
        Ok(())
    }

    /// Both ends of a class, and whether it holds the lower one: only if no class of this curve ends there.
    #[must_use]
    pub fn class(&self, at: &str) -> Option<(u64, u64, bool)> {
        let (from, to) = ends(at)?;
        let holds_from = !self.at.iter().filter_map(|other| ends(other)).any(|(_, end)| end == from);
        Some((from, to, holds_from))
    }
}

fn ends(class: &str) -> Option<(u64, u64)> {
    let (from, to) = class.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?)).filter(|(from, to)| from < to)
}

impl Over {
    fn is_place(self, at: &str) -> bool {
        match self {
            Self::Value => at.parse::<u64>().is_ok(),
            Self::Nodes => at.parse::<u32>().is_ok_and(|nodes| nodes > 0),
            Self::Class => ends(at).is_some(),
            Self::Profile => !at.is_empty(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Value => "value of a sweep: write for example \"100\"",
            Self::Class => "class: write for example \"10-100\"",
            Self::Nodes => "number of nodes: write for example \"3\"",
            Self::Profile => "profile",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: &str = "\
title = \"Table 4\"
profile = \"weather_insert\"
figure = \"time_mean_us\"
head = \"time, ms\"
unit = 1000.0
over = \"class\"
of = \"queries\"
at = [\"2-10\", \"10-100\"]
printed.\"mysql:document\" = [53.89, nan]
printed.\"sqlite:document\" = []
";

    #[test]
    fn a_class_holds_its_lower_end_if_no_other_ends_there() {
        let curve: Curve = toml::from_str(CURVE).unwrap();
        curve.check(0).unwrap();
        assert_eq!([curve.class("2-10"), curve.class("10-100")], [Some((2, 10, true)), Some((10, 100, false))]);
        assert_eq!(
            curve.printed["mysql:document"].iter().map(|f| printed(*f)).collect::<Vec<_>>(),
            [Some(53.89), None]
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (from, to, hint) in [
            ("2-10", "10-2", "curves[0].at: \"10-2\" is no class"),
            ("[53.89, nan]", "[53.89]", "curves[0].printed.mysql:document: has 1 figures for 2 places"),
            ("unit = 1000.0", "unit = -1.0", "curves[0].unit"),
            ("over = \"class\"", "over = \"value\"", "no value of a sweep"),
            ("profile = \"weather_insert\"\n", "", "curves[0].profile"),
        ] {
            let curve: Curve = toml::from_str(&CURVE.replacen(from, to, 1)).unwrap();
            let error = curve.check(0).unwrap_err().to_string();
            assert!(error.contains(hint), "{to}: {error}");
        }
    }
}
