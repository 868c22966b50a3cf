//! The facts of this machine.

use iotbench_engine::{
    AppendFacts, ClockFacts, FolderFacts, MachineFacts, MemoryFacts, PROBE_BYTES, StorageProbe, free_bytes,
    most_descriptors, probe_storage,
};
use iotbench_report::{Environment, Filesystem};
use iotbench_sampler::{
    CpuLimit, Medium, OthersLook, clock_reading_ns, clock_resolution_ns, memory_limit_bytes, memory_now, wakes_late_ns,
};
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// So long others are looked at, and nothing else is done meanwhile.
const LOOK: Duration = Duration::from_secs(2);
/// Each of the two probes of a folder takes at most so long.
const PROBE: Duration = Duration::from_millis(500);

/// What can be told without waiting: neither of others nor of folders.
pub(super) fn facts_at_once() -> MachineFacts {
    facts_of(&Environment::collect(Path::new("."), None))
}

/// All that is told of this machine, on which results would be made in this folder.
pub(super) fn facts(results: &Path) -> MachineFacts {
    // First, while this process has done nothing that would count.
    let others = OthersLook::begin().and_then(|look| {
        std::thread::sleep(LOOK);
        look.end()
    });
    let servers = env::temp_dir();
    let environment = Environment::collect(results, Some(&servers));
    let facts = facts_of(&environment);
    let clock = ClockFacts { wakes_late_ns: wakes_late(), ..facts.clock };
    let folders = [
        folder("private servers", place(&servers, false), environment.database_filesystem.as_ref()),
        folder("results", place(results, true), environment.filesystem.as_ref()),
    ];
    MachineFacts { others: others.ok(), clock, folders: folders.into(), ..facts }
}

fn facts_of(environment: &Environment) -> MachineFacts {
    let memory = memory_now();
    MachineFacts {
        processors: environment.cores,
        processors_usable: environment.cores_usable,
        quota_cores: CpuLimit::of_this_process().cores(),
        governor: environment.governor.clone(),
        others: None,
        clock: ClockFacts {
            source: environment.clocksource.clone(),
            available: words_of("/sys/devices/system/clocksource/clocksource0/available_clocksource"),
            resolution_ns: Some(clock_resolution_ns()),
            reading_ns: Some(clock_reading_ns()),
            slack_ns: words_of("/proc/self/timerslack_ns").first().and_then(|word| word.parse().ok()),
            wakes_late_ns: None,
        },
        memory: MemoryFacts {
            total_bytes: memory.map(|memory| memory.total_bytes),
            available_bytes: memory.map(|memory| memory.available_bytes),
            limit_bytes: memory_limit_bytes(),
            swapped_bytes: memory.map(|memory| memory.swapped_bytes),
        },
        open_files: most_descriptors(),
        folders: Vec::new(),
    }
}

fn words_of(file: &str) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// On a thread of its own, as that of a load is: this one keeps its slack.
fn wakes_late() -> Option<[u64; 2]> {
    std::thread::spawn(wakes_late_ns).join().ok()
}

fn folder(of: &str, place: Result<PathBuf, PathBuf>, filesystem: Option<&Filesystem>) -> FolderFacts {
    let path = match place {
        Ok(path) => path,
        Err(path) => {
            let failed = Some("there is no such folder".into());
            let filesystem = None;
            return FolderFacts {
                of: of.into(),
                filesystem,
                in_memory: false,
                free_bytes: None,
                path,
                appends: None,
                failed,
            };
        }
    };
    let in_memory = Medium::of(&path).is_ok_and(|medium| medium == Medium::Memory);
    let probes = if in_memory { Ok(None) } else { probed(&path).map(Some) };
    let (appends, failed) = match probes {
        Ok(appends) => (appends, None),
        Err(error) => (None, Some(format!("no file can be written: {error}"))),
    };
    FolderFacts {
        of: of.into(),
        filesystem: filesystem.map(|filesystem| filesystem.kind.clone()),
        in_memory,
        free_bytes: free_bytes(&path),
        path,
        appends,
        failed,
    }
}

/// The folder that is meant; where it `is_made`, the nearest one above it that is there.
///
/// # Errors
/// What is meant, where it is no folder, or would have to be there.
fn place(wanted: &Path, is_made: bool) -> Result<PathBuf, PathBuf> {
    let whole = std::path::absolute(wanted).unwrap_or_else(|_| wanted.to_owned());
    let mut above = whole.ancestors().take(if is_made { usize::MAX } else { 1 });
    let there = above.find(|place| place.exists()).filter(|place| place.is_dir()).map(Path::to_owned);
    there.ok_or(whole)
}

fn probed(folder: &Path) -> io::Result<AppendFacts> {
    let (first, second) = (probe_storage(folder, PROBE)?, probe_storage(folder, PROBE)?);
    let both = StorageProbe::pooled([&first, &second]);
    let quantile = |share| both.quantile_ns(share).unwrap_or(0);
    Ok(AppendFacts {
        bytes: PROBE_BYTES as u64,
        count: both.appends(),
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        drifted: first.has_drifted_to(&second),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_is_the_one_that_it_is_made_in() {
        let folder = tempfile::tempdir().unwrap();
        let (there, not_yet) = (folder.path().to_owned(), folder.path().join("not/yet"));
        assert_eq!([place(&there, true), place(&there, false)], [Ok(there.clone()), Ok(there.clone())]);
        assert_eq!((place(&not_yet, true), place(&not_yet, false)), (Ok(there), Err(not_yet)));
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(place(&file, true), Err(file.clone()), "no folder is made where a file is");
        let below = file.join("results");
        assert_eq!(place(&below, true), Err(below.clone()));
        let facts = super::folder("results", Err(below), None);
        assert!(facts.failed.is_some_and(|why| why == "there is no such folder"));
    }

    #[test]
    fn a_folder_is_probed_and_left_as_it_was() {
        let at = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let facts = folder("results", place(at.path(), true), None);
        assert!(facts.in_memory || facts.appends.is_some_and(|a| a.count > 0 && a.p50_ns <= a.p99_ns), "{facts:?}");
        assert!(facts.free_bytes > Some(0) && facts.failed.is_none(), "{facts:?}");
        assert_eq!(fs::read_dir(at.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_where_a_folder_should_be_is_told() {
        let gone = probed(Path::new("/proc/self/fdinfo")).unwrap_err();
        assert!(!gone.to_string().is_empty());
    }
}
