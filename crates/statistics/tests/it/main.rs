//! Estimates on samples whose truth is known.

mod simulated;
