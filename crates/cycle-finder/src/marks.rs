//! The five marks that bound a cycle.

use iotbench_core::{Direction, Predicate, Query, SignalId, TimeRange};
use std::{fmt, ops::Bound};

/// One of the marks, in the order in which they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The first datapoint after the time with an abscissa above half of the amplitude.
    T1,
    /// The last one before t1 below an eighth.
    T2,
    /// The last one before t2 above half: the end of the cycle before.
    T3,
    /// The least one from t3 to t2, the earliest of equals: the start.
    T4,
    /// The first one after t1 below an eighth: the end.
    T5,
}

impl Mark {
    /// The mark that is found after this one.
    pub(crate) fn following(self) -> Option<Self> {
        match self {
            Self::T1 => Some(Self::T2),
            Self::T2 => Some(Self::T3),
            Self::T3 => Some(Self::T4),
            Self::T4 => Some(Self::T5),
            Self::T5 => None,
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::T1 => "t1",
            Self::T2 => "t2",
            Self::T3 => "t3",
            Self::T4 => "t4",
            Self::T5 => "t5",
        })
    }
}

/// The conditions on the abscissa.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub(crate) amplitude: f64,
}

impl Thresholds {
    pub(crate) fn high(self) -> Predicate {
        Predicate::Above(self.amplitude / 2.0)
    }

    pub(crate) fn low(self) -> Predicate {
        Predicate::Below(self.amplitude / 8.0)
    }
}

/// The times of the marks, in nanoseconds; those not yet found are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) t1: i64,
    pub(crate) t2: i64,
    pub(crate) t3: i64,
    pub(crate) t4: i64,
    pub(crate) t5: i64,
}

impl Marks {
    pub(crate) fn set(&mut self, mark: Mark, time_ns: i64) {
        *match mark {
            Mark::T1 => &mut self.t1,
            Mark::T2 => &mut self.t2,
            Mark::T3 => &mut self.t3,
            Mark::T4 => &mut self.t4,
            Mark::T5 => &mut self.t5,
        } = time_ns;
    }

    /// The query whose answer is this mark; those before it are known.
    pub(crate) fn query(&self, mark: Mark, device: u32, signal: SignalId, thresholds: Thresholds, t_ns: i64) -> Query {
        let nearest = |predicate, direction| Query::Nearest { device, signal, predicate, direction };
        match mark {
            Mark::T1 => nearest(thresholds.high(), Direction::FirstAfter(t_ns)),
            Mark::T2 => nearest(thresholds.low(), Direction::LastBefore(self.t1)),
            Mark::T3 => nearest(thresholds.high(), Direction::LastBefore(self.t2)),
            Mark::T4 => {
                let range = TimeRange { from: Bound::Included(self.t3), to: Bound::Included(self.t2) };
                Query::Minimum { device, signal, range }
            }
            Mark::T5 => nearest(thresholds.low(), Direction::FirstAfter(self.t1)),
        }
    }
}
