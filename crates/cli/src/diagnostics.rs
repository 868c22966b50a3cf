//! What is wrong with a file in TOML, with the line it stands in.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use iotbench_report::printable_lines;
use iotbench_session::{Located, SessionError};

/// Longer lines are not shown.
const LONGEST_LINE: usize = 200;

/// An error in words; of a file with the line that it is about.
pub(crate) fn told(error: &SessionError) -> String {
    let SessionError::File(located) = error else { return error.to_string() };
    let Located { error, line } = &**located;
    let mut text = error.to_string();
    if let Some(snippet) = line.as_deref().and_then(|line| snippet(line, error.line, error.column)) {
        text.push('\n');
        text.push_str(&snippet);
    }
    printable_lines(&text)
}

fn snippet(text: &str, line: usize, column: usize) -> Option<String> {
    let text = printable_lines(text);
    let start = text.char_indices().nth(column.checked_sub(1)?).map_or(text.len(), |(at, _)| at);
    if text.trim().is_empty() || text.len() > LONGEST_LINE {
        return None;
    }
    let end = start + text.get(start..).map_or(0, word_length);
    let marked = AnnotationKind::Primary.span(start..end);
    let snippet = Snippet::source(text.as_str()).line_start(line).annotation(marked);
    Some(Renderer::plain().render(&[Group::with_level(Level::ERROR).element(snippet)]))
}

/// The length in bytes of the word, number or quoted text that a line begins with.
fn word_length(line: &str) -> usize {
    let length = match line.strip_prefix('"') {
        Some(quoted) => quoted.find('"').map(|end| end + 2),
        None => line.find([' ', '\t', '=', ',', '#']),
    };
    length.unwrap_or(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_backends::BACKENDS;
    use iotbench_core::{Layout, Registry, Target};
    use iotbench_engine::{PlanRequest, Profile, ProfileError, parse_profile, plan};
    use iotbench_session::Source;
    use iotbench_workloads::PROFILES;
    use proptest::prelude::*;
    use std::path::Path;

    const TEXT: &str = "name = \"x\"\n\n[[groups]]\nname = \"a\"\n[groups.load]\nrate = 5\n[ramp]\ngrowth = nan\n";

    fn source() -> Source {
        Source { file: "f.toml".into(), text: TEXT.into() }
    }

    fn text_of(error: &ProfileError) -> String {
        told(&source().error(error))
    }

    #[test]
    fn an_error_names_file_line_column_key_and_shows_the_line() {
        let text = text_of(&ProfileError::new("f.toml", "ramp.growth", "must be finite"));
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
        assert_eq!(text_of(&error), "--set: ramp.growth: must be finite");
    }

    #[test]
    fn lines_beyond_the_text_are_no_fault() {
        let error = ProfileError { line: 99, column: 99, ..ProfileError::new("f.toml", "k", "m") };
        assert_eq!(text_of(&error), "f.toml:99:99: k: m");
    }

    fn request(profile: Profile) -> PlanRequest<'static> {
        PlanRequest {
            profile,
            profile_file: "test".into(),
            base: Path::new("."),
            run_id: "test".into(),
            target: Target { folder: Some("nowhere".into()), ..Target::default() },
            now_ns: 0,
        }
    }

    fn backend() -> &'static dyn iotbench_core::Backend {
        Registry::new(BACKENDS).find("sqlite").unwrap()
    }

    /// Takes a byte away, doubles it or puts another in its place.
    fn mutated(text: &str, changes: &[(usize, u8, u8)]) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        for &(at, kind, byte) in changes {
            let at = at % bytes.len().max(1);
            match kind % 3 {
                0 => drop(bytes.get(at).is_some().then(|| bytes.remove(at))),
                1 => bytes.insert(at, byte),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|b| *b = byte),
            }
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn no_damaged_profile_makes_anything_panic(
            which in 0..PROFILES.len(),
            changes in prop::collection::vec((any::<usize>(), any::<u8>(), prop::sample::select(b"0123456789.-e\"[]=#\n azkM_%".to_vec())), 1..6),
        ) {
            let bytes = mutated(PROFILES[which].toml, &changes);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let source = Source { file: "damaged.toml".into(), text: text.clone() };
            match parse_profile("damaged.toml", &text) {
                Err(e) => prop_assert_eq!(source.error(&e).exit_code(), 2),
                Ok(profile) => {
                    let mut profile = profile;
                    profile.layout = iotbench_engine::Auto::Set(Layout::Wide);
                    if let Err(e) = plan(request(profile), backend()) {
                        prop_assert_eq!(source.plan_error(e).exit_code(), 2);
                    }
                }
            }
        }
    }
}
