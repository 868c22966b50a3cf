//! Statements that users wrote in a database's own language.

mod commands;
mod metrics;
mod tokens;
mod writing;

pub use commands::parameter_of;

use crate::SignalId;
use serde::{Deserialize, Serialize};
use std::{fmt, ops::Range};
use tokens::{Token, Tokens};

/// A language of statements: where parameters stand in a text, and what may be told of it before it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// SQL, as each database speaks it.
    #[default]
    Sql,
    /// InfluxDB's, which is like it.
    InfluxQl,
    /// MongoDB's commands and pipelines, as JSON.
    Commands,
    /// VictoriaMetrics' MetricsQL, which is PromQL and more.
    MetricsQl,
}

impl Language {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Sql, Self::InfluxQl, Self::Commands, Self::MetricsQl];

    /// Its name, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sql => "SQL",
            Self::InfluxQl => "InfluxQL",
            Self::Commands => "MongoDB commands and pipelines as JSON",
            Self::MetricsQl => "MetricsQL",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What stands for something else in a statement, and is drawn for each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The run's table.
    Table,
    /// The device, as the table holds it.
    Device,
    /// The column of the signal.
    Signal,
    /// The beginning of the stretch of time, in the unit of the table's column.
    From,
    /// The end of it, which is no part of it.
    To,
    /// Its beginning in whole seconds since 1970.
    FromSecond,
    /// Its end in whole seconds since 1970.
    ToSecond,
    /// How long it is, in the unit of its ends.
    Window,
}

impl Parameter {
    /// Each with the name that stands behind a colon, and what it is.
    pub const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Table, "table", "the run's table"),
        (Self::Device, "device", "the device, as the table holds it"),
        (Self::Signal, "signal", "the column of the signal"),
        (Self::From, "from", "the beginning of the window, in the unit of the table's time"),
        (Self::To, "to", "its end, which is no part of it"),
        (Self::FromSecond, "from_s", "its beginning in whole seconds since 1970"),
        (Self::ToSecond, "to_s", "its end in whole seconds since 1970"),
        (Self::Window, "window", "how long it is"),
    ];
}

/// A piece of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// As it was written.
    Text(&'a str),
    /// What stands for something else.
    Parameter(Parameter),
}

/// Why a text is no statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatementError {
    /// A name behind a colon that is none of [`Parameter::ALL`].
    #[error("there is no parameter :{0}: there are {known} (a colon of the language's own has a blank behind it)", known = known())]
    Parameter(String),
    /// It is not one that reads.
    #[error(
        "{0:?} does not begin a statement that reads: SELECT, WITH, SHOW or VALUES does (one that changes the run's table is \
         taken with `writes = true`)"
    )]
    Begins(String),
    /// It is to write, and is none of which it can be told that it writes to the run's table alone.
    #[error(
        "{0:?} does not begin a statement that changes the run's table and nothing else: INSERT INTO :table, REPLACE INTO :table, \
         UPDATE :table and DELETE FROM :table do"
    )]
    BeginsNoChange(String),
    /// It is to write, and may touch what is not the run's.
    #[error(
        "{0}: with `writes = true` it has to be plain that a statement touches the run's table, :table, and nothing else"
    )]
    Elsewhere(String),
    /// It is to write in a language that is only read.
    #[error("statements in {0} only read: leave `writes` out")]
    OnlyReads(&'static str),
    /// It is no JSON, or none that is a command.
    #[error("{0}")]
    NoCommand(String),
    /// `INTO` makes a table, or a file.
    #[error(
        "INTO writes, and a statement reads: it may not even stand in quotation marks, which databases read differently"
    )]
    Into,
    /// There is something behind a semicolon.
    #[error(
        "a semicolon ends a statement, and there is one alone: it may not even stand in quotation marks, which databases read \
         differently"
    )]
    Several,
    /// A placeholder of the language's own.
    #[error("{0} has no value: write one of {known}", known = known())]
    Placeholder(String),
    /// `/*! … */` is a comment for some databases and a part of the statement for others.
    #[error("/*! … */ is no comment everywhere: write what it holds, or leave it out")]
    Executed,
    /// A quotation or a comment has no end.
    #[error("{0} has no end")]
    Open(&'static str),
}

fn known() -> String {
    Parameter::ALL.map(|(_, name, _)| format!(":{name}")).join(", ")
}

/// A statement, taken apart at its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Statement {
    text: String,
    language: Language,
    writes: bool,
    parameters: Parameters,
}

