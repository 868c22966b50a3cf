//! Tables.

use maud::{Markup, html};

/// Most rows behind a plot; of more, each so many-th is shown.
const MAX_ROWS: usize = 60;

/// A table of text: the first column names the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// Columns of words, not numbers, beside the first.
    pub(super) words: Vec<usize>,
    /// Where all rows are, if there are too many to show.
    pub(super) all_in: &'static str,
}

impl Table {
    pub(super) fn new(heads: &[&str], rows: Vec<Vec<String>>) -> Self {
        let heads = heads.iter().map(|head| (*head).to_owned()).collect();
        Self { heads, rows, words: Vec::new(), all_in: "" }
    }

    pub(super) fn words(self, words: &[usize]) -> Self {
        Self { words: words.into(), ..self }
    }

    /// In sight.
    pub(super) fn open(&self, caption: &str) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label=(caption) { (self.markup(1)) }
        }
    }

    /// Behind a plot.
    pub(super) fn folded(&self, caption: &str) -> Markup {
        let each = self.rows.len().div_ceil(MAX_ROWS).max(1);
        html! {
            details.table {
                summary { "Figures as a table" }
                @if each > 1 { p.note { "Every " (each) "th row; all are in " (self.all_in) "." } }
                div.scroll tabindex="0" role="region" aria-label=(format!("Figures: {caption}")) { (self.markup(each)) }
            }
        }
    }

    fn markup(&self, each: usize) -> Markup {
        let class = |place: usize| if place == 0 || self.words.contains(&place) { "word" } else { "number" };
        html! {
            table {
                thead { tr { @for (place, head) in self.heads.iter().enumerate() {
                    th scope="col" class=(class(place)) { (head) }
                } } }
                tbody { @for row in self.rows.iter().step_by(each) {
                    tr { @for (place, cell) in row.iter().enumerate() {
                        @if place == 0 { th scope="row" class="word" { (cell) } }
                        @else { td class=(class(place)) { (cell) } }
                    } }
                } }
            }
        }
    }
}
