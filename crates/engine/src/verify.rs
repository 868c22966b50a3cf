//! Answers held against the truth that the simulator can recompute, beside the load and never in its measured time.

mod compare;
mod cycle;
mod exactness;
mod figure;
mod frontier;
mod newest;
mod truth;
mod verifier;

pub use frontier::{Frontier, Meanwhile};
pub use verifier::{Answers, Verifier, VerifierParts, VerifyMode, Witness};
