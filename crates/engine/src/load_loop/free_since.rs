//! Since when a loop has a free connection, and how late that makes what it sends. Pure.

use iotbench_core::Due;

/// Since when a connection is free, in nanoseconds since the run's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeSince {
    measured_ns: u64,
    /// Since when it would be, had the client never sent late: what waits for a late operation is late with it.
    undelayed_ns: u64,
}

/// How late the client sent an operation, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentLate {
    /// After it was due and a connection was free.
    pub pacing_error_ns: u64,
    /// After it was due and a connection would have been free, had the client never sent late.
    pub own_delay_ns: u64,
}

impl FreeSince {
    /// From now on, whatever was before.
    pub fn at(now_ns: u64) -> Self {
        Self { measured_ns: now_ns, undelayed_ns: now_ns }
    }

    /// From the answer to an operation that had this part of its delay by the client. Without a schedule, intended starts move
    /// with the answers: what was late before is in them already.
    pub fn answered(ended_ns: u64, own_delay_ns: u64, has_schedule: bool) -> Self {
        let carried_ns = if has_schedule { own_delay_ns } else { 0 };
        Self { measured_ns: ended_ns, undelayed_ns: ended_ns.saturating_sub(carried_ns) }
    }

    /// What is due, and sent now.
    pub fn send(self, due: &Due, sent_ns: u64) -> SentLate {
        let late = |free_ns: u64| sent_ns.saturating_sub(due.intended_ns.max(due.free_since_ns).max(free_ns));
        SentLate { pacing_error_ns: late(self.measured_ns), own_delay_ns: late(self.undelayed_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE_NS: u64 = 3_000_000;
    const PERIOD_NS: u64 = 4_000_000;

    /// Operations in a row on one connection, by a client that can send nothing from 100 ms on until `resumed_ns`: the response
    /// time of each, with its own delay and without, and the pacing errors.
    fn held_up(resumed_ns: u64) -> Vec<[u64; 3]> {
        let (mut free_ns, mut free_since) = (0, FreeSince::default());
        let operations = (0..200).map(|number| {
            let due = Due { intended_ns: number * PERIOD_NS, user: 0, free_since_ns: 0, generated: 0, lost: 0 };
            let could_ns = due.intended_ns.max(free_ns);
            let sent_ns = if could_ns < 100_000_000 { could_ns } else { could_ns.max(resumed_ns) };
            let SentLate { pacing_error_ns, own_delay_ns } = free_since.send(&due, sent_ns);
            free_ns = sent_ns + SERVICE_NS;
            free_since = FreeSince::answered(free_ns, own_delay_ns, true);
            let response_ns = free_ns - due.intended_ns;
            [response_ns, response_ns - own_delay_ns, pacing_error_ns]
        });
        operations.collect()
    }

    /// A stop of 50 ms makes the operations behind it wait for each other, and all of that is the client's.
    #[test]
    fn what_waits_for_a_late_operation_is_late_with_it() {
        let (undisturbed, disturbed) = (held_up(0), held_up(150_000_000));
        let responses = |run: &[[u64; 3]]| run.iter().map(|of| of[0]).collect::<Vec<_>>();
        assert!(responses(&undisturbed).iter().all(|&ns| ns == SERVICE_NS));
        assert_eq!(
            responses(&disturbed).iter().filter(|&&ns| ns > SERVICE_NS).count(),
            50,
            "a backlog of 50 ms, 1 ms a send"
        );
        let without: Vec<_> = disturbed.iter().map(|of| of[1]).collect();
        assert_eq!(without, responses(&undisturbed));
        assert_eq!(disturbed.iter().filter(|of| of[2] > 0).count(), 1, "only the first found a connection free");
    }

    /// 100 users on one connection whose client takes 9 µs to send: each waits for all others, and the next round is as late as
    /// this one.
    #[test]
    fn a_closed_loop_that_is_saturated_is_not_later_from_round_to_round() {
        let (mut free_ns, mut free_since, mut due_ns) = (0, FreeSince::default(), [0; 100]);
        for number in 0..10_000 {
            let user = number % 100;
            let due = Due { intended_ns: due_ns[user], user: 0, free_since_ns: 0, generated: 0, lost: 0 };
            let sent_ns = due.intended_ns.max(free_ns) + 9_000;
            let SentLate { own_delay_ns, .. } = free_since.send(&due, sent_ns);
            assert_eq!(own_delay_ns, 9_000, "of operation {number}");
            free_ns = sent_ns + 300_000;
            due_ns[user] = free_ns;
            free_since = FreeSince::answered(free_ns, own_delay_ns, false);
        }
    }

    /// What the database makes wait is not the client's, however long.
    #[test]
    fn what_waits_for_the_database_is_not_late() {
        let due = Due { intended_ns: 10, user: 0, free_since_ns: 0, generated: 0, lost: 0 };
        let late = FreeSince::answered(1_000, 0, true).send(&due, 1_005);
        assert_eq!(late, SentLate { pacing_error_ns: 5, own_delay_ns: 5 });
        let own_sensor = Due { free_since_ns: 1_002, ..due };
        assert_eq!(FreeSince::at(1_000).send(&own_sensor, 1_005).own_delay_ns, 3);
    }
}
