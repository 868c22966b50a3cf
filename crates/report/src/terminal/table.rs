//! Tables and paragraphs of plain text.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// A table without lines under `title`, which is the head of its first column. The first column is to the left, the
/// others to the right, but for the last one where it holds text. Names and figures are not broken: columns that do not fit
/// beside the others stand below, after the first column once more.
pub(crate) fn table(title: &str, heads: &[&str], rows: Vec<Vec<String>>, last: CellAlignment, columns: u16) -> String {
    let head = std::iter::once(title).chain(heads.iter().copied()).map(String::from).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let width = |place: usize| {
        let is_text = place == heads.len() && last == CellAlignment::Left;
        least_width(&lines, place, is_text).min(columns / 2)
    };
    let widths: Vec<u16> = (0..=heads.len()).map(width).collect();
    let part = |places: Vec<usize>| part_of_table(&lines, &places, &widths, last, columns);
    parts(&widths, columns).into_iter().map(part).collect::<Vec<_>>().join("\n\n")
}

/// Columns that fit beside each other, each time with the first.
fn parts(widths: &[u16], columns: u16) -> Vec<Vec<usize>> {
    let padded = |place: &usize| widths.get(*place).map_or(0, |width| width + PADDING);
    let mut parts = vec![vec![0]];
    for place in 1..widths.len() {
        let Some(part) = parts.last_mut() else { break };
        let width: u16 = part.iter().map(padded).sum::<u16>() + padded(&place);
        if width > columns + 1 && part.len() > 1 { parts.push(vec![0, place]) } else { part.push(place) }
    }
    parts
}

const PADDING: u16 = 2;

/// The longest word of the head, or the longest cell; of text its longest word.
fn least_width(lines: &[Vec<String>], place: usize, is_text: bool) -> u16 {
    let longest_word = |text: &str| text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    let width = |(number, line): (usize, &Vec<String>)| {
        let cell = line.get(place)?;
        Some(if number == 0 || is_text { longest_word(cell) } else { cell.chars().count() })
    };
    u16::try_from(lines.iter().enumerate().filter_map(width).max().unwrap_or(0)).unwrap_or(u16::MAX)
}

/// Some columns of all lines, of which the first is the head.
fn part_of_table(lines: &[Vec<String>], places: &[usize], widths: &[u16], last: CellAlignment, columns: u16) -> String {
    let mut table = plain(columns);
    let cell = |line: &[String], place: usize| {
        let alignment = match place {
            0 => CellAlignment::Left,
            _ if place + 1 == widths.len() => last,
            _ => CellAlignment::Right,
        };
        Cell::new(line.get(place).map(String::as_str).unwrap_or_default()).set_alignment(alignment)
    };
    let cells = |line: &Vec<String>| places.iter().map(|&place| cell(line, place)).collect::<Vec<_>>();
    if let Some((head, rows)) = lines.split_first() {
        table.set_header(cells(head));
        for row in rows {
            table.add_row(cells(row));
        }
    }
    for (column, place) in table.column_iter_mut().zip(places) {
        let width = widths.get(*place).copied().unwrap_or_default() + PADDING;
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wide() -> String {
        let heads = ["server memory, kByte", "server I/O, kByte/s", "network, kBit/s"];
        let row = |name: &str| [name, "170,835 | 123,000", "1,840 | 2,382", "715 | 765"].map(String::from).to_vec();
        let rows = vec![row("mongodb:document, individual"), row("mariadb:narrow, individual")];
        table("Run", &heads, rows, CellAlignment::Right, 62)
    }

    #[test]
    fn a_wide_table_goes_on_below_and_breaks_no_name() {
        let text = wide();
        assert_eq!(text.matches("mongodb:document, individual").count(), 2, "{text}");
        for figure in ["170,835 | 123,000", "1,840 | 2,382", "715 | 765"] {
            assert_eq!(
                text.lines().filter(|line| line.ends_with(figure) || line.contains(figure)).count(),
                2,
                "{text}"
            );
        }
        assert!(text.lines().all(|line| line.chars().count() <= 62), "{text}");
    }

    #[test]
    fn columns_that_fit_stay_together() {
        assert_eq!(parts(&[10, 10, 10], 40), [vec![0, 1, 2]]);
        assert_eq!(parts(&[10, 10, 10, 10], 36), [vec![0, 1, 2], vec![0, 3]]);
        assert_eq!(parts(&[30, 30], 40), [vec![0, 1]], "a column alone is not put elsewhere");
    }
}
