//! What is wrong with a profile, with the line it stands in.

use crate::{console::printable, error::CliError};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use iotbench_engine::{PlanError, ProfileError};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Longer lines are not shown.
const LONGEST_LINE: usize = 200;

/// A profile's text and its name in errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) file: String,
    /// Empty where no line can be pointed at.
    pub(crate) text: String,
}

impl Source {
    /// The error with the line in which it stands.
    pub(crate) fn error(&self, error: &ProfileError) -> CliError {
        let mut error = error.clone();
        if error.line == 0 && error.file == self.file {
            self.locate(&mut error);
        }
        let mut text = error.to_string();
        if error.file == self.file
            && let Some(snippet) = self.snippet(error.line, error.column)
        {
            text.push('\n');
            text.push_str(&snippet);
        }
        CliError::usage(printable(&text))
    }

    /// The error with the line in which it stands, where it stands in one.
    pub(crate) fn plan_error(&self, error: PlanError) -> CliError {
        match error {
            PlanError::Profile(e) => self.error(&e),
            PlanError::Dataset(e) => {
                let key = e.key().map_or("dataset".into(), |key| format!("dataset.{key}"));
                self.error(&ProfileError::new(&self.file, key, e))
            }
            PlanError::Misfit(_) => CliError::usage(printable(&error.to_string())),
        }
    }

    fn locate(&self, error: &mut ProfileError) {
        let place = error.key.as_deref().and_then(|key| place_of(&self.text, key));
        if let Some(before) = place.and_then(|place| self.text.get(..place.start)) {
            error.line = before.matches('\n').count() + 1;
            error.column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        }
    }

    fn snippet(&self, line: usize, column: usize) -> Option<String> {
        let text = printable(self.text.lines().nth(line.checked_sub(1)?)?);
        let start = text.char_indices().nth(column.checked_sub(1)?).map_or(text.len(), |(at, _)| at);
        if text.trim().is_empty() || text.len() > LONGEST_LINE {
            return None;
        }
        let end = start + text.get(start..).map_or(0, word_length);
        let marked = AnnotationKind::Primary.span(start..end);
        let snippet = Snippet::source(text.as_str()).line_start(line).annotation(marked);
        Some(Renderer::plain().render(&[Group::with_level(Level::ERROR).element(snippet)]))
    }
}

/// The length in bytes of the word, number or quoted text that a line begins with.
fn word_length(line: &str) -> usize {
    let length = match line.strip_prefix('"') {
        Some(quoted) => quoted.find('"').map(|end| end + 2),
        None => line.find([' ', '\t', '=', ',', '#']),
    };
    length.unwrap_or(line.len())
}

/// Where a dotted key stands in a document: the key itself, or the nearest table or list around it that is written.
fn place_of(text: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut place = None;
    let mut words = key.split('.').peekable();
    while let Some(word) = words.next() {
        // A key may have dots of its own: `"phases.duration"`.
        let rest = [word].into_iter().chain(words.clone()).collect::<Vec<_>>().join(".");
        let named = |name: &str| table.iter().find(|(key, _)| key.get_ref() == name);
        let Some((found, value)) = named(&rest).or_else(|| named(word)) else { break };
        place = Some(found.span());
        let mut value = value;
        while let DeValue::Array(items) = value.get_ref() {
            let item = words.peek().and_then(|w| w.parse::<usize>().ok()).and_then(|i| items.get(i));
            let Some(item) = item else { return place };
            words.next();
            place = Some(item.span());
            value = item;
        }
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"x\"\n\n[[groups]]\nname = \"a\"\n[groups.load]\nrate = 5\n[ramp]\ngrowth = nan\n";

    fn source() -> Source {
        Source { file: "f.toml".into(), text: TEXT.into() }
    }

    #[test]
    fn a_key_is_found_through_tables_and_lists() {
        let word = |key| place_of(TEXT, key).and_then(|place| TEXT.get(place)).unwrap_or_default();
        assert_eq!(word("ramp.growth"), "growth");
        assert_eq!(word("groups.0.load.rate"), "rate");
        assert_eq!(word("ramp.step"), "ramp");
        let quoted = "[full]\n\"phases.duration\" = 1\n";
        assert_eq!(place_of(quoted, "full.phases.duration").and_then(|at| quoted.get(at)), Some("\"phases.duration\""));
        assert_eq!(place_of(TEXT, "nowhere"), None);
        assert_eq!(place_of("not = = toml", "not"), None);
    }

    #[test]
    fn an_error_names_file_line_column_key_and_shows_the_line() {
        let error = ProfileError::new("f.toml", "ramp.growth", "must be finite");
        let text = source().error(&error).to_string();
        assert!(text.starts_with("f.toml:8:1: ramp.growth: must be finite\n"), "{text}");
        assert!(text.contains("8 | growth = nan"), "{text}");
    }

    #[test]
    fn the_word_at_fault_is_marked() {
        for (line, word) in
            [("step = 1", "step"), ("nan # x", "nan"), ("\"a b\" # x", "\"a b\""), ("[ramp]", "[ramp]"), ("\"a", "\"a")]
        {
            assert_eq!(line.get(..word_length(line)), Some(word), "{line}");
        }
    }

    #[test]
    fn an_error_of_the_command_line_points_at_no_line() {
        let error = ProfileError::new("--set", "ramp.growth", "must be finite");
        assert_eq!(source().error(&error).to_string(), "--set: ramp.growth: must be finite");
    }

    #[test]
    fn lines_beyond_the_text_are_no_fault() {
        let error = ProfileError { line: 99, column: 99, ..ProfileError::new("f.toml", "k", "m") };
        assert_eq!(source().error(&error).to_string(), "f.toml:99:99: k: m");
    }
}
