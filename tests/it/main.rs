//! The program as its users run it: its command line, whole runs, and private servers; the library as other programs use
//! it, and the profiles that it carries.

mod architecture;
mod book;
mod command_line;
mod end_to_end;
mod library;
mod own_backend;
mod profiles;
mod server;
mod small_search;
mod soundness;
