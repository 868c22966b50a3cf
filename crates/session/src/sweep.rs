//! The runs of a sweep, one after the other on one server, each with a fresh table and a folder of its own.

use crate::{
    broker,
    database_server::DatabaseServer,
    error::SessionError,
    event::Event,
    job::Job,
    one_run::{Done, Servers, begin, carry_out_in, finish, new_folder},
    options::SessionOptions,
};
use iotbench_engine::{Profile, StopSignal};
use iotbench_report::{Status, SweepTable};
use std::path::Path;

pub(crate) fn carry_out(
    job: &Job<'_>,
    options: &SessionOptions,
    stop: &StopSignal,
    done: &mut Vec<Done>,
) -> Result<(), SessionError> {
    // The server's death ends all of them.
    let stop = stop.of_one_run();
    let results = new_folder(job, &options.results, job.layout.name())?;
    let folder = results.path().to_owned();
    let server = DatabaseServer::start(job, options, &folder, &stop)?;
    let broker = broker::open(options, &folder, &stop)?;
    let servers = Servers { database: server.as_ref(), broker: broker.as_ref() };
    let mut all = Done { runs: Vec::with_capacity(job.runs.len()), folder, is_sweep: true };
    let ended = run_each(job, options, servers, &stop, &mut all);
    let documents: Vec<_> = all.runs.iter().map(|run| run.document.clone()).collect();
    let written = SweepTable::new(&documents).map(|table| results.write_sweep(&table)).transpose();
    done.push(all);
    if let Some(broker) = broker {
        broker.stop(options);
    }
    if let Some(server) = server {
        server.stop(job, options);
    }
    written?;
    ended
}

/// Runs one value after the other, until one of them cannot be carried out.
fn run_each(
    job: &Job<'_>,
    options: &SessionOptions,
    servers: Servers<'_>,
    stop: &StopSignal,
    done: &mut Done,
) -> Result<(), SessionError> {
    for (place, run) in job.runs.iter().enumerate() {
        if stop.ends() {
            break;
        }
        let Some(value) = value_of(run) else {
            return Err(SessionError::internal("a run of a sweep without its value"));
        };
        options.tell(&Event::SweepValue { number: place + 1, of: job.runs.len(), value });
        let folder = new_folder(job, Path::new(&done.folder), &format!("{}-{value}", job.layout))?;
        begin(&folder, job, run, options)?;
        let (mut outcome, folder) = carry_out_in(folder, job, run, options, servers, stop)?;
        if let Some(broker) = servers.broker {
            broker.note_death(&mut outcome);
        }
        if let Some(server) = servers.database {
            server.note_death(&mut outcome);
        }
        let finished = finish(folder, &outcome, options);
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
