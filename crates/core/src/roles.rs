//! The parts of the system whose resources a run samples, besides the servers' own roles.

/// The process that makes the load.
pub const CLIENT_ROLE: &str = "client";
/// A database's server, where its recipe has no other name for it, and whatever is sampled on other machines.
pub const SERVER_ROLE: &str = "server";
/// The process that makes the load and holds the database.
pub const SHARED_ROLE: &str = "client+database";
/// A private broker between devices and writers.
pub const BROKER_ROLE: &str = "broker";
/// All that the client's machine does, other programs' doings included.
pub const MACHINE_ROLE: &str = "machine";
