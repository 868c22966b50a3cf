//! What happened over a run's time: plots on one clock, with what was done to the server.

use super::{
    chart::{Annotation, Axis, Chart, Line, Shape, Unit},
    table::Table,
};
use crate::{
    document::Document,
    terminal::figure::{bytes, duration, or_none, significant},
    timeline::{COUNTER_COLUMN, Timeline},
};
use maud::{Markup, html};

/// What is plotted: the columns of the series.
struct Plot {
    title: String,
    axis: Axis,
    /// Label, column, place in the palette, shape.
    lines: Vec<(String, String, usize, Shape)>,
}

pub(super) fn section(document: &Document, timeline: &Timeline, colour: usize, clock: &str) -> Markup {
    let plots = plots(timeline, colour);
    let figures = plots.iter().filter_map(|plot| figure(plot, document, timeline, clock));
    html! {
        section {
            h2 { "Over time" }
            p.dim { (note(document, timeline)) }
            div.charts { @for figure in figures { (figure) } }
        }
    }
}

/// What happened and what is tinted.
pub(super) fn adorn(chart: Chart, document: &Document, clock: &str) -> Chart {
    let marks = document.scenario.iter().flat_map(|scenario| &scenario.marks).filter_map(|mark| {
        let failed = if mark.error.is_some() { " (failed)" } else { "" };
        Some(Annotation { at: mark.from_s?, label: format!("{} {} {}{failed}", mark.action, mark.role, mark.node) })
    });
    let change = document.schema_change.iter().filter_map(|change| {
        Some(Annotation { at: change.from_s?, label: format!("signals added: {}", change.signals.join(", ")) })
    });
    let marks = marks.chain(change).collect();
    let measured = document.measured.as_ref();
    let name = if document.capacity.is_some() { "the answer's step" } else { "measured" };
    let stretch = measured.and_then(|m| Some((m.from_s?, m.to_s, name.to_owned())));
    Chart { clock: Some(clock.into()), stretch, marks, ..chart }
}

fn note(document: &Document, timeline: &Timeline) -> String {
    let mut sentences = vec!["All plots share one clock: seconds since the run's start.".to_owned()];
    if document.measured.is_some() {
        sentences.push(
            if document.capacity.is_some() {
                "Tinted: the step that the answer quotes."
            } else {
                "Tinted: the measured part."
            }
            .into(),
        );
    }
    match timeline.rows_per_point() {
        1 => {}
        rows => sentences.push(format!(
            "A point is {rows} seconds: of rates and levels the mean, of response times the greatest of the seconds' figures."
        )),
    }
    sentences.join(" ")
}

