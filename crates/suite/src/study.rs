//! What a study found, beside what was found here.

use crate::{Agreement, AnsweredHypothesis, StudyCurve, StudyTable};

/// All of a study's tables, figures and hypotheses with both answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Study {
    /// The study, as the suite names it.
    pub name: String,
    /// Its tables.
    pub tables: Vec<StudyTable>,
    /// Its figures over sizes.
    pub curves: Vec<StudyCurve>,
    /// Its hypotheses.
    pub hypotheses: Vec<AnsweredHypothesis>,
    /// What of it was not measured here, and why.
    pub missing: Vec<String>,
    /// What a reader has to know of the figures here.
    pub remarks: Vec<String>,
}

impl Study {
    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.curves.is_empty() && self.hypotheses.is_empty()
    }

    /// What of the study agrees in rank with these runs and what does not, in a paragraph.
    #[must_use]
    pub fn conclusion(&self) -> String {
        let tables = self.tables.iter().map(|table| (table.title.as_str(), sum(&table.agreements())));
        let curves = self
            .curves
            .iter()
            .filter(|curve| !curve.derived)
            .map(|curve| (curve.title.as_str(), sum(&curve.agreements())));
        let all: Vec<(&str, Agreement)> = tables.chain(curves).collect();
        let (known, unknown): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, agreement)| agreement.pairs() > 0);
        let total = sum(&known.iter().map(|(_, agreement)| *agreement).collect::<Vec<_>>());
        let mut sentences = Vec::new();
        if total.pairs() == 0 {
            sentences.push("Nothing of the study can be compared in rank with these runs.".to_owned());
        } else {
            let part = 100.0 * total.same as f64 / total.pairs() as f64;
            sentences.push(format!(
                "Of {} pairs of contenders that differ in a figure both in the study and here, {} ({part:.0} %) stand in \
                 the same order.",
                total.pairs(),
                total.same
            ));
        }
        let (alike, unlike): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, agreement)| agreement.opposite == 0);
        let counted = |(title, a): &(&str, Agreement)| format!("{title} ({} of {})", a.same, a.pairs());
        let list = |parts: &[(&str, Agreement)]| parts.iter().map(counted).collect::<Vec<_>>().join("; ");
        if !alike.is_empty() {
            sentences.push(format!("Wholly alike: {}.", list(&alike)));
        }
        if !unlike.is_empty() {
            sentences.push(format!("Not wholly: {}.", list(&unlike)));
        }
        if !unknown.is_empty() && total.pairs() > 0 {
            let titles: Vec<&str> = unknown.iter().map(|(title, _)| *title).collect();
            sentences.push(format!("Nothing to compare in: {}.", titles.join("; ")));
        }
        sentences.join(" ")
    }
}

fn sum(agreements: &[Agreement]) -> Agreement {
    let count = |part: fn(&Agreement) -> usize| agreements.iter().map(part).sum();
    Agreement { same: count(|a| a.same), opposite: count(|a| a.opposite) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StudyRow, Table};

    fn table(title: &str, measured: [f64; 3]) -> StudyTable {
        let row = |name: &str, printed: f64, measured: f64| StudyRow {
            name: name.into(),
            printed: vec![Some(printed)],
            measured: vec![Some(measured)]
                .into_iter()
                .map(|figure: Option<f64>| figure.filter(|f| f.is_finite()))
                .collect(),
        };
        let [a, b, c] = measured;
        let empty: Table = toml::from_str(&format!(
            "title = \"{title}\"\nprofile = \"p\"\ncolumns = [{{ figure = \"f\", head = \"F\" }}]\nrows = {{}}\n"
        ))
        .unwrap();
        StudyTable {
            rows: vec![row("a", 1.0, a), row("b", 2.0, b), row("c", 3.0, c)],
            ..StudyTable::new(&empty, |_, _| None)
        }
    }

    #[test]
    fn what_agrees_and_what_does_not_is_told_from_the_figures() {
        let tables = vec![
            table("Table 1", [10.0, 20.0, 30.0]),
            table("Table 2", [10.0, 30.0, 20.0]),
            table("Table 3", [f64::NAN, f64::NAN, 5.0]),
        ];
        let study = Study { tables, ..Study::default() };
        assert_eq!(
            study.conclusion(),
            "Of 6 pairs of contenders that differ in a figure both in the study and here, 5 (83 %) stand in the same order. \
             Wholly alike: Table 1 (3 of 3). Not wholly: Table 2 (2 of 3). Nothing to compare in: Table 3."
        );
    }

    #[test]
    fn without_any_pair_it_says_so() {
        let study = Study { tables: vec![table("Table 1", [f64::NAN; 3])], ..Study::default() };
        assert_eq!(study.conclusion(), "Nothing of the study can be compared in rank with these runs.");
        assert!(!study.is_empty() && Study::default().is_empty());
    }
}
