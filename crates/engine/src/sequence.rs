//! The course of an operation of several requests: which call comes next, and what holds of it when it ends early.

use crate::plan::OperationPlan;
use iotbench_core::{Acknowledged, Applied, Batch, Column, Run};
use iotbench_recorder::{Outcome, Payload};
use std::ops::Range;

/// One call on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Begins a transaction.
    Begin,
    /// Sends the next request.
    Request,
    /// Commits the transaction.
    Commit,
}

/// What follows on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This call, at once.
    Call(Call),
    /// The next request, not before this time.
    Pause {
        /// In nanoseconds since the run's start.
        until_ns: u64,
    },
    /// Nothing: every request is acknowledged, and committed.
    End,
}

/// An operation of several requests, or of a transaction. Knows neither connection nor clock.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    pause_ns: u64,
    transaction: bool,
    /// Datapoints of a request; the last may have fewer.
    points_per_request: usize,
    /// Datapoints of the operation.
    points: usize,
    /// The first datapoint that was not sent.
    next: RowPosition,
    /// The call under way; none in a pause.
    present: Option<Call>,
    /// When that call, or the one after the pause, was to be sent.
    due_ns: u64,
    acked: u64,
    bytes: u64,
    busy_ns: u64,
}

/// Rows of an operation's batch that were not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsByFate {
    /// They may be stored or not.
    pub unknown: Range<usize>,
    /// They are not.
    pub failed: Range<usize>,
}

/// A row of a batch, and where in its runs it lies.
#[derive(Clone, Copy, Debug, Default)]
struct RowPosition {
    row: usize,
    run: usize,
    row_of_run: usize,
}

impl Sequence {
    /// An operation with so many datapoints, sent at `sent_ns`; `None`: it is one request.
    pub fn new(plan: &OperationPlan, points: usize, sent_ns: u64) -> Option<Self> {
        (!plan.is_one_request()).then(|| Self {
            pause_ns: plan.pause_ns,
            transaction: plan.transaction,
            points_per_request: points.div_ceil(plan.requests as usize).max(1),
            points,
            next: RowPosition::default(),
            present: None,
            due_ns: sent_ns,
            acked: 0,
            bytes: 0,
            busy_ns: 0,
        })
    }

    /// Its first call.
    pub fn first(&self) -> Call {
        if self.transaction { Call::Begin } else { Call::Request }
    }

    /// Whether it is a transaction.
    pub fn is_transaction(&self) -> bool {
        self.transaction
    }

    /// When the present call was to be sent: when the one before was answered, or after the pause that followed.
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The call under way.
    pub fn present(&self) -> Option<Call> {
        self.present
    }

    /// The time in which the database had something to do: begin, requests and commit, no pauses.
    pub fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// A call is about to be made; a request's datapoints are copied from the operation's batch.
    pub fn send(&mut self, call: Call, operation: &Batch, request: &mut Batch) {
        self.present = Some(call);
        if call == Call::Request {
            request.clear();
            request.lack(operation.lacking());
            self.next = copy(operation, self.next, self.points_per_request, request);
        }
    }

    /// The present call succeeded.
    pub fn succeeded(&mut self, acknowledged: Acknowledged, sent_ns: u64, ended_ns: u64) -> Step {
        self.busy_ns += ended_ns.saturating_sub(sent_ns);
        self.bytes += acknowledged.bytes;
        self.due_ns = ended_ns;
        match self.present.take() {
            Some(Call::Begin) => Step::Call(Call::Request),
            Some(Call::Request) => {
                self.acked = self.next.row as u64;
                self.after_request(ended_ns)
            }
            Some(Call::Commit) | None => Step::End,
        }
    }

    fn after_request(&mut self, ended_ns: u64) -> Step {
        match (self.next.row < self.points, self.transaction) {
            (true, _) if self.pause_ns > 0 => {
                self.due_ns = ended_ns.saturating_add(self.pause_ns);
                Step::Pause { until_ns: self.due_ns }
            }
            (true, _) => Step::Call(Call::Request),
            (false, true) => Step::Call(Call::Commit),
            (false, false) => Step::End,
        }
    }

    /// What is to be counted at the end, with so many values a datapoint.
    pub fn ended(&self, values_per_point: u64) -> (Outcome, Payload) {
        let points = self.points as u64;
        (Outcome::Ok, Payload::undivided(Outcome::Ok, points, points * values_per_point, self.bytes))
    }

    /// The rows of the operation's batch that the present request sends, or the last one sent.
    pub fn present_rows(&self) -> Range<usize> {
        usize::try_from(self.acked).unwrap_or(usize::MAX).min(self.next.row)..self.next.row
    }

