//! How a private server of a database is made from what is installed, as data.

/// The table among a backend's settings that holds those of its private server: `[backend.NAME.server]`. They are for who
/// carries the recipe out; the backend does not get them.
pub const SERVER_SETTINGS: &str = "server";

/// How a private server is made: which programs, how they begin an empty folder, start, tell that they are ready, and
/// stop. A backend gives its recipe by [`crate::Backend::recipe`]; who carries it out knows no database.
///
/// Texts are templates. `{data}` is the folder of the data, `{run}` the folder around it (for sockets and pid files),
/// `{memory_bytes}` the budget of every cache; a name of [`ports`](Self::ports) is that port, and a name of
/// [`programs`](Self::programs) the path of that program. Each command is a list of arguments and never passes a shell.
///
/// ```
/// use iotbench_core::{Program, Ready, Recipe, StopBy};
///
/// static RECIPE: Recipe = Recipe {
///     role: "server",
///     programs: &[Program { name: "exampled", folders: &["/usr/sbin"], package: "example-server" }],
///     version: &["{exampled}", "--version"],
///     user: "example",
///     ports: &["port"],
///     init: &[],
///     environment: &[],
///     start: &["{exampled}", "--cache={memory_bytes}", "{settings}", "--folder={data}", "--listen=127.0.0.1:{port}"],
///     setting: &["--{key}={value}"],
///     reserved: &["folder", "listen"],
///     ready: Ready::Http { port: "port", path: "/ping" },
///     stop: StopBy::Terminate,
///     url: "http://127.0.0.1:{port}/",
/// };
/// assert!(RECIPE.start.contains(&"{settings}"));
/// ```
#[derive(Debug)]
pub struct Recipe {
    /// What the process is called in results, such as `server`.
    pub role: &'static str,
    /// Every program that the recipe calls; the server itself first.
    pub programs: &'static [Program],
    /// Prints the server's version.
    pub version: &'static [&'static str],
    /// The user that root becomes for the server.
    pub user: &'static str,
    /// Ports on 127.0.0.1 to choose, by the name that templates use; first the one that it serves over TCP when ready.
    pub ports: &'static [&'static str],
    /// Commands that fill an empty folder, one after the other.
    pub init: &'static [&'static [&'static str]],
    /// Variables of every command, as `NAME=value`. An element `{settings}` stands for the user's settings: what stands
    /// before it are defaults, what comes after cannot be changed.
    pub environment: &'static [&'static str],
    /// The server, which stays in the foreground. An element `{settings}` as in the environment.
    pub start: &'static [&'static str],
    /// What one of the user's settings becomes where `{settings}` stands: `{key}`, `{KEY}` (in capitals, `_` for other
    /// characters) and `{value}`.
    pub setting: &'static [&'static str],
    /// Settings that are the recipe's own, in lower case with `-` for `_`: a user's would be without effect.
    pub reserved: &'static [&'static str],
    /// When it is ready.
    pub ready: Ready,
    /// How it is asked to stop.
    pub stop: StopBy,
    /// Where the backend then reaches it.
    pub url: &'static str,
}

/// A program that a recipe calls.
#[derive(Debug)]
pub struct Program {
    /// The file's name.
    pub name: &'static str,
    /// Folders to look in beside PATH. A part `*` stands for a version: the highest one counts.
    pub folders: &'static [&'static str],
    /// The Debian package that brings it.
    pub package: &'static str,
}

impl Program {
    /// The environment variable that names the program's file: `IOTBENCH_<NAME>_BIN`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("IOTBENCH_{}_BIN", capitals(self.name))
    }
}

/// How a server tells that it is ready.
#[derive(Debug)]
pub enum Ready {
    /// This command succeeds.
    Command(&'static [&'static str]),
    /// A GET answers with a status from 200 to 299; or with 400, as servers do that their user has set to encrypted
    /// connections.
    Http {
        /// The port's name.
        port: &'static str,
        /// The path, such as `/ping`.
        path: &'static str,
    },
}

/// How a server is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopBy {
    /// SIGTERM.
    Terminate,
    /// SIGINT.
    Interrupt,
}

/// A name in capitals, with `_` for what is neither letter nor digit: the usual form of environment variables.
#[must_use]
pub fn capitals(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_variable_is_a_plain_name() {
        let program = Program { name: "mariadb-install-db", folders: &[], package: "" };
        assert_eq!(program.variable(), "IOTBENCH_MARIADB_INSTALL_DB_BIN");
    }
}
