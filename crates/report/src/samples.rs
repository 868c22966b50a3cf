//! Samples as lines of a table or of CSV.

use crate::size::binary_size;
use iotbench_sampler::{Observation, Sample, SamplerReport, UsageBetween};

const TEXT_HEAD: &str = "    time   cpu %  procs       PSS       RSS    read/s   write/s   net in/s  net out/s\n";
const CSV_HEAD: &str = "at_s,cpu_s,user_s,system_s,processes,rss_bytes,pss_bytes,disk_read_bytes,disk_written_bytes,\
                        net_rx_bytes,net_tx_bytes\n";

/// Turns observations into lines. Rates are differences to the sample before.
#[derive(Debug)]
pub struct SampleTable {
    csv: bool,
    before: Option<Sample>,
}

/// A line of the table.
#[derive(Debug)]
pub struct SampleLine {
    /// With its end; empty: there is none.
    pub text: String,
    /// The target has ended.
    pub last: bool,
}

impl SampleTable {
    /// For people.
    #[must_use]
    pub fn text() -> Self {
        Self { csv: false, before: None }
    }

    /// Raw counters as CSV.
    #[must_use]
    pub fn csv() -> Self {
        Self { csv: true, before: None }
    }

    /// The line above all.
    #[must_use]
    pub fn head(&self) -> &'static str {
        if self.csv { CSV_HEAD } else { TEXT_HEAD }
    }

    /// The line of an observation.
    pub fn line(&mut self, observation: &Observation) -> SampleLine {
        match observation {
            Observation::Gone => SampleLine { text: String::new(), last: true },
            Observation::Unreadable(why) if self.csv => SampleLine { text: format!("# {why}\n"), last: false },
            Observation::Unreadable(why) => SampleLine { text: format!("{why}\n"), last: false },
            Observation::Sampled(sample) => {
                let before = self.before.replace(*sample);
                let text = if self.csv { csv(sample) } else { before.map_or(String::new(), |b| text(&b, sample)) };
                SampleLine { text, last: false }
            }
        }
    }
}

fn csv(s: &Sample) -> String {
    let cell = |figure: Option<u64>| figure.map(|f| f.to_string()).unwrap_or_default();
    format!(
        "{:.3},{:.3},{:.3},{:.3},{},{},{},{},{},{},{}\n",
        s.at.as_secs_f64(),
        s.cpu_s,
        s.user_s,
        s.system_s,
        s.processes,
        cell(s.rss_bytes),
        cell(s.pss_bytes),
        cell(s.disk.read_bytes),
        cell(s.disk.written_bytes),
        cell(s.network.rx_bytes),
        cell(s.network.tx_bytes)
    )
}

fn text(before: &Sample, s: &Sample) -> String {
    let Some(usage) = UsageBetween::between(before, s) else { return String::new() };
    let size = |figure: Option<u64>| figure.map_or("-".into(), binary_size);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for the eye"
    )]
    let rate = |grown: Option<u64>| size(grown.map(|grown| (grown as f64 / usage.elapsed_s) as u64));
    format!(
        "{:>7.1}s {:>7.1} {:>6} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10}\n",
        s.at.as_secs_f64(),
        usage.cpu_pct(),
        s.processes,
        size(s.pss_bytes),
        size(s.rss_bytes),
        rate(usage.disk_read_bytes),
        rate(usage.disk_written_bytes),
        rate(usage.net_rx_bytes),
        rate(usage.net_tx_bytes)
    )
}

/// The whole time in one line.
#[must_use]
pub fn render_sampled(report: &SamplerReport) -> String {
    let mut text = String::new();
    for s in &report.subjects {
        let cpu = s
            .cpu
            .total_s
            .zip(s.cpu.pct_mean)
            .map_or("unknown".into(), |(s, pct)| format!("{s:.2} s, {pct:.1} % of a core"));
        let figure = |f: Option<u64>| f.map_or("unknown".into(), binary_size);
        let least = if s.network.is_least { "at least " } else { "" };
        text.push_str(&format!(
            "total: CPU {cpu}; PSS at most {}; read {}, written {}; received {least}{}, sent {least}{}; sampling itself took {:.2} % of a core\n",
            figure(s.memory.pss_bytes_max),
            figure(s.disk.read_bytes),
            figure(s.disk.written_bytes),
            figure(s.network.rx_bytes),
            figure(s.network.tx_bytes),
            report.own_cpu_pct
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_sampler::DiskCounters;
    use std::time::Duration;

    fn sample(at_s: u64, cpu_s: f64, written: Option<u64>) -> Observation {
        Observation::Sampled(Sample {
            at: Duration::from_secs(at_s),
            cpu_s,
            user_s: cpu_s,
            processes: 2,
            rss_bytes: Some(4096),
            disk: DiskCounters { read_bytes: Some(0), written_bytes: written, ..DiskCounters::default() },
            ..Sample::default()
        })
    }

    #[test]
    fn rates_are_differences_and_what_is_unknown_is_not_zero() {
        let mut table = SampleTable::text();
        assert_eq!(table.line(&sample(1, 1.0, Some(1000))).text, "");
        let line = table.line(&sample(3, 2.0, Some(1000 + 4096))).text;
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells, ["3.0s", "50.0", "2", "-", "4.00", "KiB", "0", "B", "2.00", "KiB", "-", "-"]);
    }

    #[test]
    fn csv_has_a_cell_for_every_title() {
        let mut table = SampleTable::csv();
        let line = table.line(&sample(1, 1.0, None)).text;
        assert_eq!(line.split(',').count(), CSV_HEAD.split(',').count());
        assert!(line.ends_with(",,,\n"), "{line}");
    }

    #[test]
    fn the_end_of_the_target_is_the_last_line() {
        assert!(SampleTable::csv().line(&Observation::Gone).last);
    }
}