    /// What became of the rows that nobody acknowledged, when the present call failed and there will be no other: those that
    /// [`failed`](Self::failed) counts. Of a request that was stored in part, its own rows are not among them.
    pub fn rows_by_fate(&self, applied: &Applied) -> RowsByFate {
        let (present, all) = (self.present_rows(), 0..self.points);
        let none = 0..0;
        match (self.transaction, self.present, applied) {
            (true, Some(Call::Commit), _) => RowsByFate { unknown: all, failed: none },
            (true, ..) => RowsByFate { unknown: none, failed: all },
            (false, Some(Call::Request), Applied::Maybe) => {
                RowsByFate { failed: present.end..all.end, unknown: present }
            }
            (false, Some(Call::Request), Applied::Rows(_)) => {
                RowsByFate { unknown: none, failed: present.end..all.end }
            }
            (false, ..) => RowsByFate { unknown: none, failed: present.start..all.end },
        }
    }

    /// What is to be counted when the present call failed, or none was under way, and there will be no other.
    ///
    /// Without a transaction, what was acknowledged stays; what was never sent is not stored. A transaction that is not
    /// committed stores nothing. Whether a commit without an acknowledgement was applied is unknown, whatever the error
    /// says of it.
    pub fn failed(&self, applied: &Applied, values_per_point: u64) -> (Outcome, Payload) {
        let points = self.points as u64;
        let present = self.next.row as u64 - self.acked;
        let (acked, unknown) = match (self.transaction, self.present, applied) {
            (true, Some(Call::Commit), _) => (0, points),
            (true, ..) => (0, 0),
            (false, Some(Call::Request), Applied::Maybe) => (self.acked, present),
            (false, Some(Call::Request), Applied::Rows(rows)) => (self.acked + present.min(rows.len() as u64), 0),
            (false, ..) => (self.acked, 0),
        };
        let payload = Payload {
            points_acked: acked,
            points_failed: points - acked - unknown,
            points_unknown: unknown,
            values_acked: acked * values_per_point,
            bytes: self.bytes,
            ..Payload::default()
        };
        (if unknown > 0 { Outcome::Unknown } else { Outcome::Fail }, payload)
    }
}

/// Appends so many rows, or as many as there are, and says where the next one is.
fn copy(from: &Batch, mut place: RowPosition, rows: usize, to: &mut Batch) -> RowPosition {
    let end = from.len().min(place.row + rows);
    while let Some(run) = from.runs().get(place.run).filter(|_| place.row < end) {
        let count = (run.count as usize - place.row_of_run).min(end - place.row);
        let part = Run {
            device: run.device,
            first: run.first + place.row_of_run as u64,
            count: u32::try_from(count).unwrap_or(u32::MAX),
        };
        let of_batch = place.row..place.row + count;
        to.append(part, |timestamps_ns, columns| {
            timestamps_ns.extend_from_slice(&from.timestamps_ns()[of_batch.clone()]);
            for (to, from) in columns.iter_mut().zip(from.columns()) {
                copy_column(from, of_batch.clone(), to);
            }
        });
        place.row += count;
        place.row_of_run += count;
        if place.row_of_run == run.count as usize {
            place = RowPosition { run: place.run + 1, row_of_run: 0, ..place };
        }
    }
    place
}

