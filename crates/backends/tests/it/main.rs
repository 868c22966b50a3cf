//! The databases behind the seam: conformance, their own ways, and what they do when a server misbehaves.

mod clickhouse;
mod conformance;
mod counters;
mod databus;
mod faults;
mod harness;
mod influxdb;
mod influxdb2;
mod kairosdb;
mod leases;
mod mariadb;
mod mongodb;
mod opens;
mod opentsdb;
mod places;
mod postgres;
mod questdb;
mod sqlite;
mod streaming;
mod tagged;
mod victoriametrics;
