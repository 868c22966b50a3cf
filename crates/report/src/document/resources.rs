//! What processes used.

use super::{datagrams::Datagrams, rounding::rounded};
use iotbench_core::{BROKER_ROLE, CLIENT_ROLE, MACHINE_ROLE, SHARED_ROLE};
use iotbench_sampler::{Medium, NetworkMethod, Owed, Summary};
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
    /// Bytes that the measured part had storage devices write, at once or later. Null: its bounds are too far apart.
    pub disk_written_bytes: Option<u64>,
    /// At least so many.
    #[serde(default)]
    pub disk_written_least_bytes: Option<u64>,
    /// At most so many.
    #[serde(default)]
    pub disk_written_most_bytes: Option<u64>,
    /// Of those, at least so many after the measured part.
    #[serde(default)]
    pub disk_written_later_bytes: Option<u64>,
    /// Bytes received; null where datagrams came, of which some may have been dropped, and where only a lower bound is known.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent, those of datagrams included; null where only a lower bound is known.
    pub net_tx_bytes: Option<u64>,
    /// At least so many received.
    #[serde(default)]
    pub net_rx_least_bytes: Option<u64>,
    /// At least so many sent.
    #[serde(default)]
    pub net_tx_least_bytes: Option<u64>,
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
const PART: &str = "what was used is not known: the machine was so busy that it was looked at too long after the measured part began \
                    or ended";
const NETWORK: &str = "network: at least, because connections ended of which it is not known what they carried, or \
                       whose they were";
const IN_MEMORY: &str = "nothing is written to disk: the database's files are in memory (tmpfs)";
const MACHINE: &str = "all that ran on it, this run and others";

impl Resources {
    /// Of each part that was sampled, what its window had the disk write, by what the database's files lie on, and what the client
    /// knows of datagrams.
    #[must_use]
    pub fn of_run(summaries: &[Summary], disk: Option<Medium>, datagrams: Datagrams) -> Vec<Self> {
        let machine = summaries.iter().find(|summary| &*summary.role == MACHINE_ROLE);
        let complete = |summary: &Summary| {
            let mut resources = Self::from(summary);
            resources.add_written(summary, machine, disk);
            if summary.elsewhere {
                resources.add_note(ELSEWHERE);
            }
            if summary.is_part {
                resources.add_note(PART);
            }
            if summary.network.is_least {
                resources.add_note(NETWORK);
            }
            if summary.method.network == Some(NetworkMethod::Socket) {
                datagrams.complete(&mut resources);
            }
            resources
        };
        summaries.iter().map(complete).collect()
    }

    /// What it had storage devices write; of the machine, what they took.
    fn add_written(&mut self, summary: &Summary, machine: Option<&Summary>, medium: Option<Medium>) {
        if self.is_of_machine() {
            let taken_bytes = summary.disk.written_bytes;
            (self.disk_written_least_bytes, self.disk_written_most_bytes) = (taken_bytes, taken_bytes);
            self.disk_written_bytes = taken_bytes;
            return;
        }
        if medium == Some(Medium::Memory) && self.is_of_database() && !summary.elsewhere {
            self.add_note(IN_MEMORY);
            return;
        }
        let Some(owed) = Owed::of(summary, machine, medium.unwrap_or(Medium::Other)) else { return };
        self.disk_written_bytes = owed.exact_bytes();
        self.disk_written_least_bytes = Some(owed.least_bytes);
        self.disk_written_most_bytes = Some(owed.most_bytes);
        self.disk_written_later_bytes = Some(owed.later_bytes);
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
        !self.is_of_client() && !self.is_of_machine() && self.role != BROKER_ROLE
    }

    /// Whether it is of all that ran on the machine.
    #[must_use]
    pub fn is_of_machine(&self) -> bool {
        self.role == MACHINE_ROLE
    }
}

