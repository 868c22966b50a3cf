//! `iotbench verify RUN`.

use crate::{
    console::{self, printable_lines},
    error::{CliError, NOT_OURS},
    exit_codes::EXIT_CODES,
    form::FormArguments,
    signals,
    teller::Teller,
};
use clap::{Args, builder::FalseyValueParser};
use iotbench_backends::BACKENDS;
use iotbench_core::Registry;
use iotbench_engine::{AuditScope, ReVerified, ReVerifyError, StopSignal, cause_exit_code, re_verify};
use iotbench_report::{Audit, render_audit};
use iotbench_session::{Remains, SessionOptions, admitted, audit_of, endpoints, open_ledger};
use serde_json::json;
use std::{path::PathBuf, sync::Arc};

/// Datapoints are lost, doubled, changed or added.
const FOUND: u8 = 12;

const ANNOUNCEMENT: &str = "\nending; once more ends at once";

const EXAMPLES: &str = "\
Examples:
  iotbench run -p pmu_write --vus 50 -d 20s --keep               a run that leaves what it wrote
  iotbench verify results/20260105T100000Z-pmu_write-sqlite-wide-abcd --full
  iotbench verify results/20260105T100000Z-pmu_write-postgres-wide-abcd
                                                                 starts the server that the run kept, and stops it again
  IOTBENCH_URL=postgres://me@db/iot iotbench verify results/20260105T100000Z-pmu_write-postgres-wide-abcd

Reads back what a run left, and names every datapoint that is lost, doubled, changed or was added since. Nothing is \
changed, neither in the database nor in the folder.";

#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct VerifyArguments {
    /// The results folder of a run that was started with --keep, or was killed
    run: PathBuf,
    /// Where the database is; without it where the run left it. Repeatable for the servers of one cluster. With a password
    /// better as IOTBENCH_URL (one a line), which other users cannot see
    #[arg(long, env = "IOTBENCH_URL", hide_env_values = true, value_delimiter = '\n')]
    url: Vec<String>,
    /// Read everything, not a sample of the devices
    #[arg(long)]
    full: bool,
    /// Certificates are not checked
    #[arg(long, env = "IOTBENCH_INSECURE", value_parser = FalseyValueParser::new())]
    insecure: bool,
    #[command(flatten)]
    form: FormArguments,
}

pub(super) fn verify(arguments: &VerifyArguments) -> Result<u8, CliError> {
    // Whatever is wrong with the folder is a wrong argument.
    let ledger = open_ledger(&arguments.run).map_err(CliError::usage)?;
    let bad = |e: iotbench_engine::LedgerError| {
        CliError::usage(format!(
            "{}: {}",
            printable_lines(&arguments.run.display().to_string()),
            printable_lines(&e.to_string())
        ))
    };
    let head = ledger.head().map_err(bad)?;
    ledger.summary().map_err(bad)?;
    let backend = Registry::new(BACKENDS).find(&head.plan.backend).map_err(CliError::usage)?;
    let stop = StopSignal::default();
    signals::stop_in_order(stop.clone(), ANNOUNCEMENT)?;
    let options = SessionOptions {
        insecure: arguments.insecure,
        observer: Arc::new(Teller::default()),
        ..SessionOptions::new(arguments.run.clone())
    };
    let given = admitted(endpoints(&arguments.url)?);
    let remains = Remains::of(&arguments.run, &head, backend, given, &options, &stop)?;
    let planned = head.planned(remains.target()).map_err(refused)?;
    let scope = if arguments.full { AuditScope::Full } else { AuditScope::Sample };
    let found = re_verify(&planned, &ledger, backend, scope, &|| stop.requested().is_some());
    remains.leave(&options);
    let found = found.map_err(refused)?;
    print(&found, arguments.form.is_json())?;
    Ok(match stop.requested() {
        Some(signal) => u8::try_from(128 + signal).unwrap_or(130),
        None if found.is_clean() => 0,
        None => FOUND,
    })
}

fn print(found: &ReVerified, as_json: bool) -> Result<(), CliError> {
    let audit = Audit { delivered: found.delivered(), ..audit_of(&found.audit) };
    let (least, most) = (*found.expected.start(), *found.expected.end());
    if as_json {
        let most = (most < u64::MAX).then_some(most);
        let document = json!({
            "clean": found.is_clean(), "counted": found.counted, "expected_at_least": least, "expected_at_most": most,
            "losses_declared": found.may_lose, "audit": audit,
        });
        return console::print(&format!("{document:#}\n"));
    }
    let verdict = if found.is_clean() { "CLEAN" } else { "FOUND" };
    let expected = match most {
        _ if most == least => format!("{least}"),
        u64::MAX => format!("at least {least}"),
        _ => format!("{least} to {most}"),
    };
    let counts = format!("Counted: {} datapoints are stored, {expected} should be.", found.counted);
    console::print(&format!("{verdict}\n{counts}\n{}", render_audit(&audit, 100)))
}

fn refused(error: ReVerifyError) -> CliError {
    let text = printable_lines(&error.to_string());
    match error {
        ReVerifyError::Ledger(_) | ReVerifyError::Data(_) | ReVerifyError::Gone(_) => CliError::usage(text),
        ReVerifyError::Others(_) => CliError::with_code(NOT_OURS, text),
        ReVerifyError::Target(error) => CliError::with_code(cause_exit_code(error.cause), text),
    }
}
