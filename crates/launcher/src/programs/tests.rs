//! Where programs are looked for, and what is said of those that are missing.

use super::*;

fn program(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join("exampled");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn wanted(folders: &'static [&'static str]) -> Program {
    Program { name: "exampled", folders, from: Origin::Debian("example-server") }
}

#[test]
fn the_variable_comes_first_then_the_neighbour_then_path_then_the_folders() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (program(&folder.path().join("a")), program(&folder.path().join("b")));
    let path = a.parent().unwrap().as_os_str();
    assert_eq!(find(&wanted(&[]), None, None, path), Ok(a.clone()));
    assert_eq!(find(&wanted(&[]), None, b.parent(), path), Ok(b.clone()));
    assert_eq!(find(&wanted(&[]), Some(b.clone()), a.parent(), path), Ok(b));
    let folders: &'static str = a.parent().unwrap().to_str().unwrap().to_owned().leak();
    assert_eq!(find(&wanted(vec![folders].leak()), None, None, OsStr::new("/nowhere")), Ok(a));
}

#[test]
fn the_highest_version_counts() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["9.6", "15", "14"] {
        program(&folder.path().join("postgresql").join(version).join("bin"));
    }
    let found = matching(&format!("{}/postgresql/*/bin", folder.path().display()));
    let versions: Vec<_> = found.iter().map(|p| p.parent().unwrap().file_name().unwrap()).collect();
    assert_eq!(versions, ["15", "14", "9.6"]);
}

#[test]
fn what_is_missing_is_said_in_one_line() {
    let error = find(&wanted(&["/opt/*/bin"]), None, None, OsStr::new("/nowhere")).unwrap_err().to_string();
    for word in ["exampled", "PATH", "/opt/*/bin", "apt-get install example-server", "IOTBENCH_EXAMPLED_BIN", "--url"] {
        assert!(error.contains(word), "{word} is missing: {error}");
    }
    assert!(!error.contains('\n'));
}

#[test]
fn jars_are_found_by_the_servers_own() {
    let servers = tempfile::tempdir().unwrap();
    let wanted = Jars { name: "example", main: "example" };
    let find = |named| find_jars(&wanted, named, servers.path());
    let folder = servers.path().join("example/lib");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("example-client-9.jar"), "").unwrap();
    let error = find(None).unwrap_err().to_string();
    for word in ["example-*.jar", "scripts/servers --all", "IOTBENCH_EXAMPLE_JARS", folder.to_str().unwrap()] {
        assert!(error.contains(word), "{word} is missing: {error}");
    }
    fs::write(folder.join("example-1.3.0-1.jar"), "").unwrap();
    let main = find(None).unwrap();
    assert_eq!(main.as_os_str(), folder.join("example-1.3.0-1.jar").as_os_str());
    assert!(find(Some("/nowhere".into())).unwrap_err().to_string().contains("names /nowhere"));

    static RECIPE: Recipe = Recipe {
        programs: &[],
        jars: &[Jars { name: "example", main: "example" }],
        version: &[],
        user: "nobody",
        tuning: &[],
        nodes: &[1],
        roles: &[],
        join: &[],
    };
    let found = Programs { recipe: &RECIPE, paths: BTreeMap::new(), jars: BTreeMap::from([("example", main)]) };
    assert_eq!(found.version().unwrap(), "example 1.3.0-1");
    assert_eq!(found.values().fill("{example.jars}/*").unwrap(), format!("{}/*", folder.display()));
}

#[test]
fn an_extension_is_looked_for_where_its_server_does() {
    let share = tempfile::tempdir().unwrap();
    let extension =
        Program { name: "example.control", folders: &["extension"], from: Origin::Extension(&["{echo}", "{share}"]) };
    static RECIPE: Recipe = Recipe {
        programs: &[Program { name: "exampled", folders: &[], from: Origin::Debian("example-server") }],
        jars: &[],
        version: &[],
        user: "nobody",
        tuning: &[],
        nodes: &[1],
        roles: &[],
        join: &[],
    };
    let mut values = Values::default();
    values.set("echo", "/bin/echo");
    values.set("share", share.path().display());
    let find = || find_extension(&extension, &["{echo}", "{share}"], &RECIPE, &values);
    let error = find().unwrap_err().to_string();
    let folder = share.path().join("extension");
    for word in ["example.control", folder.to_str().unwrap(), "no package", "IOTBENCH_EXAMPLED_BIN", "--url"] {
        assert!(error.contains(word), "{word} is missing: {error}");
    }
    assert!(!error.contains('\n') && !error.contains("PATH"), "{error}");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("example.control"), "").unwrap();
    assert_eq!(find(), Ok(()));
}

