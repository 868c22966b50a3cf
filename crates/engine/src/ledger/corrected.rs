//! The sends of datapoints that are sent wrong and then right, as bytes. Pure.
//!
//! ```text
//! device     LEB128
//! index      LEB128
//! what       1 byte: its fate (0 acknowledged, 1 failed, 2 unknown), and 4 more where it is the send that corrects
//! sent       LEB128, nanoseconds since the run's start
//! took       LEB128, nanoseconds until the answer
//! ```

use super::{
    CorrectedSend, Fate, LedgerError, MAX_RANGES, Sent,
    coding::{put_number, take_number},
};

const SECOND: u8 = 4;

/// Appends sends to `out`; at most [`MAX_RANGES`] belong to one block.
pub fn encode_corrected(sends: &[CorrectedSend], out: &mut Vec<u8>) {
    for CorrectedSend { device, index, is_second, sent } in sends {
        put_number(u64::from(*device), out);
        put_number(*index, out);
        let fate: u8 = match sent.fate {
            Fate::Acked => 0,
            Fate::Failed => 1,
            Fate::Unknown => 2,
        };
        out.push(fate | if *is_second { SECOND } else { 0 });
        put_number(sent.sent_ns, out);
        put_number(sent.ended_ns.saturating_sub(sent.sent_ns), out);
    }
}

/// Tells the sends that [`encode_corrected`] wrote.
///
/// # Errors
/// Bytes that it never writes.
pub fn decode_corrected(mut bytes: &[u8], tell: &mut dyn FnMut(CorrectedSend)) -> Result<(), LedgerError> {
    let damaged = || LedgerError::Damaged("a send of a corrected datapoint that cannot be".into());
    let mut sends = 0_usize;
    while !bytes.is_empty() {
        sends += 1;
        tell(take(&mut bytes).filter(|_| sends <= MAX_RANGES).ok_or_else(damaged)?);
    }
    Ok(())
}

fn take(bytes: &mut &[u8]) -> Option<CorrectedSend> {
    let device = u32::try_from(take_number(bytes)?).ok()?;
    let index = take_number(bytes)?;
    let (&what, rest) = bytes.split_first()?;
    *bytes = rest;
    let fate = match what & !SECOND {
        0 => Fate::Acked,
        1 => Fate::Failed,
        2 => Fate::Unknown,
        _ => return None,
    };
    let sent_ns = take_number(bytes)?;
    let ended_ns = sent_ns.checked_add(take_number(bytes)?)?;
    Some(CorrectedSend { device, index, is_second: what & SECOND != 0, sent: Sent { fate, sent_ns, ended_ns } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn send() -> impl Strategy<Value = CorrectedSend> {
        let fate = prop::sample::select(Fate::ALL.to_vec());
        (any::<u32>(), any::<u64>(), any::<bool>(), fate, any::<u64>(), any::<u64>()).prop_map(
            |(device, index, is_second, fate, one_ns, other_ns)| {
                let (sent_ns, ended_ns) = (one_ns.min(other_ns), one_ns.max(other_ns));
                CorrectedSend { device, index, is_second, sent: Sent { fate, sent_ns, ended_ns } }
            },
        )
    }

    proptest! {
        #[test]
        fn what_was_coded_comes_back(sends in prop::collection::vec(send(), 0..50)) {
            let (mut bytes, mut came_back) = (Vec::new(), Vec::new());
            encode_corrected(&sends, &mut bytes);
            decode_corrected(&bytes, &mut |send| came_back.push(send)).unwrap();
            prop_assert_eq!(came_back, sends);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut told = 0;
            let _ = decode_corrected(&bytes, &mut |_| told += 1);
        }
    }

    #[test]
    fn what_is_never_written_is_refused() {
        for bytes in [
            &[0_u8][..],
            &[0, 0, 3, 0, 0],
            &[0, 0, 8, 0, 0],
            &[0, 0, 0, 5],
            &[0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0],
        ] {
            assert!(decode_corrected(bytes, &mut |_| ()).is_err(), "{bytes:x?}");
        }
    }
}
