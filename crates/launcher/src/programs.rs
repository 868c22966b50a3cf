//! Where a recipe's programs are on this machine.

use iotbench_core::{Jars, Origin, Program, Recipe};
use rustix::process::geteuid;
use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fmt, fs,
    io::{BufRead, BufReader, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use crate::template::Values;

/// The programs of a recipe, by name.
#[derive(Clone, Debug)]
pub struct Programs {
    recipe: &'static Recipe,
    paths: BTreeMap<&'static str, PathBuf>,
    /// The server's own jar of each folder of jars, by the folder's name.
    jars: BTreeMap<&'static str, PathBuf>,
}

/// A program, or a folder of jars, that is not on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// The variable that would name it.
    pub variable: String,
    /// What the variable names and is not what is looked for, if it is set.
    pub named: Option<PathBuf>,
    /// Where it was looked for.
    pub places: Vec<String>,
    /// What brings it.
    pub from: Origin,
}

impl std::error::Error for Missing {}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, variable, .. } = self;
        if let Some(named) = &self.named {
            return write!(f, "{variable} names {}, which is not {name}, or cannot be run", named.display());
        }
        write!(f, "{name} not found (looked in {}): ", self.places.join(", "))?;
        match self.from {
            Origin::Debian(package) => write!(f, "apt-get install {package}; or name it by {variable}")?,
            Origin::ServersScript => {
                write!(f, "scripts/servers --all, in iotbench's source, installs it; or name it by {variable}")?;
            }
            Origin::Elsewhere(whose) => {
                write!(f, "Debian does not have it: install {whose}, and name the program by {variable}")?;
            }
            Origin::Extension(_) => write!(
                f,
                "no package of Debian brings this extension: install it for that server, or name the program of one \
                 that has it by {variable}"
            )?,
        }
        f.write_str(", or give the address of a running server with --url")
    }
}

impl Programs {
    /// Finds every program of a recipe: by its variable, beside the server's program, in PATH, in the recipe's folders; and
    /// its jars, by their variable or in the folder of servers.
    ///
    /// # Errors
    /// The first one that is missing.
    pub fn find(recipe: &'static Recipe) -> Result<Self, Missing> {
        let (found, missing) = Self::look(recipe);
        missing.into_iter().next().map_or(Ok(found), Err)
    }

    /// Everything of a recipe that is missing. An extension is looked for only where its server is here.
    #[must_use]
    pub fn missing(recipe: &'static Recipe) -> Vec<Missing> {
        Self::look(recipe).1
    }

    fn look(recipe: &'static Recipe) -> (Self, Vec<Missing>) {
        let path = env::var_os("PATH").unwrap_or_default();
        let (mut paths, mut jars, mut missing) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut beside = None;
        for program in recipe.programs {
            if let Origin::Extension(command) = program.from {
                let is_askable = missing.is_empty();
                let looked = is_askable.then(|| find_extension(program, command, recipe, &of_programs(&paths)));
                missing.extend(looked.and_then(Result::err));
                continue;
            }
            let named = env::var_os(program.variable()).filter(|named| !named.is_empty());
            match find(program, named.map(PathBuf::from), beside.as_deref(), &path) {
                Ok(found) => {
                    // Another version's helper would make a folder that the server cannot read.
                    beside = beside.or_else(|| Some(found.canonicalize().ok()?.parent()?.to_owned()));
                    paths.insert(program.name, found);
                }
                Err(one) => missing.push(one),
            }
        }
        for wanted in recipe.jars {
            let named = env::var_os(wanted.variable()).filter(|named| !named.is_empty());
            match find_jars(wanted, named.map(PathBuf::from), &servers_folder()) {
                Ok(found) => drop(jars.insert(wanted.name, found)),
                Err(one) => missing.push(one),
            }
        }
        (Self { recipe, paths, jars }, missing)
    }

    /// The server's own program: its jar, where it has one.
    #[must_use]
    pub fn server(&self) -> &Path {
        let jar = self.recipe.jars.first().and_then(|jars| self.jars.get(jars.name));
        let first = self.recipe.programs.first().and_then(|program| self.paths.get(program.name));
        jar.or(first).map_or(Path::new(""), PathBuf::as_path)
    }

    /// What the server's program says its version is: its first line; or what its jar's name says. `None`: neither does.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        if let ([], [jars, ..]) = (self.recipe.version, self.recipe.jars) {
            let version = self.server().file_stem()?.to_str()?.strip_prefix(jars.main)?.strip_prefix('-')?;
            return Some(format!("{} {version}", jars.main));
        }
        first_line(&self.values().fill_all(self.recipe.version, &[]).ok()?)
    }

    /// The number in that, if there is one: `15.14` of `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`.
    #[must_use]
    pub fn version_number(&self) -> Option<String> {
        self.version().map(|version| number_in(&version).to_owned())
    }

    /// The paths under the programs' names.
    pub(crate) fn values(&self) -> Values {
        let mut values = of_programs(&self.paths);
        for (name, jar) in &self.jars {
            values.set(&format!("{name}.jars"), jar.parent().unwrap_or(jar).display());
        }
        values
    }
}

