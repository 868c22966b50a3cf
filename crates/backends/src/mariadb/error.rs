//! What errors of the driver and of the server mean.

use iotbench_backend_kit::handshake::with_way_out;
use iotbench_core::{Action, Applied, Cause, Error};
use sqlx::mysql::MySqlDatabaseError;
use std::io;

/// The most characters of a server's text that are passed on: it may echo a whole statement.
const MAX_CHARACTERS: usize = 300;
const EMFILE: i32 = 24;
const ENFILE: i32 = 23;
const ENOBUFS: i32 = 105;
const EADDRNOTAVAIL: i32 = 99;

/// An error on an open connection as cause and action. What was applied is known to the caller alone; here it is
/// nothing, but where the server itself says that it does not know.
pub(crate) fn classify(error: &sqlx::Error) -> Error {
    match error {
        sqlx::Error::Database(e) => match e.try_downcast_ref::<MySqlDatabaseError>() {
            Some(e) => of_server(e.number(), e.message()),
            None => Error::new(Cause::Server, capped(e.message())),
        },
        sqlx::Error::Io(e) => of_io(e),
        sqlx::Error::Tls(e) => Error::new(Cause::Tls, with_way_out(&capped(&e.to_string()))),
        sqlx::Error::Encode(e) => Error::new(Cause::Data, capped(&e.to_string())),
        sqlx::Error::Configuration(e) => Error::new(Cause::Client, capped(&e.to_string())).action(Action::Stop),
        other => Error::new(Cause::Protocol, capped(&other.to_string())),
    }
}

/// An error while a connection is opened: what is no valid TLS then is a refused certificate, and what is no valid
/// protocol a login that the driver does not know.
pub(crate) fn classify_connect(error: &sqlx::Error) -> Error {
    match error {
        sqlx::Error::Io(e) if e.kind() == io::ErrorKind::InvalidData => {
            Error::new(Cause::Tls, with_way_out(&capped(&e.to_string())))
        }
        sqlx::Error::Protocol(text) if text.contains("authentication") || text.contains("auth plugin") => {
            Error::new(Cause::Auth, format!("{}: the driver does not know this way to log in", capped(text)))
        }
        other => classify(other),
    }
}

fn of_io(error: &io::Error) -> Error {
    let text = capped(&error.to_string());
    if text.contains("failed to lookup address") {
        return Error::new(Cause::Dns, text);
    }
    match error.raw_os_error() {
        Some(EMFILE | ENFILE | ENOBUFS | EADDRNOTAVAIL) => {
            let hint = "the client has no more file descriptors or ports: raise its limits or use fewer connections";
            Error::new(Cause::Client, format!("{text}: {hint}"))
        }
        _ => Error::new(Cause::Connect, text),
    }
}

/// An error that the server names by number. Sources: <https://mariadb.com/kb/en/mariadb-error-codes/> and the MySQL
/// error reference.
fn of_server(number: u16, message: &str) -> Error {
    let (mut cause, mut action) = meaning(number);
    if says_full(number, message) {
        (cause, action) = (Cause::Full, Action::Stop);
    }
    let applied = if is_in_doubt(number) { Applied::Maybe } else { Applied::No };
    let text = format!("error {number}: {}{}", capped(message), hint(number));
    Error::new(cause, text).action(action).applied(applied)
}

fn meaning(number: u16) -> (Cause, Action) {
    use Action::{DiscardWriter, RetryMayHelp, Stop};
    match number {
        // Who we are, from where, and what we may do.
        1044 | 1045 | 1129 | 1130 | 1142 | 1143 | 1227 | 1251 | 1370 | 1524 | 1698 | 1820 | 1862 | 3118 | 4151 => {
            (Cause::Auth, Stop)
        }
        3159 => (Cause::Tls, Stop),
        1021 | 1041 | 1114 => (Cause::Full, Stop),
        1040 | 1203 | 1226 | 1461 => (Cause::Throttled { retry_after: None }, RetryMayHelp),
        // Shut down, killed, or a connection that broke on the server's side.
        1053 | 1080 | 1152 | 1158..=1161 | 1184 | 1927 | 2002 | 2003 | 2006 | 2013 | 2055 => {
            (Cause::Connect, DiscardWriter)
        }
        1969 | 3024 => (Cause::TimedOut, RetryMayHelp),
        // A packet that is too large ends the connection.
        1153 => (Cause::Data, DiscardWriter),
        1022 | 1048 | 1062 | 1118 | 1264 | 1265 | 1292 | 1366 | 1364 | 1406 | 1411 | 1690 | 3140 | 3141 | 3144
        | 3819 | 4025 => (Cause::Data, RetryMayHelp),
        // The database or the table is not there, or may not be written.
        1046 | 1049 | 1051 | 1146 | 1286 | 1290 | 1792 | 1836 | 1932 => (Cause::Server, Stop),
        _ => (Cause::Server, RetryMayHelp),
    }
}

/// A full disk that comes as another number: the operating system's 28 in the text.
fn says_full(number: u16, message: &str) -> bool {
    let is_of_storage = matches!(number, 3 | 20 | 1026 | 1030 | 1180 | 1296);
    is_of_storage
        && ["No space left", "errno: 28", "error 28", "Errcode: 28", "error 132", "is full"]
            .iter()
            .any(|text| message.contains(text))
}

