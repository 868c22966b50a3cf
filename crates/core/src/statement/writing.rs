//! SQL that changes the run's table: of such a statement it has to be plain what it touches, whatever database reads it.
//!
//! What databases read differently is refused and not guessed at: comments, quoted names, escapes. What is left is a text of plain
//! words, numbers and texts in single quotation marks, in which a table can stand after a few words alone, and a function is one of
//! a list of those that change nothing. A trigger of the table, or what somebody put in the place of a listed function, is not seen
//! here.

use super::{Parameter, Parameters, SHOWN, StatementError, Token, Tokens, parameter};

/// Words that stand between the first one and the table.
const OF_HEAD: [&str; 4] = ["or", "ignore", "replace", "low_priority"];

/// What would name another table, run something else, or hide where a list of tables ends.
const REFUSED: &str = "alter analyse analyze apply attach call copy create delete detach drop dumpfile exec execute explain force \
     grant handler index insert into lastval lateral load lock match_recognize merge next nextval only operator \
     outfile partition pivot pragma prepare previous procedure recursive refresh reindex rename revoke rows \
     setval system_time table tablesample truncate use using vacuum with";

/// Words before an opening parenthesis that call nothing.
const BEFORE_PARENTHESIS: &str = "all and any between by case char conflict decimal distinct else except exists filter float having in \
     intersect like limit not numeric offset on or over returning row select set some then union values varchar \
     when where";

/// Functions that change nothing, in any of the databases that have them.
const FUNCTIONS: &str = "abs acos asin atan atan2 avg cast ceil ceiling coalesce concat cos count current_timestamp date date_trunc \
     datetime degrees exp floor from_unixtime greatest hex if ifnull iif instr julianday least length ln log \
     log10 log2 lower ltrim max min mod now nullif pi pow power radians rand random replace round rtrim sign sin \
     sqrt strftime substr substring sum tan time to_timestamp trim unix_timestamp upper";

/// What ends a list of tables: words that are no name in any database.
const ENDS_LIST: [&str; 8] = ["where", "set", "group", "having", "order", "limit", "union", "select"];

/// A word, or what else there is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part<'a> {
    Word(&'a str),
    Table,
    Parameter,
    Text,
    Sign(char),
}

/// The parameters of a statement that changes the run's table and touches nothing else.
pub(super) fn parameters(text: &str) -> Result<Parameters, StatementError> {
    let text_without_end = text.trim_end().trim_end_matches(';');
    if text_without_end.contains(';') {
        return Err(StatementError::Several);
    }
    if let Some(sign) = text.chars().find(|c| !c.is_ascii() || "\"`\\$@#[]{}".contains(*c)) {
        return Err(elsewhere(&format!(
            "{sign:?} is read differently by databases, even in quotation marks: leave it out"
        )));
    }
    if ["--", "/*"].iter().any(|comment| text.contains(comment)) {
        return Err(elsewhere("a comment ends elsewhere for another database: leave it out"));
    }
    let lower = text_without_end.to_ascii_lowercase();
    let (mut parameters, mut parts) = (Parameters::new(), Vec::new());
    for token in (Tokens { text: &lower, at: 0 }) {
        let (place, token) = token?;
        let word = &lower[place.clone()];
        parts.push(match token {
            Token::Parameter => {
                let found = parameter(&text[place.start + 1..place.end])?;
                parameters.push((place, found));
                if found == Parameter::Table { Part::Table } else { Part::Parameter }
            }
            Token::Placeholder => return Err(StatementError::Placeholder(word.into())),
            Token::Word => Part::Word(word),
            Token::Comment => continue,
            Token::Other if word.starts_with('\'') => Part::Text,
            Token::Other => Part::Sign(word.chars().next().unwrap_or(' ')),
        });
    }
    let head =
        head(&parts).ok_or_else(|| StatementError::BeginsNoChange(text.trim_start().chars().take(SHOWN).collect()))?;
    Tables::of(&parts, head)?;
    Ok(parameters)
}