impl From<&Summary> for Resources {
    fn from(summary: &Summary) -> Self {
        Self {
            role: summary.role.to_string(),
            node: summary.node,
            cpu_pct_mean: summary.cpu.pct_mean.and_then(rounded),
            cpu_s: summary.cpu.total_s.and_then(rounded),
            pss_bytes_mean: summary.memory.pss_bytes_mean,
            pss_bytes_max: summary.memory.pss_bytes_max,
            rss_bytes_mean: summary.memory.rss_bytes_mean,
            rss_bytes_max: summary.memory.rss_bytes_max,
            disk_read_bytes: summary.disk.read_bytes,
            disk_written_bytes: None,
            disk_written_least_bytes: None,
            disk_written_most_bytes: None,
            disk_written_later_bytes: None,
            net_rx_bytes: summary.network.rx_bytes.filter(|_| !summary.network.is_least),
            net_tx_bytes: summary.network.tx_bytes.filter(|_| !summary.network.is_least),
            net_rx_least_bytes: summary.network.rx_bytes,
            net_tx_least_bytes: summary.network.tx_bytes,
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
    use crate::network::{sent, sent_of_all};
    use crate::written::{written, written_later, written_of_all};
    use iotbench_sampler::{DiskFigures, Method, NetworkFigures, Source, WithWriteBack, Writes};

    const TREE: Method = Method { source: Source::ProcessTree, network: None };
    const HOST: Method = Method { source: Source::Host, network: None };

    fn summary(role: &str, method: Method, written_bytes: Option<u64>) -> Summary {
        let disk = DiskFigures { written_bytes, ..DiskFigures::default() };
        Summary { disk, ..Summary::unknown(role, method) }
    }

    /// A machine whose devices took 2,000 bytes of 30,000 that were made dirty, and the others after the window.
    fn machine() -> Summary {
        let all =
            WithWriteBack { written_bytes: Some(30_000), dirtied_bytes: Some(30_000), dirty_after_bytes: Some(0) };
        let writes = Writes {
            dirtied_bytes: Some(30_000),
            dirty_before_bytes: Some(0),
            dirty_after_bytes: Some(28_000),
            with_write_back: Some(all),
            ..Writes::default()
        };
        let machine = summary("machine", HOST, Some(2_000));
        Summary { disk: DiskFigures { writes, ..machine.disk }, ..machine }
    }

    #[test]
    fn who_has_the_disk_write_later_is_told_with_all_of_it() {
        let all = [summary("server", TREE, Some(30_000)), machine()];
        let told = Resources::of_run(&all, Some(Medium::Device), Datagrams::No);
        let server = &told[0];
        assert_eq!(server.disk_written_bytes, Some(30_000));
        assert_eq!((server.disk_written_least_bytes, server.disk_written_most_bytes), (Some(30_000), Some(30_000)));
        assert_eq!(written(server), "29.3\u{a0}KiB");
        let later = "written: of it at least 27.3\u{a0}KiB after the measured part";
        assert_eq!(written_later(server).as_deref(), Some(later));
        assert_eq!((told[1].disk_written_bytes, written_later(&told[1])), (Some(2_000), None));
    }

    #[test]
    fn bounds_that_are_far_apart_are_no_figure() {
        let mut machine = machine();
        machine.disk.writes.with_write_back = None;
        let all = [summary("server", TREE, Some(30_000)), machine];
        let server = &Resources::of_run(&all, Some(Medium::Device), Datagrams::No)[0];
        assert_eq!((server.disk_written_bytes, written(server)), (None, "1.95\u{a0}KiB to 29.3\u{a0}KiB".into()));
        let unknown = &Resources::of_run(&all, None, Datagrams::No)[0];
        assert_eq!((unknown.disk_written_bytes, written(unknown)), (None, "≤ 29.3\u{a0}KiB".into()));
        assert_eq!(written_of_all(&[server, unknown]), "1.95\u{a0}KiB to 58.6\u{a0}KiB");
    }

    #[test]
    fn in_memory_there_is_no_disk() {
        let all = [summary("client", TREE, Some(20)), summary("server", TREE, Some(0)), machine()];
        let told = Resources::of_run(&all, Some(Medium::Memory), Datagrams::No);
        assert_eq!((told[1].disk_written_most_bytes, told[1].note.as_deref()), (None, Some(IN_MEMORY)));
        assert_eq!((told[0].disk_written_most_bytes, told[0].note.as_deref()), (Some(20), None));
    }

    /// It has no place where one number is needed: a run whose connections ended unseen would win by that.
    #[test]
    fn traffic_that_is_not_all_known_is_told_as_a_bound() {
        let client = |is_least| Summary {
            network: NetworkFigures { rx_bytes: Some(10), tx_bytes: Some(2_048), is_least },
            ..summary("client", TREE, None)
        };
        let told = |is_least| Resources::of_run(&[client(is_least)], Some(Medium::Device), Datagrams::No).remove(0);
        let all = told(false);
        assert_eq!((all.net_rx_bytes, all.net_tx_bytes, all.net_tx_least_bytes), (Some(10), Some(2_048), Some(2_048)));
        assert_eq!((sent(&all), all.note.as_deref()), ("2.00\u{a0}KiB".into(), None));
        let least = told(true);
        assert_eq!((least.net_rx_bytes, least.net_tx_bytes), (None, None));
        assert_eq!((least.net_rx_least_bytes, least.net_tx_least_bytes), (Some(10), Some(2_048)));
        assert_eq!((sent(&least), least.note.as_deref()), ("≥ 2.00\u{a0}KiB".into(), Some(NETWORK)));
        assert_eq!(sent_of_all(&[&all, &least]), "≥ 4.00\u{a0}KiB");
        assert_eq!(sent_of_all(&[&all, &all]), "4.00\u{a0}KiB");
    }

    /// TCP connections alone would say that who writes in datagrams needs no network.
    #[test]
    fn datagrams_count_as_sent_and_what_came_of_them_is_not_known() {
        let by_socket = |role: &str| Summary {
            method: Method { source: Source::ProcessTree, network: Some(NetworkMethod::Socket) },
            network: NetworkFigures { rx_bytes: Some(10), tx_bytes: Some(20), is_least: false },
            ..summary(role, TREE, None)
        };
        let of_run = |datagrams| {
            let all = [by_socket("client"), by_socket("influxdb"), summary("machine", HOST, None)];
            let all = Resources::of_run(&all, Some(Medium::Device), datagrams).into_iter();
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
