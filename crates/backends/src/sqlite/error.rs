//! What SQLite's errors mean.

use iotbench_core::{Action, Applied, Cause, Error};
use rusqlite::{Error as Driver, ErrorCode};

/// SQLite's error as cause and action. What was applied is known to the caller alone; here it is nothing.
pub(crate) fn classify(error: &Driver) -> Error {
    match error {
        Driver::SqliteFailure(failure, _) => {
            let (cause, action) = meaning(failure.code);
            let hint = hint(failure.code);
            Error::new(cause, format!("{error}{hint}")).action(action)
        }
        Driver::ToSqlConversionFailure(_) => Error::new(Cause::Data, error),
        Driver::FromSqlConversionFailure(..) | Driver::InvalidColumnType(..) | Driver::IntegralValueOutOfRange(..) => {
            Error::new(Cause::Protocol, error)
        }
        _ => Error::new(Cause::Client, error),
    }
}

fn meaning(code: ErrorCode) -> (Cause, Action) {
    use ErrorCode as C;
    match code {
        C::CannotOpen | C::ReadOnly => (Cause::Connect, Action::Stop),
        C::NotADatabase | C::DatabaseCorrupt => (Cause::Server, Action::Stop),
        C::PermissionDenied | C::AuthorizationForStatementDenied => (Cause::Auth, Action::Stop),
        C::OperationInterrupted => (Cause::TimedOut, Action::DiscardWriter),
        C::DiskFull => (Cause::Full, Action::Stop),
        C::SystemIoFailure => (Cause::Server, Action::DiscardWriter),
        C::DatabaseBusy | C::DatabaseLocked | C::SchemaChanged | C::OperationAborted => {
            (Cause::Server, Action::RetryMayHelp)
        }
        C::ConstraintViolation | C::TypeMismatch | C::TooBig | C::ParameterOutOfRange => {
            (Cause::Data, Action::RetryMayHelp)
        }
        C::OutOfMemory | C::ApiMisuse | C::NoLargeFileSupport => (Cause::Client, Action::Stop),
        _ => (Cause::Server, Action::RetryMayHelp),
    }
}

fn hint(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::CannotOpen => ": does its folder exist, and may it be written?",
        ErrorCode::ReadOnly => ": the file or its folder may not be written",
        ErrorCode::NotADatabase => ": give a SQLite file, or the name of one that does not exist",
        ErrorCode::DatabaseBusy => ": another program holds its lock; see the setting busy_timeout_ms",
        ErrorCode::DiskFull => ": make room on its disk",
        _ => "",
    }
}

/// Whether a failed commit may be found committed all the same: a disk that failed to flush may hold it.
pub(crate) fn applied_by_failed_commit(error: &Driver) -> Applied {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => Applied::Maybe,
        _ => Applied::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn every_kind_of_failure_has_its_cause_and_action() {
        let table = [
            (ffi::SQLITE_CANTOPEN, Cause::Connect, Action::Stop),
            (ffi::SQLITE_READONLY, Cause::Connect, Action::Stop),
            (ffi::SQLITE_NOTADB, Cause::Server, Action::Stop),
            (ffi::SQLITE_CORRUPT, Cause::Server, Action::Stop),
            (ffi::SQLITE_PERM, Cause::Auth, Action::Stop),
            (ffi::SQLITE_AUTH, Cause::Auth, Action::Stop),
            (ffi::SQLITE_INTERRUPT, Cause::TimedOut, Action::DiscardWriter),
            (ffi::SQLITE_FULL, Cause::Full, Action::Stop),
            (ffi::SQLITE_IOERR_FSYNC, Cause::Server, Action::DiscardWriter),
            (ffi::SQLITE_BUSY, Cause::Server, Action::RetryMayHelp),
            (ffi::SQLITE_BUSY_SNAPSHOT, Cause::Server, Action::RetryMayHelp),
            (ffi::SQLITE_LOCKED, Cause::Server, Action::RetryMayHelp),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, Cause::Data, Action::RetryMayHelp),
            (ffi::SQLITE_MISMATCH, Cause::Data, Action::RetryMayHelp),
            (ffi::SQLITE_TOOBIG, Cause::Data, Action::RetryMayHelp),
            (ffi::SQLITE_NOMEM, Cause::Client, Action::Stop),
            (ffi::SQLITE_ERROR, Cause::Server, Action::RetryMayHelp),
        ];
        for (code, cause, action) in table {
            let error = classify(&Driver::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!((error.cause, error.action, error.applied), (cause, action, Applied::No), "code {code}");
        }
    }

    #[test]
    fn failures_of_the_driver_are_told_from_those_of_the_database() {
        let type_error = Driver::InvalidColumnType(0, "a".into(), rusqlite::types::Type::Blob);
        assert_eq!(classify(&type_error).cause, Cause::Protocol);
        assert_eq!(classify(&Driver::InvalidQuery).cause, Cause::Client);
        assert_eq!(classify(&Driver::ToSqlConversionFailure("no".into())).cause, Cause::Data);
    }

    #[test]
    fn only_a_failed_flush_leaves_a_commit_in_doubt() {
        let failure = |code| Driver::SqliteFailure(ffi::Error::new(code), None);
        assert_eq!(applied_by_failed_commit(&failure(ffi::SQLITE_IOERR_FSYNC)), Applied::Maybe);
        assert_eq!(applied_by_failed_commit(&failure(ffi::SQLITE_BUSY)), Applied::No);
        assert_eq!(applied_by_failed_commit(&failure(ffi::SQLITE_FULL)), Applied::No);
    }
}