#[test]
fn what_debian_does_not_have_comes_from_the_script() {
    let mut wanted = wanted(&["{servers}/example/bin"]);
    wanted.from = Origin::ServersScript;
    let error = find(&wanted, None, None, OsStr::new("/nowhere")).unwrap_err().to_string();
    let folder = servers_folder().join("example/bin");
    for word in [folder.to_str().unwrap(), "scripts/servers", "IOTBENCH_EXAMPLED_BIN", "--url"] {
        assert!(error.contains(word), "{word} is missing: {error}");
    }
    assert!(!error.contains("apt-get"), "{error}");
}

#[test]
fn the_script_and_the_launcher_mean_the_same_folder() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/servers");
    let output = Command::new(script).arg("--folder").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), servers_folder().to_str().unwrap());
}

#[test]
fn what_nobody_here_brings_is_said_with_whose_package_has_it() {
    let mut wanted = wanted(&[]);
    wanted.from = Origin::Elsewhere("the maker's package example");
    let error = find(&wanted, None, None, OsStr::new("/nowhere")).unwrap_err().to_string();
    for word in ["install the maker's package example", "name the program by IOTBENCH_EXAMPLED_BIN", "--url"] {
        assert!(error.contains(word), "{word} is missing: {error}");
    }
    assert!(!error.contains("apt-get"), "{error}");
}

#[test]
fn all_that_a_recipe_lacks_is_told_and_no_extension_of_a_server_that_is_not_here() {
    static RECIPE: Recipe = Recipe {
        programs: &[
            Program { name: "no-such-exampled", folders: &[], from: Origin::Debian("example-server") },
            Program { name: "no-such-tool", folders: &[], from: Origin::ServersScript },
            Program { name: "e.control", folders: &["x"], from: Origin::Extension(&["{no-such-exampled}"]) },
        ],
        jars: &[Jars { name: "no-such", main: "no-such" }],
        version: &[],
        user: "nobody",
        tuning: &[],
        nodes: &[1],
        roles: &[],
        join: &[],
    };
    let names: Vec<_> = Programs::missing(&RECIPE).into_iter().map(|missing| missing.name).collect();
    assert_eq!(names, ["no-such-exampled", "no-such-tool", "no-such-*.jar"]);
    assert_eq!(Programs::find(&RECIPE).unwrap_err().name, "no-such-exampled");
}

#[test]
fn a_variable_that_names_no_program_is_an_error_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = program(folder.path());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = find(&wanted(&[]), Some(path), None, OsStr::new("")).unwrap_err().to_string();
    assert!(error.contains("IOTBENCH_EXAMPLED_BIN"), "{error}");
}

#[test]
fn a_version_is_found_in_what_programs_say() {
    for (said, version) in [
        (
            "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (Debian 12)",
            "10.11.14-MariaDB-0+deb12u2",
        ),
        ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", "15.14"),
        ("InfluxDB v1.6.7~rc0 (git: unknown unknown)", "v1.6.7~rc0"),
        ("none", "none"),
    ] {
        assert_eq!(number_in(said), version);
    }
}

/// The limit has passed when it is asked, so that nothing depends on how fast the machine is.
#[test]
fn a_program_that_says_nothing_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("silent");
    fs::write(&program, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let command = [program.to_str().unwrap().to_owned()];
    assert_eq!(first_line_within(&command, Duration::ZERO), None);
    let said = ["/bin/echo".to_owned(), "server 1.2".to_owned()];
    assert_eq!(first_line(&said).as_deref(), Some("server 1.2"));
    assert_eq!(first_line(&["/bin/false".to_owned()]), None);
}
