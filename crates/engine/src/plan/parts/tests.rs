//! What the parts of a plan send, held against what the whole sends: without threads and in virtual time.

use super::*;
use crate::{
    clock::RunClock,
    control::Control,
    ledger::PointRanges,
    pacer::Pace,
    plan::{PlanRequest, Planned, plan},
    profile_file::parse_profile,
    schedule::mix,
    source::{Feed, SourcesRequest},
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Batch, Due, Next, Registry, Target};
use iotbench_recorder::{OperationKind, Recorder, Requests};
use proptest::prelude::*;
use std::{path::Path, sync::Arc, time::Instant};

const MS: u64 = 1_000_000;

fn planned(devices: u32, groups: &str) -> Planned {
    planned_on("blackhole", devices, groups, "")
}

fn planned_on(backend: &str, devices: u32, groups: &str, phases: &str) -> Planned {
    let text = format!(
        "name = \"t\"\nsummary = \"t\"\ndevices = {devices}\n[dataset]\nname = \"pmu\"\nrate = 50.0\n{groups}\n\
         [phases]\nduration = \"3s\"\n{phases}"
    );
    let request = PlanRequest {
        profile: parse_profile("t.toml", &text).unwrap(),
        profile_file: "t.toml".into(),
        base: Path::new("."),
        run_id: "t".into(),
        target: Target { folder: Some("nowhere".into()), ..Target::default() },
        now_ns: 0,
    };
    plan(request, Registry::new(BACKENDS).find(backend).unwrap()).unwrap()
}

fn group(load: &str, operations: &str) -> String {
    format!("[[groups]]\nname = \"g\"\nconnections = 6\nload = {{ {load} }}\noperations = [{operations}]\n")
}

/// A datapoint that was sent: when its operation was intended to start, its device, and its index.
type Sent = (u64, u32, u64);

/// Everything that a plan sends in three seconds to a database that answers at once.
fn sent(planned: &Planned, loops: u32) -> Vec<Sent> {
    let mut all = Vec::new();
    for (number, group) in planned.plan.groups.iter().enumerate() {
        let seed = mix(planned.plan.seed, number as u64);
        each_start(planned, group, seed, loops, &mut |_, due, batch| {
            let points = batch.runs().iter().flat_map(|run| run.indices().map(|index| (run.device, index)));
            all.extend(points.map(|(device, index)| (due.intended_ns, device, index)));
        });
    }
    all.sort_unstable();
    all
}

/// Every operation that a group starts in three seconds where each is answered at once.
fn each_start(
    planned: &Planned,
    group: &GroupPlan,
    seed: u64,
    loops: u32,
    started: &mut dyn FnMut(&dyn Feed, Due, &Batch),
) {
    let operations = OperationMix::new(group, mix(seed, 1));
    let control = Arc::new(Control::new(0, None, 0, 0));
    let mut paced = Pace::default();
    let request = SourcesRequest { planned, control: &control, group, operations: &operations, first_kind: 0, seed };
    let clock = RunClock::starting_at(Instant::now());
    let sources = request.sources(loops, &mut paced).into_iter().map(|make| make(clock));
    let mut sources: Vec<Box<dyn Feed>> = sources.collect();
    let kinds: Vec<_> = group.operations().map(kind).collect();
    let mut recorder = Recorder::new(kinds.into());
    let mut batch = Batch::new(planned.dataset.schema());
    for now_ns in (0..3_000 * MS).step_by(10_000_000) {
        paced.streams.iter_mut().for_each(|stream| {
            stream.release(now_ns, &control, &mut recorder);
        });
        for source in &mut sources {
            while let Some(due) = take(&mut **source, now_ns, &mut batch) {
                started(&**source, due, &batch);
                source.complete(due, now_ns);
            }
        }
    }
}

fn kind(operation: &crate::plan::OperationPlan) -> OperationKind {
    OperationKind { name: operation.name.clone(), requests: Requests::One }
}

fn take(source: &mut dyn Feed, now_ns: u64, batch: &mut Batch) -> Option<Due> {
    batch.clear();
    match source.take(now_ns, batch) {
        Next::Due(due) => Some(due),
        Next::Wait | Next::Finished => None,
    }
}

fn ledger(sent: &[Sent]) -> PointRanges {
    let mut ranges = PointRanges::default();
    sent.iter().for_each(|&(_, device, index)| ranges.add_range(device, index..index + 1));
    ranges
}

