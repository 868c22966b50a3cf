//! The container file.

use super::{folder, manifests::Manifests};
use parse_dockerfile::{Command as Words, Dockerfile, Instruction, Source, Stage};
use std::{fs, path::Path, process::Command};

const MANIFEST: &str = include_str!("../../../../Cargo.toml");

fn text() -> String {
    fs::read_to_string(folder().join("Dockerfile")).unwrap()
}

fn stages<'a, 'b>(file: &'b Dockerfile<'a>) -> [Stage<'a, 'b>; 2] {
    let stages: Vec<_> = file.stages().collect();
    stages.try_into().ok().unwrap()
}

#[test]
fn the_static_program_is_built_in_one_stage_and_copied_into_an_empty_one_as_its_entry_point() {
    let text = text();
    let file = parse_dockerfile::parse(&text).unwrap();
    let [build, last] = stages(&file);
    let manifest: toml::Table = MANIFEST.parse().unwrap();
    let rust = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    assert!(build.from.image.value.contains(&format!("/rust:{rust}.")), "{}", build.from.image.value);
    assert_eq!(last.from.image.value, "scratch");
    let program = Path::new(env!("CARGO_BIN_EXE_iotbench")).file_name().unwrap().to_str().unwrap();
    let installed = format!("/usr/local/bin/{program}");
    let from = build.from.as_.as_ref().map(|(_, name)| name.value.clone().into_owned());
    let [folders, program_copy] = [("/image", "/"), (&format!("/{program}"), &installed)]
        .map(|(source, target)| (from.clone(), source.to_owned(), target.to_owned()));
    assert_eq!(last.instructions.iter().filter_map(copied).collect::<Vec<_>>(), [folders, program_copy]);
    let entry = last.instructions.iter().find_map(|instruction| match instruction {
        Instruction::Entrypoint(entry) => Some(&entry.arguments),
        _ => None,
    });
    let Some(Words::Exec(words)) = entry else { panic!("{entry:?}") };
    assert!(words.value.len() == 1 && words.value[0].value == installed);
    // Where there is no C library, nothing that needs one starts.
    let builds = |instruction: &Instruction<'_>| match instruction {
        Instruction::Run(run) => {
            matches!(&run.arguments, Words::Shell(words) if words.value.contains("$(scripts/static)"))
        }
        _ => false,
    };
    assert!(build.instructions.iter().any(builds));
}

/// Stage, source and destination of a copy.
fn copied(instruction: &Instruction<'_>) -> Option<(Option<String>, String, String)> {
    let Instruction::Copy(copy) = instruction else { return None };
    let [Source::Path(source)] = &copy.src[..] else { panic!("{copy:?}") };
    let from = copy.options.iter().find(|option| option.name.value == "from");
    let from = from.and_then(|option| Some(option.value.as_ref()?.value.clone().into_owned()));
    Some((from, source.value.clone().into_owned(), copy.dest.value.clone().into_owned()))
}

#[test]
fn it_runs_as_the_user_that_the_pods_run_as() {
    let text = text();
    let file = parse_dockerfile::parse(&text).unwrap();
    let [_, last] = stages(&file);
    let user = last.instructions.iter().rev().find_map(|instruction| match instruction {
        Instruction::User(user) => Some(user.arguments.value.clone()),
        _ => None,
    });
    let user: i64 = user.unwrap().split(':').next().unwrap().parse().unwrap();
    assert!(user > 0);
    for pod in Manifests::read().pods() {
        let security = pod.spec.as_ref().unwrap().security_context.as_ref().unwrap();
        assert_eq!(security.run_as_user, Some(user));
    }
}

/// A tag can be given to another image later.
#[test]
fn images_of_others_are_pinned_by_digest() {
    let root = folder().join("..");
    let folders = ["deploy", "deploy/kubernetes", ".github/workflows"].map(|name| root.join(name));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
    let mut pinned = 0;
    for path in files.filter(|path| path.extension().is_none_or(|ending| ending == "yaml" || ending == "yml")) {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let words: Vec<_> = line.trim().trim_start_matches("- ").split_whitespace().collect();
            let (["image:" | "FROM", image] | ["FROM", image, "AS", _]) = words[..] else { continue };
            if image == "scratch" || image.starts_with("iotbench:") {
                continue;
            }
            let digest = image.split_once("@sha256:").map_or("", |(_, digest)| digest);
            let is_one = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
            assert!(is_one, "{}: {image}", path.display());
            pinned += 1;
        }
    }
    assert_eq!(pinned, 4, "the broker's of compose and Kubernetes, the build's and the check's");
}

/// What is not sent to the build is nothing that it needs; keys and logins of who deploys are not.
#[test]
fn the_build_sees_all_sources() {
    let root = folder().join("..");
    let ignored = fs::read_to_string(root.join(".dockerignore")).unwrap();
    let ignored: Vec<_> = ignored.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(ignored, [".git", "results", "target", "deploy/results", "deploy/secrets", "secrets"]);
    let kept_out = fs::read_to_string(root.join(".gitignore")).unwrap();
    assert!(kept_out.lines().any(|line| line == "secrets/"));
}

/// hadolint, where the tests' Python has it.
#[test]
fn the_linter_finds_nothing() {
    let python = std::env::var_os("IOTBENCH_PYTHON");
    let linter = python.map(|python| Path::new(&python).with_file_name("hadolint")).filter(|linter| linter.exists());
    let Some(linter) = linter else {
        assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "no hadolint beside IOTBENCH_PYTHON");
        eprintln!("skipped: hadolint not found beside IOTBENCH_PYTHON");
        return;
    };
    let output = Command::new(linter).arg(folder().join("Dockerfile")).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}
