//! The program as its users run it: its command line, whole runs, and private servers.

mod command_line;
mod end_to_end;
mod server;
mod soundness;
