//! The file descriptors that a run needs, and this process's limit on them.

use crate::plan::Plan;
use iotbench_core::Capabilities;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// For all that is no connection: results, logs, the sampler's looks into /proc.
const OTHERS: u64 = 64;
/// A thread's runtime waits on descriptors of its own.
const THREAD: u64 = 4;
/// An embedded database's files: the data, its log, its index of the log, and a journal now and then.
const EMBEDDED_FILES: u64 = 4;

/// The process may not open as many files as a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{connections} connections need {needed} file descriptors, and this process may have {limit}: use fewer \
     connections (--connections), or raise the limit (ulimit -n {needed})"
)]
pub struct TooFewDescriptors {
    /// Connections of all groups.
    pub connections: u64,
    /// Descriptors of the whole process.
    pub needed: u64,
    /// The hard limit (RLIMIT_NOFILE).
    pub limit: u64,
}

/// Makes room for a run: raises this process's soft limit on open files, which the servers that it starts inherit, where
/// the run needs more. Nothing happens where it does not.
///
/// # Errors
/// The hard limit is below what the run needs.
pub fn reserve_descriptors(plan: &Plan, capabilities: &Capabilities) -> Result<(), TooFewDescriptors> {
    let connections = plan.groups.iter().map(|group| u64::from(group.connections)).sum();
    let needed = needed(connections, capabilities, std::thread::available_parallelism().map_or(1, usize::from) as u64);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match (current, maximum) {
        // `None` is no limit.
        (None, _) => Ok(()),
        (Some(current), _) if current >= needed => Ok(()),
        (_, Some(limit)) if limit < needed => Err(TooFewDescriptors { connections, needed, limit }),
        (Some(current), maximum) => {
            let raised = Rlimit { current: Some(needed), maximum };
            setrlimit(Resource::Nofile, raised).map_err(|_| TooFewDescriptors { connections, needed, limit: current })
        }
    }
}

/// The most files that this process may have open, as a run that needs them raises its limit; `None`: there is no limit.
#[must_use]
pub fn most_descriptors() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

fn needed(connections: u64, capabilities: &Capabilities, cores: u64) -> u64 {
    let of_connection = match (capabilities.blocking, capabilities.embedded) {
        (true, _) => EMBEDDED_FILES + THREAD,
        (false, true) => 0,
        (false, false) => 1,
    };
    OTHERS + (cores + 2) * THREAD + connections * of_connection
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Backend, Registry};

    fn needed_by(backend: &str, connections: u64) -> u64 {
        let backend: &dyn Backend = Registry::new(iotbench_backends::BACKENDS).find(backend).unwrap();
        needed(connections, &backend.info().capabilities, 2)
    }

    #[test]
    fn connections_to_a_server_need_one_each_and_those_in_memory_none() {
        assert_eq!(needed_by("influxdb", 10_000) - needed_by("influxdb", 0), 10_000);
        assert_eq!(needed_by("blackhole", 10_000), needed_by("blackhole", 0));
        assert!(needed_by("sqlite", 10) >= 10 * 3 + needed_by("sqlite", 0));
    }
}
