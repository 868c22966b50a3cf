//! Whether a fixed load had settled, and how exact its means are. Pure.

use crate::outcome::SecondFigures;
use iotbench_statistics::{BatchMeans, Judgement, State, TooCorrelated, batch_means, judge};

/// What the seconds of a fixed load tell of its steadiness.
#[derive(Clone, Debug, PartialEq)]
pub struct Steadiness {
    /// How many whole seconds there are.
    pub seconds: usize,
    /// Operations acknowledged a second.
    pub throughput: SteadySeries,
    /// The mean response time of acknowledged operations, in nanoseconds; `None`: none was acknowledged.
    pub response: Option<SteadySeries>,
}

/// What the seconds tell of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadySeries {
    /// What was cut off as warm-up, and what came of the rest; `None`: too few seconds to judge.
    pub judgement: Option<Judgement>,
    /// The mean over all seconds.
    pub mean_of_all: f64,
    /// The mean over the seconds after the cut.
    pub mean: f64,
    /// That mean's interval, or why there is none.
    pub interval: Result<BatchMeans, TooCorrelated>,
}

impl Steadiness {
    /// Judges the seconds of a measured part; `None` of nothing.
    #[must_use]
    pub fn of(seconds: &[SecondFigures]) -> Option<Self> {
        if seconds.is_empty() {
            return None;
        }
        let throughput = SteadySeries::of(seconds, |seconds| seconds.iter().map(|s| s.ok as f64).collect());
        let is_answered = seconds.iter().any(|second| second.responses > 0);
        let response = is_answered.then(|| SteadySeries::of(seconds, mean_responses));
        Some(Self { seconds: seconds.len(), throughput, response })
    }

    /// The throughput, and the response where there is one.
    pub fn series(&self) -> impl Iterator<Item = &SteadySeries> {
        std::iter::once(&self.throughput).chain(&self.response)
    }

    /// Whether both kept their level; `None`: too few seconds to judge.
    #[must_use]
    pub fn is_steady(&self) -> Option<bool> {
        self.throughput.judgement?;
        Some(self.series().filter_map(|series| series.judgement).all(|judgement| judgement.state == State::Steady))
    }

    /// Seconds of warm-up at the beginning, by whichever of the two took longer; `None`: too few seconds to judge.
    #[must_use]
    pub fn warm_up_s(&self) -> Option<usize> {
        self.series().filter_map(|series| series.judgement).map(|judgement| judgement.cut).max()
    }
}

impl SteadySeries {
    /// `windows` makes a series of seconds, whose mean is the figure over these seconds.
    fn of(seconds: &[SecondFigures], windows: impl Fn(&[SecondFigures]) -> Vec<f64>) -> Self {
        let all = windows(seconds);
        let judgement = judge(&all);
        let cut = judgement.map_or(0, |judgement| judgement.cut);
        let rest = windows(seconds.get(cut..).unwrap_or_default());
        let mean = |windows: &[f64]| windows.iter().sum::<f64>() / windows.len() as f64;
        Self { judgement, mean_of_all: mean(&all), mean: mean(&rest), interval: batch_means(&rest) }
    }
}

/// Mean response times of seconds as a series whose mean is the mean over all operations, although some seconds have more
/// of them: the ratio R = ΣS / ΣC made linear, R + (S − R C) / C̄ (Cochran, Sampling Techniques, chapter 6). A second
/// without an answer is at the mean; the one that ends a stall has its whole weight.
fn mean_responses(seconds: &[SecondFigures]) -> Vec<f64> {
    let count: f64 = seconds.iter().map(|second| second.responses as f64).sum();
    let sum_ns: f64 = seconds.iter().map(|second| second.response_sum_ns as f64).sum();
    let (ratio, usual) = (sum_ns / count.max(1.0), count.max(1.0) / seconds.len() as f64);
    let linear = |s: &SecondFigures| ratio + (s.response_sum_ns as f64 - ratio * s.responses as f64) / usual;
    seconds.iter().map(linear).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(ok: u64, response_ns: u64) -> SecondFigures {
        SecondFigures { ok, responses: ok, response_sum_ns: ok * response_ns, ..SecondFigures::default() }
    }

    /// A number from 0 to 99 that looks like chance.
    fn noise(place: u64) -> u64 {
        (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % 100
    }

    #[test]
    fn the_mean_response_is_that_of_all_operations() {
        let seconds = [second(10, 100), second(0, 0), second(30, 500)];
        let windows = mean_responses(&seconds);
        assert!((windows.iter().sum::<f64>() / 3.0 - 400.0).abs() < 1e-9, "{windows:?}");
        let near = windows.iter().zip([175.0, 400.0, 625.0]).all(|(window, expected)| (window - expected).abs() < 1e-9);
        assert!(near, "400 + (S − 400 C) / 13.3: {windows:?}");
        let alike = mean_responses(&[second(7, 250); 4]);
        assert!(alike.iter().all(|window| (window - 250.0).abs() < 1e-9), "{alike:?}");
    }

    #[test]
    fn what_warms_up_is_cut_and_what_the_load_does_is_told() {
        let warm =
            |i: u64| if i < 30 { second(500, 4_000_000) } else { second(1_000 + noise(i), 2_000_000 + noise(i)) };
        let steadiness = Steadiness::of(&(0..200).map(warm).collect::<Vec<_>>()).unwrap();
        assert_eq!((steadiness.is_steady(), steadiness.warm_up_s()), (Some(true), Some(30)));
        let response = steadiness.response.unwrap();
        assert!((response.mean - 2_000_050.0).abs() < 20.0 && response.mean_of_all > 2_100_000.0, "{response:?}");
        assert!(response.interval.unwrap().interval.contains(response.mean));

        let slower = |i: u64| second(1_000, 2_000_000 + 10_000 * i + 100 * noise(i));
        let steadiness = Steadiness::of(&(0..200).map(slower).collect::<Vec<_>>()).unwrap();
        assert_eq!(steadiness.is_steady(), Some(false));
        assert_eq!(steadiness.throughput.judgement.unwrap().state, State::Steady);
        let state = steadiness.response.unwrap().judgement.unwrap().state;
        assert!(matches!(state, State::Drifting { change } if (0.6..0.7).contains(&change)), "{state:?}");
    }

    #[test]
    fn few_seconds_are_not_judged_and_none_are_nothing() {
        let steadiness = Steadiness::of(&[second(5, 9); 40]).unwrap();
        assert_eq!((steadiness.is_steady(), steadiness.warm_up_s()), (None, None));
        assert!(steadiness.throughput.interval.is_ok());
        assert!(Steadiness::of(&[second(0, 0); 40]).unwrap().response.is_none());
        assert_eq!(Steadiness::of(&[]), None);
    }
}
