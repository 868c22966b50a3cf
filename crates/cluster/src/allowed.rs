//! What an agent's own command line lets orders open: folders of files, and addresses. An agent's passwords go nowhere else,
//! because it connects nowhere else.

use crate::{ClusterError, message::Part, subject::What};
use iotbench_core::{Backend, Opens};
use std::{
    fs,
    net::Ipv6Addr,
    path::{Path, PathBuf, absolute},
    str::FromStr,
};

/// More than this is no certificate, password or token.
const MAX_BYTES: u64 = 1 << 20;

/// What orders may have an agent open.
#[derive(Clone, Debug)]
pub struct Allowed(Option<Limits>);

#[derive(Clone, Debug)]
struct Limits {
    /// As they are without links.
    folders: Vec<PathBuf>,
    targets: Vec<AllowedTarget>,
    statements: bool,
}

/// An address that an agent may connect to: `HOST:PORT` as orders write it, or `HOST:*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedTarget {
    host: String,
    /// `None`: any.
    port: Option<u16>,
}

impl FromStr for AllowedTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not HOST:PORT, such as db:5432, [::1]:5432, or db:* for every port of db");
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(wrong)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let of_version_6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = of_version_6
            .map_or(!host.is_empty() && host.chars().all(is_plain), |host| host.parse::<Ipv6Addr>().is_ok());
        let port = match port {
            "*" => None,
            port => Some(port.parse().ok().filter(|&port| port > 0).ok_or_else(wrong)?),
        };
        if is_host { Ok(Self { host: of_version_6.unwrap_or(host).into(), port }) } else { Err(wrong()) }
    }
}

impl AllowedTarget {
    /// An address of version 6 can be written in many ways, and a name in capitals.
    fn is(&self, host: &str, port: u16) -> bool {
        let is_host = match (self.host.parse::<Ipv6Addr>(), host.parse::<Ipv6Addr>()) {
            (Ok(allowed), Ok(host)) => allowed == host,
            _ => self.host.eq_ignore_ascii_case(host),
        };
        is_host && self.port.is_none_or(|allowed| allowed == port)
    }
}

impl Allowed {
    /// Whatever is ordered: for an agent whose only coordinator is the run that started it.
    #[must_use]
    pub fn everything() -> Self {
        Self(None)
    }

    /// Files in these folders and below, and these addresses; `statements`: also what a user wrote for the databases there.
    ///
    /// # Errors
    /// A folder is not there.
    pub fn only(folders: &[PathBuf], targets: Vec<AllowedTarget>, statements: bool) -> Result<Self, ClusterError> {
        let real = |folder: &PathBuf| {
            let real = fs::canonicalize(folder).ok().filter(|real| real.is_dir());
            real.ok_or_else(|| {
                ClusterError::Allowed(format!("--allow-dir {}: there is no such folder", folder.display()))
            })
        };
        let folders = folders.iter().map(real).collect::<Result<_, _>>()?;
        Ok(Self(Some(Limits { folders, targets, statements })))
    }

    /// Refuses a part of a run that would open more.
    pub(crate) fn check_part(&self, part: &Part, backend: &dyn Backend) -> Result<(), String> {
        let plan = &part.head.plan;
        // Whoever sends one could ask the agent's database for anything.
        let takes_statements = self.0.as_ref().is_none_or(|limits| limits.statements);
        if let Some(group) = plan.with_statements().filter(|_| !takes_statements) {
            return Err(format!(
                "group {:?}: it takes no statements of a user's own: start it with --allow-statements",
                group.name
            ));
        }
        if backend.info().capabilities.embedded {
            return Err(format!("{} lives in one process, and not in an agent's", backend.info().name));
        }
        let Some(limits) = &self.0 else { return Ok(()) };
        if let Some(recording) = plan.profile.dataset.file(&part.head.base) {
            limits.file(&recording, None)?;
        }
        let Opens { addresses, files, sockets } =
            backend.opens(&part.target()?, &plan.settings).map_err(|e| e.to_string())?;
        addresses.iter().try_for_each(|(host, port)| limits.address(host, *port))?;
        files.iter().try_for_each(|file| limits.file(file, Some(MAX_BYTES)))?;
        sockets.iter().try_for_each(|socket| limits.place(socket).map(drop))
    }

    /// Refuses a subject that is named by a file elsewhere.
    pub(crate) fn check_what(&self, what: &What) -> Result<(), String> {
        match (&self.0, what) {
            (Some(limits), What::PidFile(file)) => limits.file(file, None),
            _ => Ok(()),
        }
    }
}

impl Limits {
    fn address(&self, host: &str, port: u16) -> Result<(), String> {
        if self.targets.iter().any(|target| target.is(host, port)) {
            return Ok(());
        }
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        Err(format!("it may not connect to {host}:{port}: start it with --allow-target {host}:{port}"))
    }

