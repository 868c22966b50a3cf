//! Which datapoints an operation carries: a stretch of positions of a block of devices.

use crate::mix::OperationMix;
use std::ops::Range;

/// Deals the data of all devices out to the operations of a group, so that no datapoint is sent twice and which ones an
/// operation sends follows from its number.
///
/// Devices make blocks of as many as a request is about. Each operation has a stretch of positions of one block's devices,
/// as long as the largest operation needs: of a smaller one's stretch the rest is never sent.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    devices: u32,
    devices_of_block: u32,
    blocks: u32,
    length: u64,
}

/// The datapoints that are one operation's to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Of which devices.
    pub devices: Range<u32>,
    /// From which position of each on.
    pub first: u64,
}

impl Stretches {
    /// The data of so many devices for the operations of a group. Those that read send none: they are dealt out as if each had a
    /// device.
    pub fn new(devices: u32, operations: &OperationMix) -> Self {
        if operations.reads() {
            return Self::of_length(devices, 1, 1);
        }
        Self::of_length(devices, operations.devices(), operations.most_points_per_device().into())
    }

    fn of_length(devices: u32, devices_of_block: u32, length: u64) -> Self {
        Self { devices, devices_of_block, blocks: devices.div_ceil(devices_of_block), length }
    }

    /// What the `number`-th operation of all sends.
    pub fn of_operation(self, number: u64) -> Stretch {
        let blocks = u64::from(self.blocks);
        self.stretch(u32::try_from(number % blocks).unwrap_or(0), number / blocks)
    }

    /// What the `number`-th operation of one of so many users sends: users divide the blocks among themselves, each a
    /// range of them, or a block's users divide its stretches.
    pub fn of_user(self, user: u32, users: u32, number: u64) -> Stretch {
        let blocks = self.blocks;
        if blocks >= users {
            let (first, end) = (self.first_block(user, users), self.first_block(user + 1, users));
            let owned = u64::from(end - first);
            self.stretch(first + u32::try_from(number % owned).unwrap_or(0), number / owned)
        } else {
            let block = user % blocks;
            let sharers = u64::from((users - block).div_ceil(blocks));
            self.stretch(block, number * sharers + u64::from(user / blocks))
        }
    }

    /// The blocks of a range of devices that begins and ends with whole blocks.
    pub fn blocks(self, devices: &Range<u32>) -> Range<u32> {
        devices.start.div_ceil(self.devices_of_block)..devices.end.div_ceil(self.devices_of_block)
    }

    /// How many blocks there are.
    pub fn count(self) -> u32 {
        self.blocks
    }

    /// Whether the devices before this one are whole blocks; of so many users, if they are given, each has blocks on one
    /// side of it only.
    pub fn divides_at(self, device: u32, users: Option<u32>) -> bool {
        let block = device / self.devices_of_block;
        let of_users = |users: u32| {
            // The first user whose blocks do not begin before.
            let user = (u64::from(block) * u64::from(users)).div_ceil(self.blocks.into());
            self.blocks < users || u32::try_from(user).is_ok_and(|user| self.first_block(user, users) == block)
        };
        device.is_multiple_of(self.devices_of_block) && users.is_none_or(of_users)
    }

    /// The first block of one of no more users than blocks.
    fn first_block(self, user: u32, users: u32) -> u32 {
        // At most all blocks.
        u32::try_from(u64::from(user) * u64::from(self.blocks) / u64::from(users)).unwrap_or(self.blocks)
    }

    fn stretch(self, block: u32, number: u64) -> Stretch {
        let first_device = block * self.devices_of_block;
        let end = first_device.saturating_add(self.devices_of_block).min(self.devices);
        Stretch { devices: first_device..end, first: number * self.length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn datapoints(stretch: &Stretch, length: u64) -> impl Iterator<Item = (u32, u64)> + use<> {
        let positions = stretch.first..stretch.first + length;
        stretch.devices.clone().flat_map(move |device| positions.clone().map(move |position| (device, position)))
    }

    proptest! {
        #[test]
        fn no_datapoint_belongs_to_two_operations(
            users in 1_u32..20, devices in 1_u32..40, block in 1_u32..7, length in 1_u64..4,
        ) {
            let stretches = Stretches::of_length(devices, block.min(devices), length);
            let (mut of_users, mut of_all) = (HashSet::new(), HashSet::new());
            for number in 0..20 {
                for user in 0..users {
                    let stretch = stretches.of_user(user, users, number);
                    prop_assert!(!stretch.devices.is_empty() && stretch.devices.end <= devices);
                    for datapoint in datapoints(&stretch, length) {
                        prop_assert!(of_users.insert(datapoint), "user {user} sends {datapoint:?} again");
                    }
                }
                for datapoint in datapoints(&stretches.of_operation(number), length) {
                    prop_assert!(of_all.insert(datapoint), "operation {number} sends {datapoint:?} again");
                }
            }
        }

        #[test]
        fn equal_operations_leave_no_datapoint_out(devices in 1_u32..40, block in 1_u32..7, length in 1_u64..4) {
            let stretches = Stretches::of_length(devices, block.min(devices), length);
            let rounds = 5;
            let numbers = 0..u64::from(stretches.blocks) * rounds;
            let sent: HashSet<_> = numbers.flat_map(|n| datapoints(&stretches.of_operation(n), length)).collect();
            prop_assert_eq!(sent.len() as u64, u64::from(devices) * rounds * length);
        }
    }
}
