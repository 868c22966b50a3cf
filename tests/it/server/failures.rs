//! Servers that do not start, and what is refused.

use crate::server::place::{Place, is_here};
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

#[test]
fn a_setting_that_the_server_refuses_is_bad_input_and_told_in_the_servers_words() {
    let wrong = [
        ("postgres", "work_mem", "12XX", "invalid value for parameter"),
        ("mariadb", "no_such_option", "1", "unknown variable"),
        ("mongodb", "noSuchOption", "1", "unrecognised option"),
    ];
    for (backend, key, value, words) in wrong.into_iter().filter(|(backend, ..)| is_here(backend)) {
        let place = Place::new();
        let (code, out, err) = place.call(&["server", "start", backend, "--set", &format!("{key}={value}")]);
        assert!(code == 2 && out.is_empty() && err.contains(words), "{code} {err}");
        assert!(err.contains(&format!("server.{key}: {backend} does not start with it: ")), "{err}");
        assert!(err.contains("its log: ") && err.lines().count() == 2, "{err}");
        place.assert_nothing_is_left();
    }
}

/// This one does not name the setting.
#[test]
fn a_start_that_fails_shows_the_last_lines_of_the_log_and_leaves_nothing() {
    if !is_here("influxdb") {
        return;
    }
    let place = Place::new();
    let (code, out, err) = place.call(&["server", "start", "influxdb", "--set", "http.max-row-limit=many"]);
    assert!(code == 24 && out.is_empty() && err.contains("influxd ended with exit code"), "{code} {err}");
    assert!(err.contains("influxdb did not start") && err.contains("its log: "), "{err}");
    place.assert_nothing_is_left();
}

#[test]
fn hostile_settings_reach_nobody() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let target = place.results().join("made");
    let touch = format!("$(touch {})", target.display());
    for bad in ["a'b", "a\"b", "a;b", "a|b", "a\nb", &touch, "`id`", "größe", "--config-file"] {
        for pair in [format!("work_mem={bad}"), format!("{bad}=1")] {
            let (code, _, err) = place.call(&["server", "start", "postgres", "--set", &pair]);
            // A value may look like an option: it is none behind its key.
            assert!(code == 2 || (code == 24 && pair.starts_with("work_mem=--")), "{pair:?}: {code} {err}");
        }
    }
    for own in ["port=1", "data_directory=/etc", "Listen-Addresses=0.0.0.0"] {
        let (code, _, err) = place.call(&["server", "start", "postgres", "--set", own]);
        assert!(code == 2 && err.contains("iotbench sets this itself"), "{own}: {err}");
    }
    assert!(!target.exists());
    place.assert_nothing_is_left();
}

#[test]
fn a_missing_program_is_one_clear_line() {
    let place = Place::new();
    let mut command = place.iotbench(&["server", "start", "mariadb"]);
    let output = command.env("IOTBENCH_MARIADBD_BIN", "/nonexistent/mariadbd").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("IOTBENCH_MARIADBD_BIN") && err.contains("/nonexistent/mariadbd"), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    place.assert_nothing_is_left();
}

#[test]
fn a_folder_that_is_not_ours_is_refused_and_left_as_it_is() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let theirs = place.results().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("file"), "precious").unwrap();
    let folder = theirs.to_str().unwrap();
    let (code, _, err) = place.call(&["server", "start", "postgres", "--folder", folder]);
    assert!(code == 31 && err.contains("our marker is not in it"), "{code} {err}");
    assert_eq!(fs::read_to_string(theirs.join("file")).unwrap(), "precious");
    assert_eq!(theirs.read_dir().unwrap().count(), 1);
}

#[test]
fn a_place_that_the_servers_user_cannot_enter_is_named() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root becomes another user");
        return;
    }
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    fs::set_permissions(place.servers(), Permissions::from_mode(0o700)).unwrap();
    let (code, _, err) = place.call(&["server", "start", "postgres"]);
    assert!(code == 2 && err.contains("TMPDIR") && err.contains("user postgres"), "{code} {err}");
    place.assert_nothing_is_left();
}

#[test]
fn what_has_no_server_is_said() {
    let place = Place::new();
    let (code, _, err) = place.call(&["server", "start", "sqlite"]);
    assert!(code == 2 && err.contains("sqlite has no server"), "{err}");
    let (code, _, err) = place.call(&["server", "start", "postgress"]);
    assert!(code == 2 && err.contains("postgress"), "{err}");
}

#[test]
fn a_supervisor_without_an_order_ends() {
    let place = Place::new();
    let (code, out, err) = place.call(&["supervise"]);
    assert!(code == 1 && out.is_empty() && err.contains("no order"), "{code} {err}");
}
