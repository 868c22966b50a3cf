//! One target, read when the caller asks: no thread, no clock of its own.

use std::path::PathBuf;
use std::time::Duration;

use crate::cgroup::Cgroup;
use crate::cpu_bound::CpuBound;
use crate::host::{Host, processors};
use crate::network::NetworkProbe;
use crate::probe_error::ProbeError;
use crate::process_tree::ProcessTree;
use crate::remote_probe::RemoteProbe;
use crate::sample::{Method, Sample};

/// The part of one core that a probe may use unless told otherwise. It limits the proportional set sizes, the only
/// dear figure.
pub const DEFAULT_CPU_SHARE: f64 = 0.008;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A process and all its descendants, also those that came or went between two samples.
    ProcessTree {
        /// The root's process id.
        pid: i32,
    },
    /// A control group and all groups below it.
    Cgroup {
        /// The group as `/proc/PID/cgroup` names it (`/system.slice/postgresql.service`), or one of its directories
        /// (`/sys/fs/cgroup/system.slice/postgresql.service`).
        path: PathBuf,
    },
    /// The whole machine.
    Host,
    /// What is seen of a subject elsewhere.
    Remote(RemoteProbe),
}

/// Reads one target. Counters accumulate inside: use one probe per target for as long as it is measured.
///
/// ```
/// use std::time::{Duration, Instant};
/// use iotbench_sampler::{Probe, Target};
///
/// let pid = i32::try_from(std::process::id())?;
/// let epoch = Instant::now();
/// let mut probe = Probe::new(&Target::ProcessTree { pid })?;
/// let before = probe.sample(epoch.elapsed())?;
/// let after = probe.sample(epoch.elapsed())?;
/// assert!(after.cpu_s >= before.cpu_s);
/// assert!(after.processes >= 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Probe {
    kind: Kind,
    cpu: CpuBound,
}

#[derive(Debug)]
enum Kind {
    ProcessTree(ProcessTree),
    Cgroup(Cgroup),
    Host(Host),
    Remote(RemoteProbe),
}

impl Probe {
    /// A probe of `target` that uses at most about [`DEFAULT_CPU_SHARE`] of one core.
    ///
    /// # Errors
    /// The target does not exist or cannot be read.
    pub fn new(target: &Target) -> Result<Self, ProbeError> {
        let kind = match target {
            Target::ProcessTree { pid } => Kind::ProcessTree(ProcessTree::new(*pid, DEFAULT_CPU_SHARE)?),
            Target::Cgroup { path } => Kind::Cgroup(Cgroup::new(path, DEFAULT_CPU_SHARE)?),
            Target::Host => Kind::Host(Host::new()),
            Target::Remote(told) => Kind::Remote(told.clone()),
        };
        // Who tells of another machine keeps to its processors.
        let processors = if matches!(kind, Kind::Remote(_)) { None } else { processors() };
        Ok(Self { kind, cpu: CpuBound::of(processors) })
    }

    /// Sets the part of one core (0.01 = 1 %) that samples may use on average. Proportional set sizes are read less
    /// often to keep to it.
    #[must_use]
    pub fn with_cpu_share(mut self, share: f64) -> Self {
        match &mut self.kind {
            Kind::ProcessTree(tree) => tree.set_cpu_share(share),
            Kind::Cgroup(group) => group.set_cpu_share(share),
            Kind::Host(_) | Kind::Remote(_) => {}
        }
        self
    }

    /// Leaves a process below the root, and its descendants, out of a process tree: they are measured for themselves. So is its
    /// parent left out unless that is the root: Linux charges it with all that they have used when it waits for them. Other
    /// targets stay as they are. To be called before the first sample.
    ///
    /// # Errors
    /// The process cannot be read.
    pub fn without(mut self, pid: i32) -> Result<Self, ProbeError> {
        if let Kind::ProcessTree(tree) = &mut self.kind {
            tree.exclude(pid)?;
        }
        Ok(self)
    }

    /// Measures another process with its descendants from now on; what was used before stays in the counters. On the host it is
    /// one more that is not others'. Other targets stay as they are.
    ///
    /// # Errors
    /// There is no such process, or it cannot be read: all stays as it was.
    pub fn follow(&mut self, pid: i32) -> Result<(), ProbeError> {
        match &mut self.kind {
            Kind::ProcessTree(tree) => tree.follow(pid),
            Kind::Host(host) => {
                host.follow(pid);
                Ok(())
            }
            Kind::Cgroup(_) | Kind::Remote(_) => Ok(()),
        }
    }

    /// The trees below these processes are not others' (the host's [`others_cpu_s`](Sample::others_cpu_s)). Other targets stay
    /// as they are.
    #[must_use]
    pub fn beside(mut self, roots: &[i32]) -> Self {
        if let Kind::Host(host) = &mut self.kind {
            host.beside(roots);
        }
        self
    }

    /// Reads the target; `at` is the time since the caller's epoch, and never falls from call to call.
    ///
    /// # Errors
    /// [`ProbeError::Gone`] when nothing is left of the target; a tree whose last processes are zombies gives its final
    /// figures once before that. Other errors when the system refuses or surprises.
    pub fn sample(&mut self, at: Duration) -> Result<Sample, ProbeError> {
        let sample = match &mut self.kind {
            Kind::ProcessTree(tree) => tree.sample(at),
            Kind::Cgroup(group) => group.sample(at),
            Kind::Host(host) => host.sample(at),
            Kind::Remote(told) => told.sample(at),
        };
        sample.map(|sample| self.cpu.keep(sample))
    }

    fn network(&mut self) -> Option<&mut NetworkProbe> {
        match &mut self.kind {
            Kind::ProcessTree(tree) => Some(tree.network()),
            Kind::Cgroup(group) => Some(group.network()),
            Kind::Host(_) | Kind::Remote(_) => None,
        }
    }

    /// The next sample begins or ends a stretch that is told.
    pub(crate) fn be_exact(&mut self) {
        if let Some(network) = self.network() {
            network.be_exact();
        }
    }

    /// To be called between two samples: takes what would get lost until the next. Whether to do so often.
    pub(crate) fn follow_connections(&mut self) -> bool {
        self.network().is_some_and(NetworkProbe::follow)
    }

    pub(crate) fn is_host(&self) -> bool {
        matches!(self.kind, Kind::Host(_))
    }

    /// Whether somebody on another machine takes the figures.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(self.kind, Kind::Remote(_))
    }

    /// How the figures are taken. The network method is decided at the first sample.
    pub fn method(&self) -> Method {
        match &self.kind {
            Kind::ProcessTree(tree) => tree.method(),
            Kind::Cgroup(group) => group.method(),
            Kind::Host(host) => host.method(),
            Kind::Remote(told) => told.method(),
        }
    }
}