impl Statement {
    /// Takes a statement apart, which `writes` or only reads.
    ///
    /// # Errors
    /// It is not one that reads, or not one that changes the run's table alone; or it names a parameter that there is none of.
    pub fn parse(text: &str, language: Language, writes: bool) -> Result<Self, StatementError> {
        let parameters = match (language, writes) {
            (Language::Sql | Language::InfluxQl, false) => Self::reading(text)?,
            (Language::Sql, true) => writing::parameters(text)?,
            (Language::Commands, _) => commands::parameters(text)?,
            (Language::MetricsQl, false) => metrics::parameters(text)?,
            (Language::InfluxQl | Language::MetricsQl, true) => return Err(StatementError::OnlyReads(language.name())),
        };
        Ok(Self { text: text.into(), language, writes, parameters })
    }

    /// The parameters of one that reads: they are found outside of quotation marks and comments. What databases read differently,
    /// such as where a quotation ends, decides nothing about what may be written: no semicolon but at the end, and no `INTO`,
    /// stands anywhere.
    fn reading(text: &str) -> Result<Parameters, StatementError> {
        let without_end = text.trim_end().trim_end_matches(';');
        if without_end.contains(';') {
            return Err(StatementError::Several);
        }
        if text.contains("/*!") || text.contains("/*M!") {
            return Err(StatementError::Executed);
        }
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if words.any(|word| word.eq_ignore_ascii_case("into")) {
            return Err(StatementError::Into);
        }
        let (mut parameters, mut is_first) = (Vec::new(), true);
        for token in (Tokens { text, at: 0 }) {
            let (place, token) = token?;
            let word = &text[place.clone()];
            if token == Token::Comment {
                continue;
            }
            if is_first && !(token == Token::Word && READS.iter().any(|read| word.eq_ignore_ascii_case(read))) {
                return Err(StatementError::Begins(word.chars().take(SHOWN).collect()));
            }
            is_first = false;
            match token {
                Token::Parameter => parameters.push((place, parameter(&word[1..])?)),
                Token::Placeholder => return Err(StatementError::Placeholder(word.into())),
                Token::Comment | Token::Word | Token::Other => {}
            }
        }
        if is_first { Err(StatementError::Begins(String::new())) } else { Ok(parameters) }
    }

    /// Its language.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Whether it may change the run's table.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let ends = std::iter::once(0).chain(self.parameters.iter().map(|(place, _)| place.end));
        let begins = self.parameters.iter().map(|(place, _)| place.start).chain([self.text.len()]);
        let parameters = self.parameters.iter().map(|(_, parameter)| Some(*parameter)).chain([None]);
        ends.zip(begins).zip(parameters).flat_map(|((end, begin), parameter)| {
            [Some(Piece::Text(&self.text[end..begin])), parameter.map(Piece::Parameter)].into_iter().flatten()
        })
    }

    /// Whether it names a parameter.
    #[must_use]
    pub fn names(&self, parameter: Parameter) -> bool {
        self.parameters.iter().any(|(_, named)| *named == parameter)
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A statement as it is kept with a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    /// As it was kept when there was SQL alone.
    Text(String),
    Whole {
        text: String,
        language: Language,
        writes: bool,
    },
}

impl From<Statement> for Written {
    fn from(Statement { text, language, writes, .. }: Statement) -> Self {
        Self::Whole { text, language, writes }
    }
}

impl TryFrom<Written> for Statement {
    type Error = StatementError;
    fn try_from(written: Written) -> Result<Self, StatementError> {
        match written {
            Written::Text(text) => Self::parse(&text, Language::Sql, false),
            Written::Whole { text, language, writes } => Self::parse(&text, language, writes),
        }
    }
}

/// Where each parameter stands, colon included, ascending.
type Parameters = Vec<(Range<usize>, Parameter)>;

/// A statement with what was drawn for a request.
#[derive(Clone, Copy, Debug)]
pub struct StatementCall<'a> {
    /// What was written.
    pub statement: &'a Statement,
    /// The device.
    pub device: u32,
    /// The signal.
    pub signal: SignalId,
    /// The beginning of the stretch of time, in nanoseconds since the Unix epoch.
    pub from_ns: i64,
    /// The end of it, which is no part of it.
    pub to_ns: i64,
    /// From one time of the answer to the next, where the language asks for a course; `None`: at the end of the stretch alone.
    pub step_ns: Option<u64>,
}

/// So much of a word is shown that begins what does not read.
const SHOWN: usize = 40;
/// What a statement that reads begins with.
const READS: [&str; 4] = ["select", "with", "show", "values"];

