//! Why there is no cycle.

use crate::{HORIZON_S, marks::Mark, rise::MIN_POINTS, window::WINDOW_BYTES};

/// Why no cycle was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No datapoint is there that could be this mark.
    #[error("no datapoint can be {0}: the data begin or end here, or the machine stands still up to there")]
    EdgeOfData(Mark),
    /// The abscissa does not go on as it should.
    #[error(
        "the machine stands still: the abscissa does not rise steadily, or there is no whole cycle within {HORIZON_S} s"
    )]
    Standstill,
    /// Datapoints are missing between t3 and t5, or one of them lacks a value.
    #[error("datapoints or values are missing around the cycle")]
    Gap,
    /// Two datapoints of one time, or an answer that is not in the order of time.
    #[error("datapoints are stored twice around the cycle, or were not answered in the order of time")]
    Repeated,
    /// The stretch between the marks is no clear rise from A/8 to the amplitude.
    #[error(
        "there is no clear rise over at least {MIN_POINTS} datapoints: too much noise, or the amplitude is another one"
    )]
    Noise,
    /// The seconds around hold more than is kept in memory.
    #[error(
        "the seconds around the time hold more than {WINDOW_BYTES} bytes: use the strategy individual, or fewer channels"
    )]
    TooMuchData,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_that_is_missing_is_named() {
        let marks = [Mark::T1, Mark::T2, Mark::T3, Mark::T4, Mark::T5];
        let begins = marks.map(|mark| Reason::EdgeOfData(mark).to_string()[..26].to_owned());
        assert_eq!(begins, ["t1", "t2", "t3", "t4", "t5"].map(|mark| format!("no datapoint can be {mark}: th")));
    }
}
