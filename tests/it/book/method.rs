//! Each page on how a figure is made has the same head, and what it names as its tests is there.

use super::{documents, root};
use std::{fs, path::Path};

const HEAD: [&str; 6] =
    ["Definition.", "Formula.", "Source.", "What it does not tell.", "Held by.", "Largest error seen."];

/// The text of a bullet, to the next one or to an empty line.
fn bullet<'t>(page: &'t str, name: &str) -> Option<&'t str> {
    let text = page.split_once(&format!("\n- **{name}**"))?.1;
    let end = text.find("\n- ").into_iter().chain(text.find("\n\n")).min()?;
    text.get(..end)
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (names, after))) => names.split(',').map(|name| format!("{before}{name}{after}")).collect(),
        None => vec![path.into()],
    }
}

/// The sources below a folder.
fn sources(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("target") {
            sources(&entry, into);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            into.push_str(&fs::read_to_string(entry).unwrap());
        }
    }
}

#[test]
fn every_page_of_the_method_names_its_tests() {
    let mut code = String::new();
    ["crates", "tests"].iter().for_each(|folder| sources(&root().join(folder), &mut code));
    let mut wrong = Vec::new();
    for (path, page) in documents(&["docs/method"]).into_iter().filter(|(path, _)| !path.ends_with("README.md")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        wrong.extend(HEAD.iter().filter(|head| bullet(&page, head).is_none()).map(|head| format!("{name}: no {head}")));
        let held = bullet(&page, "Held by.").unwrap_or_default();
        let quoted = held.split('`').skip(1).step_by(2);
        let named: Vec<String> = quoted.filter(|quoted| !quoted.contains(' ')).map(str::to_owned).collect();
        let is_there = |named: &String| match named.contains('/') {
            true => expanded(named).iter().all(|path| root().join(path).exists()),
            // A file beside one that is named in full, or a test.
            false => named.ends_with(".rs") || code.contains(&format!("fn {named}(")),
        };
        let missing = named.iter().filter(|named| !is_there(named));
        wrong.extend(missing.map(|named| format!("{name}: there is no {named}")));
        if named.is_empty() {
            wrong.push(format!("{name}: it names no test"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
