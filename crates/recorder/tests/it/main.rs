//! What is recorded is what happened.

mod accuracy;
mod allocation;
mod coverage;
mod export;
mod merging;
mod outcomes;
mod random;
mod windows;
