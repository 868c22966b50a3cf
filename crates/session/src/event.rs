//! What a session tells while it goes on.

use crate::error::SessionError;
use iotbench_engine::{Observer, Outcome, Plan, StopSignal};
use iotbench_report::{Document, FolderError};
use std::{path::Path, sync::Arc, time::SystemTime};

/// Something that a user of a session may want to know.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A private server, or a broker, is about to start.
    Starting {
        /// What it is called.
        server: &'a str,
        /// Where.
        at: StartingAt<'a>,
    },
    /// The private server of a database is stopped, and its folder stays.
    ServerKept {
        /// The backend.
        backend: &'a str,
        /// The folder.
        folder: &'a Path,
        /// Whether the next run finds it.
        found: bool,
    },
    /// What a run wrote stays where it is.
    DataKept {
        /// Where.
        endpoints: &'a [String],
    },
    /// Agents are about to start on this machine.
    StartingAgents {
        /// How many.
        count: usize,
    },
    /// An agent that samples, and what it found.
    Sampling {
        /// In words.
        found: &'a str,
    },
    /// The agents that make the load.
    Agents {
        /// Their names.
        names: &'a [String],
    },
    /// One of several runs begins.
    Run {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// Its profile.
        profile: &'a str,
        /// Its database.
        target: &'a str,
    },
    /// The run for a value of a sweep begins.
    SweepValue {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// The value.
        value: u64,
    },
    /// A run has ended, and its results are in its folder.
    RunEnded {
        /// The engine's own account of it.
        outcome: &'a Outcome,
        /// Its document.
        document: &'a Document,
        /// Its folder.
        folder: &'a Path,
    },
    /// A sitting begins later.
    SittingWaits {
        /// Its number, from 1.
        session: u32,
        /// When it begins.
        begins: SystemTime,
        /// How long that is from now, in seconds.
        left_s: f64,
    },
    /// A run of a sitting begins.
    Sitting {
        /// The sitting's number, from 1.
        session: u32,
        /// How many there are.
        of: u32,
        /// Its profile.
        profile: &'a str,
        /// Its database.
        target: &'a str,
        /// The trials that an earlier process made of it, where it goes on with one that was interrupted.
        after_trials: Option<usize>,
    },
    /// What a sitting that was interrupted had found.
    SittingInterrupted {
        /// Its document.
        document: &'a Document,
    },
    /// What the sittings so far tell together.
    SoFar {
        /// In a sentence for each target.
        answers: &'a [String],
    },
    /// A run of a suite begins.
    SuiteRun {
        /// The suite.
        suite: &'a str,
        /// How many of its runs have ended.
        ended: usize,
        /// How many there are.
        of: usize,
        /// How long the rest takes, in seconds, as far as it is known.
        left_s: Option<f64>,
        /// Its profile.
        profile: &'a str,
        /// Its database.
        target: &'a str,
        /// Which of its repetitions it is, from 1.
        run: u32,
    },
    /// Something went wrong that does not end the session.
    Warning(&'a str),
    /// The results of a run could not be written.
    NotSaved {
        /// Why.
        error: &'a FolderError,
        /// What would have been.
        document: &'a Document,
    },
}

/// Where a private server starts.
#[derive(Clone, Copy, Debug)]
pub enum StartingAt<'a> {
    /// In a folder of its own.
    Fresh,
    /// In the folder that an earlier run kept.
    Kept(&'a Path),
    /// Where an agent runs it.
    Agent(&'a str),
    /// At this port, where nothing listens.
    Port(u16),
}

/// Watches a session.
pub trait SessionObserver: Send + Sync {
    /// Takes an event.
    fn event(&self, _event: &Event<'_>) {}

    /// Who watches a run of this plan second by second, besides its folder. Dropped at its end.
    ///
    /// # Errors
    /// They cannot; the run does not begin.
    fn of_run(&self, _plan: &Plan, _stop: &StopSignal) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        Ok(Vec::new())
    }
}

/// An observer that looks away.
impl SessionObserver for () {}

/// Several observers, each told everything.
impl SessionObserver for Vec<Arc<dyn SessionObserver>> {
    fn event(&self, event: &Event<'_>) {
        self.iter().for_each(|observer| observer.event(event));
    }

    fn of_run(&self, plan: &Plan, stop: &StopSignal) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        let of_each = self.iter().map(|observer| observer.of_run(plan, stop)).collect::<Result<Vec<_>, _>>()?;
        Ok(of_each.into_iter().flatten().collect())
    }
}
