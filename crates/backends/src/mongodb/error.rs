//! What the errors of MongoDB, and of the way to it, mean.

use iotbench_backend_kit::handshake::with_way_out;
use iotbench_core::{Action, Applied, Cause, Error};
use mongodb::error::{Error as DriverError, ErrorKind};
use std::io;

/// A server's text is shown up to here.
const MAX_CHARACTERS: usize = 300;
/// Linux: too many open files in the process, and in the system.
const NO_FILES_LEFT: [i32; 2] = [24, 23];

/// What an error of the driver means. Where the server may have got the request and gave no answer, what it holds is unknown.
pub(crate) fn classify(error: &DriverError) -> Error {
    match &*error.kind {
        ErrorKind::Command(command) => of_code(command.code, &command.code_name, &command.message),
        ErrorKind::Authentication { message, .. } => Error::new(Cause::Auth, shown(message)),
        ErrorKind::Io(e) => of_io(e),
        ErrorKind::ServerSelection { message, .. } => of_selection(message),
        ErrorKind::DnsResolve { message, .. } => Error::new(Cause::Dns, shown(message)),
        ErrorKind::InvalidTlsConfig { message, .. } => Error::new(Cause::Tls, shown(message)),
        // It waited for a connection, or was interrupted on one.
        ErrorKind::ConnectionPoolCleared { message, .. } if message.contains("interrupted") => {
            Error::new(Cause::Connect, shown(message)).applied(Applied::Maybe)
        }
        ErrorKind::ConnectionPoolCleared { message, .. } => of_selection(message),
        ErrorKind::InvalidResponse { message, .. } => {
            Error::new(Cause::Protocol, shown(message)).applied(Applied::Maybe)
        }
        ErrorKind::InvalidArgument { message, .. } => Error::new(Cause::Client, shown(message)),
        ErrorKind::IncompatibleServer { message, .. } => Error::new(Cause::Server, shown(message)).action(Action::Stop),
        _ => Error::new(Cause::Protocol, shown(&error.to_string())).applied(Applied::Maybe),
    }
}

/// A connection that broke: when, the driver does not tell.
fn of_io(error: &io::Error) -> Error {
    let ours = error.raw_os_error().is_some_and(|code| NO_FILES_LEFT.contains(&code))
        || matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::OutOfMemory);
    let refused = error.kind() == io::ErrorKind::ConnectionRefused;
    let applied = if ours || refused { Applied::No } else { Applied::Maybe };
    if ours {
        return Error::new(Cause::Client, error).action(Action::DiscardWriter).applied(applied);
    }
    let refusal = tls_refusal(&error.to_string());
    match refusal {
        Some(refusal) => Error::new(Cause::Tls, refusal),
        None => Error::new(Cause::Connect, shown(&error.to_string())).applied(applied),
    }
}

/// No server could be asked: the text tells why, and nothing was sent.
fn of_selection(message: &str) -> Error {
    let address = first_address(message);
    let message = first_failure(message);
    if let Some(refusal) = tls_refusal(message) {
        return Error::new(Cause::Tls, refusal);
    }
    let text = message.to_lowercase();
    if text.contains("failed to lookup address") || text.contains("name or service not known") {
        return Error::new(Cause::Dns, shown(&format!("{}{message}", address.unwrap_or_default())));
    }
    let of_files = text.contains("too many open files");
    Error::new(if of_files { Cause::Client } else { Cause::Connect }, shown(message)).action(Action::DiscardWriter)
}

/// Of a description of all servers, where the first of them should be, as the beginning of a message.
fn first_address(message: &str) -> Option<String> {
    let (address, _) = message.split_once("Address: ")?.1.split_once(',')?;
    Some(format!("{address}: "))
}

/// Of a description of all servers, why the first of them could not be reached.
fn first_failure(message: &str) -> &str {
    let failure = message.split_once("Error: ").map_or(message, |(_, failure)| failure);
    let failure = failure.strip_prefix("Kind: ").unwrap_or(failure);
    failure.split_once(", labels: ").map_or(failure, |(failure, _)| failure)
}

/// What is said of a certificate, or of a server that does not encrypt, with the way out.
fn tls_refusal(message: &str) -> Option<String> {
    let text = message.to_lowercase();
    let words = ["certificate", "corrupt message", "invalidcontenttype", "handshake", "unknownissuer"];
    // A mongod that does not encrypt ends the connection when it sees the beginning of a handshake.
    let silent = text.contains("tls handshake eof");
    if silent {
        return Some(shown("the server does not encrypt: set it to, or write ?tls=false on a network you trust"));
    }
    words.iter().any(|word| text.contains(word)).then(|| with_way_out(&shown(message)))
}

