//! Estimates on samples whose truth is known.

mod oracle;
mod simulated;
