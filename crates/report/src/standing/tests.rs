//! Who is surely before whom.

use super::*;

fn range(low: f64, high: f64) -> Option<Range> {
    Some(Range { low, high: Some(high) })
}

#[test]
fn only_what_does_not_overlap_is_in_an_order() {
    let ranges = [range(1.0, 2.0), range(1.5, 3.0), range(4.0, 5.0)];
    assert_eq!(ranks(&ranges, false), [(1, 2), (1, 2), (3, 3)]);
    assert_eq!(ranks(&ranges, true), [(2, 3), (2, 3), (1, 1)]);
}

/// Capacities of one sitting each of two systems that are the same: what they sustain differs from sitting to sitting by a
/// factor with this standard deviation, and each is found within an interval of 5 %.
#[test]
fn systems_that_are_the_same_are_seldom_put_in_an_order() {
    const COMPARISONS: u32 = 4_000;
    let mut random = Uniform(1);
    for deviation in [0.05_f64, 0.15, 0.45] {
        let log_deviation = (1.0 + deviation * deviation).ln().sqrt();
        let mut ordered = 0;
        for _ in 0..COMPARISONS {
            let mut places = [0, 1].map(|place| {
                let capacity = 3_000.0 * (log_deviation * random.normal()).exp();
                let low = capacity * (1.0 - 0.05 * random.next());
                Ranked { range: range(low, low * 1.05), ..named(place, 1) }
            });
            Measure::Capacity.order(&mut places);
            ordered += u32::from(places[0].best == places[0].worst);
        }
        assert!(ordered <= COMPARISONS / 20, "{ordered} of {COMPARISONS} with {deviation}");
    }
    let mut places = [named(0, 1), named(1, 1)];
    (places[0].range, places[1].range) = (range(1_000.0, 1_050.0), range(3_700.0, 3_900.0));
    Measure::Capacity.order(&mut places);
    assert_eq!(places.map(|place| place.best), [2, 1], "what lies further apart is in an order");
}

/// The same of systems with several sittings each, and of one that has them beside one that does not.
#[test]
fn systems_that_are_the_same_are_seldom_put_in_an_order_by_their_sittings() {
    const COMPARISONS: u32 = 4_000;
    let mut random = Uniform(2);
    for deviation in [0.05_f64, 0.15, 0.45] {
        let log_deviation = (1.0 + deviation * deviation).ln().sqrt();
        for (sittings, other) in [(3, 3), (5, 5), (10, 10), (3, 1), (10, 1)] {
            let mut ordered = 0;
            for _ in 0..COMPARISONS {
                let mut places = [(0, sittings), (1, other)].map(|(place, sittings)| {
                    let mut one = || 3_000.0 * (log_deviation * random.normal()).exp();
                    let found: Vec<f64> = (0..sittings).map(|_| one()).collect();
                    let own = Range { low: found[0] * 0.975, high: Some(found[0] * 1.025) };
                    let interval = sittings_interval(&found).map(|i| Range { low: i.low, high: Some(i.high) });
                    Ranked { has_sittings: sittings > 1, range: interval.or(Some(own)), ..named(place, sittings) }
                });
                Measure::Capacity.order(&mut places);
                ordered += u32::from(places[0].best == places[0].worst);
            }
            assert!(ordered <= COMPARISONS / 20, "{ordered} of {COMPARISONS} with {deviation}, {sittings} and {other}");
        }
    }
}

#[test]
fn what_sittings_tell_apart_is_in_an_order_though_it_is_near() {
    let near = |has_sittings| {
        let mut places = [named(0, 5), named(1, 5)].map(|place| Ranked { has_sittings, ..place });
        (places[0].range, places[1].range) = (range(1_000.0, 1_050.0), range(1_100.0, 1_200.0));
        Measure::Capacity.order(&mut places);
        places.map(|place| (place.best, place.worst))
    };
    assert_eq!((near(true), near(false)), ([(2, 2), (1, 1)], [(1, 2), (1, 2)]));
}

/// Numbers from 0 to 1 (SplitMix64, Steele 2014).
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * (1.0 - self.next()).ln()).sqrt(), std::f64::consts::TAU * self.next());
        radius * angle.cos()
    }
}

fn named(place: usize, runs: usize) -> Ranked {
    let (name, promise) = (format!("system {place}"), String::new());
    Ranked {
        place,
        name,
        promise,
        runs,
        has_sittings: false,
        estimate: 1.0,
        is_upper_end: false,
        range: range(0.9, 1.1),
        best: 1,
        worst: 1,
    }
}

#[test]
fn one_run_does_not_tell_where_another_would_lie() {
    let of = |runs| named(0, runs);
    assert_eq!((Measure::ResponseP99.tells(&of(1)), Measure::ResponseMean.tells(&of(2))), (false, true));
}

#[test]
fn what_is_not_known_can_be_anywhere() {
    let above = Some(Range { low: 4.0, high: None });
    assert_eq!(ranks(&[range(1.0, 2.0), None, range(4.0, 5.0)], false), [(1, 2), (1, 3), (2, 3)]);
    assert_eq!(ranks(&[range(1.0, 2.0), above, range(5.0, 6.0)], true), [(3, 3), (1, 2), (1, 2)]);
}
