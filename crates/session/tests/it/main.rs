//! Documents, folders and what people see of them.

mod bounds;
mod doubts;
mod folder;
mod outcomes;
mod probes;
mod schema;
mod sessions;
mod steadiness;
mod studies;
mod sweep;
mod terminal;
mod upper_ends;
mod written;
