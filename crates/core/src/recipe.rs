//! How a private server of a database is made from what is installed, as data.

/// The table among a backend's settings that holds those of its private server: `[backend.NAME.server]`. They are for who
/// carries the recipe out; the backend does not get them.
pub const SERVER_SETTINGS: &str = "server";

/// What `{cluster}` stands for: the nodes of a private server are told that they are together by this name.
pub const CLUSTER: &str = "iotbench";

/// How a private server is made: which programs, and of which processes it consists, on one node or on several. A backend
/// gives its recipe by [`crate::BackendInfo::recipe`]; who carries it out knows no database.
///
/// A *node* is an address of its own, 127.0.0.1, 127.0.0.2 and so on. A [`Role`] is a kind of process that runs on some of
/// the nodes. The roles are started in their order, each on all its nodes before the next one begins, then [`join`](Self::join)
/// is run; they are stopped in the opposite order.
///
/// Texts are templates. Each command is a list of arguments and never passes a shell. The names:
///
/// | name | stands for | in commands of |
/// |---|---|---|
/// | a name of [`programs`](Self::programs) | the path of that program | all |
/// | `{NAME.jars}` | the folder of these [`jars`](Self::jars) | all |
/// | `{servers}` | the folder of what `scripts/servers` installs and Debian does not have: `{servers}/NAME` is one backend's | all; [`Program::folders`] |
/// | `{memory_bytes}` | the budget of every cache of one process | all |
/// | `{heap_bytes}` | three times that: the heap of a process in which writes wait, too | all |
/// | `{nodes}` | the number of nodes | all |
/// | `{cluster}` | [`CLUSTER`], a name that several nodes have together; an argument or line that names it is left out where there is but one | all |
/// | `{hosts}` | the addresses of all nodes, with commas between them | all |
/// | `{ROLE.PORT}` | this port of that role: the same number on each of its nodes | all |
/// | `{ROLE.PORT.first}` | `host:port` of that role's first node | all |
/// | `{ROLE.PORT.all}` | `host:port` of each of its nodes, with commas between them | all |
/// | `{password}` | a password of this server alone, of hexadecimal digits; every user sees the arguments of a command, so in none of those | [`Role::files`], [`Role::environment`], [`Role::url`] |
/// | `{run}` | a folder of the process's own (for sockets and pid files); of the whole server | a role; `join` |
/// | `{data}` | the folder of the data in it, which the process makes | a role |
/// | `{host}`, `{node}` | the address and the number, from 0, of the node that it runs on | a role |
/// | a name of [`Role::ports`] | that port | that role |
///
/// `{{` stands for `{`.
///
/// ```
/// use iotbench_core::{On, Origin, Program, Ready, Recipe, Role, StopBy};
///
/// static RECIPE: Recipe = Recipe {
///     programs: &[Program {
///         name: "exampled",
///         folders: &["{servers}/example/bin"],
///         from: Origin::Debian("example-server"),
///     }],
///     jars: &[],
///     version: &["{exampled}", "--version"],
///     user: "example",
///     tuning: &["cache.ratio"],
///     nodes: &[1],
///     roles: &[Role {
///         name: "server",
///         on: On::EveryNode,
///         ports: &["port"],
///         open_ports: &[],
///         files: &[],
///         init: &[],
///         environment: &[],
///         start: &["{exampled}", "--cache={memory_bytes}", "{settings}", "--folder={data}", "--listen={host}:{port}"],
///         setting: &["--{key}={value}"],
///         reserved: &["folder", "listen"],
///         ready: Ready::Http { port: "port", path: "/ping" },
///         ready_within_s: 30,
///         stop: StopBy::Terminate,
///         url: Some("http://{host}:{port}/"),
///     }],
///     join: &[],
/// };
/// assert!(RECIPE.roles[0].start.contains(&"{settings}"));
/// ```
#[derive(Debug)]
pub struct Recipe {
    /// Every program that the recipe calls; the server itself first.
    pub programs: &'static [Program],
    /// Every folder of jars that its commands name; the server's own first.
    pub jars: &'static [Jars],
    /// Prints the server's version. Empty: the name of the server's own jar tells it.
    pub version: &'static [&'static str],
    /// The user that root becomes for the server.
    pub user: &'static str,
    /// Settings of the user's that do no more than to tune it, without their role: an agent takes them from another machine, and no
    /// others. None names a file, an address or code, switches a check off, or lets anybody in, whatever its value.
    pub tuning: &'static [&'static str],
    /// How many nodes it may have; first how many it has unless the user says otherwise.
    pub nodes: &'static [u32],
    /// The processes that it consists of, in the order of their start.
    pub roles: &'static [Role],
    /// Commands that make one database of the processes of a new server, run one after the other when all are ready. They
    /// find it joined when it starts again on a folder that was kept. What no command does, [`crate::Backend::join`] does.
    pub join: &'static [&'static [&'static str]],
}

