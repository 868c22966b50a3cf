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
//! for (endpoint, node) in server.endpoints().iter().zip(server.nodes()) {
//!     println!("{endpoint}: role {}, node {}, process {:?}", node.role, node.node, node.pid);
//! }
//! drop(server);
//! # Ok::<(), iotbench_launcher::StartError>(())
//! ```
//!
//! A server may consist of several processes: roles, each on some of its nodes. A node is an address of its own, 127.0.0.1,
//! 127.0.0.2 and so on; a role has the same ports on each. One supervisor has them all: it starts role after role, each
//! when the one before is ready, joins them, and stops them in the opposite order. One that ends ends all.
//!
//! What Debian does not have is looked for in [`servers_folder`], which `scripts/servers` fills: programs, and jars, which a
//! recipe's commands put on the class path of a `java` that they name.
//!
//! A user's own experiments outlive the program that starts them: [`PrivateServer::detach`] leaves the server to its
//! supervisor, and [`Records`] finds it again.
//!
//! # Invariants
//! - Never a shell: every command is a list of arguments, and a user's settings pass an allow-list of characters.
//! - Never a signal to a process that was not started here: each is known by pid and start time, and held by a pidfd.
//! - Never a folder removed that lacks our marker or has another owner, and never a symbolic link followed in it.
//! - Never a library user's own program started as supervisor.
//! - Never a descriptor of the caller's, such as a lock, held by a server or its supervisor, and none of the caller's changed for
//!   that: the supervisor begins anew without them.
//! - Never a database's name: what is particular stands in the recipe.
//!
//! # Limits
//! - Linux, with `setpriv` (util-linux) where the caller is root: a server never runs as root.
//! - Who kills the supervisor *and* the program that started it leaves the server's folder, and, where `setpriv` is missing, the
//!   server running. What a process of the server has started ends then by itself, as PostgreSQL's children do, or not.
//! - Nodes are addresses of one machine: its cores, memory and disk are theirs together. 127.0.0.0/8 must be its own.
//! - The processes of a server all run as one user.

mod account;
mod credentials;
mod folder;
mod inherited;
mod kept;
mod launch;
mod log;
mod order;
mod own_folder;
mod password;
mod plan;
mod ports;
mod process;
mod programs;
mod ready;
mod records;
mod server;
mod setting;
mod starting;
mod supervise;
mod supervisor;
mod template;
mod topology;

pub use folder::FolderError;
pub use kept::KeptServer;
pub use launch::{DEFAULT_MEMORY_BYTES, Launch, StartError, is_root, lacks_setpriv, start};
pub use own_folder::PrivateLog;
pub use process::ProcessId;
pub use programs::{Missing, Programs, servers_folder};
pub use records::{Record, RecordError, Records};
pub use server::{Ended, PrivateServer, ProcessActor, ServerProcess};
pub use setting::{ServerSettings, WrongSetting};
pub use supervise::supervise;
pub use template::UnknownName;
pub use topology::planned_endpoints;
