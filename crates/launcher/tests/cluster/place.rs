//! A folder of a test's own, the recipe of two roles on one or three nodes, and what the fake programs noted.

use iotbench_core::{ConfigFile, On, Ready, Recipe, Role, StopBy};
use iotbench_launcher::{Launch, PrivateServer, ServerSettings, StartError, start};
use procfs::process::Process;
use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// What every fake server finds beside its data.
const CONFIG: &[ConfigFile] =
    &[ConfigFile { path: "conf/fake.conf", text: "own = {{{host}:{port}}\n{settings}\nstores = {store.port.all}" }];

pub struct Place {
    folder: PathBuf,
    /// `None`: another program's.
    _own: Option<TempDir>,
}

/// A test that failed says what its servers did.
#[expect(clippy::print_stderr, reason = "it is for who reads why a test failed")]
impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
            eprintln!("events:\n{}\nthe servers' log:\n{log}", self.all_events().join("\n"));
        }
    }
}

impl Place {
    pub fn new() -> Self {
        let own = tempfile::tempdir().unwrap();
        let place = Self { folder: own.path().to_owned(), _own: Some(own) };
        // Fake servers are another user's where this is root's.
        fs::set_permissions(&place.folder, Permissions::from_mode(0o755)).unwrap();
        // Another process writes it: a descriptor of this one's, open for writing, would be inherited by whatever another
        // test starts at that moment, and the copy could not be executed ("text file busy").
        let copied = Command::new("cp").arg(env::current_exe().unwrap()).arg(place.program()).status();
        assert!(copied.unwrap().success());
        fs::write(place.events_file(), "").unwrap();
        fs::set_permissions(place.events_file(), Permissions::from_mode(0o666)).unwrap();
        place
    }

