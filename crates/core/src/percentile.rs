//! Percentiles by nearest rank.

use std::fmt;

/// Thousandths of a percent in all.
const WHOLE: u32 = 100_000;
/// Digits after the point.
const PLACES: usize = 3;

/// The value that so many percent of all do not exceed: above 0 and below 100 percent, to a thousandth of one. Written `p99.9`.
///
/// Of n values in ascending order it is the one of rank ⌈p/100 · n⌉, counted from 1: the nearest rank (Hyndman and Fan 1996,
/// definition 1). Databases take a neighbouring rank, or a value between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentile(u32);

impl Percentile {
    /// The one that is written so: `p` and a number with at most three digits after the point.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.strip_prefix('p')?;
        let (whole, part) = number.split_once('.').map_or((number, "0"), |(whole, part)| (whole, part));
        let are_digits =
            [whole, part].iter().all(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
        if !are_digits || part.len() > PLACES {
            return None;
        }
        let whole: u32 = whole.parse().ok()?;
        let part: u32 = format!("{part:0<PLACES$}").parse().ok()?;
        let thousandths = whole.checked_mul(1000)?.checked_add(part)?;
        (1..WHOLE).contains(&thousandths).then_some(Self(thousandths))
    }

    /// Between 0 and 100.
    #[must_use]
    pub fn percent(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// Between 0 and 1.
    #[must_use]
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Its place among so many values in ascending order, counted from 0; of no value 0 too.
    #[must_use]
    pub fn place(self, values: usize) -> usize {
        let rank = (values as u128 * u128::from(self.0)).div_ceil(u128::from(WHOLE));
        usize::try_from(rank.saturating_sub(1)).unwrap_or(usize::MAX)
    }

    /// The places before and after its own, as far as there are such: what a database takes for the percentile lies between their
    /// values, by whichever definition.
    #[must_use]
    pub fn neighbours(self, values: usize) -> (usize, usize) {
        let place = self.place(values);
        (place.saturating_sub(1), place.saturating_add(1).min(values.saturating_sub(1)))
    }

    /// Its value, of these in ascending order; `None` of none.
    #[must_use]
    pub fn of(self, ascending: &[f64]) -> Option<f64> {
        ascending.get(self.place(ascending.len())).copied()
    }
}

impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:0PLACES$}", self.0 / 1000, self.0 % 1000);
        write!(f, "p{}", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Percentile {
        Percentile::parse(text).unwrap()
    }

    #[test]
    fn a_percentile_is_above_0_and_below_100() {
        for (text, shown) in
            [("p50", "p50"), ("p99.9", "p99.9"), ("p099.90", "p99.9"), ("p0.001", "p0.001"), ("p7.0", "p7")]
        {
            assert_eq!(of(text).to_string(), shown);
        }
        let refused = "p p0 p100 p0.0 p100.0 pp 50 p-1 p+1 p1e1 p. p5. p.5 p1.2345 p1.2.3 p4294967297 P50 p½ p\u{664}";
        for text in refused.split(' ') {
            assert_eq!(Percentile::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_nearest_rank_is_exact() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let values = ["p0.001", "p10", "p10.001", "p50", "p95", "p99.999"].map(|text| of(text).of(&ten).unwrap());
        assert_eq!(values, [1.0, 1.0, 2.0, 5.0, 10.0, 10.0]);
        // In binary fractions 0.07 · 100 is more than 7.
        assert_eq!((of("p7").place(100), of("p7").place(101)), (6, 7));
        assert_eq!((of("p50").of(&[]), of("p50").of(&[4.0])), (None, Some(4.0)));
        assert_eq!(of("p50").place(usize::MAX), usize::MAX / 2);
        assert_eq!(
            (of("p50").neighbours(10), of("p1").neighbours(10), of("p99").neighbours(10)),
            ((3, 5), (0, 1), (8, 9))
        );
        assert_eq!((of("p50").neighbours(1), of("p50").neighbours(0)), ((0, 0), (0, 0)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(thousandths in 1..WHOLE) {
            let percentile = Percentile(thousandths);
            prop_assert_eq!(of(&percentile.to_string()), percentile);
        }

        /// So many of the values, and no fewer, are at or below it.
        #[test]
        fn it_is_the_least_value_that_enough_do_not_exceed(thousandths in 1..WHOLE, values in 1..2000_usize) {
            let place = Percentile(thousandths).place(values);
            let enough = |count: usize| count as u64 * u64::from(WHOLE) >= values as u64 * u64::from(thousandths);
            prop_assert!(enough(place + 1) && !enough(place) && place < values);
        }

        /// Ranks between which databases interpolate: 1 + p(n − 1) as Prometheus and Excel, p(n + 1) as Kairos, and the nearest to pn as InfluxQL.
        #[test]
        fn every_definition_lies_between_the_neighbours(thousandths in 1..WHOLE, values in 1..2000_usize) {
            let percentile = Percentile(thousandths);
            let (p, n) = (percentile.fraction(), values as f64);
            let (before, after) = percentile.neighbours(values);
            for rank in [1.0 + p * (n - 1.0), p * (n + 1.0), (p * n).round()] {
                let place = rank.clamp(1.0, n) - 1.0;
                prop_assert!((before as f64..=after as f64).contains(&place), "{percentile} of {values}: {place}");
            }
        }
    }
}
