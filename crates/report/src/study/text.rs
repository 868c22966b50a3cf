//! A study beside our runs, as text. Pure.

use crate::{
    printable::printable,
    terminal::{
        figure::{TIE, or_none, significant},
        finished,
        table::{paragraph, table},
        usable,
    },
};
use comfy_table::CellAlignment::Right;
use iotbench_suite::{AnsweredHypothesis, FigureKind, Study, StudyCurve, StudyRow, StudyTable};

/// Every table and figure with both figures in each place, what agrees in rank, the hypotheses with both answers, and what
/// was not measured. For a terminal of `columns` columns, of which at most 100 are used.
#[must_use]
pub fn render_study(study: &Study, columns: u16) -> String {
    let columns = usable(columns);
    let mut sections: Vec<String> = study.tables.iter().map(|own| table_section(own, columns)).collect();
    sections.extend(study.curves.iter().map(|own| curve_section(&own.known(), columns)));
    if !study.hypotheses.is_empty() {
        sections.push(hypotheses_section(&study.hypotheses, columns));
    }
    let name = if study.name.is_empty() { "The study" } else { &study.name };
    let title = format!("── {name} and these runs\n");
    sections.push(title + &paragraph(&study.conclusion(), columns));
    if !study.missing.is_empty() {
        let lines = study.missing.iter().map(|missing| paragraph(&printable(missing), columns));
        sections.push(format!("Without a figure here:\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    if !study.remarks.is_empty() {
        let lines = study.remarks.iter().map(|remark| paragraph(&printable(&format!("remark: {remark}")), columns));
        sections.push(lines.collect::<Vec<_>>().join("\n"));
    }
    finished(&sections.join("\n\n"))
}

fn table_section(study: &StudyTable, columns: u16) -> String {
    let heads: Vec<&str> = study.heads.iter().map(String::as_str).collect();
    let title = format!("{} (printed | here)", study.title);
    let mut parts = vec![paragraph(&title, columns), rows(&heads, &study.rows, columns)];
    parts.push(paragraph(&study.verdict(), columns));
    parts.extend(study.note.iter().map(|note| paragraph(note, columns)));
    if let Some(figure) = study.figure.as_ref().filter(|figure| figure.kind == FigureKind::Normalised) {
        parts.push(String::new());
        parts.push(paragraph(
            &format!("{}: parts of the greatest of each column (printed | here)", figure.title),
            columns,
        ));
        parts.push(rows(&heads, &study.normalised(), columns));
    }
    parts.join("\n")
}

fn rows(heads: &[&str], rows: &[StudyRow], columns: u16) -> String {
    let row = |row: &StudyRow| {
        let both = row.printed.iter().zip(&row.measured).map(|(printed, measured)| both(*printed, *measured));
        std::iter::once(row.name.clone()).chain(both).collect()
    };
    table("", heads, rows.iter().map(row).collect(), Right, columns)
}

fn curve_section(curve: &StudyCurve, columns: u16) -> String {
    let heads: Vec<&str> = curve.lines.iter().map(|line| line.name.as_str()).collect();
    let row = |(place, at): (usize, &String)| {
        let figure = |figures: &[Option<f64>]| figures.get(place).copied().flatten();
        let cells = curve.lines.iter().map(|line| both(figure(&line.printed), figure(&line.measured)));
        std::iter::once(at.clone()).chain(cells).collect()
    };
    let rows = curve.at.iter().enumerate().map(row).collect();
    let title = format!("{}: {} (printed | here)", curve.title, curve.head);
    let mut parts = vec![paragraph(&title, columns), table(&curve.of, &heads, rows, Right, columns)];
    parts.push(paragraph(&curve.verdict(), columns));
    parts.extend(curve.note.iter().map(|note| paragraph(note, columns)));
    parts.join("\n")
}

fn both(printed: Option<f64>, measured: Option<f64>) -> String {
    format!("{}{TIE}|{TIE}{}", or_none(printed, significant), or_none(measured, significant))
}

fn hypotheses_section(answers: &[AnsweredHypothesis], columns: u16) -> String {
    let one = |answer: &AnsweredHypothesis| {
        let study = paragraph(&format!("study: {}", answer.study), columns);
        let here = if answer.here.is_empty() { vec!["n/a: there are no runs".to_owned()] } else { answer.here.clone() };
        let here: Vec<String> =
            here.iter().map(|here| paragraph(&printable(&format!("here: {here}")), columns)).collect();
        format!("{}\n{study}\n{}", answer.name, here.join("\n"))
    };
    format!("Hypotheses\n{}", answers.iter().map(one).collect::<Vec<_>>().join("\n"))
}
