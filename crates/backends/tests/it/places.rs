//! What a backend takes outside its folder.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The only two places: its module and its entry here, …
const REGISTRATION: &str = "backends/src/lib.rs";
/// … and its feature, which is among the defaults.
const FEATURE: &str = "backends/Cargo.toml";

/// A program that lists what its build holds.
const LIST: &str = "//! What this build holds.

fn main() {
    let infos = iotbench_backends::BACKENDS.iter().map(|backend| backend.info());
    infos.for_each(|info| println!(\"{}: {}\", info.name, info.summary));
}";

/// A copy of this crate that needs the others as they are, in a workspace of its own.
struct Copy(TempDir);

impl Copy {
    fn new() -> Self {
        let copy = Self(TempDir::new().unwrap());
        let root = Path::new(CRATE).join("../..").canonicalize().unwrap();
        let shared = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let shared = &shared[shared.find("[workspace.package]").unwrap()..shared.find("[profile.").unwrap()];
        let shared = shared.replace("path = \"", &format!("path = \"{}/", root.display()));
        copy.write("Cargo.toml", &format!("[workspace]\nresolver = \"3\"\nmembers = [\"backends\"]\n\n{shared}"));
        fs::copy(root.join("Cargo.lock"), copy.path("Cargo.lock")).unwrap();
        copy_folder(&Path::new(CRATE).join("src"), &copy.path("backends/src"));
        let manifest = fs::read_to_string(Path::new(CRATE).join("Cargo.toml")).unwrap();
        copy.write(FEATURE, manifest.split("[dev-dependencies]").next().unwrap());
        copy.write("backends/examples/list.rs", LIST);
        copy
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Puts `new` before the only place where a file says `text`.
    fn insert(&self, file: &str, new: &str, text: &str) {
        let old = fs::read_to_string(self.path(file)).unwrap();
        assert_eq!(old.matches(text).count(), 1, "{file}: {text}");
        self.write(file, &old.replace(text, &format!("{new}{text}")));
    }

    /// What a build with this feature alone holds.
    fn list(&self, feature: &str) -> String {
        let mut cargo = cargo();
        cargo.args(["run", "--quiet", "--no-default-features", "--features", feature, "--example", "list"]);
        cargo.env("CARGO_TARGET_DIR", self.path("target")).env("CARGO_PROFILE_DEV_DEBUG", "0");
        cargo.current_dir(self.path("backends"));
        printed(cargo)
    }
}

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    cargo.arg("--offline");
    cargo
}

/// What a command of cargo prints.
fn printed(mut cargo: Command) -> String {
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{cargo:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The features of a package of the workspace in this folder.
fn features(folder: &Path, package: &str) -> BTreeMap<String, Vec<String>> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(folder);
    let metadata: serde_json::Value = serde_json::from_str(&printed(cargo)).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let found = packages.iter().find(|found| found["name"] == package).unwrap();
    serde_json::from_value(found["features"].clone()).unwrap()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_backend_takes_two_places_outside_its_folder() {
    let copy = Copy::new();
    let blackhole = fs::read_to_string(copy.path("backends/src/blackhole/mod.rs")).unwrap();
    copy.write(
        "backends/src/dummy/mod.rs",
        &blackhole.replace("Blackhole", "Dummy").replace("\"blackhole\"", "\"dummy\""),
    );
    copy.insert(REGISTRATION, "#[cfg(feature = \"dummy\")]\nmod dummy;\n", "#[cfg(feature = \"memory\")]\nmod memory;");
    copy.insert(
        REGISTRATION,
        "#[cfg(feature = \"dummy\")]\n&dummy::Dummy,\n",
        "#[cfg(feature = \"memory\")]\n    &memory::Memory,",
    );
    copy.insert(FEATURE, "dummy = []\n", "memory = []\n");
    copy.insert(FEATURE, "\"dummy\", ", "\"memory\", ");
    assert_eq!(copy.list("dummy"), "dummy: acknowledges at once and keeps nothing: prices the tool itself\n");
    assert!(features(&copy.path("backends"), "iotbench-backends")["default"].contains(&"dummy".to_owned()));
}

/// A feature that is no backend's.
const OTHERS: [&str; 2] = ["default", "influxdb2-crate"];

#[test]
fn what_is_registered_is_in_the_program_without_another_word() {
    let root = Path::new(CRATE).join("../..");
    let of_program = features(&root, "iotbench");
    assert_eq!(of_program["databases"], ["iotbench-backends/default"]);
    assert!(of_program["default"].contains(&"databases".to_owned()));
    let of_backends = features(&root, "iotbench-backends");
    let (default, all) = (&of_backends["default"], of_backends.keys());
    let backends: BTreeSet<_> = all.filter(|name| !name.starts_with('_') && !OTHERS.contains(&name.as_str())).collect();
    assert_eq!(default.iter().collect::<BTreeSet<_>>(), backends, "what has a feature is among the defaults");
}
