//! A flag: what says on a server that somebody uses a table, where the server holds no lock for as long as a connection lasts.
//!
//! What it takes to tell by flags who may change a table is in [`crate::claims`].

use iotbench_core::{Error, Name};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::{
    future::{Future, ready},
    hash::{BuildHasher, Hasher, RandomState},
};

/// So long, in seconds, a flag says it that was not put up again.
pub const LEASE_S: u64 = 20;

/// Who uses a table, or wants to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Whose it is: a text that is drawn for each database that is opened.
    pub owner: String,
    /// His run.
    pub run_id: String,
    /// Whether the table is his; else he looks whether it may be.
    pub has_it: bool,
    /// When it ends, in Unix seconds by the server's clock; where the server tells no time, how often it was put up.
    pub beat: u64,
}

/// The flags at a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// One for each owner.
    pub flags: Vec<Flag>,
    /// The server's time in Unix seconds, where it tells one.
    pub now_s: Option<u64>,
}

/// A server with flags on it.
pub trait Flags: Send {
    /// The flags at a table, there or not. A flag that its owner has seen so is seen by whoever looks later.
    fn flags(&mut self, name: &Name) -> impl Future<Output = Result<Seen, Error>> + Send;

    /// Puts a flag up, in the place of the owner's earlier one. `is_new`: he has none, and what holds it may be missing too.
    fn put_up(&mut self, name: &Name, flag: &Flag, is_new: bool) -> impl Future<Output = Result<(), Error>> + Send;

    /// Has what was put up seen sooner than by itself.
    fn hurry(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// Takes an owner's flag down; it may be down already.
    fn take_down(&mut self, name: &Name, owner: &str) -> impl Future<Output = Result<(), Error>> + Send;
}

/// What the text of a flag begins with.
const BEGINNING: &str = "iotbench flag owner=";
/// What it may hold as it is: neither a quote nor a blank.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// An owner of his own: 128 bits of what the system draws.
#[must_use]
pub fn owner() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

impl Flag {
    /// It as a text that needs no quoting.
    #[must_use]
    pub fn text(&self) -> String {
        let encoded = |text| utf8_percent_encode(text, ENCODED);
        let Self { owner, run_id, has_it, beat } = self;
        format!("{BEGINNING}{} run={} has_it={has_it} beat={beat}", encoded(owner), encoded(run_id))
    }

    /// The flag of a text that [`Self::text`] wrote, and of no other.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let (owner, rest) = text.strip_prefix(BEGINNING)?.split_once(" run=")?;
        let (run_id, rest) = rest.split_once(" has_it=")?;
        let (has_it, beat) = rest.split_once(" beat=")?;
        let decoded = |part| percent_decode_str(part).decode_utf8().ok().map(std::borrow::Cow::into_owned);
        let flag = Self {
            owner: decoded(owner)?,
            run_id: decoded(run_id)?,
            has_it: has_it.parse().ok()?,
            beat: beat.parse().ok()?,
        };
        (flag.text() == text).then_some(flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_flag_comes_back_from_a_text_that_needs_no_quoting(
            owner in any::<String>(), run_id in any::<String>(), has_it in any::<bool>(), beat in any::<u64>(),
        ) {
            let flag = Flag { owner, run_id, has_it, beat };
            let text = flag.text();
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b" =%-_.".contains(&b)), "{}", text);
            prop_assert_eq!(Flag::of_text(&text), Some(flag));
        }

        #[test]
        fn nothing_else_is_a_flag(text in "(iotbench flag owner=)?[ -~]{0,9}( run=)?[ -~]{0,9}( has_it=true)?( beat=)?[ -~]{0,3}") {
            if let Some(flag) = Flag::of_text(&text) {
                prop_assert_eq!(flag.text(), text);
            }
        }
    }

    #[test]
    fn no_two_owners_are_the_same() {
        let owners: std::collections::HashSet<_> = (0..100).map(|_| owner()).collect();
        assert_eq!(owners.len(), 100);
        assert!(owners.iter().all(|owner| owner.len() == 32 && owner.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }
}
