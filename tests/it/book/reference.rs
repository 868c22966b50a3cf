//! docs/reference is what `iotbench reference` writes.

use super::{iotbench, root};
use std::{collections::BTreeMap, fs, path::Path};

fn pages(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).map(|files| files.map(|file| file.unwrap().path()).collect()).unwrap_or(vec![]);
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
#[cfg(not(feature = "influxdb2-crate"))]
fn the_reference_is_what_the_program_writes() {
    const UPDATE: &str = "`cargo run -- reference docs/reference` updates it";
    let folder = tempfile::tempdir().unwrap();
    let output = iotbench(folder.path(), ["reference", "new"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (new, kept) = (pages(&folder.path().join("new")), pages(&root().join("docs/reference")));
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept), names(&new), "docs/reference has other pages: {UPDATE}");
    for (name, page) in new {
        let differs = page.lines().zip(kept[&name].lines()).find(|(new, kept)| new != kept);
        assert!(page == kept[&name], "docs/reference/{name} is not as the program is, at {differs:?}: {UPDATE}");
    }
}

/// The first table with this head, without what follows it.
fn table(text: &str, head: &str) -> String {
    let rows = text.lines().skip_while(|line| !line.starts_with(head)).take_while(|line| line.starts_with('|'));
    rows.map(|row| format!("{row}\n")).collect()
}

#[test]
fn readme_has_the_table_of_systems_that_the_reference_has() {
    const PAGE: &str = "docs/reference/backends.md";
    let generated = table(&fs::read_to_string(root().join(PAGE)).unwrap(), "| system |");
    let expected = generated.replace("](#", &format!("]({PAGE}#"));
    let systems = iotbench::BACKENDS.iter().filter(|backend| !backend.info().is_own()).count();
    assert_eq!(expected.lines().count(), 2 + systems, "{expected}");
    let shown = table(super::README, "| system |");
    assert!(shown == expected, "README.md has to have the table of {PAGE}:\n{expected}");
    assert!(shown.lines().any(|row| row.contains("`databus`") && row.contains("| never met a real one |")), "{shown}");
}

#[test]
fn every_command_of_the_help_is_in_the_reference() {
    let help = String::from_utf8(iotbench(root(), ["--help"]).stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<_> = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect();
    assert!(commands.len() >= 20, "{help}");
    let page = fs::read_to_string(root().join("docs/reference/commands.md")).unwrap();
    for command in commands.into_iter().filter_map(|line| line.split_whitespace().next()) {
        let head = format!("\n## iotbench {command}\n");
        assert!(command == "help" || page.contains(&head), "docs/reference/commands.md has no {command}");
    }
}
