//! `--sessions N`: runs of `--runs` that have a time of their own each, are kept together, and can be gone on with. The sitting
//! is the replicate: what it finds is one figure, and the interval is over sittings.

mod clock;
mod course;
mod kept;
mod options;
mod schedule;

pub(super) use kept::{Kept, goes_on};
pub(super) use options::SessionsArguments;
pub(in crate::commands) use {
    clock::{Clock, WallClock},
    options::check_time,
    schedule::{Schedule, Spread},
};

use super::{
    Resumed,
    carry_out::{Done, carry_out, head},
    options::{OutputFormat, RunArguments},
    repetitions,
};
use crate::{
    console,
    error::CliError,
    job::{Job, Place},
};
use course::{Sittings, hold_all};
use iotbench_engine::{StopSignal, free_bytes, gravest};
use iotbench_report::{
    Document, FolderName, MIN_FREE_BYTES, ResultsFolder, SearchHead, SessionEnd, SessionEntry, SessionsRecord,
    SessionsSummary, Status, answer_in_a_sentence, read_document, render_sessions,
};
use jiff::{Timestamp, Unit};
use std::{
    path::Path,
    time::{Duration, SystemTime},
};

/// Checks what does not go with sittings.
pub(super) fn check(arguments: &RunArguments) -> Result<(), CliError> {
    if arguments.sessions.wanted().is_none() {
        return Ok(());
    }
    let unfit = [
        (arguments.runs > 1, "--runs", "a sitting is a run, and --sessions says how many there are"),
        (arguments.keep, "--keep", "it leaves what the next sitting would begin with"),
        (arguments.baseline.is_some(), "--baseline", "compare the folder of the sittings afterwards: iotbench compare"),
        (
            arguments.has_via(),
            "--via",
            "sittings through a broker are not built: --runs makes them one after the other",
        ),
    ];
    match unfit.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, option, why)) => Err(CliError::usage(format!("{option} does not go with --sessions: {why}"))),
        None => Ok(()),
    }
}

/// Checks that these jobs can be held in sittings, and that there is time and room for all of them.
pub(super) fn check_jobs(jobs: &[Job], arguments: &RunArguments) -> Result<(), CliError> {
    let Some(sessions) = arguments.sessions.wanted() else { return Ok(()) };
    if jobs.iter().any(Job::is_sweep) {
        return Err(CliError::usage(
            "--sessions repeats one load, and this profile is a sweep: set sweep.only to one of its values",
        ));
    }
    check_time(Some(sessions), arguments.sessions.over, expected_s(jobs)?)?;
    check_room(sessions, jobs.len(), &arguments.out)
}

/// Checks that the results of so many sittings, of so many runs each, have room.
pub(in crate::commands) fn check_room(sessions: u32, runs: usize, out: &Path) -> Result<(), CliError> {
    let needed = MIN_FREE_BYTES.saturating_mul(u64::from(sessions)).saturating_mul(runs as u64);
    refuse_without_room(free_bytes(out), needed)
}

/// Refuses sittings whose results would not have room.
fn refuse_without_room(free: Option<u64>, needed: u64) -> Result<(), CliError> {
    match free {
        Some(free) if free < needed => Err(CliError::local_io(format!(
            "{} are free where the results will lie, and those of all sittings may need {}: make room, or choose another place \
             with --out",
            indicatif::BinaryBytes(free),
            indicatif::BinaryBytes(needed)
        ))),
        _ => Ok(()),
    }
}

/// How long the loads of a sitting take, where a search does not contradict itself.
fn expected_s(jobs: &[Job]) -> Result<f64, CliError> {
    let mut sum_s = 0.0;
    for job in jobs {
        for planned in job.plans("expected", &Place::nowhere()) {
            let planned = planned?;
            sum_s += Duration::from_nanos(planned.plan.forecast(&*planned.dataset).load_ns).as_secs_f64();
        }
    }
    Ok(sum_s)
}

/// Holds all sittings that are left, prints what they tell together, and gives the exit code.
pub(super) fn carry_out_all(
    jobs: &[Job],
    arguments: &RunArguments,
    kept: Option<&Kept>,
    stop: &StopSignal,
) -> Result<u8, CliError> {
    let (folder, mut record) = match kept {
        Some(kept) => kept.open()?,
        None => begin(jobs, arguments)?,
    };
    let documents = record.ended().map(|end| read_document(&folder.path().join(&end.folder)));
    let documents = documents.collect::<Result<Vec<_>, _>>()?;
    let mut sittings = Sitter { jobs, arguments, folder: &folder, documents, stop };
    sittings.keep(&mut record)?;
    let ended = hold_all(&mut record, &mut sittings, &WallClock, stop);
    print(&record, &sittings.documents, folder.path(), arguments.output_format)?;
    if record.next().is_some() {
        let path = console::printable(&folder.path().display().to_string());
        console::say(&format!(
            "{} of {} sittings; go on with: iotbench run --resume {path}",
            record.held(),
            record.sessions
        ));
    }
    ended?;
    let interrupted = stop.requested().filter(|_| record.next().is_some());
    let interrupted = interrupted.map(|signal| u8::try_from(128 + signal).unwrap_or(130));
    Ok(gravest(record.ended().map(|end| end.exit_code).chain(interrupted)))
}

