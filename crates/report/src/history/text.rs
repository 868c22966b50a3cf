//! A history as text for people.

use super::{History, HistoryChange, MetricHistory, Series, plot::plot};
use crate::{
    compare::{percent, shown},
    terminal::{
        finished,
        table::{paragraph, table},
        usable,
    },
};
use comfy_table::CellAlignment::Left;

/// A line of blocks for each metric of each series, and a table of its changes. For a terminal of `columns` columns, of which
/// at most 100 are used.
#[must_use]
pub fn render_history(history: &History, columns: u16) -> String {
    let columns = usable(columns);
    let mut sections: Vec<String> = history.series.iter().map(|series| section(series, columns)).collect();
    let left_out =
        history.left_out.iter().map(|run| paragraph(&crate::printable(&format!("left out: {run}")), columns));
    sections.extend(left_out);
    finished(&sections.join("\n\n"))
}

fn section(series: &Series, columns: u16) -> String {
    let ends = [series.runs.first(), series.runs.last()].map(|run| run.cloned().unwrap_or_default());
    let head = format!(
        "HISTORY  {} on {}: {} runs, from {} to {}",
        series.profile,
        series.target,
        series.runs.len(),
        ends[0],
        ends[1]
    );
    let metrics = series.metrics.iter().map(|metric| of_metric(metric, columns));
    let remarks = series.remarks.iter().map(|remark| paragraph(&format!("remark: {remark}"), columns));
    std::iter::once(paragraph(&crate::printable(&head), columns))
        .chain(metrics)
        .chain(remarks)
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn of_metric(history: &MetricHistory, columns: u16) -> String {
    let (least, most) =
        history.figures.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), &f| (l.min(f), m.max(f)));
    let marks: Vec<usize> = history.changes.iter().map(|change| change.at).collect();
    let [blocks, marks] = plot(&history.figures, &marks, usize::from(columns).min(80));
    let mut lines = vec![
        format!("{}: {} to {}", history.metric, shown(history.metric, least), shown(history.metric, most)),
        blocks,
    ];
    if !marks.is_empty() {
        lines.push(marks);
    }
    match (&history.why, history.changes.as_slice()) {
        (Some(why), _) => lines.push(paragraph(&format!("no change can be told: {why}"), columns)),
        (None, []) => lines.push("no change".into()),
        (None, changes) => {
            let heads = ["before", "after", "change", "95 % from", "to", "is"];
            let rows = changes.iter().map(|change| row(history.metric, change)).collect();
            lines.push(table("Since", &heads, rows, Left, columns));
            lines.extend(changes.iter().flat_map(|change| differs(change, columns)));
        }
    }
    lines.join("\n")
}

fn row(metric: &str, change: &HistoryChange) -> Vec<String> {
    vec![
        crate::printable(&change.started),
        shown(metric, change.before),
        shown(metric, change.after),
        percent(change.change_pct),
        percent(change.low_pct),
        percent(change.high_pct),
        change.verdict.into(),
    ]
}

/// What else was otherwise from that run on.
fn differs(change: &HistoryChange, columns: u16) -> Vec<String> {
    let line = |what: &str| paragraph(&crate::printable(&format!("{}: {what}", change.run)), columns);
    let lines = change.differs.iter().map(|d| line(&format!("{} was {} and is {}", d.what, d.base, d.new)));
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { vec![line("nothing that a run knows of is otherwise")] } else { lines }
}