fn find(program: &Program, named: Option<PathBuf>, beside: Option<&Path>, path: &OsStr) -> Result<PathBuf, Missing> {
    let machine = of_machine();
    let folders: Vec<_> = program.folders.iter().filter_map(|folder| machine.fill(folder).ok()).collect();
    let missing = |named| Missing {
        name: program.name.into(),
        variable: program.variable(),
        named,
        places: std::iter::once("PATH".into()).chain(folders.clone()).collect(),
        from: program.from,
    };
    if let Some(named) = named {
        return if is_program(&named) { Ok(named) } else { Err(missing(Some(named))) };
    }
    let in_path = env::split_paths(path).filter(|folder| folder.is_absolute());
    let in_folders = folders.iter().flat_map(|pattern| matching(pattern));
    let beside = beside.into_iter().map(Path::to_owned);
    let mut candidates = beside.chain(in_path).chain(in_folders).map(|folder| folder.join(program.name));
    candidates.find(|candidate| is_program(candidate)).ok_or_else(|| missing(None))
}

/// Looks for the file of an extension where the server itself does: its own command prints the folder.
fn find_extension(extension: &Program, command: &[&str], recipe: &Recipe, values: &Values) -> Result<(), Missing> {
    let printed = values.fill_all(command, &[]).ok().and_then(|command| first_line(&command)).unwrap_or_default();
    let folders: Vec<_> = extension.folders.iter().map(|folder| Path::new(&printed).join(folder)).collect();
    if folders.iter().any(|folder| folder.join(extension.name).is_file()) {
        return Ok(());
    }
    Err(Missing {
        name: extension.name.into(),
        variable: recipe.programs.first().unwrap_or(extension).variable(),
        named: None,
        places: folders.iter().map(|folder| folder.display().to_string()).collect(),
        from: extension.from,
    })
}

/// How long a program may take to say something of itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// What a command prints first, if it succeeds, prints anything, and ends soon enough: else it is killed.
fn first_line(command: &[String]) -> Option<String> {
    first_line_within(command, ANSWER_WITHIN)
}

fn first_line_within(command: &[String], limit: Duration) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let mut command = Command::new(program);
    let mut child =
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let output = child.stdout.take()?;
    let (send, printed) = mpsc::sync_channel(1);
    // What it started may keep its output open: that is left to itself.
    thread::spawn(move || {
        let mut line = Vec::new();
        let read = BufReader::new(output.take(MAX_LINE_BYTES)).read_until(b'\n', &mut line);
        read.is_ok().then(|| send.send(line))
    });
    let began = Instant::now();
    let line = printed.recv_timeout(limit).ok();
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break Some(status),
            None if line.is_none() || began.elapsed() >= limit => break None,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let line = String::from_utf8_lossy(&line?).trim().to_owned();
    (status?.success() && !line.is_empty()).then_some(line)
}

/// The most of a line that is looked at.
const MAX_LINE_BYTES: u64 = 4096;

/// The paths of these programs under their names.
fn of_programs(paths: &BTreeMap<&'static str, PathBuf>) -> Values {
    let mut values = of_machine();
    for (name, path) in paths {
        values.set(name, path.display());
    }
    values
}

/// What templates may name on this machine whatever the recipe.
fn of_machine() -> Values {
    let mut values = Values::default();
    values.set("servers", servers_folder().display());
    values
}

/// Where `scripts/servers` puts what Debian does not have, each backend's in a folder of its name. IOTBENCH_SERVERS_DIR
/// names another one; root's is not in his home, which the users that servers run as cannot enter.
#[must_use]
pub fn servers_folder() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = set("IOTBENCH_SERVERS_DIR") {
        return named;
    }
    if geteuid().is_root() {
        return "/usr/local/lib/iotbench/servers".into();
    }
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")));
    data.unwrap_or_default().join("iotbench/servers")
}

/// The server's own jar among its jars.
fn find_jars(jars: &Jars, named: Option<PathBuf>, servers: &Path) -> Result<PathBuf, Missing> {
    let is_named = named.is_some();
    let folder = named.unwrap_or_else(|| servers.join(jars.name).join("lib"));
    let prefix = format!("{}/{}-", folder.display(), jars.main);
    // A version begins with a number: `example-client-1.3.jar` is not `example`.
    let is_version = |jar: &PathBuf| {
        let version = jar.to_str().and_then(|jar| jar.strip_prefix(&prefix));
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    let found = matching(&format!("{prefix}*.jar")).into_iter().find(is_version);
    found.ok_or_else(|| Missing {
        name: format!("{}-*.jar", jars.main),
        variable: jars.variable(),
        places: vec![folder.display().to_string()],
        named: Some(folder).filter(|_| is_named),
        from: Origin::ServersScript,
    })
}

/// The number in what a program says of its version; all of it, if there is none.
fn number_in(version: &str) -> &str {
    let is_number = |word: &&str| word.contains('.') && word.contains(|c: char| c.is_ascii_digit());
    version.split_whitespace().find(is_number).unwrap_or(version)
}

/// Looks a program up in PATH.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter(|f| f.is_absolute()).map(|f| f.join(name)).find(|p| is_program(p))
}

pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The folders that a pattern means, those of the highest version first. One part of it may hold a `*`.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let (suffix, rest) = after.split_once('/').unwrap_or((after, ""));
    let names = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut found: Vec<(Vec<u64>, PathBuf)> = names
        .filter_map(|name| {
            let version = name.to_str()?.strip_prefix(prefix)?.strip_suffix(suffix)?;
            let found = Path::new(parent).join(&name);
            // Joined with nothing, a file would look like a folder.
            Some((numbers(version), if rest.is_empty() { found } else { found.join(rest) }))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The numbers in a version, so that 15 is above 9.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
