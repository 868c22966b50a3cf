//! Which of a group's operations comes next.

use crate::{
    plan::{GroupPlan, OperationPlan, Payload},
    schedule::{mix, uniform},
};
use std::sync::Arc;

/// The operations of a group, drawn by their shares.
///
/// What a user does next is a function of the seed, the user and the number of what it did before: no answer, no thread
/// and no other user changes it, so that a run can be repeated.
#[derive(Clone, Debug)]
pub struct OperationMix {
    operations: Arc<[OperationPlan]>,
    /// For each operation, its part of all and that of those before it.
    ends: Arc<[f64]>,
    seed: u64,
}

impl OperationMix {
    /// The operations of a group.
    pub fn new(group: &GroupPlan, seed: u64) -> Self {
        let operations: Arc<[OperationPlan]> = group.operations().cloned().collect();
        let all: f64 = operations.iter().map(|o| o.share).sum();
        let ends = operations.iter().scan(0.0, |end, o| {
            *end += o.share / all;
            Some(*end)
        });
        Self { ends: ends.collect(), operations, seed }
    }

    /// The place of a user's `number`-th operation among the group's.
    pub fn pick(&self, user: u32, number: u64) -> usize {
        let last = self.operations.len() - 1;
        if last == 0 {
            return 0;
        }
        let drawn = uniform(mix(self.seed, u64::from(user)), number);
        // The last end may be a rounding error below 1.
        self.ends.partition_point(|&end| end <= drawn).min(last)
    }

    /// The operation at a place.
    pub fn at(&self, place: usize) -> &OperationPlan {
        &self.operations[place]
    }

    /// Whether users send what their devices gathered; then all operations do.
    pub fn gathers(&self) -> bool {
        self.operations.iter().any(|o| matches!(o.payload, Payload::SinceLast { .. }))
    }

    /// Whether they read; then all operations do.
    pub fn reads(&self) -> bool {
        self.operations.iter().any(|o| o.question().is_some())
    }

    /// How many devices a request is about: equally many in all operations.
    pub fn devices(&self) -> u32 {
        self.operations.iter().map(|o| o.devices).max().unwrap_or(1)
    }

    /// The most datapoints of a device that an operation carries.
    pub fn most_points_per_device(&self) -> u32 {
        self.operations.iter().map(OperationPlan::points_per_device).max().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Load, Part};
    use crate::shape::Shape;

    fn mix_of(shares: &[f64], seed: u64) -> OperationMix {
        let one = OperationPlan::write("o", Payload::Count(1));
        let mut plans = shares.iter().map(|&share| OperationPlan { share, ..one.clone() });
        let operation = plans.next().unwrap();
        let load = Load::Closed { users: 1, think_ns: 0 };
        let group = GroupPlan {
            name: "g".into(),
            operation,
            others: plans.collect(),
            load,
            shape: Shape::Constant,
            connections: 1,
            devices: None,
            part: Part::default(),
            draw: crate::profile::DrawConfig::default(),
            undivided: false,
        };
        OperationMix::new(&group, seed)
    }

    #[test]
    fn each_operation_is_drawn_by_its_share_for_each_user_and_over_all() {
        let (shares, n) = ([6.0, 3.0, 1.0], 10_000_u32);
        for seed in 1..6 {
            let operations = mix_of(&shares, seed);
            let of_one_user = |k: u32| operations.pick(7, k.into());
            let of_many_users = |user: u32| operations.pick(user, 0);
            for draw in [&of_one_user as &dyn Fn(u32) -> usize, &of_many_users] {
                for (place, share) in shares.iter().map(|s| s / 10.0).enumerate() {
                    let drawn = (0..n).filter(|&k| draw(k) == place).count() as f64;
                    let (mean, sd) = (f64::from(n) * share, (f64::from(n) * share * (1.0 - share)).sqrt());
                    assert!((drawn - mean).abs() < 3.5 * sd, "seed {seed}, {place}: {drawn} of {n}");
                }
            }
        }
    }

    #[test]
    fn the_seed_decides_the_sequence() {
        let sequence = |seed, user| (0..200).map(|k| mix_of(&[1.0, 1.0], seed).pick(user, k)).collect::<Vec<_>>();
        assert_eq!(sequence(1, 0), sequence(1, 0));
        assert_ne!(sequence(1, 0), sequence(2, 0));
        assert_ne!(sequence(1, 0), sequence(1, 1), "users do not act in step");
    }

    #[test]
    fn shares_are_relative() {
        let drawn = |shares: &[f64]| (0..500).map(|k| mix_of(shares, 1).pick(0, k)).collect::<Vec<_>>();
        assert_eq!(drawn(&[0.25, 0.75]), drawn(&[1.0, 3.0]));
        assert!(drawn(&[5.0]).iter().all(|&place| place == 0));
        assert!(drawn(&[1e-300, 1e-300, 1e300]).iter().all(|&place| place == 2));
    }
}