/// The folder of sittings that begin now, and their record.
fn begin(jobs: &[Job], arguments: &RunArguments) -> Result<(ResultsFolder, SessionsRecord), CliError> {
    let (profile, backend) = match jobs {
        [one] => (one.profile.name.as_str(), one.backend.info().name),
        [first, ..] => (first.profile.name.as_str(), "several"),
        [] => return Err(CliError::internal("sittings of no job")),
    };
    let now = SystemTime::now();
    let name = FolderName::new(now, profile, backend, "sessions")?;
    let folder = ResultsFolder::create(&arguments.out, &name)?;
    let titles: Vec<String> = jobs.iter().map(Job::title).collect();
    let heads = jobs.iter().map(|job| head_of(job, arguments)).collect::<Result<_, _>>()?;
    let over_s = arguments.sessions.over.map(|over| over.0.as_secs_f64());
    let order = repetitions::order(jobs, arguments);
    let record = SessionsRecord::new(heads, &titles, &order, over_s, expected_s(jobs)?, timestamp(now));
    Ok((folder, record))
}

/// What is needed to go on with a job.
fn head_of(job: &Job, arguments: &RunArguments) -> Result<SearchHead, CliError> {
    let planned = job.plans("sessions", &Place::nowhere()).next();
    let planned = planned.ok_or_else(|| CliError::internal("a job without a run"))??;
    Ok(head(job, &planned, arguments))
}

/// That a sitting begins later.
pub(in crate::commands) fn waiting_line(session: u32, begins: SystemTime, left_s: f64) -> String {
    let begins = timestamp(begins);
    format!("sitting {session} begins in {left_s:.0} s, at {begins}; Ctrl-C ends, and --resume goes on")
}

/// The time to the second.
pub(in crate::commands) fn timestamp(time: SystemTime) -> Timestamp {
    let time = Timestamp::try_from(time).unwrap_or_default();
    time.round(Unit::Second).unwrap_or(time)
}

/// The sittings of this process.
struct Sitter<'a> {
    jobs: &'a [Job],
    arguments: &'a RunArguments,
    folder: &'a ResultsFolder,
    /// Of the runs that have ended.
    documents: Vec<Document>,
    stop: &'a StopSignal,
}

impl Sittings for Sitter<'_> {
    fn waiting(&mut self, entry: &SessionEntry, begins: SystemTime, now: SystemTime) {
        if !self.arguments.is_quiet() {
            let left = begins.duration_since(now).unwrap_or_default().as_secs_f64();
            console::say(&waiting_line(entry.session, begins, left));
        }
    }

    fn sit(&mut self, record: &SessionsRecord, entry: &SessionEntry) -> Result<Option<SessionEnd>, CliError> {
        let (Some(job), Some(head)) = (self.jobs.get(entry.job), record.jobs.get(entry.job)) else {
            return Err(CliError::internal("a sitting of no job"));
        };
        let attempts = kept::Attempts::of(self.folder.path(), record, &head.plan)?;
        if !self.arguments.is_quiet() {
            let after = attempts.resumed.as_ref().map(|resumed| format!(", after {} trials", resumed.trials.len()));
            let (session, all, target) = (entry.session, record.sessions, &entry.target);
            console::say(&format!(
                "sitting {session} of {all}: {} on {target}{}",
                job.profile.name,
                after.unwrap_or_default()
            ));
        }
        let arguments = self.arguments.results_in(self.folder.path()).going_on(attempts.resumed);
        let began = timestamp(SystemTime::now());
        let mut done: Vec<Done> = Vec::new();
        let ended = carry_out(job, &arguments, self.stop, &mut done);
        let finished = done.into_iter().flat_map(|done| done.runs).next();
        match (ended, finished) {
            (Ok(()), Some(run)) if run.document.verdict.status != Status::Aborted => {
                let end = SessionEnd {
                    folder: kept::name_of(&run.folder),
                    interrupted: attempts.folders,
                    began: began.to_string(),
                    ended: timestamp(SystemTime::now()).to_string(),
                    exit_code: run.exit_code(),
                };
                self.documents.push(run.document);
                Ok(Some(end))
            }
            (_, finished) if self.stop.requested().is_some() => {
                if let Some(run) = finished.filter(|_| !self.arguments.is_quiet()) {
                    console::say(&format!("the sitting that was interrupted: {}", answer_in_a_sentence(&run.document)));
                }
                Ok(None)
            }
            (Err(error), _) => Err(error),
            (Ok(()), _) => Err(CliError::internal("a sitting that was interrupted by nobody")),
        }
    }

    fn keep(&mut self, record: &mut SessionsRecord) -> Result<(), CliError> {
        record.summary = SessionsSummary::of(record, &self.documents);
        self.folder.write_sessions(record, &render_sessions(record, &self.documents, 100))?;
        if record.held() > 0 && !self.arguments.is_quiet() {
            record.summary.answers.iter().for_each(|answer| console::say(&format!("so far: {answer}")));
        }
        Ok(())
    }
}

fn print(record: &SessionsRecord, documents: &[Document], folder: &Path, format: OutputFormat) -> Result<(), CliError> {
    let path = console::printable(&folder.display().to_string());
    match format {
        OutputFormat::Quiet => console::print(&format!("{path}\n")),
        OutputFormat::Json => {
            let text = serde_json::to_string_pretty(record).map_err(CliError::internal)?;
            console::print(&format!("{text}\n"))
        }
        OutputFormat::Text => {
            console::print(&format!("{}\nresults: {path}\n", render_sessions(record, documents, 100).trim_end()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sittings_whose_results_have_no_room_are_refused() {
        let refused = refuse_without_room(Some(79), 80).unwrap_err();
        assert_eq!(refused.code(), crate::error::LOCAL_IO);
        assert!(refused.to_string().contains("79 B are free"), "{refused}");
        assert!(refuse_without_room(Some(80), 80).is_ok() && refuse_without_room(None, 80).is_ok());
    }
}
