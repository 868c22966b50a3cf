//! Reading back what a run left that is over.

use crate::{
    document::audit_of,
    error::{SessionError, exit_code},
    ledger::open_ledger,
    options::SessionOptions,
    remains::Remains,
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Endpoint, Registry};
use iotbench_engine::{AuditScope, LedgerError, ReVerified, ReVerifyError, StopSignal, cause_exit_code, re_verify};
use iotbench_report::{Audit, printable_lines, render_audit};
use serde_json::{Value, json};
use std::path::Path;

/// What was found in place of what a run wrote.
pub struct Verified(ReVerified);

/// Holds what a run left in its database against the ledger in its results folder, the folder of the options. A server that the run kept is
/// started for it, and stopped again. `given`: where the user says that the database is.
///
/// # Errors
/// It is no folder of such a run, its database is not there, or there is something else in its place.
pub fn verify_run(
    scope: AuditScope,
    given: Vec<Endpoint>,
    options: &SessionOptions,
    stop: &StopSignal,
) -> Result<Verified, SessionError> {
    let run: &Path = &options.results;
    // Whatever is wrong with the folder is a wrong argument.
    let ledger = open_ledger(run).map_err(SessionError::usage)?;
    let bad = |e: LedgerError| {
        let path = printable_lines(&run.display().to_string());
        SessionError::usage(format!("{path}: {}", printable_lines(&e.to_string())))
    };
    let head = ledger.head().map_err(bad)?;
    ledger.summary().map_err(bad)?;
    let backend = Registry::new(BACKENDS).find(&head.plan.backend)?;
    let remains = Remains::of(run, &head, backend, given, options, stop)?;
    let planned = head.planned(remains.target()).map_err(refused)?;
    let found = re_verify(&planned, &ledger, backend, scope, &|| stop.requested().is_some());
    remains.leave(options);
    Ok(Verified(found.map_err(refused)?))
}

fn refused(error: ReVerifyError) -> SessionError {
    let message = printable_lines(&error.to_string());
    let exit_code = match error {
        ReVerifyError::Ledger(_) | ReVerifyError::Data(_) | ReVerifyError::Gone(_) => exit_code::USAGE,
        ReVerifyError::Others(_) => exit_code::NOT_OURS,
        ReVerifyError::Target(error) => cause_exit_code(error.cause),
    };
    SessionError::Other { message, exit_code }
}

impl Verified {
    /// Whether all is as it should be.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.0.is_clean()
    }

    /// What was read back, in the words of a document.
    #[must_use]
    pub fn audit(&self) -> Audit {
        Audit { delivered: self.0.delivered(), ..audit_of(&self.0.audit) }
    }

    /// For a terminal of so many columns.
    #[must_use]
    pub fn text(&self, columns: u16) -> String {
        let (least, most) = (*self.0.expected.start(), *self.0.expected.end());
        let verdict = if self.is_clean() { "CLEAN" } else { "FOUND" };
        let expected = match most {
            _ if most == least => format!("{least}"),
            u64::MAX => format!("at least {least}"),
            _ => format!("{least} to {most}"),
        };
        let counts = format!("Counted: {} datapoints are stored, {expected} should be.", self.0.counted);
        format!("{verdict}\n{counts}\n{}", render_audit(&self.audit(), columns))
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let (least, most) = (*self.0.expected.start(), *self.0.expected.end());
        let most = (most < u64::MAX).then_some(most);
        json!({
            "clean": self.is_clean(), "counted": self.0.counted, "expected_at_least": least, "expected_at_most": most,
            "losses_declared": self.0.may_lose, "audit": self.audit(),
        })
    }
}
