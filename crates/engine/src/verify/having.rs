//! Which of the figures that are the truth meet a condition: certainly, or maybe, where what is known of one lies on both sides of the limit.

use super::{exactness::Exactness, figure::Bounds, groups::ExpectedFigures};
use iotbench_core::Predicate;

/// How sure it is that a figure meets a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meets {
    Certainly,
    Maybe,
    Not,
}

/// The figures, one of each group, that meet a condition. A database works each out with an error of its own: of one that is as near to the
/// limit it is not certain.
pub(super) fn having(
    figures: impl Iterator<Item = ExpectedFigures>,
    predicate: Predicate,
    exactness: Exactness,
) -> impl Iterator<Item = ExpectedFigures> {
    figures.filter_map(move |figures| {
        let &[bounds] = figures.values.as_slice() else { return None };
        match meets(bounds, predicate, exactness) {
            Meets::Certainly => Some(figures),
            Meets::Maybe => Some(ExpectedFigures { certain: false, values: vec![cut(bounds, predicate)], ..figures }),
            Meets::Not => None,
        }
    })
}

/// How many buckets of each group meet a condition, of the groups of which at least so many do.
pub(super) fn counted(
    figures: impl Iterator<Item = ExpectedFigures>,
    (predicate, at_least): (Predicate, u64),
    exactness: Exactness,
) -> Vec<ExpectedFigures> {
    let mut groups: Vec<(u32, u32, u32)> = Vec::new();
    for figures in having(figures, predicate, exactness) {
        match groups.last_mut() {
            Some((group, certain, possible)) if *group == figures.device => {
                *certain += u32::from(figures.certain);
                *possible += 1;
            }
            _ => groups.push((figures.device, figures.certain.into(), 1)),
        }
    }
    let enough = |count: u32| u64::from(count) >= at_least;
    let of = |(device, certain, possible): (u32, u32, u32)| ExpectedFigures {
        device,
        timestamp_ns: 0,
        certain: enough(certain),
        values: vec![Bounds {
            // Of a group that is answered there are so many.
            least: f64::from(certain.max(u32::try_from(at_least).unwrap_or(u32::MAX)).max(1)),
            greatest: possible.into(),
            magnitude: 0.0,
            count: 1.0,
        }],
    };
    groups.into_iter().filter(|&(.., possible)| enough(possible)).map(of).collect()
}

/// Whether a figure between these bounds meets a condition.
pub(super) fn meets(bounds: Bounds, predicate: Predicate, exactness: Exactness) -> Meets {
    let (least, greatest) = (bounds.least, bounds.greatest);
    let (least, greatest) =
        (least - exactness.figure_error(least, bounds), greatest + exactness.figure_error(greatest, bounds));
    match (predicate.holds(least), predicate.holds(greatest)) {
        (true, true) => Meets::Certainly,
        (false, false) => Meets::Not,
        _ => Meets::Maybe,
    }
}

/// What a figure may be that meets the condition.
fn cut(bounds: Bounds, predicate: Predicate) -> Bounds {
    match predicate {
        Predicate::Above(limit) => Bounds { least: bounds.least.max(limit.min(bounds.greatest)), ..bounds },
        Predicate::Below(limit) => Bounds { greatest: bounds.greatest.min(limit.max(bounds.least)), ..bounds },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Domain;

    const EXACT: Exactness = Exactness::new(|_| Domain::Full, false);

    fn figure(device: u32, timestamp_ns: i64, certain: bool, (least, greatest): (f64, f64)) -> ExpectedFigures {
        let values = vec![Bounds { least, greatest, magnitude: 1.0, count: 1.0 }];
        ExpectedFigures { device, timestamp_ns, certain, values }
    }

    fn rows(figures: impl IntoIterator<Item = ExpectedFigures>) -> Vec<(u32, i64, bool, f64, f64)> {
        let row =
            |of: ExpectedFigures| (of.device, of.timestamp_ns, of.certain, of.values[0].least, of.values[0].greatest);
        figures.into_iter().map(row).collect()
    }

    #[test]
    fn a_figure_that_may_lie_on_either_side_may_be_there() {
        let all = || {
            [
                figure(0, 0, true, (2.0, 2.0)),
                figure(1, 0, true, (0.5, 3.0)),
                figure(2, 0, true, (0.0, 0.9)),
                figure(3, 0, false, (4.0, 5.0)),
                figure(4, 0, true, (1.0, 1.0)),
            ]
            .into_iter()
        };
        let above = rows(having(all(), Predicate::Above(1.0), EXACT));
        let expected =
            [(0, 0, true, 2.0, 2.0), (1, 0, false, 1.0, 3.0), (3, 0, false, 4.0, 5.0), (4, 0, false, 1.0, 1.0)];
        assert_eq!(above, expected, "what arithmetic rounds at the limit is not certain");
        let below = rows(having(all(), Predicate::Below(1.0), EXACT));
        assert_eq!(below, [(1, 0, false, 0.5, 1.0), (2, 0, true, 0.0, 0.9), (4, 0, false, 1.0, 1.0)]);
    }

    #[test]
    fn buckets_are_counted_between_those_that_certainly_do_and_those_that_may() {
        let all = || {
            let of = |device, bounds: [(f64, f64); 3]| {
                (0..).zip(bounds).map(move |(time, bounds)| figure(device, time, true, bounds))
            };
            of(0, [(2.0, 2.0), (0.0, 0.0), (3.0, 3.0)])
                .chain(of(1, [(0.0, 2.0), (2.0, 2.0), (0.0, 0.0)]))
                .chain(of(2, [(0.0, 0.0); 3]))
        };
        let counts = |least| rows(counted(all(), (Predicate::Above(1.0), least), EXACT));
        assert_eq!(counts(1), [(0, 0, true, 2.0, 2.0), (1, 0, true, 1.0, 2.0)]);
        assert_eq!(counts(2), [(0, 0, true, 2.0, 2.0), (1, 0, false, 2.0, 2.0)]);
        assert_eq!(counts(3), []);
    }
}
