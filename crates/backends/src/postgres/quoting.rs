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
