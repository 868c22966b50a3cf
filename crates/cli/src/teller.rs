//! What a session tells, in words, and its runs in views.

use crate::{console, views::Views};
use iotbench_engine::{Observer, Plan, StopSignal};
use iotbench_report::answer_in_a_sentence;
use iotbench_session::{Event, SessionError, SessionObserver, StartingAt, timestamp, watch::clock};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Tells the user of a session.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// Nothing is said but what is wrong, or of the course of several runs.
    is_quiet: bool,
    views: Views,
    /// Where a run is among those of its suite; empty: it is of none.
    among: Mutex<String>,
}

impl Teller {
    pub(crate) fn new(is_quiet: bool, views: Views) -> Self {
        Self { is_quiet, views, among: Mutex::default() }
    }
}

impl SessionObserver for Teller {
    fn event(&self, event: &Event<'_>) {
        self.views.event(event);
        if let Event::SuiteRun { suite, ended, of, left_s, profile, target, run } = event {
            let left = left_s.map(|s| format!(", about {} left", minutes(s))).unwrap_or_default();
            let among = format!("suite {suite}: {ended} of {of} runs done{left}");
            console::say(&format!("\n{among}; now {profile} on {target}, run {run}"));
            *self.among.lock().unwrap_or_else(PoisonError::into_inner) = among;
            return;
        }
        if !(self.is_quiet && is_progress(event)) {
            words(event).iter().for_each(|line| console::say(line));
        }
    }

    fn of_run(&self, plan: &Plan, stop: &StopSignal) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        let among = self.among.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.views.observers(plan, &among, !self.is_quiet, stop)
    }
}

/// What `--output-format quiet` leaves out.
fn is_progress(event: &Event<'_>) -> bool {
    !matches!(event, Event::Run { .. } | Event::Warning(_) | Event::NotSaved { .. })
}

/// An event as lines.
fn words(event: &Event<'_>) -> Vec<String> {
    match event {
        Event::Starting { server, at } => vec![starting(server, *at)],
        Event::ServerKept { backend, folder, found } => {
            let next = found.then(|| "the next run starts it there; iotbench clean removes it".into());
            std::iter::once(kept(backend, folder)).chain(next).collect()
        }
        Event::DataKept { endpoints } => vec![format!("kept: {}", endpoints.join(", "))],
        Event::StartingAgents { count } => vec![format!("starting {count} agents on this machine …")],
        Event::Sampling { found } => vec![(*found).to_owned()],
        Event::Agents { names } => vec![format!("agents: {}", names.join(", "))],
        Event::Run { number, of, profile, target } => vec![format!("run {number} of {of}: {profile} on {target}")],
        Event::SweepValue { number, of, value } => vec![format!("value {number} of {of}: {value}")],
        Event::SittingWaits { session, begins, left_s } => {
            let begins = timestamp(*begins);
            vec![format!("sitting {session} begins in {left_s:.0} s, at {begins}; Ctrl-C ends, and --resume goes on")]
        }
        Event::Sitting { session, of, profile, target, after_trials } => {
            let after = after_trials.map(|trials| format!(", after {trials} trials")).unwrap_or_default();
            vec![format!("sitting {session} of {of}: {profile} on {target}{after}")]
        }
        Event::SittingInterrupted { document } => {
            vec![format!("the sitting that was interrupted: {}", answer_in_a_sentence(document))]
        }
        Event::SoFar { answers } => answers.iter().map(|answer| format!("so far: {answer}")).collect(),
        Event::Warning(warning) => vec![format!("warning: {warning}")],
        Event::NotSaved { error, document } => {
            vec![format!("error: {error}; the result follows"), document.to_json().unwrap_or_default()]
        }
        // The end of a run is its result.
        _ => Vec::new(),
    }
}

/// That a server starts, and where.
fn starting(server: &str, at: StartingAt<'_>) -> String {
    let place = match at {
        StartingAt::Fresh => String::new(),
        StartingAt::Kept(folder) => format!(" on what a run kept in {}", folder.display()),
        StartingAt::Agent(agent) => format!(" at the agent {agent}"),
        StartingAt::Port(port) => format!(" at port {port}, where nothing listens"),
    };
    format!("starting {server}{place} …")
}

/// What a user has to know of a folder that was kept.
pub(crate) fn kept(backend: &str, folder: &Path) -> String {
    let folder = folder.display();
    format!("{backend} is stopped; kept: {folder}\nstart it there: iotbench server start {backend} --folder {folder}")
}

/// A time as `m:ss`.
pub(crate) fn minutes(seconds: f64) -> String {
    clock(Duration::from_secs(Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_is_minutes_and_seconds() {
        assert_eq!((minutes(125.9), minutes(f64::NAN)), ("2:05".into(), "0:00".into()));
    }
}
