//! What ARCHITECTURE.md says of the house: no large circle of imports, and a map of what is there.

#![expect(clippy::unwrap_used, reason = "a file of the house that cannot be read fails the test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Files that import each other, one by way of the other, are read together: no more than so many.
const MAX_IN_A_CIRCLE: usize = 3;

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
