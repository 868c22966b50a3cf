//! What ARCHITECTURE.md says of the house: no large circle of imports, no struct of many fields, and a map of what is there.

#![expect(clippy::unwrap_used, reason = "a file of the house that cannot be read fails the test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Files that import each other, one by way of the other, are read together: no more than so many.
const MAX_IN_A_CIRCLE: usize = 3;

/// A struct of more fields is in parts by who uses them, but for those of [`FLAT`].
const MAX_FIELDS: usize = 19;

/// What is flat for a reason: the schema of `run.json`, or a profile, says it so, and parts would be names that the document does not
/// have.
const FLAT: [(&str, &str, &str); 4] = [
    ("document", "Document", "the document, a field a block"),
    ("document::capacity", "Step", "a row of the table of steps, of which each view takes its own columns"),
    ("document::resources", "Resources", "a row of the table of resources, likewise"),
    ("profile::operation", "OperationConfig", "an operation of a profile, a field a key"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files with this ending below a folder.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true => files(&path, ending),
        false => Vec::from_iter(path.to_str().unwrap().ends_with(ending).then_some(path)),
    };
    inside.flat_map(of).collect()
}

/// The modules of a crate by their path, such as `run::climb`, with their text but tests and comments. The crate's own has none.
fn modules(source: &Path) -> BTreeMap<String, String> {
    let module = |file: PathBuf| {
        let path = file.strip_prefix(source).unwrap().with_extension("");
        let parts: Vec<_> =
            path.iter().map(|part| part.to_str().unwrap()).filter(|p| !["lib", "mod"].contains(p)).collect();
        let text = fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let lines = product.lines().map(|line| line.split("//").next().unwrap());
        (parts.join("::"), lines.collect::<Vec<_>>().join("\n"))
    };
    files(source, ".rs").into_iter().map(module).collect()
}

