//! How far two orders agree.

/// Of the pairs that differ in both, how many stand in the same order (Kendall 1938: τ is the share of these less the share
/// of the others).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Pairs in the same order.
    pub same: usize,
    /// Pairs in opposite orders.
    pub opposite: usize,
}

impl Agreement {
    /// Of figures side by side.
    #[must_use]
    pub fn of(figures: &[(f64, f64)]) -> Self {
        let mut agreement = Self::default();
        for (place, (a, b)) in figures.iter().enumerate() {
            for (other_a, other_b) in figures.iter().skip(place + 1) {
                let direction = (a - other_a) * (b - other_b);
                agreement.same += usize::from(direction > 0.0);
                agreement.opposite += usize::from(direction < 0.0);
            }
        }
        agreement
    }

    /// How many pairs there are.
    #[must_use]
    pub fn pairs(self) -> usize {
        self.same + self.opposite
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pairs_are_counted_and_ties_are_none() {
        let agreement = Agreement::of(&[(1.0, 10.0), (2.0, 30.0), (3.0, 20.0), (3.0, 40.0)]);
        assert_eq!(agreement, Agreement { same: 4, opposite: 1 });
        assert_eq!(Agreement::of(&[(1.0, 1.0)]).pairs(), 0);
    }

    proptest! {
        #[test]
        fn an_order_agrees_with_itself_and_not_with_its_reverse(figures in prop::collection::vec(-1e3_f64..1e3, 0..20)) {
            let with = |factor: f64| Agreement::of(&figures.iter().map(|&x| (x, factor * x)).collect::<Vec<_>>());
            prop_assert_eq!(with(2.0).opposite, 0);
            prop_assert_eq!(with(-2.0).same, 0);
            prop_assert_eq!(with(2.0).same, with(-2.0).opposite);
        }
    }
}
