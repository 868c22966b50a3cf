//! The account of a process tree against a model of Linux's processes: fork, work, exit, wait, reparenting and the
//! reuse of pids.
#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

use std::collections::BTreeMap;

use iotbench_sampler::{ProcessId, ProcessRow, TreeAccount, Usage};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const INIT: i32 = 1;
const ROOT: i32 = 2;
/// Few, so that pids are reused often.
const PIDS: i32 = 12;

#[derive(Debug, Clone)]
struct Process {
    start_ticks: u64,
    parent: i32,
    own: Usage,
    inherited: Usage,
    in_tree: bool,
    zombie: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Reaping {
    /// Parents wait, and the root adopts orphans: nothing is ever lost.
    InsideTheTree,
    /// Orphans go to init.
    OrphansToInit,
    /// Parents ignore SIGCHLD: nothing is ever inherited.
    Ignored,
}

#[derive(Debug, Clone)]
enum Op {
    Fork(usize),
    Work(usize, u32, u32),
    Exit(usize),
    Wait(usize),
    Look,
}

struct World {
    processes: BTreeMap<i32, Process>,
    ticks: u64,
    next_pid: i32,
    reaping: Reaping,
    truth: Usage,
}

impl World {
    fn new(reaping: Reaping) -> Self {
        let process = |start_ticks, parent, in_tree| Process {
            start_ticks,
            parent,
            own: Usage::default(),
            inherited: Usage::default(),
            in_tree,
            zombie: false,
        };
        let processes = BTreeMap::from([(INIT, process(0, 0, false)), (ROOT, process(1, INIT, true))]);
        Self { processes, ticks: 2, next_pid: ROOT + 1, reaping, truth: Usage::default() }
    }

    fn account(&self) -> TreeAccount {
        TreeAccount::new(ProcessId { start_ticks: self.processes[&ROOT].start_ticks, pid: ROOT })
    }

    fn apply(&mut self, op: &Op) {
        let pids = |zombie: bool| -> Vec<i32> {
            self.processes.iter().filter(|(pid, p)| **pid != INIT && p.zombie == zombie).map(|(pid, _)| *pid).collect()
        };
        let pick = |pids: Vec<i32>, n: usize| pids.get(n % pids.len().max(1)).copied();
        match *op {
            // A seventh of all processes are born outside the tree.
            Op::Fork(n) => self.fork(if n % 7 == 0 { INIT } else { pick(pids(false), n).unwrap_or(INIT) }),
            Op::Work(n, user, bytes) => {
                if let Some(pid) = pick(pids(false), n) {
                    self.work(pid, user, bytes);
                }
            }
            Op::Exit(n) => {
                if let Some(pid) = pick(pids(false), n).filter(|pid| *pid != ROOT) {
                    self.exit(pid);
                }
            }
            Op::Wait(n) => {
                if let Some(pid) = pick(pids(true), n) {
                    self.wait_for(pid, true);
                }
            }
            Op::Look => {}
        }
    }

    fn fork(&mut self, parent: i32) {
        let free = (0..PIDS).map(|step| ROOT + 1 + (self.next_pid - ROOT - 1 + step) % PIDS);
        let Some(pid) = free.into_iter().find(|pid| !self.processes.contains_key(pid)) else { return };
        // Several processes are born within a tick, but a pid comes back in a later one only.
        self.ticks += u64::from(pid < self.next_pid || pid % 3 == 0);
        self.next_pid = pid + 1;
        let in_tree = self.processes[&parent].in_tree;
        let (own, inherited) = Default::default();
        self.processes.insert(pid, Process { start_ticks: self.ticks, parent, own, inherited, in_tree, zombie: false });
    }

    fn work(&mut self, pid: i32, user: u32, bytes: u32) {
        let done = Usage {
            user_ticks: user.into(),
            system_ticks: user.into(),
            written_bytes: bytes.into(),
            ..Usage::default()
        };
        let process = self.processes.get_mut(&pid).unwrap();
        process.own = process.own.plus(done);
        if process.in_tree {
            self.truth = self.truth.plus(done);
        }
    }

