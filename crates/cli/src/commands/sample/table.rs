//! Samples as lines of a table or of CSV.

use iotbench_sampler::{Observation, Sample, SamplerReport};

const TEXT_HEAD: &str = "    time   cpu %  procs       PSS       RSS    read/s   write/s   net in/s  net out/s\n";
const CSV_HEAD: &str = "at_s,cpu_s,user_s,system_s,processes,rss_bytes,pss_bytes,disk_read_bytes,disk_written_bytes,\
                        net_rx_bytes,net_tx_bytes\n";

/// Turns observations into lines. Rates are differences to the sample before.
#[derive(Debug)]
pub(super) struct Table {
    csv: bool,
    before: Option<Sample>,
}

/// A line of the table.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    /// The target has ended.
    pub(super) last: bool,
}

impl Table {
    pub(super) fn text() -> Self {
        Self { csv: false, before: None }
    }

    pub(super) fn csv() -> Self {
        Self { csv: true, before: None }
    }

    pub(super) fn head(&self) -> &'static str {
        if self.csv { CSV_HEAD } else { TEXT_HEAD }
    }

    pub(super) fn line(&mut self, observation: &Observation) -> Line {
        match observation {
            Observation::Gone => Line { text: String::new(), last: true },
            Observation::Unreadable(why) if self.csv => Line { text: format!("# {why}\n"), last: false },
            Observation::Unreadable(why) => Line { text: format!("{why}\n"), last: false },
            Observation::Sampled(sample) => {
                let before = self.before.replace(*sample);
                let text = if self.csv { csv(sample) } else { before.map_or(String::new(), |b| text(&b, sample)) };
                Line { text, last: false }
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
    let elapsed_s = (s.at.saturating_sub(before.at)).as_secs_f64().max(1e-9);
    let size = |figure: Option<u64>| figure.map_or("-".into(), bytes);
    let rate = |figure: fn(&Sample) -> Option<u64>| {
        let grown = figure(s).zip(figure(before)).map(|(now, then)| now.saturating_sub(then));
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate for the eye"
        )]
        grown.map_or("-".into(), |g| bytes((g as f64 / elapsed_s) as u64))
    };
    format!(
        "{:>7.1}s {:>7.1} {:>6} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10}\n",
        s.at.as_secs_f64(),
        (s.cpu_s - before.cpu_s) / elapsed_s * 100.0,
        s.processes,
        size(s.pss_bytes),
        size(s.rss_bytes),
        rate(|s| s.disk.read_bytes),
        rate(|s| s.disk.written_bytes),
        rate(|s| s.network.rx_bytes),
        rate(|s| s.network.tx_bytes)
    )
}

/// The whole time in one line.
pub(super) fn total(report: &SamplerReport) -> String {
    let mut text = String::new();
    for s in &report.subjects {
        let cpu = s
            .cpu
            .total_s
            .zip(s.cpu.pct_mean)
            .map_or("unknown".into(), |(s, pct)| format!("{s:.2} s, {pct:.1} % of a core"));
        let figure = |f: Option<u64>| f.map_or("unknown".into(), bytes);
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

/// A size for people, such as `12.3 MiB`.
fn bytes(n: u64) -> String {
    indicatif::BinaryBytes(n).to_string()
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
        let mut table = Table::text();
        assert_eq!(table.line(&sample(1, 1.0, Some(1000))).text, "");
        let line = table.line(&sample(3, 2.0, Some(1000 + 4096))).text;
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells, ["3.0s", "50.0", "2", "-", "4.00", "KiB", "0", "B", "2.00", "KiB", "-", "-"]);
    }

    #[test]
    fn csv_has_a_cell_for_every_title() {
        let mut table = Table::csv();
        let line = table.line(&sample(1, 1.0, None)).text;
        assert_eq!(line.split(',').count(), CSV_HEAD.split(',').count());
        assert!(line.ends_with(",,,\n"), "{line}");
    }

    #[test]
    fn the_end_of_the_target_is_the_last_line() {
        assert!(Table::csv().line(&Observation::Gone).last);
    }
}
