//! Suites: all runs that answer one question, one after the other, kept in one folder and gone on with.

mod cells;
mod results;
mod sittings;
mod summary;
mod words;
mod written;

pub use cells::{ReadOptions, Target};
pub use results::SuiteResults;
pub use words::read_options;
pub use written::WrittenSuite;

use crate::{
    agents::{Agents, AgentsWanted},
    carry_out::carry_out,
    error::{SessionError, interrupted},
    event::{Event, SessionObserver},
    one_run::{Done, Finished},
    options::SessionOptions,
    sittings::{Clock, SittingsWanted, WallClock},
};
use cells::targets;
use iotbench_engine::{StopSignal, gravest};
use iotbench_report::{FolderName, ResultsFolder, printable_lines, read_suite};
use iotbench_suite::{Record, Sittings, State};
use sittings::SittingTimes;
use std::{
    path::Path,
    sync::Arc,
    time::{Instant, SystemTime},
};

/// A suite as this machine would run it.
pub struct Suite {
    written: WrittenSuite,
    full: bool,
    /// How often each is run.
    runs: u32,
    sittings: Option<Sittings>,
    targets: Vec<Target>,
    /// Where it was begun.
    kept: Option<(ResultsFolder, Record)>,
}

/// How often a suite runs what, and where it leaves it.
#[derive(Clone, Copy, Debug)]
pub struct SuiteLength<'a> {
    /// The study's own lengths instead of the short form.
    pub full: bool,
    /// How often each is run; `None`: as the suite says.
    pub runs: Option<u32>,
    /// Sittings, each of which runs all of it once, instead of repetitions.
    pub sittings: Option<&'a SittingsWanted>,
    /// Where its folder is made.
    pub results: &'a Path,
}

impl Suite {
    /// A suite that begins, checked.
    ///
    /// # Errors
    /// One of its runs cannot be planned, or there is no time or room for all of them.
    pub fn new(
        written: WrittenSuite,
        length: SuiteLength<'_>,
        read: &ReadOptions<'_>,
        agents: &AgentsWanted,
    ) -> Result<Self, SessionError> {
        let SuiteLength { full, runs, sittings, results } = length;
        let targets = targets(&written, full, read, agents)?;
        let runs = sittings.map(|wanted| wanted.sessions).or(runs).unwrap_or(written.file.runs);
        let sittings = sittings::wanted(sittings, &targets, results)?;
        Ok(Self { written, full, runs, sittings, targets, kept: None })
    }

    /// The suite that was begun in a folder.
    ///
    /// # Errors
    /// It is no such folder, or one of its runs cannot be planned.
    pub fn resume(folder: &Path, read: &ReadOptions<'_>, agents: &AgentsWanted) -> Result<Self, SessionError> {
        let (folder, text, record) = read_suite(folder)?;
        let written = WrittenSuite::of_folder(folder.path(), text)?;
        let targets = targets(&written, record.full, read, agents)?;
        let (full, runs) = (record.full, written.file.runs);
        Ok(Self { written, full, runs, sittings: None, targets, kept: Some((folder, record)) })
    }

    /// What it would run, in its order.
    #[must_use]
    pub fn planned(&self) -> Record {
        self.record(self.runs)
    }

    fn record(&self, runs: u32) -> Record {
        let entries: Vec<_> = self.targets.iter().map(Target::entry).collect();
        Record::new(&self.written.file.name, self.full, &entries, runs, self.written.file.seed)
    }

    /// Of how many of its targets agents make the load, and how many there are.
    #[must_use]
    pub fn made_by_agents(&self) -> (usize, usize) {
        let made = self.targets.iter().filter(|target| target.options.agents.load.is_some()).count();
        (made, self.targets.len())
    }

    /// The longest that all its loads take as planned, in seconds.
    ///
    /// # Errors
    /// One cannot be planned any more.
    pub fn longest_load_s(&self) -> Result<f64, SessionError> {
        let mut load_s = 0.0;
        for target in &self.targets {
            load_s += f64::from(self.runs) * target.longest_load_s()?;
        }
        Ok(load_s)
    }