    fn exit(&mut self, pid: i32) {
        let in_tree = self.processes[&pid].in_tree;
        self.processes.get_mut(&pid).unwrap().zombie = true;
        let new_parent = if in_tree && self.reaping == Reaping::InsideTheTree { ROOT } else { INIT };
        let children: Vec<i32> = self.processes.iter().filter(|(_, p)| p.parent == pid).map(|(pid, _)| *pid).collect();
        for child in children {
            self.processes.get_mut(&child).unwrap().parent = new_parent;
            if self.processes[&child].zombie && new_parent == INIT {
                self.wait_for(child, true);
            }
        }
        let parent = self.processes[&pid].parent;
        if self.reaping == Reaping::Ignored || parent == INIT {
            self.wait_for(pid, false);
        }
    }

    fn wait_for(&mut self, pid: i32, inherit: bool) {
        let dead = self.processes.remove(&pid).unwrap();
        if inherit {
            let parent = self.processes.get_mut(&dead.parent).unwrap();
            parent.inherited = parent.inherited.plus(dead.own).plus(dead.inherited);
        }
    }

    fn row(&self, pid: i32) -> Option<ProcessRow> {
        let process = self.processes.get(&pid)?;
        let held = process.own.plus(process.inherited);
        // As in /proc: CPU is told apart, I/O is one sum.
        let inherited = Usage { written_bytes: held.written_bytes, ..process.inherited };
        let id = ProcessId { start_ticks: process.start_ticks, pid };
        Some(ProcessRow { id, parent_pid: process.parent, held, inherited })
    }

    fn table(&self) -> Vec<ProcessRow> {
        self.processes.keys().filter_map(|pid| self.row(*pid)).collect()
    }
}

fn look(account: &mut TreeAccount, table: &[ProcessRow]) -> Vec<ProcessRow> {
    let rows = account.select(table);
    account.update(&rows);
    rows
}

fn at_most(a: Usage, b: Usage) -> bool {
    a.minus(b) == Usage::default()
}

fn ops(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => any::<usize>().prop_map(Op::Fork),
        6 => (any::<usize>(), 0..50_u32, 0..5_000_u32).prop_map(|(n, user, bytes)| Op::Work(n, user, bytes)),
        3 => any::<usize>().prop_map(Op::Exit),
        4 => any::<usize>().prop_map(Op::Wait),
        3 => Just(Op::Look),
    ];
    proptest::collection::vec(op, n)
}

