//! What a run takes at most, in words, before it begins: time and disk.

use super::options::RunArguments;
use crate::{
    console,
    error::CliError,
    job::{Job, Place},
    plan_text,
    progress::grouped,
};
use iotbench_engine::{Forecast, MOST_REPEATS, Plan, Planned, Span};
use rustix::fs::statvfs;
use serde::Serialize;
use std::{path::Path, time::Duration};

/// What is expected of a run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Expected {
    /// How long its load takes at most, in seconds.
    load_s: f64,
    /// The datapoints that it writes at most; none: not bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    points_at_most: Option<u64>,
    /// How long it takes.
    time: String,
    /// How much it stores.
    disk: String,
    /// What each request carries.
    requests: Vec<String>,
}

/// A plan with what is expected of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ExpectedPlan {
    #[serde(flatten)]
    plan: Plan,
    expected: Expected,
}

/// The plans of every run of these jobs.
pub(super) fn plans(jobs: &[Job], arguments: &RunArguments) -> Result<Vec<ExpectedPlan>, CliError> {
    let nowhere = Place::nowhere();
    let planned = jobs.iter().flat_map(|job| job.plans("dry-run", &nowhere).map(move |planned| (job, planned)));
    let with_expected = planned.map(|(job, planned)| {
        let planned = planned?;
        Ok(ExpectedPlan { expected: Expected::new(job, &planned, arguments), plan: planned.plan })
    });
    with_expected.collect()
}

/// Says what the runs of these jobs take at most: of each job's the greatest, and the time of all together.
pub(super) fn say(jobs: &[Job], arguments: &RunArguments) -> Result<(), CliError> {
    if arguments.is_quiet() {
        return Ok(());
    }
    let repeated = arguments.runs as usize;
    let (mut runs, mut load_s) = (0, 0.0);
    for job in jobs {
        let nowhere = Place::nowhere();
        let expected = job.plans("expected", &nowhere).map(|planned| Ok(Expected::new(job, &planned?, arguments)));
        let expected = expected.collect::<Result<Vec<_>, CliError>>()?;
        runs += repeated * expected.len();
        load_s += f64::from(arguments.runs) * expected.iter().map(|one| one.load_s).sum::<f64>();
        let which = match (expected.len(), repeated) {
            (1, 1) => String::new(),
            (1, n) => format!(", each of {n} runs"),
            (values, n) => format!(", the greatest of {} runs", values * n),
        };
        let greatest = expected.iter().max_by_key(|one| one.points_at_most.unwrap_or(u64::MAX));
        greatest.into_iter().for_each(|one| console::say(&format!("{}{which}: {}", job.title(), one.line())));
    }
    if runs > 1 {
        console::say(&format!("all {runs} runs: load about {load_s:.0} s in all"));
    }
    Ok(())
}

impl Expected {
    fn new(job: &Job, planned: &Planned, arguments: &RunArguments) -> Self {
        let forecast = planned.plan.forecast(&*planned.dataset);
        Self {
            load_s: Duration::from_nanos(forecast.load_ns).as_secs_f64(),
            points_at_most: forecast.points(),
            time: time(&planned.plan, &forecast),
            disk: disk(job, &planned.plan, &forecast, arguments),
            requests: plan_text::requests(&planned.plan),
        }
    }

    /// In one line.
    fn line(&self) -> String {
        format!("time: {}; disk: {}", self.time, self.disk)
    }
}

fn span(ns: u64) -> Span {
    Span(Duration::from_nanos(ns))
}

/// That a step may be run again.
fn again(others_cpu: f64) -> String {
    if others_cpu >= 1.0 {
        return String::new();
    }
    format!(", and each up to {MOST_REPEATS} times again where other programs disturb it")
}

fn time(plan: &Plan, forecast: &Forecast) -> String {
    let phases = &plan.phases;
    let load = span(forecast.load_ns);
    let load = match (forecast.steps, phases.run_deadline_ns) {
        (Some(_), Some(most)) => format!("load about {load}, at most {}", span(most)),
        (Some((steps, step_ns)), None) => format!(
            "load about {load}, at most {steps} steps of {} and before each {} for the answers of the one before{}",
            span(step_ns),
            span(phases.deadline_ns.saturating_mul(2)),
            again(phases.others_cpu),
        ),
        (None, _) => format!("load at most {load}"),
    };
    let before = match forecast.history_points {
        0 => String::new(),
        points => format!("before it a history of {} datapoints, as fast as the database takes it; ", grouped(points)),
    };
    format!(
        "{before}{load}, then at most {} for late answers, and to settle and to count at most {} each",
        span(phases.drain_ns),
        span(phases.settle_ns)
    )
}

fn disk(job: &Job, plan: &Plan, forecast: &Forecast, arguments: &RunArguments) -> String {
    if !job.backend.capabilities().stores {
        return format!("{} stores nothing", plan.backend);
    }
    let room = room(job, arguments);
    let room =
        room.map_or_else(|| "how much room there is, its machine knows".into(), |free| format!("{free} are free"));
    let data =
        |points: u64| format!("{} datapoints, {} as plain values", grouped(points), size(forecast.bytes(points)));
    let own = "what the database adds (indexes, logs) is its own";
    match (forecast.points(), forecast.points_per_s, &plan.ramp) {
        (Some(0), ..) => "nothing is written".into(),
        (Some(points), ..) => format!("at most {}; {own}, not bounded here; {room}", data(points)),
        (None, Some(rate), Some(_)) => {
            format!(
                "not bounded: the answer decides; at its greatest load a second has at most {}; {own}; {room}",
                data(second(rate))
            )
        }
        _ => format!("not bounded: a closed loop without think time writes as fast as the database takes it; {room}"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and cut off at the most")]
fn second(points_per_s: f64) -> u64 {
    points_per_s.ceil() as u64
}

/// What is free where its database lies, if that is here and ours.
fn room(job: &Job, arguments: &RunArguments) -> Option<String> {
    let is_elsewhere = arguments.agents.server_at_name().is_some();
    match job.server {
        Some(_) if is_elsewhere => None,
        Some(_) => free(&std::env::temp_dir()),
        None if job.needs_folder() => free(&arguments.out),
        None => None,
    }
}

/// The room where a folder is, or will be made.
fn free(folder: &Path) -> Option<String> {
    let folder = std::path::absolute(folder).ok()?;
    let system = folder.ancestors().find_map(|folder| statvfs(folder).ok())?;
    Some(size(system.f_bavail.saturating_mul(system.f_frsize)))
}

/// A size for people, such as `12.30 MB`.
fn size(bytes: u64) -> String {
    indicatif::DecimalBytes(bytes).to_string()
}
