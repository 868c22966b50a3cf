//! Ranges of datapoints as bytes. Pure.
//!
//! Ranges are sorted by device and index and those that touch are joined; each is coded by its distance from the one before:
//! a byte holds the common distances, longer ones follow it as LEB128 numbers (DWARF 5, section 7.6), and equal distances
//! that follow each other are counted. Meters that report one after the other so take a byte for 128 of them, datapoints of
//! one device nothing.
//!
//! ```text
//! 0cciiddd   a range: ddd devices on (7: 7 and a number), ii indices on (3: 3 and a number), cc + 1 datapoints (3: 4 and a
//!            number). Of the same device the index counts from one after the end of the range before; of another from the
//!            beginning of that range, 0, -1, 1, -2, … as 0, 1, 2, 3, …
//! 1nnnnnnn   the distance before, nnnnnnn + 1 times more
//! ```

use super::block::LedgerError;
use iotbench_core::Run;
use std::ops::Range;

/// The most ranges of one block.
pub const MAX_RANGES: usize = 1 << 16;
const REPEAT: u8 = 0x80;
const MAX_REPEATS: u8 = 0x7f;

/// A range of datapoints of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DeviceRange {
    device: u32,
    first: u64,
    count: u64,
}

/// From one range to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    devices: u64,
    indices: u64,
    count: u64,
}

/// Before the first range.
const ORIGIN: DeviceRange = DeviceRange { device: 0, first: 0, count: 0 };

impl DeviceRange {
    fn end(self) -> u64 {
        self.first + self.count
    }

    fn step_to(self, next: Self) -> Step {
        let devices = u64::from(next.device - self.device);
        let indices = match devices {
            0 => next.first - self.end(),
            _ => zigzag(next.first.wrapping_sub(self.first).cast_signed()),
        };
        Step { devices, indices, count: next.count - 1 }
    }

    fn after(self, step: Step) -> Option<Self> {
        let device = u32::try_from(u64::from(self.device).checked_add(step.devices)?).ok()?;
        let first = match step.devices {
            0 => self.first.checked_add(self.count)?.checked_add(step.indices)?,
            _ => self.first.checked_add_signed(unzigzag(step.indices))?,
        };
        let count = step.count.checked_add(1)?;
        first.checked_add(count)?;
        Some(Self { device, first, count })
    }
}

/// Appends the datapoints of `runs` to `out`, and takes them out of `runs`: of what was sent twice once, so that what stays is for
/// another block. Returns how many datapoints were appended.
///
/// At most [`MAX_RANGES`] runs belong to one block.
pub fn encode(runs: &mut Vec<Run>, out: &mut Vec<u8>) -> u64 {
    runs.sort_unstable_by_key(|run| (run.device, run.first));
    let again = take_overlapping(runs);
    let (mut last, mut last_step, mut points) = (ORIGIN, None, 0);
    let mut stretches = joined(runs).peekable();
    while let Some(stretch) = stretches.next() {
        points += stretch.count;
        let step = last.step_to(stretch);
        last = stretch;
        if last_step != Some(step) {
            put(step, out);
            last_step = Some(step);
            continue;
        }
        let mut repeats = 0;
        while repeats < MAX_REPEATS
            && let Some(next) = stretches.next_if(|&next| last.step_to(next) == step)
        {
            repeats += 1;
            points += next.count;
            last = next;
        }
        out.push(REPEAT | repeats);
    }
    drop(stretches);
    runs.clear();
    runs.extend(again);
    points
}

/// Takes those of sorted runs out that hold datapoints of others before them.
fn take_overlapping(runs: &mut Vec<Run>) -> Vec<Run> {
    let (mut device, mut end, mut again) = (0, 0, Vec::new());
    runs.retain(|run| {
        let is_apart = run.device != device || run.first >= end;
        match is_apart {
            true => (device, end) = (run.device, run.indices().end),
            false => again.push(*run),
        }
        is_apart
    });
    again
}

/// Sorted runs, those that touch as one.
fn joined(runs: &[Run]) -> impl Iterator<Item = DeviceRange> + '_ {
    let mut runs = runs.iter().peekable();
    std::iter::from_fn(move || {
        let first = runs.next()?;
        let mut stretch = DeviceRange { device: first.device, first: first.first, count: first.count.into() };
        while let Some(next) = runs.next_if(|next| next.device == stretch.device && next.first == stretch.end()) {
            stretch.count += u64::from(next.count);
        }
        Some(stretch)
    })
}

fn put(step: Step, out: &mut Vec<u8>) {
    let (devices, indices, count) = (step.devices.min(7), step.indices.min(3), step.count.min(3));
    #[expect(clippy::cast_possible_truncation, reason = "three, two and two bits")]
    out.push((devices | indices << 3 | count << 5) as u8);
    for (code, most, number) in [(devices, 7, step.devices), (indices, 3, step.indices), (count, 3, step.count)] {
        if code == most {
            put_number(number - most, out);
        }
    }
}

