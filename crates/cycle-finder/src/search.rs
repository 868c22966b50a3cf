//! The state machine.

use crate::{
    marks::{Mark, Marks, Thresholds},
    reason::Reason,
    rise::Rise,
    strategy::Strategy,
    window::{Look, Window},
};
use iotbench_core::{Chunk, Devices, Query, SignalId, TimeRange};

/// How far a mark may lie from the time that is searched from, in seconds.
pub const HORIZON_S: i64 = 64;
const HORIZON_NS: i64 = HORIZON_S * 1_000_000_000;

/// What is searched, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSpec {
    /// How it is read.
    pub strategy: Strategy,
    /// The channels to sum over the cycle, ascending, the abscissa among them.
    pub signals: Vec<SignalId>,
    /// The channel that is the sawtooth.
    pub abscissa: SignalId,
    /// The height of the sawtooth, in the channel's own unit: thresholds are its half and its eighth.
    pub amplitude: f64,
}

/// Why there can be no search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The signals are no list of channels.
    #[error("the signals of a cycle search must be ascending, without repetition, and hold the abscissa")]
    Signals,
    /// The amplitude is no height.
    #[error("the amplitude of a cycle search must be positive and finite")]
    Amplitude,
}

/// What has to be done next.
#[derive(Debug)]
pub enum Step<'a> {
    /// Put this query, give every chunk of the reply to [`CycleSearch::take`], and the query back to
    /// [`CycleSearch::answered`].
    Ask(Query),
    /// The cycle.
    Found(Cycle<'a>),
    /// There is none.
    NotFound(Reason),
}

/// A machine cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle<'a> {
    /// The time of its first datapoint.
    pub start_ns: i64,
    /// The time of the first datapoint after it.
    pub end_ns: i64,
    /// How many datapoints it has.
    pub points: u64,
    /// The sum of each channel over them, in the order of [`SearchSpec::signals`].
    pub sums: &'a [f64],
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Mark(Mark),
    /// The datapoints from t3 to t5, whose marks were asked for one by one.
    Data,
    Window,
    /// The channels but the abscissa, of the cycle that the window showed.
    Others,
    Found,
    NotFound(Reason),
}

/// The search for the cycle around a time. It is begun again by [`restart`](Self::restart), which keeps its memory.
#[derive(Clone, Debug)]
pub struct CycleSearch {
    spec: SearchSpec,
    thresholds: Thresholds,
    abscissa_place: usize,
    device: u32,
    t_ns: i64,
    stage: Stage,
    /// The time of the first row of the present answer.
    first_ns: Option<i64>,
    /// How many rows of the present answer were taken.
    taken: usize,
    marks: Marks,
    rise: Rise,
    window: Window,
    sums: Vec<f64>,
    /// Lists for the next query.
    devices: Vec<u32>,
    signals: Vec<SignalId>,
}

impl CycleSearch {
    /// The search for the cycle of this device that `t_ns`, in nanoseconds since the Unix epoch, lies in, or for the one
    /// after it where t lies in the last datapoint of a cycle.
    ///
    /// # Errors
    /// Signals that are not ascending or lack the abscissa; an amplitude that is no height.
    pub fn new(spec: SearchSpec, device: u32, t_ns: i64) -> Result<Self, SearchError> {
        if !spec.signals.is_sorted_by(|a, b| a < b) {
            return Err(SearchError::Signals);
        }
        let abscissa_place = spec.signals.iter().position(|&s| s == spec.abscissa).ok_or(SearchError::Signals)?;
        if !(spec.amplitude.is_finite() && spec.amplitude > 0.0) {
            return Err(SearchError::Amplitude);
        }
        let window = match spec.strategy {
            Strategy::Bulk => Window::new(spec.signals.len(), abscissa_place),
            Strategy::Bulk1 | Strategy::Individual => Window::new(1, 0),
        };
        let mut search = Self {
            thresholds: Thresholds { amplitude: spec.amplitude },
            abscissa_place,
            device,
            t_ns,
            stage: Stage::Window,
            first_ns: None,
            taken: 0,
            marks: Marks::default(),
            rise: Rise::new(Marks::default(), spec.amplitude),
            window,
            sums: Vec::with_capacity(spec.signals.len()),
            devices: Vec::with_capacity(1),
            signals: Vec::with_capacity(spec.signals.len()),
            spec,
        };
        search.restart(device, t_ns);
        Ok(search)
    }

    /// Begins anew with another device and time.
    pub fn restart(&mut self, device: u32, t_ns: i64) {
        (self.device, self.t_ns, self.marks) = (device, t_ns, Marks::default());
        self.window.restart(t_ns);
        self.enter(match self.spec.strategy {
            Strategy::Individual => Stage::Mark(Mark::T1),
            Strategy::Bulk | Strategy::Bulk1 => Stage::Window,
        });
    }

