//! Holm's method keeps the share of families with a false alarm.

use crate::simulated::series::share;
use iotbench_statistics::holm;
use proptest::prelude::*;

#[test]
fn a_family_without_a_difference_is_rarely_believed_to_have_one() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut alone = 0;
    let alarms = share(4_000, |_| {
        let p_values = [(); 6].map(|()| random.f64());
        alone += u32::from(p_values.iter().any(|&p| p <= 0.05));
        holm(&p_values).iter().any(|&p| p <= 0.05)
    });
    assert!(alarms <= 0.06, "{alarms}");
    assert!(alone > 800, "without the method a quarter of them are: {alone} of 4000");
}

proptest! {
    #[test]
    fn adjusted_values_keep_the_order_and_never_become_smaller(p_values in prop::collection::vec(0.0_f64..=1.0, 0..12)) {
        let adjusted = holm(&p_values);
        for (a, p) in adjusted.iter().zip(&p_values) {
            prop_assert!(a >= p && *a <= 1.0);
            for (b, q) in adjusted.iter().zip(&p_values) {
                prop_assert!(p > q || a <= b);
            }
        }
    }
}
