//! Documents, folders, what people see of them, and what needs no terminal.

mod bounds;
mod doubts;
mod folder;
mod iotps;
mod outcomes;
mod probes;
mod schema;
mod sessions;
mod steadiness;
mod studies;
mod sweep;
mod terminal;
mod upper_ends;
mod without_a_terminal;
mod written;
