//! `iotbench verify RUN`.

use crate::{console, exit_codes::EXIT_CODES, form::FormArguments, signals, teller::Teller};
use clap::{Args, builder::FalseyValueParser};
use iotbench_engine::{AuditScope, StopSignal};
use iotbench_session::{SessionError, SessionOptions, admitted, endpoints, exit_code, interrupted, verify_run};
use std::{path::PathBuf, sync::Arc};

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

pub(super) fn verify(arguments: &VerifyArguments) -> Result<u8, SessionError> {
    let options = SessionOptions {
        insecure: arguments.insecure,
        observer: Arc::new(Teller::default()),
        ..SessionOptions::new(arguments.run.clone())
    };
    let scope = if arguments.full { AuditScope::Full } else { AuditScope::Sample };
    let stop = StopSignal::default();
    signals::stop_in_order(stop.clone(), ANNOUNCEMENT)?;
    let found = verify_run(scope, admitted(endpoints(&arguments.url)?), &options, &stop)?;
    console::print(&match arguments.form.is_json() {
        true => format!("{:#}\n", found.json()),
        false => found.text(100),
    })?;
    Ok(match stop.requested() {
        Some(signal) => interrupted(signal),
        None if found.is_clean() => 0,
        None => exit_code::CORRUPT,
    })
}
