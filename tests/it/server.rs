//! Private servers, with the real programs: started, stopped, killed and failing, and what is left of them each time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod added;
mod agents;
mod canaries;
mod certificates;
mod client;
mod clusters;
mod command;
mod connections;
mod counters;
mod disk_written;
mod encrypting;
mod extensions;
mod failures;
mod found;
mod full_disk;
mod going_on;
mod harm;
mod held_up;
mod inheriting;
mod kills;
mod library;
mod login;
mod managed_run;
mod on_a_server;
mod opentsdb;
mod ordinary_user;
mod outages;
mod partial_writes;
pub mod place;
mod proxy;
mod reads;
mod rogue;
mod scenarios;
mod several;
mod shards;
mod statements;
mod tampered;
mod tampering;
mod tls;
mod tuning;
mod twice;
mod verify;
mod via;
