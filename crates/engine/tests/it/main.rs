//! Profiles become plans, plans become runs, and runs agree with the ledger of the server that they loaded.

mod operations;
mod plans;
mod profiles;
mod reading;
mod real_time;
mod runs;