/// An error during a commit, and an end of the server or of the connection while a statement ran.
fn is_in_doubt(number: u16) -> bool {
    matches!(number, 1053 | 1180 | 1927 | 2006 | 2013)
}

fn hint(number: u16) -> &'static str {
    match number {
        1040 | 1203 => ": raise max_connections of the server, or use fewer connections",
        1049 => ": create it, or leave it out of the URL",
        1045 | 1698 => ": is the password in the URL, in the setting password_file or in IOTBENCH_MARIADB_PASSWORD?",
        1114 | 1021 => ": make room on the server's disk",
        1146 | 1932 => ": was it dropped while the run used it?",
        1153 => ": raise max_allowed_packet of the server, or send smaller batches",
        1286 => ": MyRocks is a plugin of MariaDB (mariadb-plugin-rocksdb, plugin-load-add=ha_rocksdb)",
        1461 => ": raise max_prepared_stmt_count of the server, or use fewer connections",
        3159 => ": leave sslmode=disable out of the URL",
        _ => "",
    }
}

/// A text of the server or the driver as one line of bounded length.
pub(crate) fn capped(text: &str) -> String {
    let mut line: String = text.chars().take(MAX_CHARACTERS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use Action::{DiscardWriter, RetryMayHelp, Stop};

    #[test]
    fn every_number_has_its_cause_and_action() {
        let throttled = Cause::Throttled { retry_after: None };
        let table = [
            (&[1044, 1045, 1142, 1227, 1698, 1130, 1862][..], Cause::Auth, Stop),
            (&[3159], Cause::Tls, Stop),
            (&[1021, 1114], Cause::Full, Stop),
            (&[1040, 1203, 1226], throttled, RetryMayHelp),
            (&[1205, 1213, 1317, 1064, 1412], Cause::Server, RetryMayHelp),
            (&[1146, 1049, 1932, 1290], Cause::Server, Stop),
            (&[1264, 1265, 1366, 1406, 3140, 4025, 1062, 1048], Cause::Data, RetryMayHelp),
            (&[1153], Cause::Data, DiscardWriter),
            (&[1053, 1927, 2006, 2013], Cause::Connect, DiscardWriter),
            (&[1969, 3024], Cause::TimedOut, RetryMayHelp),
        ];
        for (numbers, cause, action) in table {
            for &number in numbers {
                let error = of_server(number, "m");
                assert_eq!((error.cause, error.action), (cause, action), "error {number}");
            }
        }
        assert_eq!(of_server(1180, "m").applied, Applied::Maybe);
        assert_eq!(of_server(1927, "m").applied, Applied::Maybe);
        assert_eq!(of_server(1205, "m").applied, Applied::No);
    }

    #[test]
    fn a_full_disk_is_seen_behind_other_numbers() {
        for (number, message) in [
            (1030, "Got error 28 \"No space left on device\" from storage engine InnoDB"),
            (1026, "Error writing file './x' (errno: 28 \"No space left on device\")"),
            (3, "Error writing file '/tmp/ML' (Errcode: 28 \"No space left on device\")"),
            (1296, "Got error 10 'IO error: No space left on device' from ROCKSDB"),
        ] {
            assert_eq!(of_server(number, message).cause, Cause::Full, "{message}");
        }
        assert_eq!(of_server(1030, "Got error 168 from storage engine").cause, Cause::Server);
        assert_eq!(of_server(1406, "Data too long: No space left").cause, Cause::Data);
    }

    #[test]
    fn failures_of_the_way_are_told_apart() {
        let io = |kind, text: &str| sqlx::Error::Io(io::Error::new(kind, text.to_owned()));
        let lookup = io(io::ErrorKind::Other, "failed to lookup address information: Name or service not known");
        assert_eq!(classify(&lookup).cause, Cause::Dns);
        assert_eq!(classify(&io(io::ErrorKind::ConnectionRefused, "x")).cause, Cause::Connect);
        assert_eq!(classify(&io(io::ErrorKind::UnexpectedEof, "x")).action, DiscardWriter);
        for number in [EMFILE, ENFILE, EADDRNOTAVAIL] {
            assert_eq!(classify(&sqlx::Error::Io(io::Error::from_raw_os_error(number))).cause, Cause::Client);
        }
        assert_eq!(classify_connect(&io(io::ErrorKind::InvalidData, "invalid certificate")).cause, Cause::Tls);
        assert_eq!(classify(&sqlx::Error::Tls("server does not support TLS".into())).cause, Cause::Tls);
        assert_eq!(classify(&sqlx::Error::Protocol("x".into())).cause, Cause::Protocol);
        let plugin = sqlx::Error::Protocol("unknown authentication plugin: x".into());
        assert_eq!((classify_connect(&plugin).cause, classify(&plugin).cause), (Cause::Auth, Cause::Protocol));
    }

    #[test]
    fn what_a_server_says_is_one_bounded_line() {
        let text = capped(&format!("a\u{1b}[31m\n\0{}", "ü".repeat(1000)));
        assert_eq!(text.chars().count(), MAX_CHARACTERS + 1);
        assert!(!text.chars().any(char::is_control));
        assert_eq!(capped("short"), "short");
    }
}
