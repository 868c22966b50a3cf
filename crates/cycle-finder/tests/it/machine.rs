//! The search against the simulator's machine tool.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test's figures are small"
)]

mod queries;
mod simulated;
mod spoilt;
mod store;
mod whole;
