//! A study's tables, figures and hypotheses beside those of these runs.

use super::{
    bars,
    chart::{Axis, Chart, Line, Shape, Unit},
    table::Table,
};
use crate::terminal::figure::{or_none, significant};
use iotbench_suite::{FigureKind, Over, Study, StudyCurve, StudyRow, StudyTable};
use maud::{Markup, html};

pub(super) fn section(study: &Study) -> Markup {
    if study.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "The study and these runs" }
            p.answer { (study.conclusion()) }
            p.note {
                "Study: " (study.name) ". Each place: printed | here. A dash was not printed or not measured. The study's \
                 machines are not these: compare the order, not the figures."
            }
            @for remark in &study.remarks { p.note { "Remark: " (remark) "." } }
            @if !study.missing.is_empty() {
                details.table {
                    summary { "Without a figure here: " (study.missing.len()) }
                    ul.reasons { @for missing in &study.missing { li { (missing) } } }
                }
            }
            @for table in &study.tables { (table_of(table)) }
            @for curve in &study.curves { (curve_of(&curve.known())) }
            (hypotheses(study))
        }
    }
}

fn table_of(study: &StudyTable) -> Markup {
    let heads: Vec<&str> = std::iter::once("").chain(study.heads.iter().map(String::as_str)).collect();
    html! {
        h3 { (study.title) }
        (Table::new(&heads, study.rows.iter().map(cells).collect()).open(&study.title))
        p.note { (study.verdict()) @if let Some(note) = &study.note { " " (note) } }
        @if let Some(figure) = &study.figure {
            @match figure.kind {
                FigureKind::Normalised => (bars::normalised(&figure.title, &study.heads, &study.normalised())),
                FigureKind::Boxes => (bars::boxes(&figure.title, &study.rows)),
            }
        }
    }
}

fn cells(row: &StudyRow) -> Vec<String> {
    let both = row.printed.iter().zip(&row.measured).map(|(printed, measured)| both(*printed, *measured));
    std::iter::once(row.name.clone()).chain(both).collect()
}

fn both(printed: Option<f64>, measured: Option<f64>) -> String {
    format!("{} | {}", or_none(printed, significant), or_none(measured, significant))
}

fn curve_of(curve: &StudyCurve) -> Markup {
    let table = table_of_curve(curve);
    let verdict = curve.verdict();
    html! {
        @match (curve.plot, curve.over) {
            (true, Over::Profile) => {
                (bars::normalised(&curve.title, &curve.lines.iter().map(|l| l.name.clone()).collect::<Vec<_>>(), &by_profile(curve)))
                (table.open(&curve.title))
            }
            (true, _) => (chart(curve).figure(&curve.title, NOTE, &table)),
            (false, _) => { h3 { (curve.title) ": " (curve.head) } (table.open(&curve.title)) }
        }
        p.note { (verdict) @if let Some(note) = &curve.note { " " (note) } }
    }
}

const NOTE: &str = "Solid: these runs; broken: as printed.";

fn table_of_curve(curve: &StudyCurve) -> Table {
    let at = |figures: &[Option<f64>], place: usize| figures.get(place).copied().flatten();
    let row = |(place, name): (usize, &String)| {
        let cells = curve.lines.iter().map(|line| both(at(&line.printed, place), at(&line.measured, place)));
        std::iter::once(name.clone()).chain(cells).collect()
    };
    let heads = std::iter::once(curve.of.as_str()).chain(curve.lines.iter().map(|line| line.name.as_str()));
    Table::new(&heads.collect::<Vec<_>>(), curve.at.iter().enumerate().map(row).collect())
}

/// A row for each profile, with each contender's figure as a part of its greatest.
fn by_profile(curve: &StudyCurve) -> Vec<StudyRow> {
    let part = |figures: &[Option<f64>], place: usize| {
        let greatest = figures.iter().flatten().fold(0.0_f64, |a, b| a.max(*b));
        figures.get(place).copied().flatten().filter(|_| greatest > 0.0).map(|figure| figure / greatest)
    };
    let row = |(place, at): (usize, &String)| StudyRow {
        name: at.clone(),
        printed: curve.lines.iter().map(|line| part(&line.printed, place)).collect(),
        measured: curve.lines.iter().map(|line| part(&line.measured, place)).collect(),
    };
    curve.at.iter().enumerate().map(row).collect()
}

/// Both axes are logarithmic over sizes, both linear over nodes.
fn chart(curve: &StudyCurve) -> Chart {
    let is_log = curve.over == Over::Value;
    let axis = |label: &str| if is_log { Axis::log(label, Unit::Number) } else { Axis::linear(label, Unit::Number) };
    let at: Vec<f64> = curve.at.iter().map(|at| at.parse().unwrap_or_default()).collect();
    let shown = |figures: &[Option<f64>]| figures.iter().map(|f| f.filter(|f| !is_log || *f > 0.0)).collect::<Vec<_>>();
    let lines = curve.lines.iter().enumerate().flat_map(|(colour, line)| {
        let of = |label: String, shape, figures: &[Option<f64>]| Line { label, colour, shape, figures: shown(figures) };
        [
            of(format!("{}, here", line.name), Shape::Solid, &line.measured),
            of(format!("{}, printed", line.name), Shape::Dashed, &line.printed),
        ]
    });
    let known = lines.filter(|line| line.figures.iter().any(Option::is_some)).collect();
    Chart { lines: known, bridges: true, ..Chart::new(axis(&curve.of), axis(&curve.head), at) }
}

fn hypotheses(study: &Study) -> Markup {
    html! {
        @if !study.hypotheses.is_empty() {
            h3 { "Hypotheses" }
            dl.setting { @for answer in &study.hypotheses {
                dt { (answer.name) }
                dd {
                    p { "Study: " (answer.study) }
                    @if answer.here.is_empty() { p { "Here: n/a: there are no runs." } }
                    @for here in &answer.here { p { "Here: " (here) } }
                }
            } }
        }
    }
}
