//! Whoever is killed, nothing is left.

use crate::server::place::{Place, kill, parent, some_servers, wait_for};

#[test]
fn a_killed_starter_leaves_nothing() {
    for backend in some_servers() {
        let place = Place::new();
        let mut starter = place.iotbench(&["server", "start", backend]).spawn().unwrap();
        wait_for("the folder", || !place.folders().is_empty());
        starter.kill().unwrap();
        starter.wait().unwrap();
        // It may have been quicker: then it is stopped as any other.
        if place.out(&["server", "list"]).lines().count() > 1 {
            place.out(&["server", "stop", backend]);
        }
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_killed_server_of_a_shell_leaves_nothing() {
    for backend in some_servers() {
        let place = Place::new();
        place.started(&["server", "start", backend]);
        kill(place.server(backend));
        place.assert_nothing_is_left();
        assert!(place.out(&["server", "list"]).contains("ended"));
        place.started(&["server", "start", backend]);
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_killed_supervisor_leaves_a_server_that_can_be_stopped() {
    for backend in some_servers() {
        let place = Place::new();
        place.started(&["server", "start", backend]);
        let server = place.server(backend);
        kill(parent(server));
        wait_for("the supervisor's end", || parent(server) == 1 || !crate::server::place::is_alive(parent(server)));
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}
