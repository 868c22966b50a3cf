//! A time as second and nanosecond, as two of the layouts store it.

/// Nanoseconds in a second.
pub const SECOND_NS: i64 = 1_000_000_000;

/// A time as its second, rounded down, and the nanosecond within it.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below 10^9")]
pub fn split(timestamp_ns: i64) -> (i64, i32) {
    (timestamp_ns.div_euclid(SECOND_NS), timestamp_ns.rem_euclid(SECOND_NS) as i32)
}

/// The time of a second and a nanosecond; `None` where it does not fit.
#[inline]
pub fn join(second: i64, nanosecond: impl Into<i64>) -> Option<i64> {
    i64::try_from(i128::from(second) * i128::from(SECOND_NS) + i128::from(nanosecond.into())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_comes_back() {
        for time in [i64::MIN, -SECOND_NS, -SECOND_NS - 1, -1, 0, 1, SECOND_NS - 1, SECOND_NS, i64::MAX] {
            let (second, nanosecond) = split(time);
            assert!((0..SECOND_NS).contains(&i64::from(nanosecond)));
            assert_eq!(join(second, nanosecond), Some(time));
        }
        assert_eq!(join(i64::MAX, 0), None);
    }
}
