//! Commands and pipelines as JSON: parameters are texts in quotation marks, and take the place of the whole text, so that nothing is
//! pasted into one. A path such as `"$:signal"` alone holds a name.

use super::{Parameter, Parameters, StatementError, parameter};
use std::ops::Range;

/// The parameter that a text of a command stands for, or holds: `":from"` is one, `"$:signal"` holds one.
///
/// # Errors
/// It names a parameter that there is none of, or one that no path holds.
pub fn parameter_of(text: &str) -> Result<Option<(Range<usize>, Parameter)>, StatementError> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if let Some(name) = text.strip_prefix(':').filter(|name| begins_name(name)) {
        return Ok(Some((0..text.len(), parameter(name)?)));
    }
    let Some(colon) = text.find(':').filter(|colon| text.starts_with('$') && begins_name(&text[colon + 1..])) else {
        return Ok(None);
    };
    let end = text[colon + 1..].find(|c| !is_name(c)).map_or(text.len(), |length| colon + 1 + length);
    match parameter(&text[colon + 1..end])? {
        Parameter::Signal => Ok(Some((colon..end, Parameter::Signal))),
        other => Err(StatementError::NoCommand(format!("{text:?}: a path holds :signal alone, and not {other:?}"))),
    }
}

/// The parameters of a text that is JSON. What it may do, its backend knows.
pub(super) fn parameters(text: &str) -> Result<Parameters, StatementError> {
    let is_command = serde_json::from_str::<serde_json::Value>(text)
        .map_err(|e| StatementError::NoCommand(format!("it is no JSON: {e}")))
        .map(|value| value.is_object() || value.is_array())?;
    if !is_command {
        let message = "it is neither a pipeline (a list of stages) nor a command, such as {\"find\": \":table\"}";
        return Err(StatementError::NoCommand(message.into()));
    }
    let (mut found, mut at) = (Parameters::new(), 0);
    while let Some(open) = text[at..].find('"').map(|open| at + open + 1) {
        let mut end = open;
        while let Some(next) = text[end..].find(['"', '\\']).map(|next| end + next) {
            end = next;
            if text[end..].starts_with('"') {
                break;
            }
            // What is escaped may be a quotation mark.
            end += 1 + text[end + 1..].chars().next().map_or(0, char::len_utf8);
        }
        if let Some((place, parameter)) = parameter_of(&text[open..end])? {
            found.push((open + place.start..open + place.end, parameter));
        }
        at = (end + 1).min(text.len());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::{Language, Parameter, Statement, StatementError};

    fn parse(text: &str) -> Result<Statement, StatementError> {
        Statement::parse(text, Language::Commands, false)
    }

    #[test]
    fn parameters_are_whole_texts_or_names_in_a_path() {
        let statement =
            parse(r#"[{"$match": {"device": ":device", "t\":x": "12:00"}}, {"$group": {"v": {"$avg": "$:signal"}}}]"#)
                .unwrap();
        assert!(
            statement.names(Parameter::Device)
                && statement.names(Parameter::Signal)
                && !statement.names(Parameter::From)
        );
        for (text, says) in [
            ("[", "no JSON"),
            ("7", "neither a pipeline"),
            (r#"[":until"]"#, "there is no parameter :until"),
            (r#"["$a.:from"]"#, "a path holds :signal alone"),
        ] {
            let refused = parse(text).unwrap_err().to_string();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
