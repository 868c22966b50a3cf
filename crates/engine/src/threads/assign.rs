//! Which loops a run has, and which thread drives each.

use super::history;
use crate::{
    connection::Role,
    control::Control,
    mix::OperationMix,
    pacer::{Alarm, Pace},
    plan::{GroupPlan, Load, OperationPlan, Planned},
    read::{Asker, TagGroups},
    schedule::mix,
    source::{MakeSource, SourcesRequest},
    via::{Account, WayPlan, delivered_to, writes},
};
use std::sync::Arc;

/// Of a group's seed, the number that its draw of operations begins with.
const OPERATIONS_OF_SEED: u64 = u64::MAX;
/// And that of what its reads ask.
const QUESTIONS_OF_SEED: u64 = u64::MAX - 1;

/// One loop of one group before it has a thread.
pub(super) struct LoopPlan {
    pub(super) group: u16,
    pub(super) first_kind: usize,
    pub(super) operations: OperationMix,
    pub(super) role: Role,
    pub(super) asker: Option<Arc<Asker>>,
    pub(super) connections: u32,
    pub(super) source: MakeSource,
    /// Rings at the end of a pause, where operations have some.
    pub(super) pauses: Option<Arc<Alarm>>,
    /// Whether the pacer counts what is offered.
    pub(super) pacer_offers: bool,
    /// Whether intended starts are those of a schedule.
    pub(super) has_schedule: bool,
    pub(super) has_pacing_error: bool,
}

/// The loops of each thread.
#[derive(Default)]
struct LoopsOfThreads(Vec<Vec<LoopPlan>>);

impl LoopsOfThreads {
    /// Gives a loop to a new thread while there are fewer than `most`, then to the one with the fewest connections.
    fn push(&mut self, plan: LoopPlan, most: usize) {
        let connections = |plans: &Vec<LoopPlan>| plans.iter().map(|plan| u64::from(plan.connections)).sum::<u64>();
        let is_full = self.0.len() >= most;
        match self.0.iter_mut().min_by_key(|plans| connections(plans)).filter(|_| is_full) {
            Some(plans) => plans.push(plan),
            None => self.0.push(vec![plan]),
        }
    }
}

/// Divides the groups into loops and the loops over threads: a thread for each connection where calls block, else as many
/// threads as cores. With a broker, a group that writes has a way, and its loops take what is delivered on it.
pub(super) fn assign(
    planned: &Planned,
    control: &Arc<Control>,
    blocking: bool,
    account: Option<&Arc<Account>>,
) -> (Vec<Vec<LoopPlan>>, Pace, Vec<WayPlan>) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = if blocking { usize::MAX } else { cores };
    let mut threads = LoopsOfThreads::default();
    let (mut paced, mut ways) = (Pace::default(), Vec::new());
    let mut first_kind = 0;
    let is_closed = |group: &GroupPlan| matches!(group.load, Load::Closed { .. });
    let is_granted =
        |group: &GroupPlan| matches!(group.load, Load::Open { .. } | Load::PartlyOpen { .. } | Load::Interval { .. });
    let all_closed = planned.plan.groups.iter().all(is_closed);
    for (number, group) in planned.plan.groups.iter().enumerate() {
        if group.connections == 0 {
            // Another part has them all.
            first_kind += group.operations().count();
            continue;
        }
        let seed = mix(planned.plan.seed, number as u64);
        let operations = OperationMix::new(group, mix(seed, OPERATIONS_OF_SEED));
        let loops = if blocking { group.connections as usize } else { cores.min(group.connections as usize) };
        let request = SourcesRequest { planned, control, group, operations: &operations, first_kind, seed };
        let loops_of_group = u32::try_from(loops).unwrap_or(1);
        let account = account.filter(|_| writes(group));
        let sources = match account {
            None => request.sources(loops_of_group, &mut paced),
            Some(account) => {
                let (sources, ends) = delivered_to(loops_of_group, group, account);
                let group = u16::try_from(number).unwrap_or(u16::MAX);
                let of_devices = request.sources(1, &mut paced).into_iter();
                let way = |(source, ends)| WayPlan { group, first_kind, source, ends };
                ways.extend(of_devices.zip([ends]).map(way));
                sources
            }
        };
        // What it holds of tags is found once for all loops.
        let asker = group.reads().then(|| Arc::new(asker(planned, group)));
        for (i, source) in sources.into_iter().enumerate() {
            let share = group.connections as usize / loops + usize::from(i < group.connections as usize % loops);
            let plan = LoopPlan {
                role: match &asker {
                    Some(_) if group.changes() => Role::Changes,
                    Some(_) => Role::Reads,
                    None => Role::Writes,
                },
                asker: asker.clone(),
                group: u16::try_from(number).unwrap_or(u16::MAX),
                first_kind,
                operations: operations.clone(),
                pauses: group.operations().any(OperationPlan::has_pauses).then(|| paced.new_pauses()),
                connections: u32::try_from(share).unwrap_or(1),
                source,
                pacer_offers: is_granted(group),
                has_schedule: is_granted(group),
                // Behind a broker it is the devices that keep a schedule.
                has_pacing_error: account.is_none() && (all_closed || !is_closed(group)),
            };
            threads.push(plan, most);
        }
        first_kind += group.operations().count();
    }
    (threads.0, paced, ways)
}

