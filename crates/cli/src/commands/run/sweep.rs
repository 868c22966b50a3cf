//! The runs of a sweep, one after the other on one server, each with a fresh table and a folder of its own.

use super::{
    broker,
    carry_out::{Done, Servers, begin, carry_out_in, finish, new_folder},
    database::DatabaseServer,
    options::{OutputFormat, RunArguments},
};
use crate::{console, error::CliError, job::Job};
use iotbench_engine::{Profile, StopSignal};
use iotbench_report::{Status, SweepTable};
use std::path::Path;

pub(super) fn carry_out(
    job: &Job,
    arguments: &RunArguments,
    stop: &StopSignal,
    done: &mut Vec<Done>,
) -> Result<(), CliError> {
    // The server's death ends all of them.
    let stop = stop.of_one_run();
    let results = new_folder(job, &arguments.out, job.layout.name())?;
    let folder = results.path().to_owned();
    let server = DatabaseServer::start(job, arguments, &folder, &stop)?;
    let broker = broker::open(arguments, &folder, &stop)?;
    let servers = Servers { database: server.as_ref(), broker: broker.as_ref() };
    let mut all = Done { runs: Vec::with_capacity(job.runs.len()), folder, is_sweep: true };
    let ended = run_each(job, arguments, servers, &stop, &mut all);
    let documents: Vec<_> = all.runs.iter().map(|run| run.document.clone()).collect();
    let written = SweepTable::new(&documents).map(|table| results.write_sweep(&table)).transpose();
    done.push(all);
    if let Some(broker) = broker {
        broker.stop();
    }
    if let Some(server) = server {
        server.stop(job, arguments);
    }
    written?;
    ended
}

/// Runs one value after the other, until one of them cannot be carried out.
fn run_each(
    job: &Job,
    arguments: &RunArguments,
    servers: Servers<'_>,
    stop: &StopSignal,
    done: &mut Done,
) -> Result<(), CliError> {
    for (place, run) in job.runs.iter().enumerate() {
        if stop.ends() {
            break;
        }
        let Some(value) = value_of(run) else { return Err(CliError::internal("a run of a sweep without its value")) };
        if arguments.output_format != OutputFormat::Quiet {
            console::say(&format!("value {} of {}: {value}", place + 1, job.runs.len()));
        }
        let folder = new_folder(job, Path::new(&done.folder), &format!("{}-{value}", job.layout))?;
        begin(&folder, job, run, arguments)?;
        let (mut outcome, folder) = carry_out_in(folder, job, run, arguments, servers, stop)?;
        if let Some(broker) = servers.broker {
            broker.note_death(&mut outcome);
        }
        if let Some(server) = servers.database {
            server.note_death(&mut outcome);
        }
        let finished = finish(folder, &outcome);
        let failed = finished.document.verdict.status == Status::Failed;
        done.runs.push(finished);
        if failed {
            break;
        }
    }
    Ok(())
}

/// The value of a sweep's field in one of its runs.
fn value_of(run: &Profile) -> Option<u64> {
    run.sweep.as_ref().and_then(|sweep| sweep.only.set()).map(|value| value.0)
}
