//! Bars and boxes, printed and measured ones below each other.

use crate::terminal::figure::{or_none, significant};
use iotbench_suite::StudyRow;
use maud::{Markup, html};

/// Parts of one: a row for each contender, a column for each figure.
pub(super) fn normalised(title: &str, heads: &[String], rows: &[StudyRow]) -> Markup {
    html! {
        figure.chart {
            figcaption {
                h3 { (title) }
                p { "Parts of the greatest of each column. Above, thin: as printed; below, thick: these runs." }
            }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                table {
                    thead { tr { th.word scope="col" {} @for head in heads { th.word scope="col" { (head) } } } }
                    tbody { @for (place, row) in rows.iter().enumerate() { tr {
                        th.word scope="row" { (row.name) }
                        @for (printed, measured) in row.printed.iter().zip(&row.measured) {
                            td.bar.small { (bars(place, *printed, *measured)) }
                        }
                    } } }
                }
            }
        }
    }
}

fn bars(place: usize, printed: Option<f64>, measured: Option<f64>) -> Markup {
    let said = format!("printed {}, here {}", or_none(printed, significant), or_none(measured, significant));
    html! {
        svg viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label=(said) class=(format!("ink-{}", place % 8)) {
            line.track x1="0" x2="100" y1="7" y2="7" vector-effect="non-scaling-stroke" {}
            @if let Some(part) = printed {
                line.printed x1="0" x2=(100.0 * part) y1="3" y2="3" vector-effect="non-scaling-stroke" {}
            }
            @if let Some(part) = measured {
                line.range x1="0" x2=(100.0 * part) y1="11" y2="11" vector-effect="non-scaling-stroke" {}
            }
        }
    }
}

/// Minimum, quartiles and maximum: the first five figures of each row. What is printed and what is measured have a scale
/// each, from 0.
pub(super) fn boxes(title: &str, rows: &[StudyRow]) -> Markup {
    let greatest = |figures: fn(&StudyRow) -> &Vec<Option<f64>>| {
        rows.iter().flat_map(|row| figures(row).iter().take(5).flatten()).fold(0.0_f64, |a, b| a.max(*b))
    };
    let (most_printed, most_measured) = (greatest(|row| &row.printed), greatest(|row| &row.measured));
    html! {
        figure.chart {
            figcaption {
                h3 { (title) }
                p { "Line: minimum to maximum; box: the middle half; mark: median." }
            }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                table {
                    thead { tr {
                        th.word scope="col" {}
                        th.word scope="col" { "printed, 0 to " (significant(most_printed)) }
                        th.word scope="col" { "here, 0 to " (significant(most_measured)) }
                    } }
                    tbody { @for (place, row) in rows.iter().enumerate() { tr {
                        th.word scope="row" { (row.name) }
                        td.bar { (box_of(place, &row.printed, most_printed)) }
                        td.bar { (box_of(place, &row.measured, most_measured)) }
                    } } }
                }
            }
        }
    }
}

fn box_of(place: usize, figures: &[Option<f64>], most: f64) -> Markup {
    let known: Option<Vec<f64>> = figures.iter().take(5).copied().collect();
    let Some([min, q1, median, q3, max]) = known.as_deref().filter(|_| most > 0.0) else { return html! { "–" } };
    let at = |figure: &f64| 100.0 * figure / most;
    let said = [min, q1, median, q3, max].map(|figure| significant(*figure)).join(", ");
    html! {
        svg viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label=(said) class=(format!("ink-{}", place % 8)) {
            line.track x1="0" x2="100" y1="7" y2="7" vector-effect="non-scaling-stroke" {}
            line.printed x1=(at(min)) x2=(at(max)) y1="7" y2="7" vector-effect="non-scaling-stroke" {}
            line.range x1=(at(q1)) x2=(at(q3)) y1="7" y2="7" vector-effect="non-scaling-stroke" {}
            line.point x1=(at(median)) x2=(at(median)) y1="1" y2="13" vector-effect="non-scaling-stroke" {}
        }
    }
}
