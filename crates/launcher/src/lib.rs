//! Private local servers, made from a [`Recipe`](iotbench_core::Recipe): started, watched, stopped and removed.
//!
//! [`start`] makes a folder of its own, chooses free ports, starts the server as an unprivileged user and waits until it
//! answers. Dropping the [`PrivateServer`] stops it and removes the folder. So does the end of the process that started
//! it, a SIGKILL included: the server runs under a small supervisor, `iotbench supervise`, which ends the whole tree of
//! processes when its pipe closes.
//!
//! ```no_run
//! use iotbench_core::Recipe;
//! use iotbench_launcher::{Launch, start};
//!
//! # fn recipe() -> &'static Recipe { unimplemented!() }
//! let launch = Launch::new("postgres", recipe(), "server.log".into());
//! let server = start(&launch, &|| false)?;
//! println!("{} runs as process {}", server.endpoint(), server.process().pid);
//! drop(server);
//! # Ok::<(), iotbench_launcher::StartError>(())
//! ```
//!
//! A user's own experiments outlive the program that starts them: [`PrivateServer::detach`] leaves the server to its
//! supervisor, and [`Records`] finds it again.
//!
//! # Invariants
//! - Never a shell: every command is a list of arguments, and a user's settings pass an allow-list of characters.
//! - Never a signal to a process that was not started here: each is known by pid and start time, and held by a pidfd.
//! - Never a folder removed that lacks our marker or has another owner, and never a symbolic link followed in it.
//! - Never a library user's own program started as supervisor.
//! - Never a database's name: what is particular stands in the recipe.
//!
//! # Limits
//! - Linux, with `setpriv` (util-linux) where the caller is root: a server never runs as root.
//! - Who kills the supervisor *and* the program that started it leaves the server running.
//! - One process a recipe; servers that consist of several roles or nodes are not built.

mod account;
mod folder;
mod launch;
mod order;
mod ports;
mod process;
mod programs;
mod ready;
mod records;
mod server;
mod setting;
mod supervise;
mod supervisor;
mod template;

pub use folder::FolderError;
pub use launch::{DEFAULT_MEMORY_BYTES, Launch, StartError, start};
pub use process::ProcessId;
pub use programs::{Missing, Programs};
pub use records::{Record, RecordError, Records};
pub use server::{Ended, PrivateServer, planned_endpoint};
pub use setting::{ServerSettings, WrongSetting};
pub use supervise::supervise;
pub use template::UnknownName;
