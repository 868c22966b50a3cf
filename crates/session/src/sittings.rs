//! Repetitions that have a time of their own each, are kept together, and can be gone on with. The sitting is the replicate: what it
//! finds is one figure, and the interval is over sittings.

mod clock;
mod course;
mod kept;
mod schedule;
mod wanted;

pub use wanted::SittingsWanted;
pub(crate) use {
    clock::{Clock, WallClock},
    kept::{are_in, begun_in},
    schedule::{Schedule, Spread},
    wanted::check_time,
};

use crate::{
    carry_out::carry_out,
    error::{SessionError, interrupted},
    event::Event,
    job::{Job, Place},
    one_run::{Done, head},
    options::SessionOptions,
    repetitions::order,
    trials::SearchHead,
};
use course::{Sittings, hold_all};
use iotbench_engine::{StopSignal, free_bytes, gravest};
use iotbench_report::{
    Document, FolderName, MIN_FREE_BYTES, ResultsFolder, SessionEnd, SessionEntry, SessionsRecord, SessionsSummary,
    Status, binary_size, open_sessions, read_document, render_sessions,
};
use jiff::{Timestamp, Unit};
use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Checks that these jobs can be held in sittings, and that there is time and room for all of them.
///
/// # Errors
/// There is not.
pub fn check_sittings(jobs: &[Job<'_>], wanted: &SittingsWanted, options: &SessionOptions) -> Result<(), SessionError> {
    if jobs.iter().any(Job::is_sweep) {
        return Err(SessionError::usage(
            "--sessions repeats one load, and this profile is a sweep: set sweep.only to one of its values",
        ));
    }
    check_time(wanted, expected_s(jobs)?)?;
    check_room(wanted.sessions, jobs.len(), &options.results)
}

/// Checks that the results of so many sittings, of so many runs each, have room.
pub(crate) fn check_room(sessions: u32, runs: usize, out: &Path) -> Result<(), SessionError> {
    let needed = MIN_FREE_BYTES.saturating_mul(u64::from(sessions)).saturating_mul(runs as u64);
    refuse_without_room(free_bytes(out), needed)
}

/// Refuses sittings whose results would not have room.
fn refuse_without_room(free: Option<u64>, needed: u64) -> Result<(), SessionError> {
    match free {
        Some(free) if free < needed => Err(SessionError::local_io(format!(
            "{} are free where the results will lie, and those of all sittings may need {}: make room, or choose another place \
             with --out",
            binary_size(free),
            binary_size(needed)
        ))),
        _ => Ok(()),
    }
}

/// How long the loads of a sitting take, where a search does not contradict itself.
fn expected_s(jobs: &[Job<'_>]) -> Result<f64, SessionError> {
    let mut sum_s = 0.0;
    for job in jobs {
        for planned in job.plans("expected", &Place::nowhere()) {
            let planned = planned?;
            sum_s += Duration::from_nanos(planned.plan.forecast(&*planned.dataset).load_ns).as_secs_f64();
        }
    }
    Ok(sum_s)
}

/// What sittings found out.
pub struct Held {
    /// What became of each.
    pub record: SessionsRecord<SearchHead>,
    /// The documents of those that have ended.
    pub documents: Vec<Document>,
    /// Their folder.
    pub folder: PathBuf,
    /// What ended them before their time.
    pub ended: Result<(), SessionError>,
    /// The signal that ended them, where it left some out.
    left_out_by: Option<i32>,
}

impl Held {
    /// The program's exit code for what they found.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        gravest(self.record.ended().map(|end| end.exit_code).chain(self.left_out_by.map(interrupted)))
    }
}

/// Holds all sittings that are left.
///
/// # Errors
/// Their folder cannot be made, read or written.
pub fn hold_sittings(
    jobs: &[Job<'_>],
    wanted: &SittingsWanted,
    options: &SessionOptions,
    stop: &StopSignal,
) -> Result<Held, SessionError> {
    let (folder, mut record) = match &wanted.kept {
        Some(kept) => open_sessions(kept)?,
        None => begin(jobs, wanted, options)?,
    };
    let documents = record.ended().map(|end| read_document(&folder.path().join(&end.folder)));
    let documents = documents.collect::<Result<Vec<_>, _>>()?;
    let mut sittings = Sitter { jobs, options, folder: &folder, documents, stop };
    sittings.keep(&mut record)?;
    let ended = hold_all(&mut record, &mut sittings, &WallClock, stop);
    let documents = sittings.documents;
    let left_out_by = stop.requested().filter(|_| record.next().is_some());
    Ok(Held { record, documents, folder: folder.path().to_owned(), ended, left_out_by })
}

/// The folder of sittings that begin now, and their record.
fn begin(
    jobs: &[Job<'_>],
    wanted: &SittingsWanted,
    options: &SessionOptions,
) -> Result<(ResultsFolder, SessionsRecord<SearchHead>), SessionError> {
    let (profile, backend) = match jobs {
        [one] => (one.profile.name.as_str(), one.backend.info().name),
        [first, ..] => (first.profile.name.as_str(), "several"),
        [] => return Err(SessionError::internal("sittings of no job")),
    };
    let now = SystemTime::now();
    let name = FolderName::new(now, profile, backend, "sessions")?;
    let folder = ResultsFolder::create(&options.results, &name)?;
    let titles: Vec<String> = jobs.iter().map(Job::title).collect();
    let heads = jobs.iter().map(|job| head_of(job, options)).collect::<Result<_, _>>()?;
    let over_s = wanted.over.map(|over| over.0.as_secs_f64());
    let order = order(jobs, wanted.sessions);
    let record = SessionsRecord::new(heads, &titles, &order, over_s, expected_s(jobs)?, timestamp(now));
    Ok((folder, record))
}

/// What is needed to go on with a job.
fn head_of(job: &Job<'_>, options: &SessionOptions) -> Result<SearchHead, SessionError> {
    let planned = job.plans("sessions", &Place::nowhere()).next();
    let planned = planned.ok_or_else(|| SessionError::internal("a job without a run"))??;
    Ok(head(job, &planned, options))
}

/// The time to the second.
#[must_use]
pub fn timestamp(time: SystemTime) -> Timestamp {
    let time = Timestamp::try_from(time).unwrap_or_default();
    time.round(Unit::Second).unwrap_or(time)
}

/// The sittings of this process.
struct Sitter<'a> {
    jobs: &'a [Job<'a>],
    options: &'a SessionOptions,
    folder: &'a ResultsFolder,
    /// Of the runs that have ended.
    documents: Vec<Document>,
    stop: &'a StopSignal,
}

impl Sittings for Sitter<'_> {
    fn waiting(&mut self, entry: &SessionEntry, begins: SystemTime, now: SystemTime) {
        let left_s = begins.duration_since(now).unwrap_or_default().as_secs_f64();
        self.options.tell(&Event::SittingWaits { session: entry.session, begins, left_s });
    }

    fn sit(
        &mut self,
        record: &SessionsRecord<SearchHead>,
        entry: &SessionEntry,
    ) -> Result<Option<SessionEnd>, SessionError> {
        let (Some(job), Some(head)) = (self.jobs.get(entry.job), record.jobs.get(entry.job)) else {
            return Err(SessionError::internal("a sitting of no job"));
        };
        let attempts = kept::Attempts::of(self.folder.path(), record, &head.plan)?;
        self.options.tell(&Event::Sitting {
            session: entry.session,
            of: record.sessions,
            profile: &job.profile.name,
            target: &entry.target,
            after_trials: attempts.resumed.as_ref().map(|resumed| resumed.trials.len()),
        });
        let options = self.options.results_in(self.folder.path()).going_on(attempts.resumed);
        let began = timestamp(SystemTime::now());
        let mut done: Vec<Done> = Vec::new();
        let ended = carry_out(job, &options, self.stop, &mut done);
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
                if let Some(run) = finished {
                    self.options.tell(&Event::SittingInterrupted { document: &run.document });
                }
                Ok(None)
            }
            (Err(error), _) => Err(error),
            (Ok(()), _) => Err(SessionError::internal("a sitting that was interrupted by nobody")),
        }
    }

    fn keep(&mut self, record: &mut SessionsRecord<SearchHead>) -> Result<(), SessionError> {
        record.summary = SessionsSummary::of(record, &self.documents);
        self.folder.write_sessions(record, &render_sessions(record, &self.documents, 100))?;
        if record.held() > 0 {
            self.options.tell(&Event::SoFar { answers: &record.summary.answers });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sittings_whose_results_have_no_room_are_refused() {
        let refused = refuse_without_room(Some(79), 80).unwrap_err();
        assert_eq!(refused.exit_code(), crate::error::exit_code::LOCAL_IO);
        assert!(refused.to_string().contains("79 B are free"), "{refused}");
        assert!(refuse_without_room(Some(80), 80).is_ok() && refuse_without_room(None, 80).is_ok());
    }
}