    /// Makes its folder in `results`, or goes on in the one that it has.
    ///
    /// # Errors
    /// The folder cannot be made, or the one that was begun is of other runs.
    pub fn begin(mut self, results: &Path) -> Result<SuiteRuns, SessionError> {
        let (folder, record) = match self.kept.take() {
            Some((folder, record)) => {
                if !record.has_runs_of(&self.record(record.rounds().max(1))) {
                    return Err(SessionError::usage(format!(
                        "{}: these are not the runs of its suite.toml on this machine: begin anew",
                        printable_lines(&folder.path().display().to_string())
                    )));
                }
                (folder, record)
            }
            None => (self.new_folder(results)?, Record { sittings: self.sittings.take(), ..self.planned() }),
        };
        Ok(SuiteRuns { written: self.written, targets: self.targets, folder, record })
    }

    fn new_folder(&self, results: &Path) -> Result<ResultsFolder, SessionError> {
        let length = if self.full { "full" } else { "short" };
        let name = FolderName::new(SystemTime::now(), "suite", &self.written.file.name, length)?;
        let folder = ResultsFolder::create(results, &name)?;
        folder.write_suite_file(&self.written.text)?;
        Ok(folder)
    }
}

/// The runs of a suite, in its folder.
pub struct SuiteRuns {
    written: WrittenSuite,
    targets: Vec<Target>,
    folder: ResultsFolder,
    record: Record,
}

impl SuiteRuns {
    /// What became of each.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whether none of its databases can be started on this machine.
    #[must_use]
    pub fn have_no_database(&self) -> bool {
        let is_missing = |state: &State| matches!(state, State::NotAvailable { .. });
        self.record.next().is_none() && self.record.entries.iter().all(|entry| is_missing(&entry.state))
    }

    /// Carries out what is left, until `stop` is requested. A run that fails does not end the others.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn carry_out(
        &mut self,
        observer: &Arc<dyn SessionObserver>,
        agents: Option<&Agents>,
        stop: &StopSignal,
    ) -> Result<(), SessionError> {
        self.folder.write_suite_record(&self.record)?;
        let times = SittingTimes::of(&self.record, WallClock.now());
        while let Some(place) = self.record.next().filter(|_| stop.requested().is_none()) {
            let entry = &self.record.entries[place];
            if !times.wait_for(entry, &WallClock, &**observer, stop) {
                break;
            }
            let all = self.record.entries.len();
            observer.event(&Event::SuiteRun {
                suite: &self.record.suite,
                ended: all - self.record.waiting(),
                of: all,
                left_s: self.record.seconds_left(),
                profile: &entry.profile,
                target: &entry.target,
                run: entry.run,
            });
            let target = self.targets.iter().find(|target| target.is(entry));
            let target = target.ok_or_else(|| SessionError::internal("a run of no target"))?;
            let state = run(target, self.folder.path(), observer, agents, stop);
            self.record.entries[place].state = state;
            self.folder.write_suite_record(&self.record)?;
        }
        Ok(())
    }

    /// What they found out.
    ///
    /// # Errors
    /// What a run left cannot be read.
    pub fn results(&self) -> Result<SuiteResults<'_>, SessionError> {
        SuiteResults::read(&self.written.file, &self.record, self.folder.path())
    }

    /// The program's exit code for what became of them.
    #[must_use]
    pub fn exit_code(&self, stop: &StopSignal) -> u8 {
        let codes = self.record.entries.iter().map(|entry| match entry.state {
            State::Ended { exit_code, .. } | State::Failed { exit_code, .. } => exit_code,
            State::Waiting | State::NotAvailable { .. } => 0,
        });
        gravest(codes.chain(stop.requested().map(interrupted)))
    }
}

/// One run, and what became of it. One that the user interrupts is done again.
fn run(
    target: &Target,
    folder: &Path,
    observer: &Arc<dyn SessionObserver>,
    agents: Option<&Agents>,
    stop: &StopSignal,
) -> State {
    let began = Instant::now();
    let mut done = Vec::new();
    let options =
        SessionOptions { observer: Arc::clone(observer), ..target.options.results_in(folder).made_by(agents) };
    let ended = carry_out(&target.job, &options, stop, &mut done);
    if stop.requested().is_some() {
        return State::Waiting;
    }
    match ended {
        Err(error) => State::Failed { exit_code: error.exit_code(), message: error.to_string() },
        Ok(()) => State::Ended {
            folders: done.iter().map(|done| relative(done, folder)).collect(),
            exit_code: gravest(done.iter().flat_map(|done| &done.runs).map(Finished::exit_code)),
            seconds: began.elapsed().as_secs_f64(),
        },
    }
}

fn relative(done: &Done, folder: &Path) -> String {
    done.folder.strip_prefix(folder).unwrap_or(&done.folder).to_string_lossy().into_owned()
}
