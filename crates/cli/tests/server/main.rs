//! Private servers, with the real programs: started, stopped, killed and failing, and what is left of them each time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;
mod failures;
mod harm;
mod kills;
mod library;
mod managed_run;
mod place;
