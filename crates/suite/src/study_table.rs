//! A study's printed table beside the figures of our runs.

use crate::{Agreement, Table, TableFigure, printed::printed};

/// A table with both figures in each place.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyTable {
    /// Its number and title.
    pub title: String,
    /// The profile whose runs it is about.
    pub profile: String,
    /// The heads of its columns.
    pub heads: Vec<String>,
    /// Its rows.
    pub rows: Vec<StudyRow>,
    /// The study's figure that shows it.
    pub figure: Option<TableFigure>,
    /// What one must know to compare.
    pub note: Option<String>,
}

/// A contender's figures, in the study's units.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// The contender.
    pub name: String,
    /// What the study printed, column by column.
    pub printed: Vec<Option<f64>>,
    /// What was measured here.
    pub measured: Vec<Option<f64>>,
}

impl StudyTable {
    /// The table as printed, with what `measured` tells of a row and a figure beside it.
    #[must_use]
    pub fn new(table: &Table, measured: impl Fn(&str, &str) -> Option<f64>) -> Self {
        let row = |(name, figures): (&String, &Vec<f64>)| StudyRow {
            name: name.clone(),
            printed: figures.iter().map(|figure| printed(*figure)).collect(),
            measured: table.columns.iter().map(|c| measured(name, &c.figure).map(|figure| figure / c.unit)).collect(),
        };
        Self {
            title: table.title.clone(),
            profile: table.profile.clone(),
            figure: table.figure.clone(),
            heads: table.columns.iter().map(|column| column.head.clone()).collect(),
            rows: table.rows.iter().map(row).collect(),
            note: table.note.clone(),
        }
    }

    /// Each figure as a part of its column's greatest, those that were printed and those that were measured apart.
    #[must_use]
    pub fn normalised(&self) -> Vec<StudyRow> {
        let greatest = |figures: fn(&StudyRow) -> &Vec<Option<f64>>, column: usize| {
            let known = self.rows.iter().filter_map(|row| figures(row).get(column).copied().flatten());
            known.fold(0.0, f64::max)
        };
        let parts = |row: &StudyRow, figures: fn(&StudyRow) -> &Vec<Option<f64>>| {
            let part = |(column, figure): (usize, &Option<f64>)| {
                let greatest = greatest(figures, column);
                // A column whose greatest is 0 counts 0, as in the score.
                figure.map(|figure| if greatest > 0.0 { figure / greatest } else { 0.0 })
            };
            figures(row).iter().enumerate().map(part).collect()
        };
        let row = |row: &StudyRow| StudyRow {
            name: row.name.clone(),
            printed: parts(row, |row| &row.printed),
            measured: parts(row, |row| &row.measured),
        };
        self.rows.iter().map(row).collect()
    }

    /// How far printed and measured figures agree in rank, column by column.
    #[must_use]
    pub fn agreements(&self) -> Vec<Agreement> {
        let pair = |row: &StudyRow, column: usize| {
            row.printed.get(column).copied().flatten().zip(row.measured.get(column).copied().flatten())
        };
        let column = |column| Agreement::of(&self.rows.iter().filter_map(|row| pair(row, column)).collect::<Vec<_>>());
        (0..self.heads.len()).map(column).collect()
    }

    /// What agrees in rank and what does not, in a sentence or two.
    #[must_use]
    pub fn verdict(&self) -> String {
        let named: Vec<(&str, Agreement)> = self.heads.iter().map(String::as_str).zip(self.agreements()).collect();
        let known: Vec<_> = named.into_iter().filter(|(_, agreement)| agreement.pairs() > 0).collect();
        if known.is_empty() {
            return "Nothing can be compared in rank: no two rows differ both in print and here.".into();
        }
        let (alike, unlike): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, agreement)| agreement.opposite == 0);
        let names = |columns: &[(&str, Agreement)]| {
            columns
                .iter()
                .map(|(head, a)| format!("{head} ({} of {} pairs)", a.same, a.pairs()))
                .collect::<Vec<_>>()
                .join("; ")
        };
        let mut sentences = Vec::new();
        if !alike.is_empty() {
            sentences.push(format!("The order is that of the study in: {}.", names(&alike)));
        }
        if !unlike.is_empty() {
            sentences.push(format!("It differs in: {}.", names(&unlike)));
        }
        sentences.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableColumn;
    use std::collections::BTreeMap;

    fn table() -> Table {
        let column = |figure: &str, unit| TableColumn { figure: figure.into(), head: figure.to_uppercase(), unit };
        let row = |name: &str, cpu, memory| (name.to_owned(), vec![cpu, memory]);
        Table {
            title: "Table I".into(),
            profile: "p".into(),
            columns: vec![column("cpu", 1.0), column("memory", 1000.0)],
            rows: BTreeMap::from([row("a", 1.0, 10.0), row("b", 2.0, 20.0), row("c", 3.0, 30.0)]),
            figure: None,
            note: None,
        }
    }

    #[test]
    fn our_figures_stand_beside_the_printed_ones_in_the_studys_unit() {
        let measured = |row: &str, figure: &str| match (row, figure) {
            ("a", "cpu") => Some(5.0),
            ("a", "memory") => Some(9000.0),
            ("b", "cpu") => Some(6.0),
            ("b", "memory") => Some(7000.0),
            _ => None,
        };
        let both = StudyTable::new(&table(), measured);
        assert_eq!(both.rows[0].measured, [Some(5.0), Some(9.0)]);
        assert_eq!(both.rows[2].measured, [None, None], "what was not run is not 0");
        assert_eq!(
            both.verdict(),
            "The order is that of the study in: CPU (1 of 1 pairs). It differs in: MEMORY (0 of 1 pairs)."
        );
    }

    #[test]
    fn the_greatest_of_a_column_is_one_and_what_is_missing_stays_missing() {
        let measured = |row: &str, figure: &str| (row != "c").then_some(if figure == "cpu" { 0.0 } else { 5_000.0 });
        let parts = StudyTable::new(&table(), measured).normalised();
        assert_eq!(parts[1].printed, [Some(2.0 / 3.0), Some(2.0 / 3.0)]);
        assert_eq!(parts[0].measured, [Some(0.0), Some(1.0)]);
        assert_eq!(parts[2].measured, [None, None]);
    }

    #[test]
    fn one_row_has_no_rank() {
        let one = StudyTable::new(&table(), |row, _| (row == "a").then_some(1.0));
        assert!(one.verdict().starts_with("Nothing can be compared"), "{}", one.verdict());
    }
}
