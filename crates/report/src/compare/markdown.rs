//! Comparisons as Markdown that fits a comment of a pull request.

use super::{
    Comparison, MetricChange, runs_in_words,
    text::{answer, notes, p_value, percent, shown},
};
use crate::terminal::figure::{TIE, or_none};

/// A heading with the answer, a table of the metrics, and the rest folded away.
#[must_use]
pub fn markdown_comparisons(comparisons: &[Comparison]) -> String {
    let mut text: String = comparisons.iter().map(section).collect::<Vec<_>>().join("\n").replace(TIE, " ");
    text.retain(|c| c == '\n' || !c.is_control());
    text
}

fn section(comparison: &Comparison) -> String {
    let (base, new) = (&comparison.base, &comparison.new);
    let rows: String = comparison.metrics.iter().map(row).collect();
    let notes: String =
        notes(comparison).iter().map(|line| format!("- {}\n", escaped(line.trim_start_matches("* ")))).collect();
    format!(
        "### iotbench: {}\n\n{}: {} ({} runs) against {} ({} runs)\n\n\
         | metric | base | new | change | 95 % interval | p (Holm) | verdict |\n|---|--:|--:|--:|--:|--:|---|\n{rows}\n\
         <details><summary>how it was made</summary>\n\n{notes}\n</details>\n",
        escaped(&answer(comparison)),
        escaped(&comparison.profile),
        escaped(&new.target),
        new.runs.len(),
        escaped(&base.target),
        base.runs.len(),
    )
}

fn row(metric: &MetricChange) -> String {
    let figure = |figure: Option<f64>| or_none(figure, |f| shown(metric.metric, f));
    let name = if metric.is_gated { format!("**{}**", metric.metric) } else { metric.metric.to_owned() };
    let interval = metric.low_pct.zip(metric.high_pct);
    let verdict = if metric.is_regression { "**worse**" } else { metric.verdict };
    let more = metric.more_runs.map(|more| format!(" (about {} a side)", runs_in_words(more))).unwrap_or_default();
    format!(
        "| {name} | {} | {} | {} | {} | {} | {verdict}{more} |\n",
        figure(metric.base),
        figure(metric.new),
        or_none(metric.change_pct, percent),
        or_none(interval, |(low, high)| format!("{} to {}", percent(low), percent(high))),
        or_none(metric.p_holm, p_value),
    )
}

/// A text of a document in which nothing is Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for character in crate::printable(text).chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '@') {
            shown.push('\\');
        }
        shown.push(character);
    }
    shown
}
