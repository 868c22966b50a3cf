//! Tables and paragraphs of plain text.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// A table without lines under `title`, which is the head of its first column. The first column is to the left, the
/// others to the right, but for the last one where it holds text.
pub(crate) fn table(title: &str, heads: &[&str], rows: Vec<Vec<String>>, last: CellAlignment, columns: u16) -> String {
    let mut table = plain(columns);
    let aligned = |place: usize, text: &str| {
        let alignment = match place {
            0 => CellAlignment::Left,
            _ if place == heads.len() => last,
            _ => CellAlignment::Right,
        };
        Cell::new(text).set_alignment(alignment)
    };
    let head = std::iter::once(title).chain(heads.iter().copied());
    table.set_header(head.enumerate().map(|(place, text)| aligned(place, text)).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row.iter().enumerate().map(|(place, text)| aligned(place, text)).collect::<Vec<_>>());
    }
    text(&table)
}

/// Terms with what is to say of each.
pub(crate) fn list(rows: Vec<[String; 2]>, columns: u16) -> String {
    let mut table = plain(columns);
    for row in rows {
        table.add_row(row);
    }
    text(&table)
}

/// A text broken at blanks.
pub(crate) fn paragraph(words: &str, columns: u16) -> String {
    let mut table = plain(columns);
    table.add_row([words]);
    text(&table)
}

fn plain(columns: u16) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        // Every line begins with a blank that is then cut off.
        .set_width(columns + 1);
    table
}

/// The lines without the padding at both ends.
fn text(table: &Table) -> String {
    let lines: Vec<_> =
        table.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n")
}