fn copy_column(from: &Column, rows: Range<usize>, to: &mut Column) {
    for value in rows.filter_map(|row| from.get(row)) {
        let same_type = to.push(value);
        debug_assert!(same_type, "two batches of one schema have columns of different types");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Payload as Carries;
    use iotbench_core::{Schema, Signal, Value, ValueType};
    use proptest::prelude::*;

    const ACKNOWLEDGED: Acknowledged = Acknowledged { points: 0, bytes: 10 };

    fn empty() -> Batch {
        let signal =
            |value_type| Signal { name: format!("{value_type:?}").to_lowercase(), value_type, max_text_bytes: 9 };
        Batch::new(&Schema::new(vec![signal(ValueType::I64), signal(ValueType::Text)]).unwrap())
    }

    /// A batch with these runs; each value tells its datapoint.
    fn batch(runs: &[Run]) -> Batch {
        let mut batch = empty();
        for &run in runs {
            batch.append(run, |timestamps_ns, columns| {
                for index in run.indices() {
                    timestamps_ns.push(index.cast_signed());
                    assert!(columns[0].push(Value::I64(index.cast_signed())));
                    assert!(columns[1].push(Value::Text(&format!("{}/{index}", run.device))));
                }
            });
        }
        batch
    }

    fn plan(requests: u32, pause_ns: u64, transaction: bool) -> OperationPlan {
        OperationPlan { requests, pause_ns, transaction, ..OperationPlan::write("o", Carries::Count(2)) }
    }

    /// All calls with their starts, when each takes 5 ns, and the course after them.
    fn course(plan: &OperationPlan, operation: &Batch) -> (Vec<(u64, Call, usize)>, Sequence) {
        let mut sequence = Sequence::new(plan, operation.len(), 100).unwrap();
        let (mut calls, mut request, mut now_ns) = (Vec::new(), empty(), 100);
        let mut step = Step::Call(sequence.first());
        loop {
            let call = match step {
                Step::Call(call) => call,
                Step::Pause { until_ns } => {
                    now_ns = until_ns;
                    Call::Request
                }
                Step::End => return (calls, sequence),
            };
            request.clear();
            sequence.send(call, operation, &mut request);
            calls.push((now_ns, call, request.len()));
            assert_eq!(sequence.due_ns(), now_ns);
            step = sequence.succeeded(ACKNOWLEDGED, now_ns, now_ns + 5);
            now_ns += 5;
        }
    }

    #[test]
    fn pauses_lie_between_requests_and_nowhere_else() {
        let operation = batch(&[Run { device: 0, first: 0, count: 6 }]);
        let (calls, sequence) = course(&plan(3, 20, true), &operation);
        let expected = [
            (100, Call::Begin, 0),
            (105, Call::Request, 2),
            (130, Call::Request, 2),
            (155, Call::Request, 2),
            (160, Call::Commit, 0),
        ];
        assert_eq!((calls.as_slice(), sequence.busy_ns()), (expected.as_slice(), 25));
        let (calls, sequence) = course(&plan(3, 0, false), &operation);
        assert_eq!(calls, [(100, Call::Request, 2), (105, Call::Request, 2), (110, Call::Request, 2)]);
        let all = Payload { points_acked: 6, values_acked: 12, bytes: 30, ..Payload::default() };
        assert_eq!(sequence.ended(2), (Outcome::Ok, all));
    }

    #[test]
    fn one_request_without_a_transaction_is_no_sequence() {
        assert!(Sequence::new(&plan(1, 5, false), 2, 0).is_none());
        let (calls, _) = course(&plan(1, 5, true), &batch(&[Run { device: 0, first: 0, count: 2 }]));
        assert_eq!(calls.iter().map(|c| c.1).collect::<Vec<_>>(), [Call::Begin, Call::Request, Call::Commit]);
    }

    /// Acked, failed and unknown of 3 requests of 2 datapoints, after so many calls, when the next one, if it was made,
    /// ended so.
    fn counted(transaction: bool, succeeded: usize, made: bool, applied: &Applied) -> (Outcome, [u64; 3]) {
        let operation = batch(&[Run { device: 0, first: 0, count: 6 }]);
        let mut sequence = Sequence::new(&plan(3, 0, transaction), 6, 0).unwrap();
        let mut request = empty();
        let mut step = Step::Call(sequence.first());
        for call in 0..=succeeded {
            let Step::Call(next) = step else { panic!("no call is left") };
            if call < succeeded || made {
                sequence.send(next, &operation, &mut request);
            }
            if call < succeeded {
                step = sequence.succeeded(ACKNOWLEDGED, 0, 1);
            }
        }
        let (outcome, payload) = sequence.failed(applied, 2);
        assert_eq!(payload.values_acked, 2 * payload.points_acked);
        (outcome, [payload.points_acked, payload.points_failed, payload.points_unknown])
    }

    #[test]
    fn without_a_transaction_each_request_has_its_own_fate() {
        use Outcome::{Fail, Unknown};
        assert_eq!(counted(false, 1, true, &Applied::No), (Fail, [2, 4, 0]));
        assert_eq!(counted(false, 1, true, &Applied::Maybe), (Unknown, [2, 2, 2]));
        assert_eq!(counted(false, 1, true, &Applied::Rows(vec![1])), (Fail, [3, 3, 0]));
        assert_eq!(counted(false, 2, false, &Applied::Maybe), (Fail, [4, 2, 0]), "nothing was under way");
    }

    #[test]
    fn of_a_transaction_all_is_stored_or_nothing() {
        use Outcome::{Fail, Unknown};
        for applied in [Applied::No, Applied::Maybe, Applied::Rows(vec![0])] {
            for succeeded in 0..4 {
                assert_eq!(counted(true, succeeded, true, &applied), (Fail, [0, 6, 0]), "{succeeded} {applied:?}");
            }
            assert_eq!(counted(true, 4, true, &applied), (Unknown, [0, 0, 6]), "the commit, {applied:?}");
        }
    }

    proptest! {
        #[test]
        fn requests_carry_every_datapoint_once_and_in_order(
            counts in prop::collection::vec(1_u32..6, 1..8),
            requests in 2_u32..9,
        ) {
            let runs: Vec<_> = (0..).zip(&counts).map(|(device, &count)| Run { device, first: 7, count }).collect();
            let operation = batch(&runs);
            let mut sequence = Sequence::new(&plan(requests, 0, false), operation.len(), 0).unwrap();
            let (mut all, mut request, mut sent) = (empty(), empty(), 0);
            loop {
                sequence.send(Call::Request, &operation, &mut request);
                sent += 1;
                for part in request.run_rows() {
                    all.append(part.run, |timestamps_ns, columns| {
                        timestamps_ns.extend_from_slice(&request.timestamps_ns()[part.rows.clone()]);
                        for (to, from) in columns.iter_mut().zip(request.columns()) {
                            copy_column(from, part.rows.clone(), to);
                        }
                    });
                }
                if sequence.succeeded(ACKNOWLEDGED, 0, 1) == Step::End {
                    break;
                }
            }
            prop_assert_eq!(all, operation);
            prop_assert!(sent <= requests);
        }
    }
}
