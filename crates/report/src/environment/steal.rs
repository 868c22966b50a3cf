//! Processor time that a hypervisor gave to others.

use std::fs;

/// Processor time that a hypervisor gave to others, since the meter was started.
#[derive(Clone, Copy, Debug)]
pub struct StealMeter {
    start: Option<Ticks>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    all: u64,
    stolen: u64,
}

impl StealMeter {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: now() }
    }

    /// Percent of all processors' time since the start, to two decimals; `None` where the kernel does not tell or no tick
    /// has passed.
    #[must_use]
    pub fn steal_pct(&self) -> Option<f64> {
        share_pct(self.start?, now()?)
    }
}

fn now() -> Option<Ticks> {
    ticks(&fs::read_to_string("/proc/stat").ok()?)
}

/// The first line of `/proc/stat`: `cpu user nice system idle iowait irq softirq steal guest guest_nice`. Guests are in
/// user and nice already.
fn ticks(stat: &str) -> Option<Ticks> {
    const STEAL: usize = 7;
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let counts: Vec<u64> = fields.take(STEAL + 1).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(Ticks { all: counts.iter().sum(), stolen: *counts.get(STEAL)? })
}

fn share_pct(from: Ticks, to: Ticks) -> Option<f64> {
    let all = to.all.checked_sub(from.all).filter(|&ticks| ticks > 0)?;
    let stolen = to.stolen.saturating_sub(from.stolen);
    Some((stolen as f64 / all as f64 * 1e4).round() / 1e2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_share_of_all_time_since_the_start() {
        let from = ticks("cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 …").unwrap();
        let to = ticks("cpu  60 0 60 155 0 0 0 25 7 0\n").unwrap();
        assert_eq!(share_pct(from, to), Some(12.5));
        assert_eq!(share_pct(to, to), None);
        assert_eq!(ticks("cpu 1 2 3"), None);
    }
}
