//! MetricsQL: parameters stand outside of quotation marks and comments; a colon within a name or a window is no parameter.

use super::{Parameters, StatementError, parameter};

pub(super) fn parameters(text: &str) -> Result<Parameters, StatementError> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':' || c == '.';
    let (mut found, mut at, mut open) = (Parameters::new(), 0, 0_usize);
    if text.trim().is_empty() {
        return Err(StatementError::NoCommand(
            "it is empty: write a query, such as avg_over_time(:signal[:window])".into(),
        ));
    }
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at + first.len_utf8()..];
        at += first.len_utf8();
        match first {
            '\'' | '"' | '`' => at += quotation(rest, first)?,
            '#' => at += rest.find('\n').unwrap_or(rest.len()),
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => {
                open = open
                    .checked_sub(1)
                    .ok_or(StatementError::Open("what is closed has no beginning, and a parenthesis"))?;
            }
            ':' if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                found.push((at - 1..at + end, parameter(&rest[..end])?));
                at += end;
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                at += rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
            }
            _ => {}
        }
    }
    if open > 0 { Err(StatementError::Open("a parenthesis")) } else { Ok(found) }
}

/// The length of what stands up to the end of a quotation, with its mark.
fn quotation(rest: &str, mark: char) -> Result<usize, StatementError> {
    let mut is_escaped = false;
    for (place, c) in rest.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if mark != '`' => is_escaped = true,
            c if c == mark => return Ok(place + 1),
            _ => {}
        }
    }
    Err(StatementError::Open("a quotation"))
}

#[cfg(test)]
mod tests {
    use crate::{Language, Parameter, Statement, StatementError};
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Statement, StatementError> {
        Statement::parse(text, Language::MetricsQl, false)
    }

    #[test]
    fn parameters_stand_outside_of_names_windows_and_quotations() {
        let statement = parse("job:rate:sum + avg_over_time(:signal{device=:device,a=':from'}[:window]) # :x\n[5m:1m]");
        let statement = statement.unwrap();
        assert!([Parameter::Signal, Parameter::Device, Parameter::Window].iter().all(|&one| statement.names(one)));
        assert!(!statement.names(Parameter::From));
        for text in ["avg(", "avg)", "a{b=\"c}", "", "a{b='\\'}", ":until"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_taken_or_refused(text in "[a-z:'\"`\\\\#(){}\\[\\]\né]{0,30}") {
            drop(parse(&text));
        }
    }
}
