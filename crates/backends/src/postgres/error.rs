//! What PostgreSQL's and the driver's errors mean.

use iotbench_backend_kit::handshake::with_way_out;
use iotbench_core::{Action, Applied, Cause, Error};
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use std::io::{self, ErrorKind};

/// The longest text of the server that is shown, in characters.
const SHOWN_CHARS: usize = 300;

/// The error of a request as cause, action, and what of the request may be applied: where the server refused a
/// statement nothing is; where the connection ended nobody knows.
pub(crate) fn classify(error: &sqlx::Error) -> Error {
    match error {
        sqlx::Error::Database(e) => match e.try_downcast_ref::<PgDatabaseError>() {
            Some(e) => of_server(e.code(), e.severity(), e.message()),
            None => Error::new(Cause::Server, shown(&e.to_string())),
        },
        sqlx::Error::Io(e) => of_io(e),
        sqlx::Error::Tls(e) => Error::new(Cause::Tls, with_way_out(&shown(&e.to_string()))),
        sqlx::Error::Protocol(e) => Error::new(Cause::Protocol, shown(e)).applied(Applied::Maybe),
        sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::RowNotFound => {
            Error::new(Cause::Protocol, shown(&error.to_string()))
        }
        sqlx::Error::Encode(e) => Error::new(Cause::Data, shown(&e.to_string())),
        other => Error::new(Cause::Client, shown(&other.to_string())).action(Action::Stop),
    }
}

/// The error of an attempt to connect: nothing was asked for yet.
pub(crate) fn classify_connecting(error: &sqlx::Error) -> Error {
    let classified = match error {
        sqlx::Error::Io(e) if is_unresolved(e) => Error::new(Cause::Dns, shown(&e.to_string())),
        // The driver hands on what rustls says of a certificate or a handshake as invalid data.
        sqlx::Error::Io(e) if e.kind() == ErrorKind::InvalidData => {
            Error::new(Cause::Tls, with_way_out(&shown(&e.to_string())))
        }
        other => classify(other),
    };
    classified.applied(Applied::No)
}

fn of_server(code: &str, severity: PgSeverity, message: &str) -> Error {
    let (cause, action) = meaning(code);
    // A session that the server ends may have committed just before.
    let ends_session = matches!(severity, PgSeverity::Fatal | PgSeverity::Panic);
    let applied = if ends_session { Applied::Maybe } else { Applied::No };
    let action = if ends_session && action == Action::RetryMayHelp { Action::DiscardWriter } else { action };
    Error::new(cause, format!("{} ({code}){}", shown(message), hint(code))).action(action).applied(applied)
}

/// An SQLSTATE as cause and action. Source: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn meaning(code: &str) -> (Cause, Action) {
    use Action::{DiscardWriter, RetryMayHelp, Stop};
    match code {
        "53100" => (Cause::Full, Stop),
        "53300" => (Cause::Throttled { retry_after: None }, DiscardWriter),
        // Another user's object depends on ours.
        "2BP01" => (Cause::NotOurs, Stop),
        "42501" => (Cause::Auth, Stop),
        "57014" => (Cause::TimedOut, RetryMayHelp),
        "57P01" | "57P02" | "57P03" | "57P05" => (Cause::Connect, DiscardWriter),
        "57P04" | "3D000" | "3F000" | "25006" | "XX001" | "XX002" => (Cause::Server, Stop),
        "54000" | "54001" | "54011" | "54023" => (Cause::Data, RetryMayHelp),
        _ => match code.get(..2) {
            Some("08") => (Cause::Connect, DiscardWriter),
            Some("28") => (Cause::Auth, Stop),
            Some("21" | "22" | "23") => (Cause::Data, RetryMayHelp),
            // A table, a column or a function that is not there will not come back.
            Some("42" | "0A") => (Cause::Server, Stop),
            Some("25") => (Cause::Client, DiscardWriter),
            Some("58") => (Cause::Server, DiscardWriter),
            _ => (Cause::Server, RetryMayHelp),
        },
    }
}

fn hint(code: &str) -> &'static str {
    match code {
        "28P01" | "28000" => ": see the user and the password of --url, and the server's pg_hba.conf",
        "3D000" => ": create that database, or leave it out of --url",
        "3F000" => ": create that schema, or choose another by the setting schema",
        "42501" => ": grant this right to the user of --url, or choose another database or schema",
        "53100" => ": make room on the server's disk",
        "53300" => ": lower --connections, or raise the server's max_connections",
        "2BP01" => ": drop what depends on the table first",
        _ => "",
    }
}

fn of_io(error: &io::Error) -> Error {
    let message = shown(&error.to_string());
    match error.raw_os_error() {
        Some(code) if OWN_LIMITS.contains(&code) => Error::new(Cause::Client, message).applied(Applied::Maybe),
        _ => Error::new(Cause::Connect, message).applied(Applied::Maybe),
    }
}

