//! Texts of files and servers, made harmless for terminals and documents.

/// The text without control characters that a file or a server might have smuggled in; its lines stay.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\u{fffd}[31mb\nc");
    }
}