    /// One that another program made.
    pub fn of_parent(folder: &Path) -> Self {
        Self { folder: folder.into(), _own: None }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// This program, where every user can run it.
    pub fn program(&self) -> PathBuf {
        self.folder.join("cluster")
    }

    fn events_file(&self) -> PathBuf {
        self.folder.join("events")
    }

    fn all_events(&self) -> Vec<String> {
        fs::read_to_string(self.events_file()).unwrap().lines().map(str::to_owned).collect()
    }

    /// What was noted so far, of the latest start: one whose port another program took meanwhile is made anew with others.
    pub fn events(&self) -> Vec<String> {
        let mut events = self.all_events();
        let latest = events.iter().rposition(|line| line == "init store-0").unwrap_or_default();
        events.split_off(latest)
    }

    /// The names of all that noted this, in order.
    pub fn noted(&self, what: &str) -> Vec<String> {
        let events = self.events();
        let words = events.iter().filter_map(|line| line.strip_prefix(what)?.split_whitespace().next());
        words.map(str::to_owned).collect()
    }

    /// The fake servers of the latest start.
    pub fn pids(&self) -> Vec<i32> {
        Self::started(&self.events())
    }

    fn started(events: &[String]) -> Vec<i32> {
        let started = events.iter().filter(|line| line.starts_with("start "));
        started.map(|line| line.split_whitespace().nth(2).unwrap().parse().unwrap()).collect()
    }

    /// A server of this backend's name, so that its folder is known by it; the member `failing` does not start.
    pub fn launch(&self, backend: &str, nodes: u32, failing: &str, join: &str) -> Launch {
        let recipe = self.recipe(failing, join);
        let set = [("nodes".into(), nodes.to_string()), ("front.threads".into(), "4".into())];
        let settings = ServerSettings::new(set, recipe).unwrap();
        Launch::new(backend, recipe, self.folder.join("server.log")).settings(settings).supervisor(self.program())
    }

    fn recipe(&self, failing: &str, join: &str) -> &'static Recipe {
        let leak = |words: &[&str]| -> &'static [&'static str] {
            words.iter().map(|word| &*(*word).to_owned().leak()).collect::<Vec<_>>().leak()
        };
        let (program, events) = (self.program(), self.events_file());
        let fake = [program.to_str().unwrap(), "fake"];
        let events = events.to_str().unwrap();
        let role = |name: &str, url, peers: &str, needs: &str| {
            let member = format!("{name}-{{node}}");
            let init = leak(&[&fake[..], &["init", events, &member, "{data}"]].concat());
            let serve = [&fake[..], &["serve", events, &member, "{host}:{port}", peers, needs, failing]].concat();
            Role {
                name: name.to_owned().leak(),
                on: On::EveryNode,
                ports: &["port", "other"],
                open_ports: &[],
                files: CONFIG,
                init: vec![init].leak(),
                environment: &[],
                start: leak(&serve),
                setting: &["{key} = {value}"],
                reserved: &[],
                ready: Ready::Http { port: "port", path: "/" },
                ready_within_s: 60,
                stop: StopBy::Terminate,
                url,
            }
        };
        let stores = role("store", None, "{store.port.all}", "");
        let fronts = role("front", Some("http://{host}:{port}/"), "{store.port.first}", "{store.port.all}");
        let join = leak(&[&fake[..], &["join", events, join, "{front.port.all}", "{hosts}"]].concat());
        Box::leak(Box::new(Recipe {
            programs: &[],
            jars: &[],
            version: &[],
            user: "nobody",
            tuning: &[],
            nodes: &[1, 3],
            roles: vec![stores, fronts].leak(),
            join: vec![join].leak(),
        }))
    }

    /// A server that nobody would wait for, because it does not listen before it is joined.
    pub fn launch_one_that_waits(&self, backend: &str) -> Launch {
        let (program, events) = (self.program(), self.events_file());
        let words = [program.to_str().unwrap(), "fake", "wait", events.to_str().unwrap(), "router-0"];
        let start: Vec<&'static str> = words.iter().map(|word| &*(*word).to_owned().leak()).collect();
        let router = Role {
            name: "router",
            on: On::FirstNode,
            ports: &["port"],
            open_ports: &[],
            files: &[],
            init: &[],
            environment: &[],
            start: start.leak(),
            setting: &[],
            reserved: &[],
            ready: Ready::Joined,
            ready_within_s: 1,
            stop: StopBy::Terminate,
            url: None,
        };
        let roles = vec![router].leak();
        let recipe = Recipe {
            programs: &[],
            jars: &[],
            version: &[],
            user: "nobody",
            tuning: &[],
            nodes: &[1],
            roles,
            join: &[],
        };
        Launch::new(backend, Box::leak(Box::new(recipe)), self.folder.join("server.log")).supervisor(program)
    }

    pub fn start(&self, backend: &str) -> PrivateServer {
        start(&self.launch(backend, 3, "none", "all"), &|| false).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn start_failing(&self, launch: &Launch) -> StartError {
        start(launch, &|| false).err().unwrap()
    }

    pub fn assert_nothing_is_left(&self, backend: &str) {
        wait_for("the end of all", || {
            let all = Self::started(&self.all_events());
            all.into_iter().all(|pid| !self.is_alive(pid)) && folders_of(backend).is_empty()
        });
    }

    /// Whether the pid is that of a fake server of this place.
    pub fn is_alive(&self, pid: i32) -> bool {
        let Ok(process) = Process::new(pid) else { return false };
        let ours = process.cmdline().is_ok_and(|words| words.first().is_some_and(|w| Path::new(w) == self.program()));
        ours && process.stat().is_ok_and(|stat| stat.state != 'Z')
    }
}

/// A backend's name that no other test has.
pub fn backend(scenario: &str) -> String {
    format!("cluster-{scenario}-{}", std::process::id())
}

/// The folders of this backend's servers.
pub fn folders_of(backend: &str) -> Vec<PathBuf> {
    let prefix = format!("iotbench-{backend}-");
    let entries = fs::read_dir(env::temp_dir()).unwrap().flatten();
    let is_its = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
    entries.map(|entry| entry.path()).filter(is_its).collect()
}

/// Looks until something has happened; the limit is only there to end a test that would hang.
pub fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(90), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