impl Recipe {
    /// The ports at which nobody is asked for the server's password: as `PORT`, of several roles as `ROLE.PORT`.
    pub fn open_ports(&self) -> impl Iterator<Item = String> {
        let is_alone = self.roles.len() == 1;
        let named = move |role: &Role, port: &str| if is_alone { port.into() } else { format!("{}.{port}", role.name) };
        self.roles.iter().flat_map(move |role| role.open_ports.iter().map(move |port| named(role, port)))
    }
}

/// A kind of process: how it begins an empty folder, starts, tells that it is ready, and stops.
#[derive(Debug)]
pub struct Role {
    /// What the process is called in results, such as `server`: letters, digits and `-`.
    pub name: &'static str,
    /// On which nodes it runs.
    pub on: On,
    /// Ports to choose, by the name that templates use; first the one that it serves over TCP when ready. Roles differ in
    /// their ports; on each node a role has the same.
    pub ports: &'static [&'static str],
    /// Those of them at which nobody is asked for the password that the server has. Where it has none, none is named.
    pub open_ports: &'static [&'static str],
    /// Files that are written before each start, on a kept folder too.
    pub files: &'static [ConfigFile],
    /// Commands that fill an empty folder, one after the other.
    pub init: &'static [&'static [&'static str]],
    /// Variables of every command, as `NAME=value`. An element `{settings}` stands for the user's settings: what stands
    /// before it are defaults, what comes after cannot be changed.
    pub environment: &'static [&'static str],
    /// The process, which stays in the foreground. An element `{settings}` as in the environment. One with `{open}` is there
    /// only where other machines reach the server, one with `{closed}` only where they do not; the names themselves stand for
    /// nothing.
    pub start: &'static [&'static str],
    /// What one of the user's settings becomes where `{settings}` stands: `{key}`, `{KEY}` (in capitals, `_` for other
    /// characters) and `{value}`.
    pub setting: &'static [&'static str],
    /// Settings that are the recipe's own, in lower case with `-` for `_`: a user's would be without effect.
    pub reserved: &'static [&'static str],
    /// When it is ready.
    pub ready: Ready,
    /// A process that is not ready so long after its start has failed.
    pub ready_within_s: u32,
    /// How it is asked to stop.
    pub stop: StopBy,
    /// Where the backend then reaches it, with user and `{password}` where it asks for one; `None`: only other processes of the server do.
    pub url: Option<&'static str>,
}

/// A configuration file of a process.
#[derive(Debug)]
pub struct ConfigFile {
    /// Where it is, from `{run}`: names with `/` between them. No template.
    pub path: &'static str,
    /// What it says: a template, of which each line is one. A line `{settings}` stands for the user's settings, each on a
    /// line of its own.
    pub text: &'static str,
}

/// On which nodes a role runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// On each.
    EveryNode,
    /// On the first alone.
    FirstNode,
    /// On each but the first.
    OtherNodes,
}

impl On {
    /// The numbers of these nodes, from 0.
    #[must_use]
    pub fn of(self, nodes: u32) -> std::ops::Range<u32> {
        match self {
            Self::EveryNode => 0..nodes,
            Self::FirstNode => 0..nodes.min(1),
            Self::OtherNodes => 1.min(nodes)..nodes,
        }
    }
}

