//! What agents and coordinators say to each other. The first byte says what the rest is: an order as it travels, the body of an order
//! that a trusted coordinator has signed, or a message that nobody signs. What is read and written again is written the same.

#![no_main]

use iotbench_cluster::{
    SigningKey, Trust,
    foreign::{Kind, is_order, reordered, rewritten, signed_body},
};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static KEY: LazyLock<SigningKey> = LazyLock::new(SigningKey::drawn);
static TRUST: LazyLock<Trust> = LazyLock::new(|| Trust::of(&[KEY.public()]).unwrap());

fn order(body: &[u8]) {
    let again = |body: &[u8]| reordered(&signed_body(&KEY, body).unwrap(), &TRUST);
    if let Some(written) = again(body) {
        let twice = again(&written).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&written)));
        assert!(twice == written, "{}\n{}", String::from_utf8_lossy(&written), String::from_utf8_lossy(&twice));
    }
}

fn message(kind: Kind, bytes: &[u8]) {
    if let Some(written) = rewritten(kind, bytes) {
        let twice = rewritten(kind, &written).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&written)));
        assert!(twice == written, "{}\n{}", String::from_utf8_lossy(&written), String::from_utf8_lossy(&twice));
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&what, rest)) = data.split_first() else { return };
    match what {
        // Nobody can forge the key's signature.
        b's' => assert!(!is_order(rest, &TRUST)),
        b'o' => order(rest),
        b'q' => message(Kind::Question, rest),
        b'a' => message(Kind::Answer, rest),
        b'r' => message(Kind::Report, rest),
        _ => message(Kind::Seen, rest),
    }
});