/// Whether the parts send, each at the same time and once, what the whole does, and each its own devices' alone.
fn assert_divides(whole: &Planned, parts: u32) -> Result<(), TestCaseError> {
    let plans = match whole.plan.parts(parts) {
        Ok(plans) => plans,
        Err(PartsError::TooMany { most, .. }) => {
            prop_assert!(most < parts && whole.plan.parts(most).is_ok());
            return Ok(());
        }
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
    };
    let all = sent(whole, 2);
    prop_assert!(!all.is_empty());
    let whole_ledger = ledger(&all);
    let (mut of_parts, mut end) = (Vec::new(), 0);
    for (plan, loops) in plans.into_iter().zip(1..) {
        let devices = plan.devices.clone();
        prop_assert!(devices.start == end && devices.end > end);
        end = devices.end;
        let part = Planned { plan, ..whole.clone() };
        let of_part = sent(&part, loops);
        let own = whole_ledger.iter().filter(|(device, _)| devices.contains(device));
        let of_ledger = ledger(&of_part);
        prop_assert!(of_ledger.iter().eq(own), "the ledger of devices {:?}", devices);
        prop_assert!(!of_part.is_empty(), "devices {:?} have nobody who sends", devices);
        of_parts.extend(of_part);
    }
    prop_assert_eq!(end, whole.plan.table.devices);
    of_parts.sort_unstable();
    prop_assert_eq!(of_parts, all);
    Ok(())
}

const LOADS: [&str; 4] = [
    "model = \"closed\", users = USERS, think_time = \"200ms\"",
    "model = \"open\", rate = 200",
    "model = \"open\", rate = 200, arrival = \"poisson\"",
    "model = \"interval\", interval = \"1s\", window = \"600ms\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn parts_send_what_the_whole_sends(
        load in 0..LOADS.len(), devices in 1_u32..24, users in 1_u32..24, block in 1_u32..5, count in 1_u32..4,
        mixed in any::<bool>(), parts in 1_u32..6,
    ) {
        let block = block.min(devices);
        let write = |name: &str, count: u32, share: u32| {
            format!("{{ kind = \"write\", name = \"{name}\", share = {share}, datapoints = {count}, devices = {block} }}")
        };
        let others = if mixed { format!(", {}", write("b", count + 1, 3)) } else { String::new() };
        let operations = format!("{}{others}", write("a", count, 1));
        assert_divides(&planned(devices, &group(&LOADS[load].replace("USERS", &users.to_string()), &operations)), parts)?;
    }

    #[test]
    fn sensors_and_users_of_a_device_each_are_divided_anywhere(
        devices in 1_u32..24, paced in any::<bool>(), parts in 1_u32..6,
    ) {
        let (load, operations) = if paced {
            ("model = \"paced\"".to_owned(), "{ kind = \"write\" }")
        } else {
            (LOADS[0].replace("USERS", &devices.to_string()), "{ kind = \"write\", datapoints = \"since_last\" }")
        };
        let whole = planned(devices, &group(&load, operations));
        prop_assert_eq!(whole.plan.parts(parts).is_ok(), parts <= devices);
        assert_divides(&whole, parts)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn parts_of_several_groups_send_what_the_groups_send(
        groups in prop::collection::vec((0..LOADS.len() + 1, 1_u32..12, 1_u32..12, 1_u32..4), 2..4), parts in 1_u32..5,
    ) {
        let mut text = String::new();
        for (number, &(load, devices, users, block)) in groups.iter().enumerate() {
            let (load, block) = match LOADS.get(load) {
                Some(load) => (load.replace("USERS", &users.to_string()), block.min(devices)),
                None => ("model = \"paced\"".to_owned(), 1),
            };
            let group = group(&load, &format!("{{ kind = \"write\", datapoints = 2, devices = {block} }}"));
            text += &group.replace("\"g\"", &format!("\"g{number}\"\ndevices = {devices}"));
        }
        let whole = planned(groups.iter().map(|(_, devices, ..)| devices).sum(), &text);
        let all = sent(&whole, 2);
        prop_assert_eq!(ledger(&all).len(), all.len() as u64, "a datapoint is sent twice");
        for (group, plan) in groups.iter().zip(&whole.plan.groups) {
            let devices = whole.plan.devices_of(plan);
            prop_assert_eq!(devices.end - devices.start, group.1);
            prop_assert!(all.iter().any(|(_, device, _)| devices.contains(device)), "nobody sends for {:?}", devices);
        }
        assert_divides(&whole, parts)?;
    }
}

