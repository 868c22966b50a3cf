//! Whether a machine is fit to be measured on: facts in, findings out. Pure.

mod facts;
mod storage;

pub use facts::{AppendFacts, ClockFacts, FolderFacts, MachineFacts, MemoryFacts};

use iotbench_sampler::{BusyProcess, OthersNow, STEAL};
use serde::Serialize;

/// What is said of one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about, in a word or two.
    pub about: String,
    /// Whether it will do.
    pub fitness: Fitness,
    /// What was found, in few words.
    pub found: String,
    /// More about it; empty: nothing.
    pub details: String,
    /// What is to be done; empty: nothing.
    pub advice: String,
}

/// Whether something will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fitness {
    /// It will.
    Ok,
    /// It will, and one should know it.
    Note,
    /// It would spoil what is measured.
    Warning,
    /// It is not on this machine.
    Missing,
}

impl Fitness {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Missing => "missing",
        }
    }
}

/// What is asked of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitnessTerms {
    /// What other programs may have of the processors, as `phases.others_cpu` has it; at 1 they are not judged.
    pub others_cpu: f64,
    /// The memory that a database and the client need.
    pub memory_bytes: u64,
}

/// A clock that takes longer to be read is part of what it times.
const DEAR_READING_NS: f64 = 300.0;
/// Half of all sleeps end at most so late.
const LATE_NS: u64 = 500_000;
/// A clock with longer steps does not tell a fast answer from another.
const LONG_STEP_NS: u64 = 1_000;
/// What a thousand connections and the files of a server need.
const FEW_FILES: u64 = 4_096;
/// Readings of clocks beside the processor cost a way over the bus; the kernel falls back to them where the processor's is unstable.
const SLOW_SOURCES: [&str; 5] = ["hpet", "acpi_pm", "refined-jiffies", "jiffies", "pit"];

impl Finding {
    /// Of something that will do.
    #[must_use]
    pub fn ok(about: impl Into<String>, found: impl Into<String>) -> Self {
        let (details, advice) = (String::new(), String::new());
        Self { about: about.into(), fitness: Fitness::Ok, found: found.into(), details, advice }
    }

    /// Of something else.
    #[must_use]
    pub fn of(about: impl Into<String>, fitness: Fitness, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { fitness, advice: advice.into(), ..Self::ok(about, found) }
    }

    fn with(self, details: impl Into<String>) -> Self {
        Self { details: details.into(), ..self }
    }
}

/// What is found of a machine, in a fixed order. What is not known is not said.
#[must_use]
pub fn judge_machine(facts: &MachineFacts, terms: FitnessTerms) -> Vec<Finding> {
    let others = facts.others.as_ref();
    let single = [
        processors(facts),
        quota(facts),
        Some(governor(facts)),
        others.map(|others| foreign_load(others, terms.others_cpu)),
        others.and_then(steal),
        clock(&facts.clock),
        timers(&facts.clock),
        memory(&facts.memory, terms.memory_bytes),
        Some(open_files(facts.open_files)),
    ];
    single.into_iter().flatten().chain(facts.folders.iter().map(storage::folder)).collect()
}

fn warning(about: &str, found: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding::of(about, Fitness::Warning, found, advice)
}

fn processors(facts: &MachineFacts) -> Option<Finding> {
    let (all, usable) = (facts.processors?, facts.processors_usable?);
    let found = if usable < all { format!("{usable} usable of {all}") } else { format!("{all}") };
    Some(match usable {
        0 | 1 => warning(
            "processors",
            found,
            "client and server take turns on one: use two or more, or a server elsewhere by --url",
        ),
        _ => Finding::ok("processors", found),
    })
}

/// A quota below what the processors have stops all threads until its period ends.
fn quota(facts: &MachineFacts) -> Option<Finding> {
    let (quota, usable) = (facts.quota_cores?, facts.processors_usable?);
    #[expect(clippy::cast_precision_loss, reason = "a number of processors")]
    let holds_back = quota < usable as f64;
    let found = format!("{quota:.1} of {usable} processors");
    Some(match holds_back {
        true => warning(
            "CPU quota",
            found,
            "who has used it up stands still for the rest of 0.1 s: take the cgroup's quota away, or give it whole processors (cpuset)",
        ),
        false => Finding::ok("CPU quota", found),
    })
}

fn governor(facts: &MachineFacts) -> Finding {
    match facts.governor.as_deref() {
        None => Finding::ok("governor", "none to be seen").with("as in virtual machines"),
        Some("performance") => Finding::ok("governor", "performance"),
        Some(other) => warning(
            "governor",
            other,
            "processors that are little loaded are slowed down: cpupower frequency-set -g performance, as root",
        ),
    }
}

