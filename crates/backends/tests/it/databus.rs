//! Databus against a server of our own, in `stub`, written from what the original's documentation and source say of its
//! protocol: the original does not run any more. It holds what it is sent and answers from that alone.

#![cfg(feature = "databus")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod behaviour;
mod conformance;
mod place;
mod stub;
mod trouble;
