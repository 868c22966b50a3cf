//! What a run takes at most, in words, before it begins: time and disk.

use crate::{
    error::SessionError,
    job::{Job, Place},
    machine::room,
    options::SessionOptions,
    plan_text,
};
use iotbench_engine::{
    DiskBound, Forecast, MAX_DRIFT_REPEATS_OF_A_SEARCH, MAX_REPEATS, MIN_FREE_BYTES, Plan, Planned, RampPlan, RampRoom,
    Rounds, Span,
};
use iotbench_report::{decimal_size as size, figure::count};
use serde::Serialize;
use std::time::Duration;

/// What is expected of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Expected {
    /// How long its load takes at most, in seconds.
    pub load_s: f64,
    /// The datapoints that it writes at most; none: not bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points_at_most: Option<u64>,
    /// How long it takes.
    pub time: String,
    /// How much it stores.
    pub disk: String,
    /// What each request carries.
    pub requests: Vec<String>,
}

/// A plan with what is expected of it.
#[derive(Clone, Debug, Serialize)]
pub struct ExpectedPlan {
    /// The plan.
    #[serde(flatten)]
    pub plan: Plan,
    /// What is expected of it.
    pub expected: Expected,
}

/// The plans of every run of these jobs.
///
/// # Errors
/// One cannot be planned.
pub fn expected_plans(jobs: &[Job<'_>], options: &SessionOptions) -> Result<Vec<ExpectedPlan>, SessionError> {
    let plans = jobs.iter().map(|job| plans_of(job, "dry-run", options)).collect::<Result<Vec<_>, _>>()?;
    Ok(plans.into_iter().flatten().collect())
}

fn plans_of(job: &Job<'_>, run_id: &str, options: &SessionOptions) -> Result<Vec<ExpectedPlan>, SessionError> {
    let with_expected = |planned: Result<Planned, SessionError>| {
        let planned = planned?;
        Ok(ExpectedPlan { expected: Expected::new(job, &planned, options), plan: planned.plan })
    };
    job.plans(run_id, &Place::nowhere()).map(with_expected).collect()
}

/// What the runs of these jobs take at most, as lines: of each job's the greatest, and the time of all together. Each is run
/// `rounds` times.
///
/// # Errors
/// One cannot be planned.
pub fn expected_in_words(jobs: &[Job<'_>], rounds: u32, options: &SessionOptions) -> Result<Vec<String>, SessionError> {
    let repeated = rounds as usize;
    let (mut lines, mut runs, mut load_s) = (Vec::new(), 0, 0.0);
    for job in jobs {
        let plans = plans_of(job, "expected", options)?;
        runs += repeated * plans.len();
        load_s += f64::from(rounds) * plans.iter().map(|one| one.expected.load_s).sum::<f64>();
        let which = match (plans.len(), repeated) {
            (1, 1) => String::new(),
            (1, n) => format!(", each of {n} runs"),
            (values, n) => format!(", the greatest of {} runs", values * n),
        };
        let expected = plans.iter().map(|one| &one.expected);
        let greatest = expected.max_by_key(|one| one.points_at_most.unwrap_or(u64::MAX));
        lines.extend(
            greatest.map(|Expected { time, disk, .. }| format!("{}{which}: time: {time}; disk: {disk}", job.title())),
        );
    }
    if runs > 1 {
        lines.push(format!("all {runs} runs: load about {load_s:.0} s in all"));
    }
    Ok(lines)
}

impl Expected {
    fn new(job: &Job<'_>, planned: &Planned, options: &SessionOptions) -> Self {
        let forecast = planned.plan.forecast(&*planned.dataset);
        Self {
            load_s: Duration::from_nanos(forecast.load_ns).as_secs_f64(),
            points_at_most: forecast.points(),
            time: time(&planned.plan, &forecast),
            disk: disk(job, planned, &forecast, options),
            requests: plan_text::requests(&planned.plan),
        }
    }
}

fn span(ns: u64) -> Span {
    Span(Duration::from_nanos(ns))
}

/// What comes before a step counts.
fn rounds(plan: &Plan) -> String {
    let rounds = plan.rounds();
    let said =
        |rounds: Rounds| format!(" and up to {} rounds of {} until its rate is steady", rounds.most, rounds.length());
    rounds.map(said).unwrap_or_default()
}

/// That a step may be run again.
fn again(plan: &Plan) -> String {
    let disturbed = (plan.phases.others_cpu < 1.0)
        .then(|| format!(", and each up to {MAX_REPEATS} times again where other programs disturb it"));
    let drifted = plan
        .not_probed
        .is_none()
        .then(|| format!(", and {MAX_DRIFT_REPEATS_OF_A_SEARCH} of them again where the storage drifts meanwhile"));
    disturbed.into_iter().chain(drifted).collect()
}

fn time(plan: &Plan, forecast: &Forecast) -> String {
    let phases = &plan.phases;
    let load = span(forecast.load_ns);
    let load = match (forecast.steps, phases.run_deadline_ns) {
        (Some(_), Some(most)) => format!("load about {load}, at most {}", span(most)),
        (Some((steps, step_ns)), None) => format!(
            "load about {load}, at most {steps} steps of {} and before each {} for the answers of the one before{}{}",
            span(step_ns),
            span(phases.deadline_ns.saturating_mul(2)),
            rounds(plan),
            again(plan),
        ),
        (None, _) => format!("load at most {load}"),
    };
    let before = match forecast.history_points {
        0 => String::new(),
        points => format!("before it a history of {} datapoints, as fast as the database takes it; ", count(points)),
    };
    format!(
        "{before}{load}, then at most {} for late answers, and to settle and to count at most {} each",
        span(phases.drain_ns),
        span(phases.settle_ns)
    )
}

fn disk(job: &Job<'_>, planned: &Planned, forecast: &Forecast, options: &SessionOptions) -> String {
    let plan = &planned.plan;
    if !job.backend.info().capabilities.stores {
        return format!("{} stores nothing", plan.backend);
    }
    let room = room(job, options);
    let room = room
        .map_or_else(|| "how much room there is, its machine knows".into(), |free| format!("{} are free", size(free)));
    let data = |points: u64| format!("{} datapoints, {} as plain values", count(points), size(forecast.bytes(points)));
    let own = "what the database adds (indexes, logs) is its own";
    match (forecast.points(), forecast.points_per_s, &plan.ramp) {
        (Some(0), ..) => "nothing is written".into(),
        (Some(points), ..) => format!("at most {}; {own}, not bounded here; {room}", data(points)),
        (None, Some(rate), Some(_)) => {
            let needed = plan.ramp_room(&*planned.dataset).map(of_ramp).unwrap_or_default();
            let needed = format!("{needed}{}", bound(plan));
            format!("{needed}; at its greatest load a second has at most {}; {room}", data(second(rate)))
        }
        _ => format!("not bounded: a closed loop without think time writes as fast as the database takes it; {room}"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and cut off at the most")]
fn second(points_per_s: f64) -> u64 {
    points_per_s.ceil() as u64
}

/// What the steps of a ramp may store.
fn of_ramp(RampRoom { certain, at_once }: RampRoom) -> String {
    let at_once = match at_once {
        Some(most) => format!("at most {} at once", size(most)),
        None => "it grows until the answer is known".into(),
    };
    format!(
        "{at_once}, the first steps up to {}, estimated by 64 bytes a datapoint and 24 a value (40 in a document, 100 as a row of \
         its own); it ends before less than {} are free",
        size(certain),
        size(MIN_FREE_BYTES)
    )
}

/// That greater loads are not tried because of the disk.
fn bound(plan: &Plan) -> String {
    let said = |(bound, ramp): (DiskBound, &RampPlan)| {
        let (most, quantity, disk) = (count(ramp.most().into()), ramp.quantity.name(), size(bound.bytes));
        format!("; more than {most} {quantity} are not tried, because they may need more than {disk} (ramp.most_disk)")
    };
    plan.disk_bound.zip(plan.ramp.as_ref()).map(said).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::read_options;
    use iotbench_engine::RampState;
    use std::path::Path;

    /// What a built-in profile on a database needs at once, and the greatest load that its search may try.
    fn at_once(options: &[&str]) -> (RampState, u64, u32) {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let (workload, _) = read_options(&options, Path::new("results")).unwrap();
        let job = &workload.jobs().unwrap()[0];
        let planned = job.plans("test", &Place::nowhere()).next().unwrap().unwrap();
        let room = planned.plan.ramp_room(&*planned.dataset).unwrap();
        (planned.plan.state, room.at_once.unwrap(), planned.plan.ramp.unwrap().most())
    }

    const MAIN: [&str; 4] = ["--profile", "pmu_write", "--backend", "sqlite"];

    #[test]
    fn the_main_job_takes_at_most_two_gib_of_disk_at_once() {
        for more in [&[][..], &["--state", "preconditioned"]] {
            let (state, bytes, most) = at_once(&[&MAIN[..], more].concat());
            assert!(state != RampState::Keep && bytes <= 2 << 30, "{more:?}: {bytes} bytes at {most} users");
            assert!(
                bytes > (2 << 30) - (4 << 20),
                "{more:?}: no more is given up than has to be: {bytes} bytes at {most}"
            );
        }
        // Of a unit 50 datapoints a second at 424 bytes, in 6 s, 2 s around them and 2 s that it had gathered, and one more.
        assert_eq!(at_once(&MAIN).2, (1 << 31) / (424 * 501));
    }

    #[test]
    fn at_the_length_of_the_study_the_main_job_may_take_what_all_its_loads_need() {
        let (_, bytes, most) = at_once(&[&MAIN[..], &["--full"]].concat());
        assert!(most == 16_384 && (16_u64 << 30..32 << 30).contains(&bytes), "{bytes} bytes at {most} users");
    }

    #[test]
    fn more_is_taken_only_where_it_is_written() {
        let (_, bytes, most) = at_once(&[&MAIN[..], &["--set", "ramp.most_disk=8GiB"]].concat());
        assert!(most == 16_384 && bytes > 2 << 30, "{bytes} bytes at {most} users");
        let (_, bytes, most) = at_once(&[&MAIN[..], &["--set", "ramp.most_disk=100MiB"]].concat());
        assert!((400..500).contains(&most) && bytes <= 100 << 20, "{bytes} bytes at {most} users");
    }
}