fn foreign_load(others: &OthersNow, limit: f64) -> Finding {
    let found = format!("{} %", percent(others.cpu));
    let finding = match limit < 1.0 && others.cpu > limit {
        true => warning("foreign load", found, "end the programs of others, or wait for them"),
        false => Finding::ok("foreign load", found),
    };
    let named = |busy: &BusyProcess| format!("{} (process {}) {} %", busy.name, busy.pid, percent(busy.cpu));
    let named = others.busiest.iter().map(named).collect::<Vec<_>>().join(", ");
    let unseen = if others.cpu > limit { "whose it is cannot be seen here" } else { "" };
    finding.with(if named.is_empty() { unseen.to_owned() } else { named })
}

fn steal(others: &OthersNow) -> Option<Finding> {
    let steal = others.steal?;
    let found = format!("{} %", percent(steal));
    Some(match steal > STEAL {
        true => warning(
            "steal",
            found,
            "other machines of the hypervisor take processors away: move there where they are not shared, or come back later",
        ),
        false => Finding::ok("steal", found),
    })
}

fn clock(clock: &ClockFacts) -> Option<Finding> {
    let source = clock.source.as_deref()?;
    let (reading_ns, step_ns) = (clock.reading_ns?, clock.resolution_ns?);
    let details = format!("read in {reading_ns:.0} ns, in steps of {step_ns} ns");
    let is_slow = SLOW_SOURCES.contains(&source) || reading_ns > DEAR_READING_NS || step_ns > LONG_STEP_NS;
    let finding = match is_slow {
        true => warning("clock", source, faster_clock(clock)),
        false => Finding::ok("clock", source),
    };
    Some(finding.with(details))
}

fn faster_clock(clock: &ClockFacts) -> String {
    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let current = clock.source.as_deref().unwrap_or_default();
    let better = clock.available.iter().find(|source| *source != current && !SLOW_SOURCES.contains(&source.as_str()));
    match better {
        Some(better) => format!("every time that is measured has it in it: echo {better} > {CURRENT}, as root"),
        None => {
            "every time that is measured has it in it, and the kernel offers no better one: use another machine".into()
        }
    }
}

fn timers(clock: &ClockFacts) -> Option<Finding> {
    let [median_ns, most_ns] = clock.wakes_late_ns?;
    let found = format!("wakes {} late", time(median_ns));
    let slack = clock.slack_ns.map(|ns| format!("; slack {}, which loads set to 1 ns", time(ns))).unwrap_or_default();
    let finding = match median_ns > LATE_NS {
        true => warning(
            "timers",
            found,
            "operations start late by as much: look whether the kernel has high-resolution timers",
        ),
        false => Finding::ok("timers", found),
    };
    Some(finding.with(format!("{} at most in 99 of 100{slack}", time(most_ns))))
}

fn memory(memory: &MemoryFacts, needed_bytes: u64) -> Option<Finding> {
    let (total, available) = (memory.total_bytes?, memory.available_bytes?);
    let room = memory.limit_bytes.map_or(available, |limit| limit.min(available));
    let limit = memory.limit_bytes.filter(|limit| *limit < total);
    let mut details = vec![format!("of {}", size(total))];
    details.extend(limit.map(|limit| format!("the cgroup allows {}", size(limit))));
    details.extend(memory.swapped_bytes.filter(|bytes| *bytes > 0).map(|bytes| format!("{} swapped out", size(bytes))));
    let found = format!("{} free", size(room));
    let finding = match room < needed_bytes {
        true => warning(
            "memory",
            found,
            format!(
                "a server and the load want {}: end other programs, or give it less with --server-memory",
                size(needed_bytes)
            ),
        ),
        false => Finding::ok("memory", found),
    };
    Some(finding.with(details.join(", ")))
}

fn open_files(most: Option<u64>) -> Finding {
    match most {
        Some(most) if most < FEW_FILES => warning(
            "open files",
            format!("at most {most}"),
            format!("large loads and servers need more: raise the hard limit (ulimit -Hn {FEW_FILES}, or limits.conf)"),
        ),
        Some(most) => Finding::ok("open files", format!("at most {most}")),
        None => Finding::ok("open files", "no limit"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 1")]
fn percent(share: f64) -> u64 {
    (share * 100.0).round() as u64
}

/// A size in the unit that suits it, as `--server-memory` takes it.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let of = UNITS.into_iter().find(|(_, shift)| bytes >= 1 << shift);
    of.map_or(format!("{bytes} B"), |(unit, shift)| {
        let tenths = (u128::from(bytes) * 10) >> shift;
        if tenths % 10 == 0 {
            format!("{} {unit}", tenths / 10)
        } else {
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
    })
}

/// A time in the unit that suits it.
fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", ns / 1_000),
        _ => format!("{}.{} ms", ns / 1_000_000, ns / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests;
