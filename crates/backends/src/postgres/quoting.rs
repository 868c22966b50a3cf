//! Names and texts in statements.

/// A name in double quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in single quotes, whatever `standard_conforming_strings` says.
pub(crate) fn literal(text: &str) -> String {
    let escaped = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", escaped.replace('\\', "\\\\")) } else { format!("'{escaped}'") }
}

/// Schema and name of a table, quoted.
pub(crate) fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", quoted(schema), quoted(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_cannot_end_their_quotes() {
        assert_eq!(qualified("grö\"ße; DROP", "t"), "\"grö\"\"ße; DROP\".\"t\"");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("\\' OR"), "E'\\\\'' OR'");
    }
}