/// Tells the ranges that [`encode`] wrote, ascending.
///
/// # Errors
/// Bytes that it never writes.
pub fn decode(mut bytes: &[u8], tell: &mut dyn FnMut(u32, Range<u64>)) -> Result<(), LedgerError> {
    let damaged = || LedgerError::Damaged("a range of datapoints that cannot be".into());
    let (mut last, mut step, mut ranges) = (ORIGIN, None, 0_usize);
    while let Some((&tag, rest)) = bytes.split_first() {
        bytes = rest;
        let times = if tag & REPEAT == 0 {
            let mut number = |code: u64, most: u64| match code == most {
                true => take_number(&mut bytes)?.checked_add(most),
                false => Some(code),
            };
            let tag = u64::from(tag);
            let read = || {
                let (devices, indices) = (number(tag & 7, 7)?, number(tag >> 3 & 3, 3)?);
                Some(Step { devices, indices, count: number(tag >> 5 & 3, 3)? })
            };
            step = Some({ read }().ok_or_else(damaged)?);
            1
        } else {
            u32::from(tag & MAX_REPEATS) + 1
        };
        for _ in 0..times {
            last = step.and_then(|step| last.after(step)).ok_or_else(damaged)?;
            ranges += 1;
            if ranges > MAX_RANGES {
                return Err(damaged());
            }
            tell(last.device, last.first..last.end());
        }
    }
    Ok(())
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Appends a number as LEB128.
pub fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "seven bits")]
    out.push(number as u8);
}

/// Takes a LEB128 number; `None`: there is none.
pub fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::PointRanges;
    use proptest::prelude::*;

    fn coded(runs: &[Run]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&mut runs.to_vec(), &mut bytes);
        bytes
    }

    fn decoded(bytes: &[u8]) -> Result<PointRanges, LedgerError> {
        let mut ranges = PointRanges::default();
        decode(bytes, &mut |device, indices| ranges.add_range(device, indices))?;
        Ok(ranges)
    }

    #[test]
    fn meters_one_after_the_other_take_a_byte_for_128_of_them() {
        let runs: Vec<Run> = (0..60_000).map(|device| Run { device, first: 7, count: 1 }).collect();
        let bytes = coded(&runs);
        assert!(bytes.len() < 60_000 / 128 + 8, "{} bytes", bytes.len());
        assert_eq!(decoded(&bytes).unwrap().len(), 60_000);
    }

    #[test]
    fn a_repeat_of_nothing_and_indices_beyond_all_are_refused() {
        for bytes in [&[0x80_u8][..], &[0x67], &[0x07, 0xff, 0xff, 0xff, 0xff, 0x7f], &[0x18, 0xff, 0xff]] {
            assert!(decoded(bytes).is_err(), "{bytes:x?}");
        }
        let mut most = vec![0x60];
        put_number(u64::MAX - 4, &mut most);
        most.push(0x80);
        assert!(decoded(&most).is_err(), "the second range would end beyond 64 bits");
    }

    #[test]
    fn a_block_has_no_more_ranges_than_are_ever_written() {
        // A range, and as many of the same distance as a byte repeats, again and again.
        let mut bytes = vec![0x01];
        bytes.extend(vec![REPEAT | MAX_REPEATS; MAX_RANGES / 128 - 1]);
        bytes.push(REPEAT | (MAX_REPEATS - 1));
        assert_eq!(decoded(&bytes).unwrap().len(), MAX_RANGES as u64);
        *bytes.last_mut().unwrap() += 1;
        assert!(decoded(&bytes).is_err(), "one more");
    }

    proptest! {
        #[test]
        fn what_was_coded_comes_back(
            runs in prop::collection::vec((0_u32..40, prop_oneof![0_u64..200, any::<u64>().prop_map(|n| n >> 2)], 1_u32..300), 0..200),
        ) {
            let runs: Vec<Run> = runs.into_iter().map(|(device, first, count)| Run { device, first, count }).collect();
            let mut expected = PointRanges::default();
            runs.iter().for_each(|&run| expected.add(run));
            let (mut left, mut came_back, mut points, mut told) = (runs.clone(), PointRanges::default(), 0, 0);
            while !left.is_empty() {
                let mut bytes = Vec::new();
                points += encode(&mut left, &mut bytes);
                let block = decoded(&bytes).unwrap();
                told += block.len();
                came_back.append(&mut block.clone());
            }
            prop_assert_eq!(came_back, expected);
            let sent: u64 = runs.iter().map(|run| u64::from(run.count)).sum();
            prop_assert_eq!((points, told), (sent, sent), "each as often as it was sent");
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut ends = 0_u64;
            let _ = decode(&bytes, &mut |_, indices| ends = ends.max(indices.end));
        }

        #[test]
        fn numbers_come_back(number: u64, rest in prop::collection::vec(any::<u8>(), 0..3)) {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            bytes.extend_from_slice(&rest);
            let mut left = &bytes[..];
            prop_assert_eq!(take_number(&mut left), Some(number));
            prop_assert_eq!(left, &rest[..]);
        }
    }
}
