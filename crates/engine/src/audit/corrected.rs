//! What should be stored of a datapoint that is sent wrong and then right, by what the database does with two of equal device and
//! time. Pure.

use crate::ledger::{Fate, Sent, TwoSends};
use iotbench_core::Duplicates;

/// Which values a stored datapoint is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// The right ones.
    Right,
    /// Those that were sent first, where they are others.
    First,
    /// Of each signal one of the two: which came last is not known, or whether it came at all.
    Either,
}

/// A stored datapoint that has to be there, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Acknowledged: it has to be there. Unknown: it may be.
    pub fate: Fate,
    /// What is to be in it.
    pub values: Values,
}

/// What a database does with a second datapoint of the same device and time.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// As it says.
    pub duplicates: Duplicates,
    /// Whether what was acknowledged before another was sent was applied before it.
    pub is_in_order: bool,
}

impl Policy {
    /// What is to be stored after these sends.
    pub fn wanted(self, sends: TwoSends) -> [Option<Wanted>; 2] {
        let stored = |sent: Option<Sent>| sent.filter(|sent| sent.fate != Fate::Failed);
        let (first, second) = (stored(sends.first), stored(sends.second));
        let of = |sent: Sent, values| Wanted { fate: sent.fate, values };
        match (first, second) {
            (Some(first), Some(second)) if self.duplicates != Duplicates::Keep => {
                let is_acked = [first, second].iter().any(|sent| sent.fate == Fate::Acked);
                let fate = if is_acked { Fate::Acked } else { Fate::Unknown };
                [Some(Wanted { fate, values: self.values_of_one(first, second) }), None]
            }
            (first, Some(second)) => [Some(of(second, Values::Right)), first.map(|first| of(first, Values::First))],
            (first, None) => [first.map(|first| of(first, Values::First)), None],
        }
    }

    /// Of two that may both have come, the values of the one that is kept.
    fn values_of_one(self, first: Sent, second: Sent) -> Values {
        let are_known = first.fate == Fate::Acked && second.fate == Fate::Acked;
        if !are_known || !self.is_in_order {
            return Values::Either;
        }
        let keeps_last = self.duplicates == Duplicates::Overwrite;
        match (first.ended_before(second), second.ended_before(first)) {
            (true, false) => {
                if keeps_last {
                    Values::Right
                } else {
                    Values::First
                }
            }
            (false, true) => {
                if keeps_last {
                    Values::First
                } else {
                    Values::Right
                }
            }
            (true, true) | (false, false) => Values::Either,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Option<Sent> = None;

    fn sent(fate: Fate, sent_ns: u64, ended_ns: u64) -> Option<Sent> {
        Some(Sent { fate, sent_ns, ended_ns })
    }

    fn wanted(duplicates: Duplicates, first: Option<Sent>, second: Option<Sent>) -> Vec<(Fate, Values)> {
        let policy = Policy { duplicates, is_in_order: true };
        let wanted = policy.wanted(TwoSends { first, second });
        wanted.into_iter().flatten().map(|Wanted { fate, values }| (fate, values)).collect()
    }

    #[test]
    fn each_send_that_may_be_stored_is_wanted_by_what_the_database_keeps() {
        use Values::{Either, First, Right};
        let (acked, unknown) = (Fate::Acked, Fate::Unknown);
        let (first, second) = (sent(acked, 0, 5), sent(acked, 5, 9));
        let (lost_first, lost_second) = (sent(unknown, 0, 5), sent(unknown, 5, 9));
        let refused = sent(Fate::Failed, 0, 5);
        let one = |values| vec![(acked, values)];
        let cases = [
            (first, second, vec![(acked, Right), (acked, First)], one(Right), one(First)),
            // Sent the other way round, by two connections.
            (second, first, vec![(acked, Right), (acked, First)], one(First), one(Right)),
            // In one request, or at the same time.
            (first, first, vec![(acked, Right), (acked, First)], one(Either), one(Either)),
            (first, NONE, one(First), one(First), one(First)),
            (first, refused, one(First), one(First), one(First)),
            (NONE, second, one(Right), one(Right), one(Right)),
            (refused, second, one(Right), one(Right), one(Right)),
            (lost_first, second, vec![(acked, Right), (unknown, First)], one(Either), one(Either)),
            (first, lost_second, vec![(unknown, Right), (acked, First)], one(Either), one(Either)),
            (
                lost_first,
                lost_second,
                vec![(unknown, Right), (unknown, First)],
                vec![(unknown, Either)],
                vec![(unknown, Either)],
            ),
            (refused, lost_second, vec![(unknown, Right)], vec![(unknown, Right)], vec![(unknown, Right)]),
            (refused, refused, vec![], vec![], vec![]),
            (NONE, NONE, vec![], vec![], vec![]),
        ];
        for (first, second, keep, overwrite, reject) in cases {
            let of = |duplicates| wanted(duplicates, first, second);
            assert_eq!(of(Duplicates::Keep), keep, "{first:?} {second:?}");
            assert_eq!(of(Duplicates::Overwrite), overwrite, "{first:?} {second:?}");
            assert_eq!(of(Duplicates::Reject), reject, "{first:?} {second:?}");
        }
    }

    #[test]
    fn an_acknowledgement_that_does_not_say_stored_tells_no_order() {
        let sends = TwoSends { first: sent(Fate::Acked, 0, 5), second: sent(Fate::Acked, 7, 9) };
        let policy = Policy { duplicates: Duplicates::Overwrite, is_in_order: false };
        assert_eq!(policy.wanted(sends), [Some(Wanted { fate: Fate::Acked, values: Values::Either }), None]);
    }
}
