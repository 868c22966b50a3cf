//! Whether a folder will do.

use super::{AppendFacts, Finding, Fitness, FolderFacts, size, time};
use crate::plan::MIN_FREE_BYTES;

/// What is found of a folder.
pub(super) fn folder(facts: &FolderFacts) -> Finding {
    let about = format!("disk of {}", facts.of);
    let kind = facts.filesystem.as_ref().map(|kind| format!(" on {kind}")).unwrap_or_default();
    let free = facts.free_bytes.map(|bytes| format!("{} free", size(bytes))).unwrap_or_default();
    let place = format!("{}{kind}", facts.path.display());
    let of = |fitness, found: String, advice: &str| {
        let details = if free.is_empty() { place.clone() } else { format!("{place}, {free}") };
        Finding { about: about.clone(), fitness, found, details, advice: advice.into() }
    };
    if let Some(why) = &facts.failed {
        return of(Fitness::Warning, why.clone(), ANOTHER);
    }
    if facts.free_bytes.is_some_and(|free| free < MIN_FREE_BYTES) {
        return of(Fitness::Warning, "full".into(), &format!("runs end before it is: make room, or {ANOTHER}"));
    }
    if facts.in_memory {
        let why = "nothing there survives a crash of the machine, and no write waits for a disk";
        return of(Fitness::Warning, "in memory".into(), &format!("{why}; {ANOTHER}"));
    }
    let Some(AppendFacts { p50_ns, p99_ns, bytes, drifted, .. }) = facts.appends else {
        return of(Fitness::Ok, "not probed".into(), "");
    };
    let found = format!("{} are on it after {} (p50), {} (p99)", size(bytes), time(p50_ns), time(p99_ns));
    if p50_ns < NO_DISK_NS {
        let why = "no disk is as fast: it lies in memory, or does not do what fdatasync asks for";
        return of(Fitness::Warning, found, &format!("{why}; {ANOTHER}"));
    }
    match drifted {
        Some(true) => of(
            Fitness::Warning,
            format!("its speed changes: {found}"),
            "what was measured a minute ago may not hold now: wait until others do not use it, or use another one",
        ),
        _ => of(Fitness::Ok, found, ""),
    }
}

/// The fastest media that keep what they are given take longer, with the way through the kernel.
const NO_DISK_NS: u64 = 10_000;
/// How another folder is named.
const ANOTHER: &str = "name another folder: TMPDIR for private servers, --out for results and embedded databases";
