//! What processes used.

use super::rounded;
use iotbench_sampler::Summary;
use serde::{Deserialize, Serialize};

/// What one part of the system used over the measured part. A figure that could not be had is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// What it is: `client`, `server`, `client+database`, …
    pub role: String,
    /// Which of several of that role, from 0.
    pub node: u32,
    /// Mean CPU use in percent of one core: two busy cores are 200.
    pub cpu_pct_mean: Option<f64>,
    /// CPU time in seconds of one core.
    pub cpu_s: Option<f64>,
    /// Proportional set size, mean over time: a page shared by n processes counts once.
    pub pss_bytes_mean: Option<u64>,
    /// Proportional set size, highest sample.
    pub pss_bytes_max: Option<u64>,
    /// Sum of resident sets, mean over time.
    pub rss_bytes_mean: Option<u64>,
    /// Sum of resident sets, highest sample.
    pub rss_bytes_max: Option<u64>,
    /// Bytes fetched from storage devices.
    pub disk_read_bytes: Option<u64>,
    /// Bytes sent to storage devices.
    pub disk_written_bytes: Option<u64>,
    /// Bytes received.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent.
    pub net_tx_bytes: Option<u64>,
    /// Most processes alive at a sample.
    pub processes_max: Option<u32>,
    /// Samples taken.
    pub samples: u64,
    /// When it was first found gone, in seconds since the run's start; null: it lived on.
    pub gone_at_s: Option<f64>,
    /// How the figures were taken.
    pub method: String,
    /// What a reader has to know of them.
    pub note: Option<String>,
}

/// The role of a process that is client and embedded database in one.
const SHARED_ROLE: &str = "client+database";
const SHARED: &str = "the database runs inside the client's process: the figures are those of both together";

impl From<&Summary> for Resources {
    fn from(summary: &Summary) -> Self {
        Self {
            role: summary.role.to_string(),
            node: summary.node,
            cpu_pct_mean: summary.cpu_pct_mean.and_then(rounded),
            cpu_s: summary.cpu_s.and_then(rounded),
            pss_bytes_mean: summary.pss_bytes_mean,
            pss_bytes_max: summary.pss_bytes_max,
            rss_bytes_mean: summary.rss_bytes_mean,
            rss_bytes_max: summary.rss_bytes_max,
            disk_read_bytes: summary.disk_read_bytes,
            disk_written_bytes: summary.disk_written_bytes,
            net_rx_bytes: summary.net_rx_bytes,
            net_tx_bytes: summary.net_tx_bytes,
            processes_max: summary.processes_max,
            samples: summary.samples,
            gone_at_s: summary.gone_at.and_then(|at| rounded(at.as_secs_f64())),
            method: summary.method.to_string(),
            note: (&*summary.role == SHARED_ROLE).then(|| SHARED.into()),
        }
    }
}