fn parameter(name: &str) -> Result<Parameter, StatementError> {
    let found = Parameter::ALL.iter().find(|(_, known, _)| *known == name);
    found.map(|(parameter, ..)| *parameter).ok_or_else(|| StatementError::Parameter(name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(text: &str) -> Vec<String> {
        let statement = Statement::parse(text, Language::Sql, false).unwrap();
        let shown = |piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Parameter(parameter) => format!("<{parameter:?}>"),
        };
        statement.pieces().map(shown).filter(|piece| !piece.is_empty()).collect()
    }

    #[test]
    fn parameters_are_found_outside_of_quotations_comments_and_casts() {
        assert_eq!(
            pieces(
                "SELECT avg(:signal)::float8, ':from' FROM :table -- :to\nWHERE device = :device/* :x */ AND t>=:from"
            ),
            [
                "SELECT avg(",
                "<Signal>",
                ")::float8, ':from' FROM ",
                "<Table>",
                " -- :to\nWHERE device = ",
                "<Device>",
                "/* :x */ AND t>=",
                "<From>"
            ]
        );
        assert_eq!(pieces("SELECT :to_s"), ["SELECT ", "<ToSecond>"]);
        assert_eq!(pieces("select a[1: 2], 'it''s :to' ; "), ["select a[1: 2], 'it''s :to' ; "]);
    }

    #[test]
    fn what_does_not_read_is_no_statement() {
        let refused = |text: &str| Statement::parse(text, Language::Sql, false).unwrap_err();
        for text in ["DELETE FROM t", "-- SELECT\ndrop table t", "(SELECT 1)", "", "  /* SELECT */", "COPY t TO 'f'"] {
            assert!(matches!(refused(text), StatementError::Begins(_)), "{text}: {}", refused(text));
        }
        assert_eq!(refused(&"x".repeat(1_000)), StatementError::Begins("x".repeat(SHOWN)));
        // The last ones were written by MariaDB, whose comments and quotations end elsewhere.
        for text in [
            "SELECT * INTO u FROM t",
            "SELECT 1 INTO/**/OUTFILE '/tmp/f'",
            "WITH a AS (SELECT 1) INSERT into t",
            "SELECT 1 # '\n INTO OUTFILE '/tmp/x' # '\n",
            "SELECT '\\'' INTO OUTFILE '/tmp/x' -- '",
            "SELECT 5 --1 INTO OUTFILE '/tmp/x'",
            "SELECT 'into'",
        ] {
            assert_eq!(refused(text), StatementError::Into, "{text}");
        }
        // The last one dropped a database of InfluxDB, which reads a regular expression there.
        for text in ["SELECT 1; DROP TABLE t", "SELECT 1;;1", "SELECT a FROM t WHERE d =~ /'/ ; DROP DATABASE v -- '"] {
            assert_eq!(refused(text), StatementError::Several, "{text}");
        }
        assert_eq!(refused("SELECT 1 /*! , 2 */"), StatementError::Executed);
        assert_eq!(refused("SELECT 'a"), StatementError::Open("a quotation"));
        assert_eq!(refused("SELECT 1 /* a"), StatementError::Open("a comment"));
        assert_eq!(refused("SELECT ? FROM t"), StatementError::Placeholder("?".into()));
        assert_eq!(refused("SELECT $12 FROM t"), StatementError::Placeholder("$12".into()));
        let unknown = refused("SELECT :until").to_string();
        assert!(unknown.starts_with("there is no parameter :until: there are :table, :device, "), "{unknown}");
    }

    #[test]
    fn what_is_kept_with_a_plan_is_read_again_also_from_before_there_were_languages() {
        let statement = Statement::parse("{\"find\": \":table\"}", Language::Commands, false).unwrap();
        let kept = serde_json::to_string(&statement).unwrap();
        assert_eq!(serde_json::from_str::<Statement>(&kept).unwrap(), statement);
        let earlier: Statement = serde_json::from_str("\"SELECT max(:signal) FROM :table\"").unwrap();
        assert_eq!(earlier, Statement::parse("SELECT max(:signal) FROM :table", Language::Sql, false).unwrap());
    }

    #[test]
    fn what_a_quotation_holds_is_no_parameter() {
        assert!(Statement::parse("SELECT ':x', \"?\", `$1` FROM t;", Language::Sql, false).is_ok());
    }

    proptest! {
        /// Whatever is written: no panic, and the pieces are the whole.
        #[test]
        fn pieces_are_the_whole(text in "(SELECT )?[a-z:;'\"`*/ \\-éß\n]{0,40}") {
            if let Ok(statement) = Statement::parse(&text, Language::Sql, false) {
                let whole: String = statement
                    .pieces()
                    .map(|piece| match piece {
                        Piece::Text(text) => text.to_owned(),
                        Piece::Parameter(parameter) => {
                            format!(":{}", Parameter::ALL.iter().find(|(known, ..)| *known == parameter).unwrap().1)
                        }
                    })
                    .collect();
                prop_assert_eq!(whole, text);
            }
        }
    }
}
