//! The server whose ledger is the truth of other tests.

mod accuracy;
mod server;
mod virtual_time;
