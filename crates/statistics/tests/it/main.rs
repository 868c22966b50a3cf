//! Estimates on samples whose truth is known.

mod boundaries;
mod oracle;
mod simulated;
