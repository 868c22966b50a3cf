//! A plot: what the page's script draws, and the table behind it.

use super::{json::in_script, table::Table};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    /// Seconds.
    Seconds,
    /// Microseconds, shown in the unit that fits.
    Microseconds,
    /// Bytes, shown in the unit that fits.
    Bytes,
    /// Percent.
    Percent,
    /// Of something countable.
    Number,
    /// 1 / (1 − q) of a quantile q, shown as its percentage.
    Quantile,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) unit: Unit,
    pub(super) log: bool,
}

impl Axis {
    pub(super) fn linear(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, log: false }
    }

    pub(super) fn log(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, log: true }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// A line.
    Solid,
    /// A broken line.
    Dashed,
    /// Filled points.
    Points,
    /// Rings.
    Rings,
}

/// Figures along the plot's x.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    pub(super) label: String,
    /// Which of the palette's colours.
    pub(super) colour: usize,
    pub(super) shape: Shape,
    pub(super) figures: Vec<Option<f64>>,
}

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Annotation {
    pub(super) at: f64,
    pub(super) label: String,
}

/// A rectangle of a heat map: from and to by x and y, and how many.
pub(super) type Cell = (f64, f64, f64, f64, u64);

/// A plot.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Chart {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) at: Vec<f64>,
    pub(super) lines: Vec<Line>,
    pub(super) cells: Vec<Cell>,
    pub(super) marks: Vec<Annotation>,
    /// A stretch of x with a tint, and what it is.
    pub(super) stretch: Option<(f64, Option<f64>, String)>,
    /// Plots of the same clock show the same moment.
    pub(super) clock: Option<String>,
    /// Whether lines go on where a figure is missing: only because another line has one there.
    pub(super) bridges: bool,
    /// The colour of the cells.
    pub(super) colour: usize,
}

impl Chart {
    pub(super) fn new(x: Axis, y: Axis, at: Vec<f64>) -> Self {
        Self {
            x,
            y,
            at,
            lines: Vec::new(),
            cells: Vec::new(),
            marks: Vec::new(),
            stretch: None,
            clock: None,
            bridges: false,
            colour: 0,
        }
    }

    /// Lines that have their figures at places of their own, on one x.
    pub(super) fn of_lines(x: Axis, y: Axis, lines: Vec<(Line, Vec<f64>)>) -> Self {
        let mut at: Vec<f64> = lines.iter().flat_map(|(_, at)| at).copied().collect();
        at.sort_by(f64::total_cmp);
        at.dedup();
        let bridges = lines.iter().any(|(_, own)| own.len() != at.len());
        let spread = |(mut line, own): (Line, Vec<f64>)| {
            let mut figures = vec![None; at.len()];
            for (place, figure) in own.iter().zip(&line.figures) {
                let found = at.binary_search_by(|other| other.total_cmp(place)).ok();
                if let Some(cell) = found.and_then(|found| figures.get_mut(found)) {
                    *cell = *figure;
                }
            }
            line.figures = figures;
            line
        };
        let lines = lines.into_iter().map(spread).collect();
        Self { lines, bridges, ..Self::new(x, y, at) }
    }

    /// The plot with its title, what is to be known of it, and its figures as a table.
    pub(super) fn figure(&self, title: &str, note: &str, table: &Table) -> Markup {
        html! {
            figure.chart {
                figcaption {
                    h3 { (title) }
                    @if !note.is_empty() { p { (note) } }
                }
                p.axis { (self.y.label) @if self.y.log { " (logarithmic)" } }
                div.plot role="img" aria-label=(format!("Plot: {title}. The figures are in the table below it.")) {}
                script type="application/json" { (PreEscaped(in_script(self))) }
                (table.folded(title))
            }
        }
    }
}
