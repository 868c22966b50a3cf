//! What a sample that found nothing would have found.

/// The least part of all items of which a random sample of `looked_at` holds at least one with the probability `confidence`:
/// 1 − (1 − confidence)^(1 / n), which is 3 / n at 95 %. (Hanley and Lippman-Hand, If nothing goes wrong, is everything all right?,
/// JAMA 1983.) `None`: nothing was looked at, or the confidence is no probability below 1.
#[must_use]
pub fn detectable_part(looked_at: u64, confidence: f64) -> Option<f64> {
    let is_possible = looked_at > 0 && (0.0..1.0).contains(&confidence);
    // −expm1 keeps the digits of a part of a billionth.
    is_possible.then(|| -((-confidence).ln_1p() / looked_at as f64).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_of_three() {
        for looked_at in [1_000_u64, 1_000_000, 10_000_000_000] {
            let part = detectable_part(looked_at, 0.95).unwrap();
            assert!((part * looked_at as f64 - 3.0).abs() < 0.01, "{looked_at}: {part}");
        }
        assert_eq!(detectable_part(1, 0.95), Some(0.95));
        assert_eq!(
            (detectable_part(0, 0.95), detectable_part(9, 1.0), detectable_part(9, f64::NAN)),
            (None, None, None)
        );
    }

    /// Of samples of 100, as many as promised hold one of the bad ones, if these are as many as can be found.
    #[test]
    fn a_part_that_can_be_found_is_found_as_often_as_promised() {
        let part = detectable_part(100, 0.95).unwrap();
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let found = (0..20_000).filter(|_| (0..100).fold(false, |found, _| (draw() < part) | found)).count();
        assert!((18_850..=19_150).contains(&found), "{found} of 20,000");
    }
}