#[test]
fn several_groups_are_divided_where_all_can_be() {
    let closed = LOADS[0].replace("USERS", "3");
    let groups = format!(
        "{}{}",
        group("model = \"open\", rate = 100", "{ kind = \"write\", devices = 4 }")
            .replace("\"g\"", "\"g\"\ndevices = 8"),
        group(&closed, "{ kind = \"write\" }").replace("\"g\"", "\"h\"\ndevices = 24")
    );
    let whole = planned(32, &groups);
    let of = |parts| -> Vec<Range<u32>> { whole.plan.parts(parts).unwrap().into_iter().map(|p| p.devices).collect() };
    assert_eq!(of(4), [0..8, 8..16, 16..24, 24..32], "a user of three has eight devices");
    assert_eq!(of(5), [0..4, 4..8, 8..16, 16..24, 24..32], "a request has four");
    assert_eq!(whole.plan.parts(6).unwrap_err(), PartsError::TooMany { parts: 6, most: 5 });
}

#[test]
fn connections_are_divided_evenly_and_none_is_added() {
    let whole = planned(8, &group("model = \"paced\"", "{ kind = \"write\" }"));
    let connections = |parts| -> Vec<u32> {
        let parts = whole.plan.parts(parts).unwrap();
        parts.iter().map(|p| p.groups[0].connections).collect()
    };
    assert_eq!((connections(1), connections(4)), (vec![6], vec![2, 2, 1, 1]));
    let error = whole.plan.parts(7).unwrap_err();
    assert_eq!(error, PartsError::Connections { group: "g".into(), connections: 6, parts: 7 });
}

#[test]
fn what_parts_cannot_do_by_themselves_is_refused() {
    let writes = group("model = \"open\", rate = 10", "{ kind = \"write\" }");
    let whole = planned(4, &writes);
    assert_eq!(whole.plan.parts(0).unwrap_err(), PartsError::None);
    let mut counted = whole.plan.clone();
    counted.phases.operations = Some(100);
    assert_eq!(counted.parts(2).unwrap_err(), PartsError::Operations);
    let sessions = planned(4, &group("model = \"partly_open\", rate = 10", "{ kind = \"write\" }"));
    assert_eq!(sessions.plan.parts(2).unwrap_err(), PartsError::Sessions { group: "g".into() });
    assert_eq!(sessions.plan.parts(1).map(|parts| parts.len()), Ok(1));
}

/// What every user of every loop asks: when, who, and the number of what it did before.
fn asked(planned: &Planned) -> Vec<(u64, u32, u64)> {
    let mut all = Vec::new();
    for (number, group) in planned.plan.groups.iter().enumerate() {
        let seed = mix(planned.plan.seed, number as u64);
        each_start(planned, group, seed, group.connections.min(2), &mut |source, due, _| {
            let draw = source.taken().draw;
            all.push((due.intended_ns, draw.user, draw.number));
        });
    }
    all.sort_unstable();
    all
}

#[test]
fn parts_ask_together_what_the_whole_asks() {
    let reads = "{ kind = \"read_signal\", devices = 2 }";
    let closed = |users: u32, think: &str| format!("model = \"closed\", users = {users}, think_time = \"{think}\"");
    let open = |model: &str| format!("model = \"{model}\", rate = 100");
    for (load, most) in
        [closed(5, "100ms"), closed(30, "70ms"), open("open"), open("partly_open")].map(|load| (load, 4))
    {
        let whole = planned_on("sqlite", 7, &group(&load, reads), "preload = 100\n");
        let all = asked(&whole);
        assert!(all.len() > 50, "{load}");
        for parts in 2..=most {
            let plans = whole.plan.parts(parts).unwrap();
            let mut of_parts: Vec<_> =
                plans.into_iter().flat_map(|plan| asked(&Planned { plan, ..whole.clone() })).collect();
            of_parts.sort_unstable();
            assert_eq!(of_parts, all, "{load} in {parts} parts");
        }
    }
}

#[test]
fn one_who_reads_is_one_parts() {
    let one = group("model = \"closed\", users = 1, think_time = \"1s\"", "{ kind = \"read_newest\", records = 5 }");
    let whole = planned_on("sqlite", 4, &one.replace("connections = 6", "connections = 1"), "preload = 100\n");
    let parts = whole.plan.parts(2).unwrap();
    assert_eq!(parts.iter().map(|part| part.groups[0].connections).collect::<Vec<_>>(), [1, 0]);
    let of_parts: Vec<_> = parts.into_iter().map(|plan| asked(&Planned { plan, ..whole.clone() })).collect();
    assert_eq!(of_parts, [asked(&whole), Vec::new()]);
}
