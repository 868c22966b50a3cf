//! Where in a file in TOML something is wrong.

use crate::error::SessionError;
use iotbench_engine::{PlanError, ProfileError};
use std::{fmt, ops::Range};
use toml::de::{DeTable, DeValue};

/// A file's text and its name in errors.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Its name.
    pub file: String,
    /// Empty where no line can be pointed at.
    pub text: String,
}

/// What is wrong in a file, with the line in which it stands.
#[derive(Clone, Debug)]
pub struct Located {
    /// What is wrong; line 0: it stands in none.
    pub error: ProfileError,
    /// The line's text, where it stands in one.
    pub line: Option<String>,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Located {}

impl Source {
    /// The error with the line in which it stands.
    #[must_use]
    pub fn error(&self, error: &ProfileError) -> SessionError {
        let mut error = error.clone();
        if error.line == 0 && error.file == self.file {
            self.locate(&mut error);
        }
        let line = error.line.checked_sub(1).filter(|_| error.file == self.file);
        let line = line.and_then(|line| self.text.lines().nth(line)).map(Into::into);
        Located { error, line }.into()
    }

    /// The error with the line in which it stands, where it stands in one.
    #[must_use]
    pub fn plan_error(&self, error: PlanError) -> SessionError {
        match error {
            PlanError::Profile(e) => self.error(&e),
            PlanError::Dataset(e) => {
                let key = e.key().map_or("dataset".into(), |key| format!("dataset.{key}"));
                self.error(&ProfileError::new(&self.file, key, e))
            }
            misfit @ PlanError::Misfit(_) => misfit.into(),
        }
    }

    fn locate(&self, error: &mut ProfileError) {
        let place = error.key.as_deref().and_then(|key| place_of(&self.text, key));
        if let Some(before) = place.and_then(|place| self.text.get(..place.start)) {
            error.line = before.matches('\n').count() + 1;
            error.column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        }
    }
}

/// Where a dotted key stands in a document: the key itself, or the nearest table or list around it that is written.
fn place_of(text: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut place = None;
    // What a dataset takes is told as `tags[1].count`.
    let mut words = key.split(['.', '[', ']']).filter(|word| !word.is_empty()).peekable();
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

    #[test]
    fn a_key_is_found_through_tables_and_lists() {
        let word = |key| place_of(TEXT, key).and_then(|place| TEXT.get(place)).unwrap_or_default();
        assert_eq!(word("ramp.growth"), "growth");
        assert_eq!(word("groups.0.load.rate"), "rate");
        assert_eq!(word("ramp.step"), "ramp");
        let quoted = "[full]\n\"phases.duration\" = 1\n";
        assert_eq!(place_of(quoted, "full.phases.duration").and_then(|at| quoted.get(at)), Some("\"phases.duration\""));
        let tags = "[dataset]\ntags = [\n { name = \"a\" },\n { name = \"b\", count = \"x\" },\n]\n";
        let of_tag =
            |key| place_of(tags, key).map(|place| (tags[..place.start].matches('\n').count() + 1, &tags[place]));
        assert_eq!(of_tag("dataset.tags[1].count"), Some((4, "count")));
        assert_eq!(of_tag("dataset.tags[0]"), Some((3, "{ name = \"a\" }")));
        assert_eq!(of_tag("dataset.tags"), Some((2, "tags")));
        assert_eq!(place_of(TEXT, "nowhere"), None);
        assert_eq!(place_of("not = = toml", "not"), None);
    }

    #[test]
    fn an_error_names_file_line_column_and_key() {
        let source = Source { file: "f.toml".into(), text: TEXT.into() };
        let error = source.error(&ProfileError::new("f.toml", "ramp.growth", "must be finite"));
        assert_eq!((error.to_string().as_str(), error.exit_code()), ("f.toml:8:1: ramp.growth: must be finite", 2));
    }

    #[test]
    fn an_error_of_the_command_line_points_at_no_line() {
        let source = Source { file: "f.toml".into(), text: TEXT.into() };
        let error = source.error(&ProfileError::new("--set", "ramp.growth", "must be finite"));
        assert_eq!(error.to_string(), "--set: ramp.growth: must be finite");
    }
}