    /// What has to be done next; the same until [`answered`](Self::answered) is called.
    pub fn step(&mut self) -> Step<'_> {
        match self.stage {
            Stage::Mark(mark) => {
                Step::Ask(self.marks.query(mark, self.device, self.spec.abscissa, self.thresholds, self.t_ns))
            }
            // From t3 on, although the cycle begins at t4: nothing may be missing between the two.
            Stage::Data => Step::Ask(self.ask(TimeRange::half_open(self.marks.t3, self.marks.t5), |_| true)),
            Stage::Window => {
                let (abscissa, all) = (self.spec.abscissa, self.spec.strategy == Strategy::Bulk);
                Step::Ask(self.ask(self.window.range(), |signal| all || signal == abscissa))
            }
            Stage::Others => {
                let abscissa = self.spec.abscissa;
                Step::Ask(self.ask(TimeRange::half_open(self.marks.t4, self.marks.t5), |signal| signal != abscissa))
            }
            Stage::Found => Step::Found(Cycle {
                start_ns: self.marks.t4,
                end_ns: self.marks.t5,
                points: self.rise.points(),
                sums: &self.sums,
            }),
            Stage::NotFound(reason) => Step::NotFound(reason),
        }
    }

    /// Takes some rows of the answer to the last query.
    pub fn take(&mut self, chunk: &Chunk) {
        self.first_ns = self.first_ns.or(chunk.timestamps_ns.first().copied());
        match self.stage {
            Stage::Data => self.take_data(chunk),
            Stage::Window => self.window.take(chunk),
            Stage::Others => self.take_others(chunk),
            Stage::Mark(_) | Stage::Found | Stage::NotFound(_) => {}
        }
        self.taken += chunk.len();
    }

    /// The answer is complete. The query comes back, so that its memory is used again.
    pub fn answered(&mut self, query: Query) {
        if let Query::Range { devices: Devices::Some(devices), signals, .. } = query {
            (self.devices, self.signals) = (devices, signals);
        }
        let next = match self.stage {
            Stage::Mark(mark) => self.mark_found(mark),
            Stage::Data => self.judged(Stage::Found),
            Stage::Window => match self.window.look(self.thresholds) {
                Look::Widened => Stage::Window,
                Look::NotFound(reason) => Stage::NotFound(reason),
                Look::Found(marks) => self.cycle_of_window(marks),
            },
            Stage::Others => {
                if u64::try_from(self.taken).ok() != Some(self.rise.points()) {
                    self.rise.lacks();
                }
                self.judged(Stage::Found)
            }
            ended @ (Stage::Found | Stage::NotFound(_)) => ended,
        };
        self.enter(next);
    }

    fn enter(&mut self, stage: Stage) {
        (self.stage, self.first_ns, self.taken) = (stage, None, 0);
    }

    fn ask(&mut self, range: TimeRange, wanted: impl Fn(SignalId) -> bool) -> Query {
        let (mut devices, mut signals) = (std::mem::take(&mut self.devices), std::mem::take(&mut self.signals));
        devices.clear();
        devices.push(self.device);
        signals.clear();
        signals.extend(self.spec.signals.iter().copied().filter(|&signal| wanted(signal)));
        Query::Range { devices: Devices::Some(devices), signals, range }
    }

    fn mark_found(&mut self, mark: Mark) -> Stage {
        let Some(time_ns) = self.first_ns else { return Stage::NotFound(Reason::EdgeOfData(mark)) };
        if self.t_ns.abs_diff(time_ns) > HORIZON_NS.unsigned_abs() {
            return Stage::NotFound(Reason::Standstill);
        }
        self.marks.set(mark, time_ns);
        match mark.following() {
            Some(following) => Stage::Mark(following),
            None => {
                self.begin_sums();
                Stage::Data
            }
        }
    }

    fn begin_sums(&mut self) {
        self.rise = Rise::new(self.marks, self.thresholds.amplitude);
        self.sums.clear();
        self.sums.resize(self.spec.signals.len(), 0.0);
    }

    fn judged(&self, good: Stage) -> Stage {
        match self.rise.verdict() {
            Ok(()) => good,
            Err(reason) => Stage::NotFound(reason),
        }
    }

    fn take_data(&mut self, chunk: &Chunk) {
        let value = |place: usize, row: usize| chunk.columns.get(place)?.get(row)?.as_f64();
        for (row, &time_ns) in chunk.timestamps_ns.iter().enumerate() {
            if self.rise.push(time_ns, value(self.abscissa_place, row)) {
                for (place, sum) in self.sums.iter_mut().enumerate() {
                    match value(place, row) {
                        Some(value) => *sum += value,
                        None => self.rise.lacks(),
                    }
                }
            }
        }
    }

    /// Judges and sums the cycle in the window.
    fn cycle_of_window(&mut self, marks: Marks) -> Stage {
        self.marks = marks;
        self.begin_sums();
        for row in self.window.rows(marks.t3, marks.t5) {
            let Some((time_ns, values)) = self.window.row(row) else { continue };
            if !self.rise.push(time_ns, self.window.abscissa(row)) {
                continue;
            }
            if values.iter().any(|value| value.is_nan()) {
                self.rise.lacks();
            }
            let first = if values.len() == 1 { self.abscissa_place } else { 0 };
            self.sums.iter_mut().skip(first).zip(values).for_each(|(sum, value)| *sum += value);
        }
        let whole = values_are_all(self.spec.strategy, self.spec.signals.len());
        self.judged(if whole { Stage::Found } else { Stage::Others })
    }

    /// The channels but the abscissa, at the times at which the window has one.
    fn take_others(&mut self, chunk: &Chunk) {
        let rows = self.window.rows(self.marks.t4, self.marks.t5);
        for (row, &time_ns) in chunk.timestamps_ns.iter().enumerate() {
            let expected = self.window.row(rows.start + self.taken + row);
            if expected.is_none_or(|(expected_ns, _)| expected_ns != time_ns) {
                self.rise.lacks();
            }
            let skipped = self.abscissa_place;
            let others = self.sums.iter_mut().enumerate().filter(|&(place, _)| place != skipped).map(|(_, sum)| sum);
            for (column, sum) in others.enumerate() {
                match chunk.columns.get(column).and_then(|c| c.get(row)?.as_f64()) {
                    Some(value) => *sum += value,
                    None => self.rise.lacks(),
                }
            }
        }
    }
}

/// Whether the window holds every channel that is to be summed.
fn values_are_all(strategy: Strategy, signals: usize) -> bool {
    strategy == Strategy::Bulk || signals == 1
}
