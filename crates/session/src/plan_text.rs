//! A plan in words.

use iotbench_engine::{Course, GroupPlan, Load, OperationPlan, Payload, Plan, Planned, RampPlan, Span, StopPlan};
use std::time::Duration;

/// What the first of so many runs means: the name of each part, and the part in words.
#[must_use]
pub fn plan_in_words(planned: &Planned, runs: usize) -> Vec<[String; 2]> {
    let plan = &planned.plan;
    let mut rows = vec![row("data", data(planned))];
    rows.extend(plan.groups.iter().map(|g| row(&g.name, group(g))));
    rows.extend(plan.ramp.as_ref().map(|r| row("ramp", ramp(r))));
    rows.extend(
        plan.sweep.as_ref().map(|s| row("sweep", format!("{runs} runs, this one of {} = {}", s.field, s.value))),
    );
    rows.extend(plan.scenario.iter().map(|a| row("scenario", format!("at {}: {a}", span(a.at_ns)))));
    rows.push(row("stop", stop(&plan.stop)));
    rows.push(row("phases", phases(plan)));
    rows.extend(plan.remarks.iter().map(|remark| row("remark", remark.clone())));
    rows
}

fn row(what: &str, is: String) -> [String; 2] {
    [what.into(), is]
}

fn span(ns: u64) -> Span {
    Span(Duration::from_nanos(ns))
}

/// A number with its noun.
fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

fn data(planned: &Planned) -> String {
    let (plan, dataset) = (&planned.plan, &planned.dataset);
    let devices = counted(u64::from(plan.table.devices), "device");
    let signals = counted(dataset.schema().width() as u64, "signal");
    let period = span(dataset.period_ns().unsigned_abs());
    format!("{}: {devices} of {signals}, a datapoint every {period}; seed {}", plan.profile.dataset.name(), plan.seed)
}

fn group(group: &GroupPlan) -> String {
    let shape = if group.shape.is_constant() { String::new() } else { format!(", {}", group.shape) };
    let load = match group.load {
        Load::Closed { users, think_ns } => {
            format!("closed loop of {}, think time {}", counted(u64::from(users), "user"), span(think_ns))
        }
        Load::Open { rate, drop_above, .. } => {
            let overflow = drop_above.map_or("all wait".into(), |n| format!("dropped above {n} under way"));
            format!("{} at {rate} operations/s, {overflow}", group.load.name())
        }
        Load::PartlyOpen { rate, mean_operations, think_ns, most_sessions, .. } => {
            format!(
                "{} at {rate} sessions/s of {mean_operations} operations in the mean, think time {}, dropped above \
                 {most_sessions} at once",
                group.load.name(),
                span(think_ns)
            )
        }
        Load::Interval { devices, interval_ns, window_ns } => {
            let devices = counted(u64::from(devices), "device");
            format!("{devices} report within {} of each {}", span(window_ns), span(interval_ns))
        }
        Load::Paced { rate, queue } => {
            format!("each device offers {rate} datapoints/s to a queue of {queue}")
        }
    };
    let operations = group.operations().map(|does| operation(group, does)).collect::<Vec<_>>().join(" or ");
    let connections = counted(u64::from(group.connections), "connection");
    let devices = group.devices.as_ref().map_or_else(String::new, |own| {
        let last = own.end.saturating_sub(1);
        if own.start == last { format!("; device {last}") } else { format!("; devices {} to {last}", own.start) }
    });
    format!("{load}{shape}; {operations}; {connections}{devices}")
}

/// What each request of a plan carries, a line for each operation that writes.
pub(crate) fn requests(plan: &Plan) -> Vec<String> {
    let writing = |group: &GroupPlan| {
        let writes = group.operations().filter(|operation| operation.question().is_none());
        writes.map(|write| format!("{}: {}", group.name, operation(group, write))).collect::<Vec<_>>()
    };
    plan.groups.iter().flat_map(writing).collect()
}

fn operation(group: &GroupPlan, operation: &OperationPlan) -> String {
    let does = match group.asks(operation) {
        Some(asks) => format!("asks for {asks}"),
        None => format!("writes {}", written(operation)),
    };
    let requests = match (operation.requests, operation.transaction) {
        (1, false) => return format!("a request {does}"),
        (n, false) => counted(u64::from(n), "request"),
        (n, true) => format!("a transaction of {}", counted(u64::from(n), "request")),
    };
    let pause =
        if operation.has_pauses() { format!(", {} between two", span(operation.pause_ns)) } else { String::new() };
    format!("{requests}{pause}, each {does}")
}

/// What a request that writes carries.
fn written(operation: &OperationPlan) -> String {
    let payload = match operation.payload {
        Payload::Count(n) => counted(u64::from(n), "datapoint"),
        Payload::Second => "one second of a device".into(),
        Payload::SinceLast { window_ns } => format!("all since the last send, at most {}", span(window_ns)),
    };
    let devices = match (operation.devices, operation.payload) {
        (1, Payload::Count(1)) => String::new(),
        (1, _) => " of one device".into(),
        (n, Payload::Count(each)) => {
            format!(" of each of {n} devices, {} in all", u64::from(n) * u64::from(each))
        }
        (n, _) => format!(" of each of {n} devices"),
    };
    format!("{payload}{devices}")
}

fn ramp(ramp: &RampPlan) -> String {
    let (name, step) = (ramp.quantity.name(), span(ramp.step_ns));
    let search = match &ramp.course {
        Course::Search(search) => search,
        Course::Steps(loads) => {
            let loads = loads.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return format!("{loads} {name}, each for {step}");
        }
    };
    let then = match search.trials {
        0 => format!("then halves to {} %", search.resolution * 100.0),
        most => format!(
            "then, in random order, steps a little below and above the limit and of a load that is known to be sustained, until \
             its interval is {} % wide or there were {most}",
            search.resolution * 100.0
        ),
    };
    format!(
        "{} {name} and × {} a step of {step} until one fails (at most {}), {then}",
        search.first, search.growth, search.most,
    )
}

fn stop(stop: &StopPlan) -> String {
    let mean = stop.mean_response_ns.map(|ns| format!("mean response above {}", span(ns)));
    let quantile = stop.quantile_response.map(|(q, ns)| format!("p{} of the response above {}", q * 100.0, span(ns)));
    let shares =
        [format!("errors above {} %", stop.errors * 100.0), format!("time-outs above {} %", stop.timeouts * 100.0)];
    let loss = stop.max_loss.map(|share| format!("lost datapoints above {} %", share * 100.0));
    mean.into_iter().chain(quantile).chain(shares).chain(loss).collect::<Vec<_>>().join(", ")
}

fn phases(plan: &Plan) -> String {
    let phases = &plan.phases;
    let mut parts = Vec::new();
    if phases.preload > 0 {
        parts.push(format!("preload {} a device", counted(phases.preload, "datapoint")));
    }
    if phases.warmup_ns > 0 {
        parts.push(format!("warm up {}", span(phases.warmup_ns)));
    }
    let most = phases.operations.map(|n| format!(" or {}", counted(n, "operation"))).unwrap_or_default();
    parts.push(match &plan.ramp {
        Some(_) => "measure as long as the ramp takes".into(),
        None => format!("measure {}{most}", span(phases.duration_ns)),
    });
    parts.push(format!("an operation times out after {}", span(phases.deadline_ns)));
    parts.join(", ")
}
