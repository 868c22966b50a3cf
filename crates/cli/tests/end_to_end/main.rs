//! The program as a user runs it: real runs, their results folders, signals, and what happens when something is missing.

mod embedded;
mod interruption;
mod load_models;
mod local_io;
mod program;
mod results;