/// Whether a word is one of those of a list.
fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn elsewhere(what: &str) -> StatementError {
    StatementError::Elsewhere(what.into())
}

/// How many parts the beginning has, up to the table that is changed.
fn head(parts: &[Part<'_>]) -> Option<usize> {
    let Some(Part::Word(verb)) = parts.first() else { return None };
    let mut at = 1;
    while let Some(Part::Word(word)) = parts.get(at)
        && OF_HEAD.contains(word)
    {
        at += 1;
    }
    let before_table: &[Part<'_>] = match *verb {
        "insert" | "replace" => &[Part::Word("into"), Part::Table],
        "update" => &[Part::Table],
        "delete" => &[Part::Word("from"), Part::Table],
        _ => return None,
    };
    let end = at + before_table.len();
    (parts.get(at..end) == Some(before_table) && parts.get(end) != Some(&Part::Sign('.'))).then_some(end)
}

/// Looks where tables may stand.
struct Tables<'a> {
    parts: &'a [Part<'a>],
    /// Whether a list of tables is under way, of each parenthesis that is open.
    lists: Vec<bool>,
    is_delete: bool,
}

impl<'a> Tables<'a> {
    fn of(parts: &'a [Part<'a>], head: usize) -> Result<(), StatementError> {
        let verb = parts.first();
        let is_delete = verb == Some(&Part::Word("delete"));
        let begins_list = is_delete || verb == Some(&Part::Word("update"));
        let mut tables = Self { parts, lists: vec![begins_list], is_delete };
        for (at, part) in parts.iter().enumerate().skip(head) {
            match part {
                Part::Sign(sign) => tables.sign(at, *sign)?,
                Part::Word(word) => tables.word(at, word)?,
                Part::Table | Part::Parameter | Part::Text => {}
            }
        }
        if tables.lists.len() == 1 { Ok(()) } else { Err(elsewhere("a parenthesis has no end")) }
    }

    fn before(&self, at: usize, back: usize) -> Option<Part<'a>> {
        at.checked_sub(back).and_then(|at| self.parts.get(at)).copied()
    }

    fn sign(&mut self, at: usize, sign: char) -> Result<(), StatementError> {
        match sign {
            '(' => {
                if let Some(Part::Word(word)) = self.before(at, 1) {
                    let is_of_schema = self.before(at, 2) == Some(Part::Sign('.'));
                    let is_known = is_among(BEFORE_PARENTHESIS, word)
                        || is_among(FUNCTIONS, word)
                        || word == "from"
                        || word == "join";
                    if is_of_schema || !is_known {
                        return Err(elsewhere(&format!(
                            "{word}(…) is not among the functions that are known to change nothing ({})",
                            FUNCTIONS.replace(' ', ", ")
                        )));
                    }
                }
                self.lists.push(false);
            }
            ')' => {
                self.lists.pop();
                if self.lists.is_empty() {
                    return Err(elsewhere("a parenthesis has no beginning"));
                }
            }
            ',' if self.lists.last() == Some(&true) => {
                return Err(elsewhere("a comma in a list of tables names another one"));
            }
            _ => {}
        }
        Ok(())
    }

    fn word(&mut self, at: usize, word: &str) -> Result<(), StatementError> {
        let is_distinct_from = word == "from"
            && self.before(at, 1) == Some(Part::Word("distinct"))
            && matches!(self.before(at, 2), Some(Part::Word("is" | "not")));
        match word {
            "from" if is_distinct_from => {}
            "from" | "join" | "straight_join" => {
                if !self.names_own(at + 1) {
                    return Err(elsewhere(&format!("after {} stands something else than :table", word.to_uppercase())));
                }
                self.set_list(true);
            }
            "update" if matches!(self.before(at, 1), Some(Part::Word("do" | "key" | "for"))) => {}
            "update" => return Err(elsewhere("UPDATE stands in the middle")),
            "returning" if self.is_delete => self.set_list(false),
            _ if ENDS_LIST.contains(&word) => self.set_list(false),
            _ if is_among(REFUSED, word) => {
                return Err(elsewhere(&format!("{} stands in it", word.to_uppercase())));
            }
            _ => {}
        }
        Ok(())
    }

    fn set_list(&mut self, is_list: bool) {
        if let Some(list) = self.lists.last_mut() {
            *list = is_list;
        }
    }

    /// The run's table, or a query of its own in parentheses.
    fn names_own(&self, at: usize) -> bool {
        match (self.parts.get(at), self.parts.get(at + 1)) {
            (Some(Part::Table), next) => next != Some(&Part::Sign('.')),
            (Some(Part::Sign('(')), next) => next == Some(&Part::Word("select")),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, Statement};
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Statement, StatementError> {
        Statement::parse(text, Language::Sql, true)
    }

    #[test]
    fn what_changes_the_runs_table_alone_is_taken() {
        for text in [
            "INSERT INTO :table (ts, device, a) VALUES (:from, :device, 1.5), (:to, :device, -2)",
            "insert or replace into :table select ts + 1, device, a from :table where device = :device",
            "INSERT INTO :table (ts) VALUES (:from) ON CONFLICT (ts) DO UPDATE SET a = 1, b = 2",
            "INSERT INTO :table (ts) VALUES (:from) ON DUPLICATE KEY UPDATE a = VALUES(a), b = 2",
            "UPDATE :table SET :signal = :signal + 0.5, b = 'it''s' WHERE device = :device AND ts >= :from AND ts < :to;",
            "UPDATE :table SET a = (SELECT max(a) FROM :table b WHERE b.ts < :to) WHERE a IS NOT DISTINCT FROM 1",
            "DELETE FROM :table WHERE device = :device AND ts IN (SELECT min(ts) FROM (SELECT ts FROM :table) x)",
            "DELETE FROM :table RETURNING ts, a",
            "REPLACE INTO :table (ts) VALUES (:from)",
            "DELETE FROM :table WHERE round(a::numeric(10,2), 1) = 3",
        ] {
            let parsed = parse(text);
            assert!(parsed.as_ref().is_ok_and(Statement::writes), "{text}: {parsed:?}");
        }
        // Kept with a plan, it is what it was.
        let statement = parse("DELETE FROM :table WHERE ts < :from").unwrap();
        let kept = serde_json::to_string(&statement).unwrap();
        assert_eq!(serde_json::from_str::<Statement>(&kept).unwrap(), statement);
        let unmarked = kept.replace("\"writes\":true", "\"writes\":false");
        assert!(serde_json::from_str::<Statement>(&unmarked).is_err(), "without the word it reads");
    }

    #[test]
    fn what_is_no_change_of_the_runs_table_is_refused() {
        for text in [
            "SELECT 1",
            "",
            "DROP TABLE :table",
            "TRUNCATE :table",
            "UPDATE ONLY :table SET a = 1",
            "UPDATE users SET a = 1",
            "INSERT INTO users VALUES (1)",
            "DELETE FROM public.users",
            "WITH x AS (DELETE FROM users) DELETE FROM :table",
            "(DELETE FROM :table)",
            "REFRESH MATERIALIZED VIEW v",
            "CALL f()",
            "MERGE INTO :table",
            "INSERT :table VALUES (1)",
            "DELETE FROM :table.users",
            "UPDATE :table.users SET a = 1",
            "COPY :table FROM 'f'",
            "'x' DELETE FROM :table",
            "DELETE users FROM :table JOIN users",
            "INSERT INTO (SELECT 1)",
        ] {
            assert!(matches!(parse(text), Err(StatementError::BeginsNoChange(_))), "{text}: {:?}", parse(text));
        }
    }

    #[test]
    fn what_may_touch_something_else_is_refused() {
        for text in [
            "DELETE FROM :table WHERE a IN (SELECT a FROM users)",
            "DELETE FROM :table USING users WHERE 1 = 1",
            "DELETE FROM :table, users USING :table",
            "UPDATE :table, users SET users.a = 1",
            "UPDATE :table offset, users SET users.a = 1",
            "UPDATE :table returning, users SET users.a = 1",
            "UPDATE :table a JOIN users b ON 1 = 1 SET b.a = 1",
            "UPDATE :table a STRAIGHT_JOIN users b SET b.a = 1",
            "UPDATE :table a JOIN (users b) ON 1 = 1 SET b.a = 1",
            "UPDATE :table a JOIN :table b ON a.x = b.x, users SET users.a = 1",
            "UPDATE :table USE KEY FOR ORDER BY (k), users SET users.a = 1",
            "UPDATE :table SET a = 1 FROM users",
            "INSERT INTO :table TABLE users",
            "INSERT INTO :table SELECT * FROM :table, users",
            "INSERT INTO :table SELECT * FROM :table window, users",
            "INSERT INTO :table SELECT * FROM (SELECT 1) x, users",
            "INSERT INTO :table SELECT * FROM ROWS FROM (evil())",
            "INSERT INTO :table SELECT DISTINCT FROM users",
            "INSERT INTO :table WITH x AS (SELECT 1) SELECT * FROM :table",
            "INSERT INTO :table SELECT * FROM :table UNION SELECT * FROM users",
            "INSERT INTO :table SELECT 1 INTO OUTFILE '/tmp/x'",
            "DELETE FROM :table WHERE pg_terminate_backend(1)",
            "DELETE FROM :table WHERE evil.round(1) = 1",
            "DELETE FROM :table WHERE query_to_xml ('DROP TABLE users') IS NULL",
            "INSERT INTO :table VALUES (nextval('s'))",
            "INSERT INTO :table VALUES (NEXT VALUE FOR s)",
            "DELETE FROM :table -- '\n WHERE a = 1",
            "DELETE FROM :table /*! , users */",
            "DELETE FROM :table WHERE a = E'\\'' OR b = ' -- '",
            "DELETE FROM \"users\"".replace("\"users\"", ":table WHERE a IN (SELECT a FROM \"users\")").as_str(),
            "DELETE FROM :table WHERE a = $$x$$",
            "UPDATE :table SET a = @b",
            "UPDATE :table SET a = 'ü'",
            "DELETE FROM :table WHERE (a = 1",
            "DELETE FROM :table WHERE a = 1)",
            "DELETE FROM :table WHERE a OPERATOR(evil.+) 1",
        ] {
            assert!(matches!(parse(text), Err(StatementError::Elsewhere(_))), "{text}: {:?}", parse(text));
        }
        assert_eq!(parse("DELETE FROM :table; DROP TABLE users"), Err(StatementError::Several));
        assert_eq!(parse("DELETE FROM :table WHERE a = ';'"), Err(StatementError::Several));
        assert_eq!(parse("DELETE FROM :table WHERE a = ?"), Err(StatementError::Placeholder("?".into())));
        assert_eq!(parse("DELETE FROM :table WHERE a = :until"), Err(StatementError::Parameter("until".into())));
        assert_eq!(parse("DELETE FROM :table WHERE a = '"), Err(StatementError::Open("a quotation")));
        let refused = Statement::parse("DROP SERIES", Language::InfluxQl, true);
        assert_eq!(refused, Err(StatementError::OnlyReads("InfluxQL")));
    }

    proptest! {
        /// Whatever words stand behind it: no table but the run's can be named after a word that names one.
        #[test]
        fn no_other_table_is_named(
            words in proptest::collection::vec("(users|:table|,|\\(|\\)|FROM|JOIN|SELECT|a|=|SET|WHERE|USING|AS|ORDER|BY|ON)", 0..14),
        ) {
            let text = format!("UPDATE :table {}", words.join(" "));
            if parse(&text).is_ok() {
                for named in ["FROM users", "JOIN users", "FROM ( users", "JOIN ( users", "USING users", "UPDATE :table , users"] {
                    prop_assert!(!text.contains(named), "{}", text);
                }
            }
        }
    }
}
