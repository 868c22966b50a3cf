//! A ledger: bytes as they are (a first byte of 0), or blocks whose frames and checks are made here, so that what is in them is met.
//! What its blocks tell is counted alike by every reader, in bounded memory; where the plan in its head holds, the run is verified
//! again, against a database that holds nothing.

#![no_main]

use iotbench_backends::BACKENDS;
use iotbench_core::{Error, Registry, Target};
use iotbench_engine::{AuditRequest, AuditScope, Auditor, Fate, Ledger, LedgerHead, LedgerStore, MemoryLedger};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use std::{hint::black_box, sync::Arc};

const MAX_RANGES: usize = 1000;
const BEGINNING: &[u8] = b"IOTBLDGR\x03\x00";

/// Blocks of a kind, a length (two bytes) and a content.
fn framed(mut data: &[u8]) -> Vec<u8> {
    let mut out = BEGINNING.to_vec();
    while let [kind, low, high, rest @ ..] = data {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (content, behind) = rest.split_at(length);
        let start = out.len();
        out.push(*kind);
        out.extend(u32::try_from(length).unwrap().to_le_bytes());
        out.extend(content);
        let check = Sha256::digest(&out[start..]);
        out.extend(&check[..4]);
        data = behind;
    }
    out
}

fn verify(ledger: &Ledger) {
    let Ok(head) = ledger.head() else { return };
    let written = serde_json::to_string(&head).unwrap();
    let again: LedgerHead = serde_json::from_str(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    let Ok(planned) = head.planned(Target::default()) else { return };
    let Ok(backend) = Registry::new(BACKENDS).find("memory") else { return };
    let Ok(database) = backend.open(planned.open.clone()) else { return };
    let request = AuditRequest {
        may_lose: false,
        stops: &|| false,
        ..AuditRequest::new(&planned, ledger, backend.info(), AuditScope::Sample)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let audited = runtime.block_on(async {
        database.create().await?;
        let mut reader = database.reader().await?;
        let audit = Auditor::new(request)?.audit(&mut *reader, Some(0)).await?;
        Ok::<_, Error>(audit.is_clean(false))
    });
    drop(audited.map_err(|error| error.to_string()));
}

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let store = Arc::new(MemoryLedger::default());
    store.append(&if how == 0 { rest.to_vec() } else { framed(rest) }).unwrap();
    let ledger = Ledger::new(store);
    let summary = ledger.summary();
    let ranges = ledger.ranges(&|device| device % 2 == 0, MAX_RANGES);
    let acked = ledger.acked();
    assert_eq!(summary.is_ok(), ranges.is_ok());
    assert_eq!(summary.is_ok(), acked.is_ok());
    let (Ok(summary), Ok(acked)) = (summary, acked) else { return };
    // A datapoint may be told twice, and is one.
    assert!(acked.len() <= summary.points[0]);
    if let Ok(Some(ranges)) = ranges {
        for (place, fate) in Fate::ALL.into_iter().enumerate().filter(|(_, fate)| *fate != Fate::Unknown) {
            assert!(ranges.of(fate).len() <= summary.points[place]);
        }
        black_box(ranges.dropped().len());
    }
    verify(&ledger);
});
