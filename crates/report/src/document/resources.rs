//! What processes used.

use super::{datagrams::Datagrams, rounded};
use iotbench_engine::{BROKER_ROLE, CLIENT_ROLE, MACHINE_ROLE, SHARED_ROLE};
use iotbench_sampler::{NetworkMethod, Summary};
use serde::{Deserialize, Serialize};

/// What one part of the system used over the measured part. A figure that could not be had is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// What it is: `client`, `server`, `client+database`, `machine`, …
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
    /// Bytes sent to storage devices: at most these, where the kernel charges processes with more than the devices took.
    pub disk_written_bytes: Option<u64>,
    /// Bytes received; null where datagrams came, of which some may have been dropped.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent, those of datagrams included.
    pub net_tx_bytes: Option<u64>,
    /// What the machine's processors and memory consumed, in joules, where its counters can be read.
    pub energy_j: Option<f64>,
    /// Most processes alive at a sample.
    pub processes_max: Option<u32>,
    /// Samples taken.
    pub samples: u64,
    /// When it was first found gone, in seconds since the run's start; null: it lived on, or another was started in its place.
    pub gone_at_s: Option<f64>,
    /// How the figures were taken.
    pub method: String,
    /// What a reader has to know of them.
    pub note: Option<String>,
}

const SHARED: &str = "the database runs inside the client's process: the figures are those of both together";
const ELSEWHERE: &str = "sampled by an agent beside it";
const MACHINE: &str = "all that ran on it, this run and others";

impl Resources {
    /// Of each part that was sampled, and what the client knows of datagrams.
    ///
    /// Linux charges a process with each page of the cache that it makes dirty. Where the file system keeps large folios,
    /// that is up to 2 MiB for a write of some bytes. What the machine's devices took in the same time is the other bound.
    #[must_use]
    pub(super) fn of_run(summaries: &[Summary], datagrams: Datagrams) -> Vec<Self> {
        let machine = summaries.iter().find(|summary| &*summary.role == MACHINE_ROLE);
        let taken_bytes = machine.and_then(|machine| machine.disk_written_bytes);
        let bounded = |summary: &Summary| {
            let mut resources = Self::from(summary);
            let charged_bytes = resources.disk_written_bytes;
            if let (Some(charged), Some(taken)) = (charged_bytes, taken_bytes)
                && charged > taken
                && !summary.elsewhere
            {
                resources.disk_written_bytes = taken_bytes;
                resources.add_note(&format!("written at most what the devices took, charged were {charged} bytes"));
            }
            if summary.elsewhere {
                resources.add_note(ELSEWHERE);
            }
            if summary.method.network == Some(NetworkMethod::Socket) {
                datagrams.complete(&mut resources);
            }
            resources
        };
        summaries.iter().map(bounded).collect()
    }

    /// Says one thing more that a reader has to know.
    pub(super) fn add_note(&mut self, note: &str) {
        self.note = Some(self.note.take().map_or_else(|| note.into(), |other| format!("{other}; {note}")));
    }

    /// Whether it is of the process that makes the load, and of nothing else.
    #[must_use]
    pub fn is_of_client(&self) -> bool {
        self.role == CLIENT_ROLE
    }

    /// Whether it is of the database, or of client and database in one.
    #[must_use]
    pub fn is_of_database(&self) -> bool {
        !self.is_of_client() && self.role != MACHINE_ROLE && self.role != BROKER_ROLE
    }
}

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
            energy_j: summary.energy_uj.and_then(|energy_uj| rounded(energy_uj as f64 / 1e6)),
            processes_max: summary.processes_max,
            samples: summary.samples,
            gone_at_s: summary.gone_at.and_then(|at| rounded(at.as_secs_f64())),
            method: summary.method.to_string(),
            note: match &*summary.role {
                SHARED_ROLE => Some(SHARED.into()),
                MACHINE_ROLE => Some(MACHINE.into()),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_sampler::{Method, Source};

    fn summary(role: &str, disk_written_bytes: Option<u64>) -> Summary {
        let method = Method { source: Source::Host, network: None };
        Summary {
            role: role.into(),
            node: 0,
            method,
            from: None,
            to: None,
            samples: 2,
            elsewhere: false,
            gone_at: None,
            cpu_s: None,
            user_s: None,
            system_s: None,
            cpu_pct_mean: None,
            processes_max: None,
            pss_bytes_mean: None,
            pss_bytes_max: None,
            rss_bytes_mean: None,
            rss_bytes_max: None,
            disk_read_bytes: None,
            disk_written_bytes,
            net_rx_bytes: None,
            net_tx_bytes: None,
            energy_uj: None,
        }
    }

    #[test]
    fn no_process_wrote_more_than_the_devices_took() {
        let written = |summaries: &[Summary]| {
            Resources::of_run(summaries, Datagrams::No)
                .into_iter()
                .map(|r| (r.disk_written_bytes, r.note))
                .collect::<Vec<_>>()
        };
        let of_machine = summary("machine", Some(500));
        let all = written(&[summary("client", Some(20)), summary("server", Some(11_000)), of_machine]);
        assert_eq!(all[0], (Some(20), None));
        let note = "written at most what the devices took, charged were 11000 bytes";
        assert_eq!(all[1], (Some(500), Some(note.into())));
        assert_eq!(all[2].0, Some(500));
        let unknown = written(&[summary("server", Some(11_000)), summary("machine", None)]);
        assert_eq!(unknown[0], (Some(11_000), None), "where the devices do not tell, nothing bounds it");
        let elsewhere = Summary { elsewhere: true, ..summary("server", Some(11_000)) };
        let elsewhere = written(&[elsewhere, summary("machine", Some(500))]);
        assert_eq!(elsewhere[0], (Some(11_000), Some(ELSEWHERE.into())), "those are another machine's devices");
    }

    /// TCP connections alone would say that who writes in datagrams needs no network.
    #[test]
    fn datagrams_count_as_sent_and_what_came_of_them_is_not_known() {
        let by_socket = |role: &str| Summary {
            method: Method { source: Source::ProcessTree, network: Some(NetworkMethod::Socket) },
            net_rx_bytes: Some(10),
            net_tx_bytes: Some(20),
            ..summary(role, None)
        };
        let of_run = |datagrams| {
            let all = [by_socket("client"), by_socket("influxdb"), summary("machine", None)];
            let all = Resources::of_run(&all, datagrams).into_iter();
            all.map(|r| (r.net_rx_bytes, r.net_tx_bytes, r.note)).collect::<Vec<_>>()
        };
        let sent = of_run(Datagrams::Sent(1_000));
        assert_eq!((sent[0].0, sent[0].1, sent[1].0, sent[1].1), (Some(10), Some(1_020), None, Some(20)));
        let note = |of: &(_, _, Option<String>)| of.2.clone().unwrap_or_default();
        assert!(note(&sent[0]).starts_with("bytes sent with those of the datagrams"), "{sent:?}");
        assert!(note(&sent[1]).starts_with("bytes received not known"), "{sent:?}");
        assert!(!note(&sent[2]).contains("datagrams"), "{sent:?}");
        let unknown = of_run(Datagrams::Unknown);
        assert_eq!((unknown[0].1, unknown[1].0), (None, None));
        assert_eq!(of_run(Datagrams::No)[0], (Some(10), Some(20), None));
    }
}