    /// A regular file of at most so many bytes.
    fn file(&self, file: &Path, most: Option<u64>) -> Result<(), String> {
        let facts = fs::metadata(self.place(file)?).map_err(|e| format!("{}: {e}", file.display()))?;
        if !facts.is_file() {
            return Err(format!("{} is no regular file", file.display()));
        }
        match most.filter(|most| facts.len() > *most) {
            Some(most) => Err(format!("{} has more than {most} bytes", file.display())),
            None => Ok(()),
        }
    }

    /// Where something is without links, if that is in a folder of ours. What is elsewhere is refused alike, whether it is there or
    /// not.
    fn place(&self, path: &Path) -> Result<PathBuf, String> {
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        let real = fs::canonicalize(&path);
        let is_ours = |real: &Path| self.folders.iter().any(|folder| real.starts_with(folder));
        match real {
            Ok(real) if is_ours(&real) => Ok(real),
            Err(error)
                if path.parent().and_then(|folder| fs::canonicalize(folder).ok()).is_some_and(|at| is_ours(&at)) =>
            {
                Err(format!("{}: {error}", path.display()))
            }
            _ => {
                let folder = path.parent().unwrap_or(&path).display();
                Err(format!("it may not open {}: start it with --allow-dir {folder}", path.display()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::os::unix::fs::symlink;

    fn targets(words: &[&str]) -> Limits {
        Limits {
            folders: Vec::new(),
            statements: false,
            targets: words.iter().map(|word| word.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn an_address_is_allowed_as_it_was_given() {
        let allowed = targets(&["db.example:5432", "[0:0::1]:80", "10.0.0.1:*"]);
        for (host, port) in [("db.example", 5432), ("DB.Example", 5432), ("::1", 80), ("0::1", 80), ("10.0.0.1", 1)] {
            assert_eq!(allowed.address(host, port), Ok(()), "{host} {port}");
        }
        for (host, port, option) in [
            ("db.example", 5433, "--allow-target db.example:5433"),
            ("db.example.evil", 5432, "--allow-target db.example.evil:5432"),
            ("db.example.", 5432, "--allow-target db.example.:5432"),
            ("::ffff:10.0.0.1", 1, "--allow-target [::ffff:10.0.0.1]:1"),
            ("10.1", 1, "--allow-target 10.1:1"),
            ("::2", 80, "--allow-target [::2]:80"),
            ("%64b.example", 5432, "--allow-target"),
            ("db.example,evil", 5432, "--allow-target"),
            ("db.example", 0, "--allow-target"),
        ] {
            assert!(allowed.address(host, port).unwrap_err().contains(option), "{host} {port}");
        }
        for wrong in ["", "h", "h:", "h:0", "h:65536", ":1", "::1:80", "[h]:1", "a b:1", "*:*", "h:1:2", "[::1]80"] {
            assert!(wrong.parse::<AllowedTarget>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_is_allowed_where_it_lies_and_not_where_a_link_to_it_does() {
        let place = tempfile::tempdir().unwrap();
        let [ours, other] = ["ours", "other"].map(|name| place.path().join(name));
        [&ours, &other].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
        [ours.join("a"), other.join("b")].iter().for_each(|file| fs::write(file, "1234").unwrap());
        symlink(other.join("b"), ours.join("link")).unwrap();
        symlink(ours.join("a"), other.join("back")).unwrap();
        symlink(&other, ours.join("folder")).unwrap();
        mkfifoat(CWD, ours.join("pipe"), Mode::RUSR).unwrap();
        let Allowed(Some(limits)) = Allowed::only(std::slice::from_ref(&ours), Vec::new(), false).unwrap() else {
            panic!()
        };

        assert_eq!(limits.file(&ours.join("a"), Some(4)), Ok(()));
        assert_eq!(limits.file(&other.join("back"), None), Ok(()), "what is opened is ours");
        assert!(limits.file(&ours.join("a"), Some(3)).unwrap_err().contains("more than 3 bytes"));
        assert!(limits.file(&ours.join("pipe"), None).unwrap_err().contains("no regular file"));
        assert!(!limits.file(&ours.join("none"), None).unwrap_err().contains("--allow-dir"));
        let there = limits.file(&other.join("b"), None).unwrap_err();
        assert!(there.ends_with(&format!("start it with --allow-dir {}", other.display())), "{there}");
        let not_there = limits.file(&other.join("c"), None).unwrap_err();
        assert_eq!(there.replace("/b:", "/c:"), not_there, "whether it is there is not told");
        for path in ["ours/link", "ours/folder/b", "ours/../other/b", "ours2/a", "/dev/zero", "ours/folder/none"] {
            assert!(limits.file(&place.path().join(path), None).unwrap_err().contains("--allow-dir"), "{path}");
        }
        assert!(Allowed::only(&[place.path().join("none")], Vec::new(), false).is_err());
    }
}
