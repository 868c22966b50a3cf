//! Watches the client itself while the load runs.

use crate::client::ClientLoad;
use iotbench_sampler::{CpuShares, HiccupMeter, Hiccups, Lateness, OwnCpu};
use std::time::{Duration, Instant};

/// How the names of the threads that make the load begin.
const LOAD_THREADS: &str = "iotbench-";

/// What watches the client.
pub(crate) struct ClientWatch {
    meter: HiccupMeter,
    /// `None`: the database shares the process, and its work cannot be told from the client's.
    cpu: Option<OwnCpu>,
    /// The most operations a second that it can make; `None`: not measured.
    ceiling_per_s: Option<f64>,
    /// How many operations it can have under way; 0: not known.
    connections: u64,
}

impl ClientWatch {
    /// Begins to watch. Times are told since `epoch`.
    pub(crate) fn start(
        epoch: Instant,
        shared: bool,
        ceiling_per_s: Option<f64>,
        connections: u64,
    ) -> std::io::Result<Self> {
        let cpu = (!shared).then(|| OwnCpu::start(LOAD_THREADS));
        Ok(Self { meter: HiccupMeter::start(epoch)?, cpu, ceiling_per_s, connections })
    }

    /// A stretch of the run begins whose CPU is asked for later.
    pub(crate) fn begin(&mut self) {
        if let Some(cpu) = &mut self.cpu {
            cpu.begin();
        }
    }

    /// To be called often.
    pub(crate) fn follow(&mut self) {
        if let Some(cpu) = &mut self.cpu {
            cpu.follow();
        }
    }

    /// What was used of the processors since the stretch began.
    pub(crate) fn cpu(&self) -> Option<CpuShares> {
        self.cpu.as_ref().map(OwnCpu::shares)
    }

    /// What was measured of the client over a stretch in which so many operations were acknowledged.
    pub(crate) fn load(&self, from_ns: u64, to_ns: u64, cpu: Option<CpuShares>, ok: u64) -> ClientLoad {
        let length_ns = to_ns.saturating_sub(from_ns);
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let per_s = ok as f64 / Duration::from_nanos(length_ns.max(1)).as_secs_f64();
        let ceiling_ratio = self.ceiling_per_s.map(|ceiling_per_s| per_s / ceiling_per_s);
        ClientLoad {
            length_ns,
            hiccups: self.hiccups(from_ns, to_ns),
            cpu,
            ceiling_ratio,
            connections: self.connections,
        }
    }

    /// When the client could not run.
    pub(crate) fn hiccups(&self, from_ns: u64, to_ns: u64) -> Hiccups {
        self.meter.hiccups(Duration::from_nanos(from_ns), Duration::from_nanos(to_ns))
    }

    pub(crate) fn ceiling_per_s(&self) -> Option<f64> {
        self.ceiling_per_s
    }

    /// Ends the watch.
    pub(crate) fn finish(self) -> Lateness {
        self.meter.stop()
    }
}