/// The paths that a module imports, as it writes them: `crate::a::b`, `super::c`.
fn imports(text: &str) -> Vec<String> {
    let ours = ["crate::", "super::", "self::"];
    let statements = text.split("use ").skip(1).filter(|rest| ours.iter().any(|own| rest.starts_with(own)));
    let statement =
        |rest: &str| rest.split(';').next().unwrap().replace(" as ", "@").split_whitespace().collect::<String>();
    statements.map(statement).flat_map(|tree| spread(&tree)).collect()
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d` and `a::c::e`, and `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn spread(tree: &str) -> Vec<String> {
    let Some(open) = tree.find('{') else { return vec![tree.split('@').next().unwrap().to_owned()] };
    let (mut depth, mut parts, mut from) = (0, Vec::new(), open + 1);
    for (at, character) in tree.char_indices().skip_while(|(at, _)| *at < open) {
        depth += i32::from(character == '{') - i32::from(character == '}');
        if (character == ',' && depth == 1) || depth == 0 {
            parts.push(tree[from..at].trim());
            from = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    let (before, after) = (&tree[..open], &tree[from..]);
    let whole = |part: &&str| format!("{before}{part}{after}");
    parts.iter().filter(|part| !part.is_empty()).map(whole).flat_map(|tree| spread(&tree)).collect()
}

/// The module that an import of this module leads to.
fn found(import: &str, from: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let mut base: Vec<&str> = from.split("::").filter(|part| !part.is_empty()).collect();
    let mut rest = import.split("::").peekable();
    if rest.next_if_eq(&"crate").is_some() {
        base.clear();
    }
    while rest.next_if(|part| *part == "super").is_some() {
        base.pop();
    }
    rest.next_if_eq(&"self");
    base.extend(rest);
    let prefixes = (1..=base.len()).rev().map(|length| base[..length].join("::"));
    prefixes.into_iter().find(|path| modules.contains_key(path)).filter(|path| path != from)
}

/// Groups of modules each of which leads to every other one of its group.
fn circles(modules: &BTreeMap<String, String>) -> BTreeSet<BTreeSet<String>> {
    let leads_to = |module: &str| -> BTreeSet<String> {
        imports(&modules[module]).iter().filter_map(|import| found(import, module, modules)).collect()
    };
    let next: BTreeMap<&String, BTreeSet<String>> = modules.keys().map(|module| (module, leads_to(module))).collect();
    let reached = |module: &String| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![module.clone()]);
        while let Some(at) = open.pop() {
            open.extend(next[&at].iter().filter(|other| reached.insert((*other).clone())).cloned());
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = modules.keys().map(|module| (module, reached(module))).collect();
    let circle = |module: &String| -> BTreeSet<String> {
        reached[module].iter().filter(|other| reached[other].contains(module)).cloned().collect()
    };
    modules.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn no_circle_of_imports_is_larger_than_can_be_read_together() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let entry = entry.unwrap();
        let source = entry.path().join("src");
        let modules = modules(&source);
        assert!(modules.contains_key(""), "{}", source.display());
        for circle in circles(&modules) {
            assert!(circle.len() <= MAX_IN_A_CIRCLE, "{}: {circle:?}", source.display());
        }
    }
}

#[test]
fn a_circle_is_found_however_its_imports_are_written() {
    let texts = [
        ("", "mod a;"),
        ("a", "use crate::{\n    b::{C, d::E as F},\n    x,\n};"),
        ("b", "use super::{e};"),
        ("b::d", "pub use super::C;"),
        ("e", "pub(crate) use crate::a::{self, G};\nuse self::h::I;"),
        ("x", "// use crate::a;\nuse std::fmt;"),
    ];
    let modules = texts.map(|(name, text)| {
        let lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap()).collect();
        (name.to_owned(), lines.join("\n"))
    });
    let circles: Vec<_> = circles(&modules.into()).into_iter().collect();
    assert_eq!(circles, [["a", "b", "b::d", "e"].map(str::to_owned).into()]);
}

/// The structs of a module with the number of their fields.
fn structs(text: &str) -> Vec<(String, usize)> {
    let bare = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("pub").map_or(line, |rest| rest.trim_start_matches(|c: char| c != ' '));
        rest.trim_start().to_owned()
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_name = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut open = None;
    for line in text.lines() {
        let words = bare(line);
        match (words.strip_prefix("struct "), open) {
            (Some(rest), None) if words.trim_end().ends_with('{') => {
                let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap();
                found.push((name.to_owned(), 0));
                open = Some(indent(line));
            }
            (_, Some(outer)) if indent(line) == outer && words.starts_with('}') => open = None,
            (_, Some(outer)) if indent(line) == outer + 4 => {
                let is_field = words.split_once(": ").is_some_and(|(name, _)| is_name(name));
                found.last_mut().unwrap().1 += usize::from(is_field);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_struct_of_many_fields_is_one_of_a_document() {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let modules: Vec<_> = crates.chain([root().join("src")]).flat_map(|source| modules(&source)).collect();
    let all: Vec<_> =
        modules.iter().flat_map(|(path, text)| structs(text).into_iter().map(move |s| (path, s))).collect();
    assert!(all.len() > 1_000, "{}", all.len());
    let large = all.iter().filter(|(_, (_, fields))| *fields > MAX_FIELDS);
    let large: BTreeSet<_> = large.map(|(path, (name, _))| (path.as_str(), name.as_str())).collect();
    assert_eq!(large, FLAT.map(|(path, name, _)| (path, name)).into());
}

#[test]
fn fields_are_counted_however_they_are_written() {
    let text = "pub(super) struct A<T> {\n    a: T,\n\n    #[serde(rename = \"x: y\")]\n    pub b: B,\n    pub(crate) c: [u8; 2],\n}\n\
                struct Unit;\nstruct Of(u8);\nmod m {\n    pub struct D {\n        d: u8,\n    }\n}\nfn f() -> E {\n    e: 1,\n}\n";
    assert_eq!(structs(text), [("A".to_owned(), 3), ("D".to_owned(), 1)]);
}

/// The crates of the map, from the top down: `iotbench` is the root's.
fn crates_on_the_map() -> Vec<String> {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = map.lines().skip_while(|line| *line != "## Code map").take_while(|line| !line.starts_with("### "));
    let name = |row: &str| row.strip_prefix("| `")?.split('`').next().map(|name| name.replace("crates/", ""));
    rows.filter_map(name).collect()
}

/// The crates of ours that a crate is made with, not those that its tests need.
fn dependencies(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let of_product = lines.take_while(|line| !line.starts_with('['));
    let ours = of_product.filter_map(|line| line.strip_prefix("iotbench-"));
    ours.map(|rest| rest.split(['.', ' ']).next().unwrap().to_owned()).collect()
}

fn manifest(of: &str) -> String {
    let folder = if of == "iotbench" { root().to_owned() } else { root().join("crates").join(of) };
    fs::read_to_string(folder.join("Cargo.toml")).unwrap()
}

#[test]
fn a_crate_knows_none_that_stands_above_it_on_the_map() {
    let map = crates_on_the_map();
    let there = fs::read_dir(root().join("crates")).unwrap();
    let there: BTreeSet<_> = there.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(map.iter().filter(|name| *name != "iotbench").cloned().collect::<BTreeSet<_>>(), there);
    for (place, name) in map.iter().enumerate() {
        let above: Vec<_> =
            dependencies(&manifest(name)).into_iter().filter(|other| map[..=place].contains(other)).collect();
        assert_eq!(above, Vec::<String>::new(), "{name} knows what stands above it");
    }
    assert!(dependencies(&manifest("session")).contains(&"engine".to_owned()), "they are read");
}

/// Each view takes the typed document. A run, its plan and its outcome are known to the session, which makes the document of them and
/// writes a run down while it lasts.
#[test]
fn a_report_knows_no_run_and_a_run_no_report() {
    let apart = [("report", "engine"), ("engine", "report")];
    for (of, other) in apart {
        assert!(!manifest(of).contains(&format!("iotbench-{other}")), "{of} does not know {other}, its tests included");
        for file in files(&root().join("crates").join(of), ".rs") {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains(&format!("iotbench_{other}")), "{}", file.display());
        }
    }
}

/// The files that a cell of a table names.
fn named(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")).flat_map(spread).collect()
}

/// A table of files begins with the crate that they are of; that of the engine stands below its heading.
#[test]
fn every_file_that_the_map_names_is_there() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (mut folder, mut names) = (None, 0);
    for line in map.lines() {
        if line.starts_with("### ") {
            folder = line.contains("The engine").then(|| root().join("crates/engine/src"));
        }
        if let Some(rest) = line.strip_prefix("| file of `") {
            let of = rest.split('`').next().unwrap();
            folder = Some(root().join(if of.contains("/src") { of.to_owned() } else { format!("{of}/src") }));
        }
        let cell = line.strip_prefix("| ").and_then(|rest| rest.split(" |").next());
        let (Some(folder), Some(cell)) = (&folder, cell) else { continue };
        for name in named(cell) {
            assert!(folder.join(&name).is_file(), "{}: no {name}: {line}", folder.display());
            names += 1;
        }
    }
    assert!(names > 100, "{names}");
}
