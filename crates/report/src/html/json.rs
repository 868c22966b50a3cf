//! JSON that can stand in a script element.

use serde::Serialize;

/// The value as JSON in which no text can end the script element around it or begin a comment: the characters that could
/// are escapes, which JSON reads as the same text.
pub(super) fn in_script(value: &impl Serialize) -> String {
    // What is given here has no map with keys that are no texts, which is all that can fail.
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => text.push_str(r"\u003c"),
            '>' => text.push_str(r"\u003e"),
            '&' => text.push_str(r"\u0026"),
            '\u{2028}' => text.push_str(r"\u2028"),
            '\u{2029}' => text.push_str(r"\u2029"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_same_value_and_no_markup(text in ".*(</script>|<!--|&|\u{2028}|).*") {
            let json = in_script(&text);
            let has_markup = json.contains(['<', '>', '&', '\u{2028}']);
            prop_assert!(!has_markup);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap_or_default(), text);
        }
    }
}