/// What draws the questions of a group's reads.
fn asker(planned: &Planned, group: &GroupPlan) -> Asker {
    let (plan, history) = (&planned.plan, history(planned));
    let asked_by = group.operations().filter_map(|operation| operation.question()?.whose()?.tag());
    let groups = TagGroups::new(plan.table.schema.tags(), history.devices, asked_by);
    Asker::new(history, mix(plan.seed, QUESTIONS_OF_SEED), group.draw, groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanRequest, plan};
    use iotbench_backends::BACKENDS;
    use iotbench_core::{Registry, Target};
    use std::path::Path;

    fn connections_of_threads(groups: &[u32], blocking: bool) -> Vec<Vec<u32>> {
        let mut text = "name = \"t\"\nsummary = \"t\"\n[dataset]\nname = \"pmu\"\n".to_owned();
        for (number, connections) in groups.iter().enumerate() {
            let load = "load = { model = \"open\", rate = 1 }\noperations = [{ kind = \"write\" }]";
            let devices = if groups.len() > 1 { "devices = 1\n" } else { "" };
            text += &format!("[[groups]]\nname = \"g{number}\"\nconnections = {connections}\n{devices}{load}\n");
        }
        let request = PlanRequest {
            profile: crate::profile_file::parse_profile("t.toml", &text).unwrap(),
            profile_file: "t.toml".into(),
            base: Path::new("."),
            run_id: "t".into(),
            target: Target { folder: Some("nowhere".into()), ..Target::default() },
            now_ns: 0,
        };
        let planned = plan(request, Registry::new(BACKENDS).find("blackhole").unwrap()).unwrap();
        let (threads, ..) = assign(&planned, &Arc::new(Control::new(0, None, 0, 0)), blocking, None);
        threads.iter().map(|loops| loops.iter().map(|plan| plan.connections).collect()).collect()
    }

    #[test]
    fn connections_are_spread_evenly_however_many_groups_have_them() {
        let cores = std::thread::available_parallelism().unwrap().get();
        for groups in [vec![1; 64], vec![1, 7, 1, 30], vec![5]] {
            let all: u32 = groups.iter().sum();
            let threads = connections_of_threads(&groups, false);
            assert_eq!(threads.len(), cores.min(all as usize), "{threads:?}");
            let sums: Vec<u32> = threads.iter().map(|loops| loops.iter().sum()).collect();
            assert_eq!(sums.iter().sum::<u32>(), all, "{threads:?}");
            assert!(sums.iter().max().unwrap() - sums.iter().min().unwrap() <= 1, "{threads:?}");
        }
    }

    #[test]
    fn a_connection_that_blocks_has_a_thread_of_its_own() {
        assert_eq!(connections_of_threads(&[2, 1], true), [[1], [1], [1]]);
    }
}