/// What an error of the server means, by its number.
/// <https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml>
pub(crate) fn of_code(code: i32, name: &str, message: &str) -> Error {
    let text = shown(&format!("{message} ({code} {name})"));
    if message.contains("No space left on device") {
        return Error::new(Cause::Full, format!("{text}: make room on the server's disk"));
    }
    match code {
        // Unauthorized, AuthenticationFailed, and what a cloud says.
        13 | 18 | 8000 => Error::new(Cause::Auth, text),
        // Keys that are there, documents that a validator refuses, and such as are too large or malformed.
        11000 | 11001 | 121 | 10334 | 17419 | 17420 | 2 | 9 | 14 | 22 => Error::new(Cause::Data, text),
        14031 => Error::new(Cause::Full, text),
        // What had begun may hold or not.
        91 | 189 | 11600 | 11602 | 279 => Error::new(Cause::Connect, text).applied(Applied::Maybe),
        // Not the primary: nothing was done.
        10107 | 13435 | 13436 | 10058 => Error::new(Cause::Connect, text),
        462 | 202 => Error::new(Cause::Throttled { retry_after: None }, text),
        // MaxTimeMSExpired, ExceededTimeLimit, Interrupted: a part may have been done.
        50 | 262 | 11601 => Error::new(Cause::Server, text).applied(Applied::Maybe),
        // Somebody dropped it, or put another in its place.
        26 | 361 => Error::new(Cause::Server, format!("{text}: somebody dropped it")).action(Action::Stop),
        _ => Error::new(Cause::Server, text),
    }
}

/// A server's text as it may be shown: no control characters, and not too long. It may repeat the data we sent.
fn shown(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = clean.take(MAX_CHARACTERS).collect();
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_server_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let table = [
            (13, "not authorized", Cause::Auth, Stop, Applied::No),
            (18, "Authentication failed.", Cause::Auth, Stop, Applied::No),
            (11000, "E11000 duplicate key", Cause::Data, RetryMayHelp, Applied::No),
            (121, "Document failed validation", Cause::Data, RetryMayHelp, Applied::No),
            (10334, "BSONObj size is invalid", Cause::Data, RetryMayHelp, Applied::No),
            (14031, "out of disk space", Cause::Full, Stop, Applied::No),
            (8, "28: No space left on device", Cause::Full, Stop, Applied::No),
            (10107, "not primary", Cause::Connect, DiscardWriter, Applied::No),
            (11602, "operation was interrupted", Cause::Connect, DiscardWriter, Applied::Maybe),
            (91, "shutting down", Cause::Connect, DiscardWriter, Applied::Maybe),
            (462, "rate limit", Cause::Throttled { retry_after: None }, RetryMayHelp, Applied::No),
            (262, "exceeded time limit", Cause::Server, RetryMayHelp, Applied::Maybe),
            (112, "WriteConflict", Cause::Server, RetryMayHelp, Applied::No),
            (361, "Collection UUID does not match", Cause::Server, Stop, Applied::No),
            (59, "no such command", Cause::Server, RetryMayHelp, Applied::No),
        ];
        for (code, message, cause, action, applied) in table {
            let error = of_code(code, "Name", message);
            assert_eq!((error.cause, error.action, error.applied), (cause, action, applied), "{code} {message}");
        }
    }

    #[test]
    fn failures_on_the_way_are_told_apart() {
        let of = |kind: io::ErrorKind, text: &str| classify(&DriverError::from(io::Error::new(kind, text.to_owned())));
        let reset = of(io::ErrorKind::ConnectionReset, "reset");
        assert_eq!((reset.cause, reset.applied), (Cause::Connect, Applied::Maybe));
        let refused = of(io::ErrorKind::ConnectionRefused, "refused");
        assert_eq!((refused.cause, refused.applied), (Cause::Connect, Applied::No));
        let files = classify(&DriverError::from(io::Error::from_raw_os_error(24)));
        assert_eq!((files.cause, files.applied), (Cause::Client, Applied::No));
        for (text, cause) in [
            (
                "Server selection timeout: No available servers. Topology: { Type: Unknown, Servers: [ { Address: h:1, \
                 Type: Unknown, Error: Kind: I/O error: Connection refused (os error 111), labels: {} } ] }",
                Cause::Connect,
            ),
            ("… invalid peer certificate: UnknownIssuer …", Cause::Tls),
            ("… invalid peer certificate: Expired …", Cause::Tls),
            ("… tls handshake eof …", Cause::Tls),
            ("… failed to lookup address information: Name or service not known", Cause::Dns),
            ("… Too many open files (os error 24)", Cause::Client),
        ] {
            let error = of_selection(text);
            assert_eq!((error.cause, error.applied), (cause, Applied::No), "{text}");
        }
        let all = "Servers: [ { Address: h:1, Error: Kind: I/O error: refused, labels: {} }, { Address: i:1 } ]";
        assert_eq!(of_selection(all).message, "I/O error: refused");
        let unresolved = of_selection("[ { Address: h:1, Error: Kind: failed to lookup address, labels: {} } ]");
        assert_eq!(unresolved.message, "h:1: failed to lookup address");
        assert!(of_selection("invalid peer certificate: UnknownIssuer").message.contains("the setting ca"));
        assert!(of_selection("tls handshake eof").message.contains("the server does not encrypt"));
    }

    #[test]
    fn a_servers_text_is_cut_and_cleaned() {
        let error = of_code(59, "x", &"\u{1b}[31mü\0".repeat(400));
        assert!(error.message.chars().count() < 340 && !error.message.contains(char::is_control), "{error}");
    }
}