fn reaping() -> impl Strategy<Value = Reaping> {
    prop_oneof![Just(Reaping::InsideTheTree), Just(Reaping::OrphansToInit), Just(Reaping::Ignored)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// As long as all waiting happens inside the tree, the account is the truth, however rarely one looks.
    #[test]
    fn exact_when_nobody_dies_outside(ops in ops(0..120)) {
        let mut world = World::new(Reaping::InsideTheTree);
        let mut account = world.account();
        for op in ops.iter().chain([&Op::Look]) {
            world.apply(op);
            if matches!(op, Op::Look) {
                look(&mut account, &world.table());
                prop_assert_eq!(account.total(), world.truth);
            }
        }
    }

    /// Whoever reaps: never falls, never exceeds the truth, never less than what the living members hold, and never
    /// less than what was seen before.
    #[test]
    fn bounded_whoever_reaps(reaping in reaping(), ops in ops(0..120)) {
        let mut world = World::new(reaping);
        let mut account = world.account();
        for op in ops.iter().chain([&Op::Look]) {
            world.apply(op);
            if matches!(op, Op::Look) {
                let before = account.total();
                let rows = look(&mut account, &world.table());
                let held = rows.iter().fold(Usage::default(), |sum, row| sum.plus(row.held));
                prop_assert!(at_most(before, account.total()));
                prop_assert!(at_most(account.total(), world.truth), "{:?} > {:?}", account.total(), world.truth);
                prop_assert!(at_most(held, account.total()));
            }
        }
    }

    /// Where nothing is inherited, a dead member counts up to its last sample: looking after each step misses nothing.
    #[test]
    fn last_seen_values_are_kept(ops in ops(0..120)) {
        let mut world = World::new(Reaping::Ignored);
        let mut account = world.account();
        for op in &ops {
            world.apply(op);
            look(&mut account, &world.table());
            let expected = Usage { written_bytes: 0, ..world.truth };
            prop_assert_eq!(Usage { written_bytes: 0, ..account.total() }, expected);
        }
    }

    /// Reading a table takes time, and the tree changes meanwhile. That may show too much for one look, but is not kept.
    #[test]
    fn torn_tables_leave_no_trace(script in proptest::collection::vec((ops(0..12), any::<u8>()), 0..12)) {
        let mut world = World::new(Reaping::InsideTheTree);
        let mut account = world.account();
        let mut before = Usage::default();
        for (ops, pace) in &script {
            let mut pids: Vec<ProcessId> = world.table().iter().map(|row| row.id).collect();
            pids.sort_unstable_by(|a, b| b.cmp(a));
            let mut table = Vec::new();
            let mut pending = ops.iter();
            for id in pids {
                table.extend(world.row(id.pid));
                pending.by_ref().take(usize::from(*pace) % 4).for_each(|op| world.apply(op));
            }
            look(&mut account, &table);
            pending.for_each(|op| world.apply(op));
            prop_assert!(at_most(before, account.total()));
            before = account.total();
        }
        // More work than any torn table can have shown too much.
        let more = |shown: u64| u32::try_from(shown * 20 + 1).unwrap();
        world.work(ROOT, more(world.truth.user_ticks), more(world.truth.written_bytes));
        look(&mut account, &world.table());
        prop_assert_eq!(account.total(), world.truth);
    }
}

#[test]
fn strangers_stay_out() {
    let mut world = World::new(Reaping::OrphansToInit);
    let mut account = world.account();
    world.fork(INIT);
    world.work(ROOT + 1, 100, 100);
    world.work(ROOT, 3, 0);
    look(&mut account, &world.table());
    assert_eq!(account.total().user_ticks, 3);
    assert_eq!(account.members().len(), 1);
}

#[test]
fn a_reused_pid_is_a_stranger_even_if_it_is_the_roots() {
    let root = ProcessId { start_ticks: 10, pid: 50 };
    let mut account = TreeAccount::new(root);
    let row = |start_ticks, user_ticks| ProcessRow {
        id: ProcessId { start_ticks, pid: 50 },
        parent_pid: 1,
        held: Usage { user_ticks, ..Usage::default() },
        inherited: Usage::default(),
    };
    look(&mut account, &[row(10, 5)]);
    look(&mut account, &[row(99, 1_000)]);
    assert_eq!(account.total().user_ticks, 5);
    assert_eq!(account.members(), []);
}

#[test]
fn a_daemon_stays_a_member_when_its_parent_ends() {
    let mut world = World::new(Reaping::OrphansToInit);
    let mut account = world.account();
    world.fork(ROOT);
    let parent = ROOT + 1;
    world.fork(parent);
    look(&mut account, &world.table());
    world.exit(parent);
    look(&mut account, &world.table());
    world.work(parent + 1, 40, 0);
    look(&mut account, &world.table());
    assert_eq!(world.processes[&(parent + 1)].parent, INIT);
    assert_eq!(account.total().user_ticks, 40);
}

fn row(pid: i32, start_ticks: u64, parent_pid: i32, own: u64, inherited: u64) -> ProcessRow {
    let ticks = |user_ticks| Usage { user_ticks, ..Usage::default() };
    let id = ProcessId { start_ticks, pid };
    ProcessRow { id, parent_pid, held: ticks(own + inherited), inherited: ticks(inherited) }
}

#[test]
fn a_process_older_than_its_parent_is_a_stranger() {
    let mut account = TreeAccount::new(ProcessId { start_ticks: 10, pid: 50 });
    // Pid 60 named a stranger's parent when its line was read, and was a new member's a moment later.
    look(&mut account, &[row(50, 10, 1, 1, 0), row(60, 30, 50, 2, 0), row(61, 20, 60, 1_000, 0)]);
    assert_eq!(account.total().user_ticks, 3);
}

#[test]
fn old_inheritance_does_not_pay_for_a_later_loss() {
    let mut account = TreeAccount::new(ProcessId { start_ticks: 10, pid: 50 });
    look(&mut account, &[row(50, 10, 1, 1, 0), row(60, 30, 50, 40, 0)]);
    // A child that was never seen was waited for.
    look(&mut account, &[row(50, 10, 1, 1, 100), row(60, 30, 50, 40, 0)]);
    look(&mut account, &[row(50, 10, 1, 1, 100), row(60, 30, 50, 40, 0)]);
    // Nobody waited for this one.
    look(&mut account, &[row(50, 10, 1, 51, 100)]);
    assert_eq!(account.total().user_ticks, 191);
}
