//! The words of SQL, as they can be told apart without knowing which database reads them.

use super::StatementError;
use std::ops::Range;

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word,
    Parameter,
    Comment,
    Placeholder,
    Other,
}

/// The words of a statement, its quotations each as one, without blanks.
pub(super) struct Tokens<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Tokens<'_> {
    /// The end of what begins here and ends with `end`; two of them within a quotation stand for one.
    fn closed(&self, skip: usize, end: &str, name: &'static str) -> Result<usize, StatementError> {
        let rest = &self.text[self.at + skip..];
        rest.find(end).map(|place| self.at + skip + place + end.len()).ok_or(StatementError::Open(name))
    }

    fn word_end(&self, from: usize) -> usize {
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
        self.text[from..].find(|c| !is_of_word(c)).map_or(self.text.len(), |length| from + length)
    }

    fn token(&self, first: char) -> Result<(usize, Token), StatementError> {
        let rest = &self.text[self.at..];
        let named = |c: char| c.is_ascii_alphabetic() || c == '_';
        Ok(match first {
            '\'' | '"' | '`' => (self.closed(1, rest.get(..1).unwrap_or("'"), "a quotation")?, Token::Other),
            _ if rest.starts_with("--") => (self.closed(2, "\n", "").unwrap_or(self.text.len()), Token::Comment),
            _ if rest.starts_with("/*") => (self.closed(2, "*/", "a comment")?, Token::Comment),
            _ if rest.starts_with("::") => (self.at + 2, Token::Other),
            ':' if rest[1..].starts_with(named) => (self.word_end(self.at + 1), Token::Parameter),
            '?' => (self.at + 1, Token::Placeholder),
            '$' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                (self.word_end(self.at + 1), Token::Placeholder)
            }
            c if c.is_alphanumeric() || c == '_' => (self.word_end(self.at), Token::Word),
            c => (self.at + c.len_utf8(), Token::Other),
        })
    }
}

impl Iterator for Tokens<'_> {
    type Item = Result<(Range<usize>, Token), StatementError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..)?;
        let blanks = rest.len() - rest.trim_start().len();
        self.at += blanks;
        let first = self.text[self.at..].chars().next()?;
        let token = self.token(first);
        let from = self.at;
        self.at = token.as_ref().map_or(self.text.len(), |(end, _)| *end);
        Some(token.map(|(end, token)| (from..end, token)))
    }
}
