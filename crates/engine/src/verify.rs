//! Answers held against the truth that the simulator can recompute, beside the load and never in its measured time.

mod compare;
mod consecutive;
mod cycle;
mod exactness;
mod figure;
mod filled;
mod freshness;
mod frontier;
mod groups;
mod having;
mod last_points;
mod newest;
mod overlap;
mod rollup;
mod second_sends;
mod told;
mod top;
mod truth;
mod verifier;
mod writes;

pub use exactness::{Exactness, shown};
pub use freshness::{Freshness, Probe, ProbeParts, Sought};
pub use frontier::Frontier;
pub use overlap::Overlap;
pub use truth::indices_in;
pub use verifier::{Answers, ReadTerms, Verifier, VerifyMode, Witness};
pub use writes::Writes;
