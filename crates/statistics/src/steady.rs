//! When a series of windows had settled, and whether it stayed so.

use crate::{
    change_point::change_point,
    mser::{Truncation, mser5},
    sample::{mean, variance},
    trend::trend,
};

/// Fewer windows are not judged.
pub const MIN_WINDOWS: usize = 100;

/// A change by less than this part of the mean is none that anybody asks for, however certain it is.
const MATTERS: f64 = 0.02;

/// How certain a trend is.
const TREND_P: f64 = 0.01;

/// How certain a jump is; its place is searched for, so it has to be more certain.
const JUMP_P: f64 = 0.0001;

/// What a series did after its warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// It kept its level.
    Steady,
    /// It had not settled at half of its length.
    NeverSettled,
    /// It rose or fell all the time, by this part of its mean from one end to the other.
    Drifting {
        /// Negative: it fell.
        change: f64,
    },
    /// It went over to another level.
    Jumped {
        /// The first window of the new level, counted from the series' beginning.
        at: usize,
        /// The new level over the old one, less 1.
        change: f64,
    },
}

/// What became of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Windows at its beginning that belong to the warm-up.
    pub cut: usize,
    /// What it did after them.
    pub state: State,
    /// The mean of the windows after the cut; of one that was not steady, no more than that.
    pub mean: f64,
}

impl Judgement {
    /// Whether the mean after the cut says what one more run would say.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.state == State::Steady
    }
}

/// Judges a series of windows of equal length, such as the throughput of each second: its warm-up is cut off by
/// [MSER-5](mser5); the rest is steady unless a [line](trend) through it rises or falls by 2 % of the mean or more and is
/// certain (p ≤ 0.01), or it [jumps](change_point) by 2 % or more (p ≤ 0.0001). Of the two, the one that explains more is
/// named. Neither alone suffices: a line finds a jump in the middle late, and a jump a slow drift.
///
/// A jump within the first half is a warm-up that ended there, and is cut. A drift is none: where one line through the whole
/// series leaves no more than a line until the cut and a level from there on, nothing is cut.
///
/// `None`: fewer than 100 windows, which tell too little.
#[must_use]
pub fn judge(windows: &[f64]) -> Option<Judgement> {
    if windows.len() < MIN_WINDOWS {
        return None;
    }
    let (cut, settled) = match mser5(windows)? {
        Truncation::After(cut) if ends_at(windows, cut) => (cut, true),
        Truncation::After(_) => (0, true),
        Truncation::NotWithinHalf => (0, false),
    };
    let rest = &windows[cut..];
    let state = change(rest, cut).unwrap_or_else(|| {
        // Noise alone can hide where a series settles: then both halves have one mean.
        let (all, second) = (mean(rest), mean(&rest[rest.len() / 2..]));
        let matters = (second - all).abs() >= MATTERS * all.abs();
        if settled || !matters { State::Steady } else { State::NeverSettled }
    });
    Some(Judgement { cut, state, mean: mean(rest) })
}

/// Whether what comes before the cut ends there, or goes on as a line through the whole series.
fn ends_at(windows: &[f64], cut: usize) -> bool {
    let (warm_up, rest) = windows.split_at(cut);
    let around = |values: &[f64]| variance(values) * (values.len() as f64 - 1.0).max(0.0);
    let left_by_line = |values: &[f64]| trend(values).map_or_else(|| around(values), |line| line.squares_left);
    (left_by_line(warm_up) + around(rest)) * price(windows.len(), 2) < left_by_line(windows)
}

/// What so many figures more, fitted to so many windows, have to save of the sum of squares to earn their keep (Schwarz 1978).
fn price(windows: usize, figures: u32) -> f64 {
    let count = windows as f64;
    (f64::from(figures) * count.ln() / count).exp()
}

/// The change that a series makes, if it makes one. `first` is its place in the series that is told of.
fn change(series: &[f64], first: usize) -> Option<State> {
    let drift = trend(series).filter(|line| line.p_value <= TREND_P && line.change.abs() >= MATTERS);
    let jump = change_point(series)
        .filter(|jump| jump.p_value <= JUMP_P)
        .map(|jump| (jump, (jump.after - jump.before) / jump.before.abs()))
        .filter(|(_, change)| change.abs() >= MATTERS);
    // A jump has its place beside its two levels.
    let price = price(series.len(), 1);
    let jumped = |at, change| Some(State::Jumped { at: first + at, change });
    match (drift, jump) {
        (Some(drift), Some((jump, change))) if jump.squares_left * price < drift.squares_left => {
            jumped(jump.at, change)
        }
        (Some(drift), _) => Some(State::Drifting { change: drift.change }),
        (None, Some((jump, change))) => jumped(jump.at, change),
        (None, None) => None,
    }
}