/// ENOMEM, ENFILE, EMFILE, EADDRNOTAVAIL, ENOBUFS.
const OWN_LIMITS: [i32; 5] = [12, 23, 24, 99, 105];

/// The standard library has no kind for a name that does not resolve, only this text.
fn is_unresolved(error: &io::Error) -> bool {
    error.to_string().starts_with("failed to lookup address information")
}

/// A foreign text in one line of bounded length.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_CHARS).collect();
    if text.chars().count() > SHOWN_CHARS {
        shown.push('…');
    }
    shown
}

/// Whether the server says that there is no database of the name.
pub(crate) fn is_no_database(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|e| e.code().as_deref() == Some("3D000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sqlstate_has_its_cause_and_action() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let table = [
            ("28P01", Cause::Auth, Stop),
            ("28000", Cause::Auth, Stop),
            ("42501", Cause::Auth, Stop),
            ("53100", Cause::Full, Stop),
            ("53200", Cause::Server, RetryMayHelp),
            ("53300", Cause::Throttled { retry_after: None }, DiscardWriter),
            ("57P01", Cause::Connect, DiscardWriter),
            ("57P02", Cause::Connect, DiscardWriter),
            ("57P03", Cause::Connect, DiscardWriter),
            ("57014", Cause::TimedOut, RetryMayHelp),
            ("40001", Cause::Server, RetryMayHelp),
            ("40P01", Cause::Server, RetryMayHelp),
            ("55P03", Cause::Server, RetryMayHelp),
            ("22003", Cause::Data, RetryMayHelp),
            ("22P05", Cause::Data, RetryMayHelp),
            ("23505", Cause::Data, RetryMayHelp),
            ("54000", Cause::Data, RetryMayHelp),
            ("08006", Cause::Connect, DiscardWriter),
            ("42P01", Cause::Server, Stop),
            ("3D000", Cause::Server, Stop),
            ("3F000", Cause::Server, Stop),
            ("25006", Cause::Server, Stop),
            ("25P02", Cause::Client, DiscardWriter),
            ("2BP01", Cause::NotOurs, Stop),
            ("58030", Cause::Server, DiscardWriter),
            ("XX001", Cause::Server, Stop),
            ("", Cause::Server, RetryMayHelp),
            ("ä", Cause::Server, RetryMayHelp),
        ];
        for (code, cause, action) in table {
            assert_eq!(meaning(code), (cause, action), "{code}");
        }
    }

    #[test]
    fn a_refused_statement_is_not_applied_and_an_ended_session_leaves_doubt() {
        let error = of_server("23505", PgSeverity::Error, "duplicate");
        assert_eq!((error.applied, error.action), (Applied::No, Action::RetryMayHelp));
        let error = of_server("57P01", PgSeverity::Fatal, "shutdown");
        assert_eq!((error.applied, error.action), (Applied::Maybe, Action::DiscardWriter));
        let error = of_server("53200", PgSeverity::Fatal, "memory");
        assert_eq!((error.applied, error.action), (Applied::Maybe, Action::DiscardWriter));
    }

    #[test]
    fn failures_of_the_connection_are_told_apart() {
        let io = |kind: ErrorKind, text: &str| sqlx::Error::Io(io::Error::new(kind, text.to_owned()));
        let os = |code| sqlx::Error::Io(io::Error::from_raw_os_error(code));
        let unresolved = "failed to lookup address information: Name or service not known";
        let table = [
            (io(ErrorKind::Other, unresolved), Cause::Dns),
            (io(ErrorKind::InvalidData, "invalid peer certificate: Expired"), Cause::Tls),
            (sqlx::Error::Tls("server does not support TLS".into()), Cause::Tls),
            (os(111), Cause::Connect),
            (os(104), Cause::Connect),
            (os(24), Cause::Client),
            (os(99), Cause::Client),
            (sqlx::Error::Protocol("unexpected".into()), Cause::Protocol),
        ];
        for (error, cause) in table {
            let classified = classify_connecting(&error);
            assert_eq!((classified.cause, classified.applied), (cause, Applied::No), "{error}");
        }
        assert_eq!(classify(&os(104)).applied, Applied::Maybe);
        assert_eq!(classify(&os(104)).action, Action::DiscardWriter);
        assert_eq!(classify(&io(ErrorKind::UnexpectedEof, "end")).applied, Applied::Maybe);
    }

    #[test]
    fn foreign_texts_are_bounded_and_without_control_characters() {
        let error = of_server("22P02", PgSeverity::Error, &"\u{1b}[31mü\n".repeat(1000));
        assert!(error.message.chars().count() < SHOWN_CHARS + 20);
        assert!(!error.message.chars().any(char::is_control));
    }
}
