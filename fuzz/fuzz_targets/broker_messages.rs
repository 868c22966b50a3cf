//! Messages of a broker, in either form (the first byte). What is read and written again is read the same, to the last bit, and takes no
//! more memory than a message of its length may.

#![no_main]

use iotbench_broker::{Payload, foreign::Messages};
use iotbench_core::{Batch, Column};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

/// A row of the schema's numbers takes 30 bytes, and in a message more than as many.
const BYTES_A_BYTE: usize = 8;

thread_local! {
    static MESSAGES: RefCell<[Messages; 2]> =
        RefCell::new([Payload::Json64, Payload::Line].map(|payload| Messages::new(payload, iotbench_fuzz::schema())));
}

fn is_finite(batch: &Batch) -> bool {
    batch.columns().iter().all(|column| match column {
        Column::F32(values) => values.iter().all(|value| value.is_finite()),
        Column::F64(values) => values.iter().all(|value| value.is_finite()),
        _ => true,
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&form, message)) = data.split_first() else { return };
    MESSAGES.with_borrow_mut(|messages| {
        let messages = &mut messages[usize::from(form % 2)];
        let Some((label, batch)) = messages.read(message) else { return };
        assert!(is_finite(&batch), "{batch:?}");
        assert!(!batch.is_empty() && batch.len() <= message.len() / BYTES_A_BYTE, "{} datapoints", batch.len());
        let written = messages.write(&label, &batch);
        let again = messages.read(&written).expect("what is written is read");
        assert_eq!(again, (label, batch));
    });
});