fn plots(timeline: &Timeline, colour: usize) -> Vec<Plot> {
    let line = |label: &str, column: &str, colour, shape| (label.to_owned(), column.to_owned(), colour, shape);
    let roles = |column: &str| {
        let of = |(place, role): (usize, &&str)| {
            (role.replace('_', " "), format!("{role}_{column}"), colour + place, Shape::Solid)
        };
        timeline.roles().iter().enumerate().map(of).collect::<Vec<_>>()
    };
    let of_run = vec![
        Plot {
            title: "Throughput".into(),
            axis: Axis::linear("operations a second", Unit::Number),
            lines: vec![
                line("acknowledged", "ok", colour, Shape::Solid),
                line("offered", "offered", colour + 7, Shape::Dashed),
            ],
        },
        Plot {
            title: "Failed and given up".into(),
            axis: Axis::linear("operations a second", Unit::Number),
            lines: vec![
                line("failed", "fail", colour + 1, Shape::Solid),
                line("without an answer", "unknown", colour + 6, Shape::Dashed),
                line("never started", "dropped", colour + 7, Shape::Dashed),
            ],
        },
        Plot {
            title: "Response time".into(),
            axis: Axis::log("response time", Unit::Microseconds),
            lines: vec![
                line("p99", "response_p99_us", colour, Shape::Solid),
                line("p50", "response_p50_us", colour, Shape::Dashed),
            ],
        },
        Plot { title: "CPU".into(), axis: Axis::linear("% of a core", Unit::Percent), lines: roles("cpu_pct") },
        Plot {
            title: "Others on the machine".into(),
            axis: Axis::linear("% of all processors", Unit::Percent),
            lines: vec![
                line("other programs", "others_cpu_pct", colour + 1, Shape::Solid),
                line("other machines (steal)", "steal_pct", colour + 6, Shape::Dashed),
            ],
        },
        Plot { title: "Memory".into(), axis: Axis::linear("resident set", Unit::Bytes), lines: roles("rss_bytes") },
        Plot {
            title: "Written to disk".into(),
            axis: Axis::linear("bytes a second", Unit::Bytes),
            lines: roles("disk_written_bytes"),
        },
        Plot {
            title: "Read from disk".into(),
            axis: Axis::linear("bytes a second", Unit::Bytes),
            lines: roles("disk_read_bytes"),
        },
        Plot {
            title: "Received".into(),
            axis: Axis::linear("bytes a second", Unit::Bytes),
            lines: roles("net_rx_bytes"),
        },
        Plot { title: "Sent".into(), axis: Axis::linear("bytes a second", Unit::Bytes), lines: roles("net_tx_bytes") },
    ];
    of_run.into_iter().chain(timeline.counters().into_iter().map(|name| counter(name, colour))).collect()
}

/// What the server counted of itself under this name.
fn counter(name: &str, colour: usize) -> Plot {
    let (of, unit) =
        if name.ends_with("_bytes") { ("bytes a second", Unit::Bytes) } else { ("a second", Unit::Number) };
    Plot {
        title: format!("The server counted: {name}"),
        axis: Axis::linear(of, unit),
        lines: vec![(name.into(), format!("{COUNTER_COLUMN}{name}"), colour, Shape::Solid)],
    }
}

/// `None` where there is nothing but zeros: that needs no plot.
fn figure(plot: &Plot, document: &Document, timeline: &Timeline, clock: &str) -> Option<Markup> {
    let known = plot.lines.iter().filter_map(|(label, column, colour, shape)| {
        let figures = timeline.figures(column)?;
        let figures = if plot.axis.log { positive(figures) } else { figures };
        Some(Line { label: label.clone(), colour: *colour, shape: *shape, figures })
    });
    let something = |line: &Line| line.figures.iter().flatten().any(|figure| *figure > 0.0);
    let lines: Vec<Line> = known.filter(something).collect();
    if lines.is_empty() {
        return None;
    }
    let at = timeline.starts_s();
    let table = table(&at, &lines, plot.axis.unit);
    let chart =
        Chart { lines, ..Chart::new(Axis::linear("seconds since the start", Unit::Seconds), plot.axis.clone(), at) };
    Some(adorn(chart, document, clock).figure(&plot.title, "", &table))
}

/// A logarithmic axis has no 0.
fn positive(figures: Vec<Option<f64>>) -> Vec<Option<f64>> {
    figures.into_iter().map(|figure| figure.filter(|figure| *figure > 0.0)).collect()
}

pub(super) fn table(at: &[f64], lines: &[Line], unit: Unit) -> Table {
    let show = |figure: f64| match unit {
        Unit::Microseconds => duration(figure),
        // A rounding to a byte of what is shown with three digits.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size in bytes")]
        Unit::Bytes => bytes(figure.round() as u64),
        _ => significant(figure),
    };
    let row = |(place, at): (usize, &f64)| {
        let cells = lines.iter().map(|line| or_none(line.figures.get(place).copied().flatten(), show));
        std::iter::once(significant_second(*at)).chain(cells).collect()
    };
    let heads = std::iter::once("second".to_owned()).chain(lines.iter().map(|line| line.label.clone())).collect();
    Table { heads, rows: at.iter().enumerate().map(row).collect(), all_in: "series.csv", ..Table::default() }
}

fn significant_second(second: f64) -> String {
    format!("{second:.0}")
}
