//! One figure of a study over sizes, beside that of our runs.

use crate::{Agreement, Curve, Over, printed::printed};

/// A figure over sizes, printed and measured.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyCurve {
    /// Its number and title.
    pub title: String,
    /// The profile whose runs it is about; none: it is over profiles.
    pub profile: Option<String>,
    /// What the figure is, with the study's unit.
    pub head: String,
    /// What changes from place to place.
    pub over: Over,
    /// What that is called.
    pub of: String,
    /// The places.
    pub at: Vec<String>,
    /// A line for each contender.
    pub lines: Vec<StudyLine>,
    /// Whether the page plots it.
    pub plot: bool,
    /// Whether what is printed is worked out from another table.
    pub derived: bool,
    /// What one must know to compare.
    pub note: Option<String>,
}

/// A contender's figures, place by place, in the study's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyLine {
    /// The contender.
    pub name: String,
    /// What the study printed.
    pub printed: Vec<Option<f64>>,
    /// What was measured here.
    pub measured: Vec<Option<f64>>,
}

impl StudyCurve {
    /// The curve as printed, with what `measured` tells of a contender at a place beside it.
    #[must_use]
    pub fn new(curve: &Curve, measured: impl Fn(&str, &str) -> Option<f64>) -> Self {
        let line = |(name, figures): (&String, &Vec<f64>)| StudyLine {
            name: name.clone(),
            printed: (0..curve.at.len()).map(|place| figures.get(place).and_then(|figure| printed(*figure))).collect(),
            measured: curve.at.iter().map(|at| measured(name, at).map(|figure| figure / curve.unit)).collect(),
        };
        Self {
            title: curve.title.clone(),
            profile: curve.profile.clone(),
            head: curve.head.clone(),
            over: curve.over,
            of: curve.of.clone(),
            at: curve.at.clone(),
            lines: curve.printed.iter().map(line).collect(),
            plot: curve.plot,
            derived: curve.derived,
            note: curve.note.clone(),
        }
    }

    /// The curve without places and contenders that have no figure at all.
    #[must_use]
    pub fn known(&self) -> Self {
        let has = |figures: &[Option<f64>], place: usize| figures.get(place).copied().flatten().is_some();
        let is_known =
            |place: &usize| self.lines.iter().any(|line| has(&line.printed, *place) || has(&line.measured, *place));
        let places: Vec<usize> = (0..self.at.len()).filter(is_known).collect();
        let of = |figures: &[Option<f64>]| -> Vec<Option<f64>> {
            places.iter().map(|place| figures.get(*place).copied().flatten()).collect()
        };
        let line = |line: &StudyLine| StudyLine {
            name: line.name.clone(),
            printed: of(&line.printed),
            measured: of(&line.measured),
        };
        let has_any = |line: &StudyLine| line.printed.iter().chain(&line.measured).any(Option::is_some);
        Self {
            at: places.iter().filter_map(|place| self.at.get(*place).cloned()).collect(),
            lines: self.lines.iter().map(line).filter(has_any).collect(),
            ..self.clone()
        }
    }

    /// How far printed and measured figures agree in rank, place by place.
    #[must_use]
    pub fn agreements(&self) -> Vec<Agreement> {
        let pair = |line: &StudyLine, place: usize| {
            line.printed.get(place).copied().flatten().zip(line.measured.get(place).copied().flatten())
        };
        let place = |place| Agreement::of(&self.lines.iter().filter_map(|line| pair(line, place)).collect::<Vec<_>>());
        (0..self.at.len()).map(place).collect()
    }

    /// At which places the order of the contenders is the study's, in a sentence or two.
    #[must_use]
    pub fn verdict(&self) -> String {
        let named = self.at.iter().zip(self.agreements());
        let known: Vec<(&String, Agreement)> = named.filter(|(_, agreement)| agreement.pairs() > 0).collect();
        if known.is_empty() {
            return "Nothing can be compared in rank: nowhere do two contenders differ both in print and here.".into();
        }
        let all = known.len();
        let (alike, unlike): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, agreement)| agreement.opposite == 0);
        let names =
            |places: &[(&String, Agreement)]| places.iter().map(|(at, _)| at.as_str()).collect::<Vec<_>>().join(", ");
        let pairs = |(at, a): &(&String, Agreement)| format!("{at} ({} of {} pairs)", a.same, a.pairs());
        match (alike.as_slice(), unlike.as_slice()) {
            (_, []) => {
                format!("The order of the contenders is that of the study at all {all} places ({}).", names(&alike))
            }
            ([], unlike) => format!(
                "The order of the contenders is nowhere wholly that of the study: {}.",
                unlike.iter().map(pairs).collect::<Vec<_>>().join("; ")
            ),
            (alike, unlike) => format!(
                "The order of the contenders is that of the study at {} of {all} places ({}). It differs at: {}.",
                alike.len(),
                names(alike),
                unlike.iter().map(pairs).collect::<Vec<_>>().join("; ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Curve {
        toml::from_str(
            "title = \"Table 3\"\nprofile = \"p\"\nfigure = \"kb_per_s\"\nhead = \"KB/s\"\nover = \"value\"\nof = \"records\"\n\
             at = [\"10\", \"50\", \"100\"]\nprinted.a = [1, 5, nan]\nprinted.b = [2, 4, 6]\nprinted.c = []\n",
        )
        .unwrap()
    }

    #[test]
    fn the_order_is_compared_place_by_place() {
        let measured = |contender: &str, at: &str| match (contender, at) {
            ("a", _) => Some(10.0),
            ("b", "10" | "50") => Some(20.0),
            ("c", _) => Some(1.0),
            _ => None,
        };
        let both = StudyCurve::new(&curve(), measured);
        let pairs: Vec<_> = both.agreements().iter().map(|a| (a.same, a.opposite)).collect();
        assert_eq!(pairs, [(1, 0), (0, 1), (0, 0)], "what is not printed or not measured is no pair");
        assert_eq!(
            both.verdict(),
            "The order of the contenders is that of the study at 1 of 2 places (10). It differs at: 50 (0 of 1 pairs)."
        );
        let reversed =
            StudyCurve::new(&curve(), |name, at| Some(if (name == "a") == (at == "10") { 9.0 } else { 3.0 }));
        assert!(reversed.verdict().contains("nowhere wholly"), "{}", reversed.verdict());
    }

    #[test]
    fn what_was_not_run_is_not_compared() {
        let none = StudyCurve::new(&curve(), |_, _| None);
        assert!(none.verdict().starts_with("Nothing can be compared"), "{}", none.verdict());
        assert_eq!(none.lines[2].printed, [None, None, None]);
        let one = StudyCurve::new(&curve(), |name, at| (name == "a" && at == "50").then_some(7.0)).known();
        assert_eq!(one.at, ["10", "50", "100"], "b is printed everywhere");
        assert_eq!(one.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let mut unprinted = curve();
        unprinted.printed.remove("b");
        assert_eq!(StudyCurve::new(&unprinted, |_, _| None).known().at, ["10", "50"]);
    }
}
