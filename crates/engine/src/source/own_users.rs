//! The users of a closed loop that are one part's of a run.

use std::{ops::Range, sync::Arc};

/// Users by the part of a run that makes their load: a user is where its first device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnUsers {
    /// Their numbers among all users, ascending.
    numbers: Arc<[u32]>,
    /// How many users belong to the parts before this one.
    before: u32,
    /// How many there are in all.
    of: u32,
}

impl OwnUsers {
    /// Those of so many users whose first device is among a part's own.
    pub fn new(of: u32, own: &Range<u32>, first_device: impl Fn(u32) -> u32) -> Self {
        let numbers = (0..of).filter(|&user| own.contains(&first_device(user))).collect();
        let before = (0..of).filter(|&user| first_device(user) < own.start).count();
        Self { numbers, before: u32::try_from(before).unwrap_or(of), of }
    }

    /// How many they are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// The number of one of them.
    pub fn number(&self, place: u32) -> Option<u32> {
        self.numbers.get(place as usize).copied()
    }

    /// How many of them are among so many users of a ramp: each part has its share, and together they are as many.
    pub fn share(&self, users: u32) -> u32 {
        let until = |own: u32| u64::from(users) * u64::from(own) / u64::from(self.of.max(1));
        u32::try_from(until(self.before.saturating_add(self.count())) - until(self.before)).unwrap_or(users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_users_are_together_as_many_as_the_ramp_wants() {
        // A user has two devices, and the parts have unequally many.
        let parts = [0..6, 6..8, 8..20].map(|own| OwnUsers::new(10, &own, |user| 2 * user));
        assert_eq!(parts.each_ref().map(OwnUsers::count), [3, 1, 6]);
        assert_eq!((parts[1].number(0), parts[1].number(1)), (Some(3), None));
        for users in 0..=10 {
            let shares = parts.each_ref().map(|part| part.share(users));
            assert_eq!(shares.iter().sum::<u32>(), users, "{shares:?}");
            assert!(shares.iter().zip(&parts).all(|(&share, part)| share <= part.count()), "{shares:?} of {users}");
        }
        assert_eq!(parts.each_ref().map(|part| part.share(5)), [1, 1, 3]);
    }
}
