//! How long a run will take and how much disk, told before it begins.

use super::options::RunArguments;
use crate::{console, job::Job};
use iotbench_engine::{Expected, ExpectedData, Planned};
use std::path::{Path, PathBuf};

/// Says what a run of a job takes, and what is free where its database lies, if that is here and ours.
pub(super) fn tell(job: &Job, planned: &Planned, arguments: &RunArguments) {
    let expected = planned.plan.expected(planned.dataset.period_ns());
    let data = match job.backend.capabilities().stores {
        true => format!("data: {}{}", data(expected.data), free(job, arguments).unwrap_or_default()),
        false => "nothing is stored".into(),
    };
    console::say(&format!("expected: {}; {data}", time(&expected)));
}

fn time(expected: &Expected) -> String {
    let Expected { load_ns, is_certain, steps, drain_ns, settle_ns, .. } = *expected;
    let how = if is_certain { "at most" } else { "about" };
    let steps = steps.map(|n| match is_certain {
        true => format!(" ({n} steps)"),
        false => format!(" (at most {n} steps, more if some contradict others)"),
    });
    format!(
        "{how} {} of load{}, then up to {} for late answers and {} to settle, beside preparing and checking",
        length(load_ns),
        steps.unwrap_or_default(),
        length(drain_ns),
        length(settle_ns),
    )
}

fn data(data: ExpectedData) -> String {
    match data {
        ExpectedData::Known { points: 0, .. } => "none is written".into(),
        ExpectedData::Known { points, raw_bytes, is_most } => format!(
            "{} {points} datapoints, {} raw, of which the database may need several times as much",
            if is_most { "at most" } else { "about" },
            size(raw_bytes),
        ),
        ExpectedData::AsFastAsAnswered => "not known beforehand, a closed loop writes as fast as it is answered".into(),
        ExpectedData::UntilTooMuch => "not known beforehand, the ramp writes what the database sustains".into(),
    }
}

/// What is free in the folder of an embedded database or of a private server.
fn free(job: &Job, arguments: &RunArguments) -> Option<String> {
    let is_here = job.server.is_some() && arguments.agents.server_at_name().is_none();
    let folder = match job.needs_folder() {
        true => arguments.out.clone(),
        false => is_here.then(std::env::temp_dir)?,
    };
    let space = rustix::fs::statvfs(existing(&folder)).ok()?;
    Some(format!(" ({} free in {})", size(space.f_bavail.saturating_mul(space.f_frsize)), folder.display()))
}

/// The folder, or the one that it will be made in.
fn existing(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().find(|ancestor| ancestor.is_dir()).unwrap_or(&folder).to_owned()
}

/// A length in its two greatest units.
fn length(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    let units = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let text: String = units
        .iter()
        .skip_while(|(n, _)| *n == 0)
        .take(2)
        .filter(|(n, _)| *n > 0)
        .map(|(n, unit)| format!("{n}{unit}"))
        .collect();
    if text.is_empty() { "0s".into() } else { text }
}

fn size(bytes: u64) -> String {
    let units = [("TB", 1_000_000_000_000_u64), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.into_iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{}.{} {unit}", bytes / size, bytes % size * 10 / size),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_sizes_are_short() {
        let lengths = [(0, "0s"), (900_000_000, "1s"), (75_000_000_000, "1m15s"), (3_600_000_000_000, "1h")];
        for (ns, text) in lengths {
            assert_eq!(length(ns), text);
        }
        for (bytes, text) in [(999, "999 B"), (1_320_000, "1.3 MB"), (40_900_000_000, "40.9 GB")] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn what_is_a_guess_is_called_one() {
        let known = |is_most| data(ExpectedData::Known { points: 10, raw_bytes: 180, is_most });
        assert!(known(true).starts_with("at most 10 datapoints, 180 B raw") && known(false).starts_with("about"));
        let search = Expected {
            load_ns: 600_000_000_000,
            is_certain: false,
            steps: Some(20),
            drain_ns: 0,
            settle_ns: 0,
            data: ExpectedData::UntilTooMuch,
        };
        assert!(time(&search).starts_with("about 10m of load (at most 20 steps"), "{}", time(&search));
        assert!(time(&Expected { is_certain: true, ..search }).starts_with("at most 10m of load (20 steps)"));
    }
}
