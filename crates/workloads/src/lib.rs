//! The workloads that iotbench carries, as text: the files of `configs/`, compiled in.
//!
//! # Invariants
//! - Nothing is parsed here and no file is opened: whoever runs a workload reads its text.

mod profiles;
mod scores;
mod suites;

pub use profiles::{BuiltinProfile, PROFILES, UnknownProfile, find_profile};
pub use scores::HOF_SCORE;
pub use suites::{BuiltinSuite, SUITES, UnknownSuite, find_suite};
