//! MariaDB and MySQL: what holds without a server, and what holds against a real one.
//!
//! The servers are named by `IOTBENCH_TEST_MARIADB_URL` and `IOTBENCH_TEST_MYSQL_URL`, with a user who may do everything, e.g.
//! `mysql://root@127.0.0.1:3306/`. Each test has a database of its own there. Without one its tests are skipped, and fail
//! where `IOTBENCH_REQUIRE_SERVERS=1` demands them.

#![cfg(feature = "mariadb")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]

mod conformance;
mod devices;
mod failures;
mod harm;
mod mysql;
mod rogue;
mod server;
mod writing;
