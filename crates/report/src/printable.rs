//! Texts of servers, paths and files, made harmless for terminals.

use serde_json::Value;

/// `text` on one line and without any character that could steer a terminal: control characters (line breaks and escape
/// sequences among them) and those that reverse or hide text become escapes such as `\u{1b}`. Doing it twice changes
/// nothing more.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => shown.extend(character.escape_default()),
            _ if steers(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// The same with its lines and tabs as they are.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let keeps = |character: char| character == '\n' || character == '\t';
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(keeps) {
        let line = part.strip_suffix(keeps).unwrap_or(part);
        shown.push_str(&printable(line));
        shown.push_str(part.get(line.len()..).unwrap_or_default());
    }
    shown
}

/// Control characters, and the Unicode characters that reorder or break lines or cannot be seen.
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Makes every text in a JSON value [`printable`], keys included.
pub(crate) fn printable_value(value: &mut Value) {
    match value {
        Value::String(text) => *text = printable(text),
        Value::Array(items) => items.iter_mut().for_each(printable_value),
        Value::Object(map) => {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(key, mut child)| {
                    printable_value(&mut child);
                    (printable(&key), child)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_line_breaks_and_reversed_text_become_visible() {
        assert_eq!(printable("a\x1b[31m\nb\u{202e}c\u{9b}"), r"a\u{1b}[31m\nb\u{202e}c\u{9b}");
        assert_eq!(printable("Ωμ „ok“ C:\\x"), "Ωμ „ok“ C:\\x");
    }

    #[test]
    fn lines_stay_and_what_steers_within_them_becomes_visible() {
        assert_eq!(printable_lines("a\u{1b}[31mb\n\tc\r\u{202e}\n\n"), "a\\u{1b}[31mb\n\tc\\r\\u{202e}\n\n");
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left_and_twice_is_once(text in any::<String>()) {
            let shown = printable(&text);
            prop_assert!(!shown.chars().any(steers));
            prop_assert_eq!(printable(&shown), shown);
        }
    }
}
