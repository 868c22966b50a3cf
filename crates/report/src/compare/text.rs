//! Comparisons as text for people.

use super::{Comparison, MetricChange, MetricNoise, find_metric};
use crate::terminal::{
    figure::{NONE, count, or_none},
    finished,
    table::{paragraph, table},
    usable,
};
use comfy_table::CellAlignment::{Left, Right};

/// The answer first, then a table of the metrics, and how it was made. For a terminal of `columns` columns, of which at most
/// 100 are used.
#[must_use]
pub fn render_comparisons(comparisons: &[Comparison], columns: u16) -> String {
    let columns = usable(columns);
    let sections: Vec<String> = comparisons.iter().map(|comparison| section(comparison, columns)).collect();
    finished(&sections.join("\n\n"))
}

/// How far equals lie apart, as text for people.
#[must_use]
pub fn render_noise(noise: &[MetricNoise], threshold_pct: f64, columns: u16) -> String {
    finished(&noise_section(noise, threshold_pct, usable(columns)))
}

fn section(comparison: &Comparison, columns: u16) -> String {
    let (base, new) = (&comparison.base, &comparison.new);
    let head = format!(
        "COMPARE  {}: BASE {}, {} runs; NEW {}, {} runs",
        comparison.profile,
        base.target,
        count(base.runs.len() as u64),
        new.target,
        count(new.runs.len() as u64)
    );
    let heads = ["base", "new", "change", "95 % from", "to", "p (Holm)", "verdict"];
    let rows = comparison.metrics.iter().map(row).collect();
    let mut sections = vec![
        [head, answer(comparison)].map(|line| paragraph(&crate::printable(&line), columns)).join("\n"),
        table("Metric", &heads, rows, Left, columns),
        notes(comparison).iter().map(|line| paragraph(&crate::printable(line), columns)).collect::<Vec<_>>().join("\n"),
    ];
    if !comparison.noise_floor.is_empty() {
        sections.push(noise_section(&comparison.noise_floor, comparison.threshold_pct, columns));
    }
    sections.join("\n\n")
}

/// What came of it, in a sentence.
pub(super) fn answer(comparison: &Comparison) -> String {
    let names = |holds: fn(&MetricChange) -> bool| {
        let metrics = comparison.metrics.iter().filter(|metric| metric.is_gated && holds(metric));
        metrics.map(|metric| metric.metric).collect::<Vec<_>>().join(", ")
    };
    let (worse, undecided) = (names(|metric| metric.is_regression), names(|metric| metric.verdict == "undecided"));
    match (worse.is_empty(), undecided.is_empty()) {
        (false, _) if comparison.design == "apart" => {
            format!("REGRESSION of {worse}, or the machine's drift: the sides were not interleaved")
        }
        (false, _) => format!("REGRESSION of {worse}"),
        (true, false) => format!("NO REGRESSION FOUND, and undecided: {undecided}"),
        (true, true) => "NO REGRESSION".into(),
    }
}

fn row(metric: &MetricChange) -> Vec<String> {
    let figure = |figure: Option<f64>| or_none(figure, |f| shown(metric.metric, f));
    let mark = if metric.is_gated { "* " } else { "  " };
    vec![
        format!("{mark}{}", metric.metric),
        figure(metric.base),
        figure(metric.new),
        or_none(metric.change_pct, percent),
        or_none(metric.low_pct, percent),
        or_none(metric.high_pct, percent),
        or_none(metric.p_holm, p_value),
        metric.verdict.into(),
    ]
}

/// How it was made, and what a reader has to know.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut lines = vec![
        format!(
            "* gated: a regression is worse by at least {} %, with an interval without 0 and p after Holm at most 0.05",
            comparison.threshold_pct
        ),
        format!("Intervals: {}, base and new are geometric means.", comparison.method),
    ];
    let undecided =
        comparison.metrics.iter().filter_map(|m| Some(format!("{} is undecided: {}", m.metric, m.why.as_ref()?)));
    lines.extend(undecided);
    lines.extend(
        comparison.differs.iter().map(|d| format!("differs: {} is {} in BASE and {} in NEW", d.what, d.base, d.new)),
    );
    lines.extend(comparison.left_out.iter().map(|run| format!("left out: {run}")));
    lines.extend(comparison.remarks.iter().map(|remark| format!("remark: {remark}")));
    lines
}

fn noise_section(noise: &[MetricNoise], threshold_pct: f64, columns: u16) -> String {
    let row = |noise: &MetricNoise| {
        vec![
            noise.metric.to_owned(),
            count(noise.runs_a_side as u64),
            format!("{:.2} %", noise.floor_pct),
            format!("{:.1} %", noise.alarms_pct),
        ]
    };
    let heads = ["runs a side", "noise floor", "false alarms"];
    let title = "A/A of BASE";
    let mut lines = vec![format!(
        "Of 1,000 random halvings 95 % differ by less than the floor; false alarms are certain differences of at least {threshold_pct} %."
    )];
    let above: Vec<&str> = noise.iter().filter(|n| n.floor_pct > threshold_pct).map(|n| n.metric).collect();
    if !above.is_empty() {
        lines.push(format!(
            "remark: the threshold lies below the noise of {}: more runs, or a higher threshold",
            above.join(", ")
        ));
    }
    let lines: Vec<String> = lines.iter().map(|line| paragraph(line, columns)).collect();
    format!("{}\n\n{}", table(title, &heads, noise.iter().map(row).collect(), Right, columns), lines.join("\n"))
}

/// A figure in its metric's unit.
pub(crate) fn shown(metric: &str, figure: f64) -> String {
    find_metric(metric).map_or_else(|| NONE.into(), |metric| metric.show(figure))
}

/// A change with its sign.
pub(crate) fn percent(change: f64) -> String {
    if change.abs() < 99.95 { format!("{change:+.2} %") } else { format!("{change:+.0} %") }
}

pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".into() } else { format!("{p:.3}") }
}
