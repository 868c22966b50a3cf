//! What a document tells about a contender. Pure.

use crate::{
    comparison::survived,
    document::{Capacity, Document, Resources, Status},
    upper_ends::remarks_of_upper_ends,
};
use iotbench_scoring::{Criterion, Run};

/// A run as the score takes it: its criteria, and why it cannot be believed where it cannot.
///
/// The server is every role but the client and the machine; an embedded database shares the client's process, and nobody can
/// tell them apart. Rates are over the measured part; the data's growth is over the whole run,
/// warm-up included. What the document does not know is left out, and never 0.
#[must_use]
pub fn scored_run(document: &Document) -> Run {
    let verdict = &document.verdict;
    let refused = (verdict.status != Status::Valid).then(|| match verdict.reasons.as_slice() {
        [] => verdict.status.name().into(),
        reasons => format!("{}: {}", verdict.status.name(), reasons.join("; ")),
    });
    let known = |(criterion, figure): (Criterion, Option<f64>)| {
        Some((criterion, figure.filter(|figure| figure.is_finite() && *figure >= 0.0)?))
    };
    Run {
        name: document.run_id.clone(),
        profile: document.profile_title(),
        target: document.target.name(),
        strategy: document.target.strategy.clone(),
        promise: promise(document),
        refused,
        figures: figures(document).into_iter().filter_map(known).collect(),
    }
}

/// What an acknowledged write survives, and on how many nodes.
pub(crate) fn promise(document: &Document) -> String {
    document.target.durability.as_ref().map_or_else(
        || "not known".into(),
        |durability| match durability.nodes {
            1 => survived(durability),
            nodes => format!("{}, on {nodes} nodes", survived(durability)),
        },
    )
}

fn figures(document: &Document) -> [(Criterion, Option<f64>); 11] {
    let server: Vec<&Resources> = document.resources.iter().filter(|r| r.is_of_database()).collect();
    let client: Vec<&Resources> = document.resources.iter().filter(|r| r.is_of_client()).collect();
    let seconds = document.measured.as_ref().and_then(|m| m.length_s).filter(|s| *s > 0.0);
    let a_second = |amount: Option<f64>| Some(amount? / seconds?);
    let io_bytes = sum(&server, |r| Some(number(r.disk_read_bytes?) + number(r.disk_written_bytes?)));
    let traffic = |r: &Resources| Some(number(r.net_rx_bytes?) + number(r.net_tx_bytes?));
    let traffic_bytes = sum(&client, traffic).or_else(|| sum(&server, traffic));
    let storage = &document.storage;
    let growth_bytes = storage.bytes_before.zip(storage.bytes_after).map(|(b, a)| number(a.saturating_sub(b)));
    let response = document.latency.as_ref().map(|latency| &latency.by_operation.response);
    let inverse = |figure: Option<f64>| figure.filter(|figure| *figure > 0.0).map(|figure| 1e6 / figure);
    let rate = document.throughput.as_ref().and_then(|throughput| throughput.operations_per_s);
    let sustained = document.capacity.as_ref().and_then(Capacity::limit);
    [
        (Criterion::ServerCpuPct, sum(&server, |r| r.cpu_pct_mean)),
        (Criterion::ServerMemoryBytes, sum(&server, |r| r.rss_bytes_mean.map(number))),
        (Criterion::ServerIoKbPerS, a_second(io_bytes).map(|bytes| bytes / 1e3)),
        (Criterion::ClientCpuPct, sum(&client, |r| r.cpu_pct_mean)),
        (Criterion::ClientMemoryBytes, sum(&client, |r| r.rss_bytes_mean.map(number))),
        (Criterion::NetworkKbitPerS, a_second(traffic_bytes).map(|bytes| bytes * 8.0 / 1e3)),
        (Criterion::DiskGrowthBytes, growth_bytes),
        (Criterion::ResponseMeanUs, response.and_then(|response| response.at_most("mean"))),
        (Criterion::ResponseP99Us, response.and_then(|response| response.at_most("p99"))),
        (Criterion::ThroughputInverse, inverse(rate)),
        (Criterion::CapacityInverse, inverse(sustained)),
    ]
}

fn number(bytes: u64) -> f64 {
    bytes as f64
}

/// The sum over some parts of the system, if there are any and the figure of each is known.
fn sum(parts: &[&Resources], figure: impl Fn(&Resources) -> Option<f64>) -> Option<f64> {
    if parts.is_empty() {
        return None;
    }
    parts.iter().map(|part| figure(part)).sum()
}

/// What makes runs hard to compare: other machines, other lengths of the same profile, upper ends in the place of figures.
#[must_use]
pub fn unequal(documents: &[Document]) -> Vec<String> {
    let mut remarks = Vec::new();
    let machine = |d: &Document| {
        let e = &d.environment;
        (e.cpu.clone(), e.cores_usable, e.memory_bytes, e.kernel.clone())
    };
    if documents.windows(2).any(|pair| machine(&pair[0]) != machine(&pair[1])) {
        remarks.push("the runs were made on machines that differ in processor, memory or kernel".into());
    }
    let mut profiles: Vec<&str> = documents.iter().map(|d| d.profile.as_str()).collect();
    profiles.sort_unstable();
    profiles.dedup();
    for profile in profiles {
        let own = documents.iter().filter(|d| d.profile == profile);
        let lengths: Vec<f64> = own.filter_map(|d| d.measured.as_ref()?.length_s).collect();
        let (least, most) = lengths.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), s| (l.min(*s), m.max(*s)));
        if most > 1.1 * least {
            remarks.push(format!(
                "runs of {profile} measured from {least:.0} to {most:.0} s: what grows with time differs"
            ));
        }
    }
    remarks.extend(upper_ends(documents.iter()));
    remarks
}

/// Criteria that are the upper ends of ranges, of runs that enter a score.
pub(crate) fn upper_ends<'a>(documents: impl Iterator<Item = &'a Document> + Clone) -> Vec<String> {
    let valid = documents.filter(|document| document.verdict.status == Status::Valid);
    remarks_of_upper_ends(&valid, ["response_mean_us", "response_p99_us"].into_iter())
}