/// A program that a recipe calls.
#[derive(Debug)]
pub struct Program {
    /// The file's name.
    pub name: &'static str,
    /// Folders to look in beside PATH. A part `*` stands for a version: the highest one counts. `{servers}` as in commands.
    pub folders: &'static [&'static str],
    /// What brings it.
    pub from: Origin,
}

/// Where a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The Debian package of this name, or several with spaces between.
    Debian(&'static str),
    /// `scripts/servers` puts it into the folder `{servers}`: Debian does not have it.
    ServersScript,
    /// Whose package has it, where neither of them does, in words that go on after "install".
    Elsewhere(&'static str),
    /// No package brings it: a file, and no program, by which a server knows an extension of its. It is looked for in the
    /// program's folders below the one that this command prints.
    Extension(&'static [&'static str]),
}

/// Another form of a private server, which a setting of the backend asks for.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The setting, such as `store = cassandra`.
    pub setting: &'static str,
    /// The recipe that [`crate::Backend::recipe_for`] then gives.
    pub recipe: &'static Recipe,
}

impl Program {
    /// The environment variable that names the program's file: `IOTBENCH_<NAME>_BIN`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("IOTBENCH_{}_BIN", capitals(self.name))
    }
}

/// A server that runs in a Java virtual machine: its jars and those it needs, which `scripts/servers` puts into the folder
/// `{servers}/NAME/lib`.
#[derive(Debug)]
pub struct Jars {
    /// What the folder is called.
    pub name: &'static str,
    /// The jar that must be there, without its version: `example` for `example-1.3.jar`.
    pub main: &'static str,
}

impl Jars {
    /// The environment variable that names another folder: `IOTBENCH_<NAME>_JARS`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("IOTBENCH_{}_JARS", capitals(self.name))
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
    /// It listens on its first port: it does so last.
    Listens,
    /// It does not listen before the others are one database: whoever joins them waits for it ([`crate::Backend::join`]).
    Joined,
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
    fn a_role_runs_on_the_nodes_that_it_says() {
        let of = |on: On, nodes| on.of(nodes).collect::<Vec<_>>();
        assert_eq!(of(On::EveryNode, 3), [0, 1, 2]);
        assert_eq!(of(On::FirstNode, 3), [0]);
        assert_eq!(of(On::OtherNodes, 3), [1, 2]);
        assert!(of(On::OtherNodes, 1).is_empty());
    }

    #[test]
    fn a_port_without_a_password_has_its_role_before_it_where_there_are_several() {
        const fn role(name: &'static str, open_ports: &'static [&'static str]) -> Role {
            Role {
                name,
                on: On::EveryNode,
                ports: &["http", "line"],
                open_ports,
                files: &[],
                init: &[],
                environment: &[],
                start: &[],
                setting: &[],
                reserved: &[],
                ready: Ready::Listens,
                ready_within_s: 1,
                stop: StopBy::Terminate,
                url: None,
            }
        }
        static ONE: [Role; 1] = [role("server", &["line"])];
        static THREE: [Role; 3] = [role("store", &["http", "line"]), role("safe", &[]), role("front", &["line"])];
        let of = |roles| Recipe {
            programs: &[],
            jars: &[],
            version: &[],
            user: "nobody",
            tuning: &[],
            nodes: &[1],
            roles,
            join: &[],
        };
        assert_eq!(of(&ONE).open_ports().collect::<Vec<_>>(), ["line"]);
        assert_eq!(of(&THREE).open_ports().collect::<Vec<_>>(), ["store.http", "store.line", "front.line"]);
    }

    #[test]
    fn a_programs_variable_is_a_plain_name() {
        let program = Program { name: "mariadb-install-db", folders: &[], from: Origin::Debian("") };
        assert_eq!(program.variable(), "IOTBENCH_MARIADB_INSTALL_DB_BIN");
    }
}
