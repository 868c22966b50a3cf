//! What is expected of servers of several processes.

use crate::place::{Place, backend, folders_of, wait_for};
use iotbench_core::ProcessAction;
use iotbench_launcher::{Ended, Records, StartError, start};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    io::{self, BufRead, BufReader, Read},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::sync_channel,
    time::Duration,
};

pub const ALL: &[(&str, fn())] = &[
    ("roles_start_in_their_order_are_joined_once_and_stop_in_the_opposite_order", roles_start_in_their_order),
    ("each_process_has_an_address_a_folder_and_a_log_of_its_own", each_has_its_own),
    ("each_process_finds_the_files_that_its_role_has", each_finds_its_files),
    ("one_that_does_not_start_ends_all_and_its_log_is_shown", one_that_does_not_start),
    ("a_join_that_fails_ends_all", a_join_that_fails),
    ("one_that_dies_is_named_and_ends_all", one_that_dies),
    ("single_processes_are_killed_stopped_continued_and_restarted_and_the_others_go_on", single_processes),
    ("one_that_is_joined_later_is_not_waited_for_and_its_address_is_known", one_that_is_joined_later),
    ("a_killed_parent_leaves_nothing", a_killed_parent_leaves_nothing),
    ("a_killed_supervisor_is_replaced_by_its_caller", a_killed_supervisor),
    ("who_is_killed_with_the_supervisor_leaves_no_server", killed_with_its_supervisor),
    ("nobody_gets_the_callers_environment", nobody_gets_the_callers_environment),
    ("a_kept_cluster_starts_again_where_it_was", a_kept_cluster),
    ("a_cluster_runs_on_until_it_is_stopped", a_cluster_runs_on),
];

/// As one that holds a password.
const SECRET_VARIABLE: &str = "IOTBENCH_TEST_SECRET";
const STORES: [&str; 3] = ["store-0", "store-1", "store-2"];
const FRONTS: [&str; 3] = ["front-0", "front-1", "front-2"];

fn set(names: &[String]) -> BTreeSet<&str> {
    names.iter().map(String::as_str).collect()
}

fn roles_start_in_their_order() {
    let (place, backend) = (Place::new(), backend("order"));
    let server = place.start(&backend);
    assert_eq!(place.noted("init "), [STORES, FRONTS].concat());
    let events = place.events();
    let at = |what: &str| events.iter().position(|line| line.starts_with(what)).unwrap();
    let last = |what: &str| events.iter().rposition(|line| line.starts_with(what)).unwrap();
    assert!(last("start store") < at("ready store"), "a store waits for the others: {events:?}");
    assert!(last("ready store") < at("init front"), "{events:?}");
    assert!(last("ready front") < at("join"), "{events:?}");
    let fronts = server.endpoints().iter().map(|e| e.expose().authority().to_owned()).collect::<Vec<_>>().join(",");
    assert_eq!(events[at("join")..], [format!("join all {fronts} 127.0.0.1,127.0.0.2,127.0.0.3")]);

    assert_eq!(server.stop().unwrap(), Ended::Removed);
    let stopped = place.noted("stop ");
    assert_eq!(place.noted("orphan "), [""; 0], "a store stopped before a front");
    assert_eq!((set(&stopped[..3]), set(&stopped[3..])), (FRONTS.into(), STORES.into()));
    place.assert_nothing_is_left(&backend);
}

fn one_that_is_joined_later() {
    let (place, backend) = (Place::new(), backend("later"));
    let server = start(&place.launch_one_that_waits(&backend), &|| false).unwrap_or_else(|error| panic!("{error}"));
    let nodes = server.nodes();
    let address = nodes[0].address.unwrap();
    assert!(address.ip().is_loopback() && TcpStream::connect(address).is_err(), "nobody listens at {address}");
    assert_eq!(server.stop().unwrap(), Ended::Removed);
    place.assert_nothing_is_left(&backend);
}

fn each_has_its_own() {
    let (place, backend) = (Place::new(), backend("own"));
    let server = place.start(&backend);
    let nodes: Vec<_> =
        server.nodes().into_iter().map(|n| (format!("{}-{}", n.role, n.node), n.pid.unwrap())).collect();
    assert_eq!(nodes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), [STORES, FRONTS].concat());
    let mut noted: BTreeMap<String, u32> = BTreeMap::new();
    for line in place.events().iter().filter_map(|line| line.strip_prefix("start ")) {
        let (name, pid) = line.split_once(' ').unwrap();
        noted.insert(name.into(), pid.parse().unwrap());
    }
    assert_eq!(
        nodes.iter().cloned().collect::<BTreeMap<_, _>>(),
        noted,
        "the pids are those of the processes themselves"
    );
    for (name, _) in &nodes {
        assert!(server.folder().join(name).join("data").is_dir(), "{name}");
        assert!(place.folder().join(format!("server-{name}.log")).exists(), "{name}");
    }
    let hosts: Vec<_> = server.endpoints().iter().map(|e| e.expose().host_str().unwrap().to_owned()).collect();
    assert_eq!(hosts, ["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
    let ports: BTreeSet<_> = server.endpoints().iter().map(|e| e.expose().port().unwrap()).collect();
    assert_eq!(ports.len(), 1, "a role has the same port on every node");
    for endpoint in server.endpoints() {
        drop(TcpStream::connect(endpoint.expose().authority()).unwrap());
    }
    drop(server);
    place.assert_nothing_is_left(&backend);
}

fn each_finds_its_files() {
    let (place, backend) = (Place::new(), backend("files"));
    let server = place.start(&backend);
    let port = server.endpoints()[0].expose().port().unwrap();
    let says = |name: &str| fs::read_to_string(server.folder().join(name).join("conf/fake.conf")).unwrap();
    let front = says("front-1");
    let lines: Vec<_> = front.lines().collect();
    assert_eq!(lines[0], format!("own = {{127.0.0.2:{port}}}"));
    assert_eq!(lines[1], "threads = 4");
    assert!(lines[2].starts_with("stores = 127.0.0.1:") && lines[2].contains(",127.0.0.3:"), "{front}");
    assert!(!says("store-0").contains("threads"), "a setting is for its role alone");

    // On a kept folder they are written anew.
    let file = server.folder().join("front-1/conf/fake.conf");
    fs::write(&file, "stale").unwrap();
    server.keep().unwrap();
    let Ended::Kept(kept) = server.stop().unwrap() else { panic!("it was not kept") };
    let again = start(&place.launch(&backend, 3, "none", "all").on_kept_folder(kept.clone()), &|| false).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), front);
    assert!(matches!(again.stop(), Ok(Ended::Kept(_))));
    fs::remove_dir_all(kept).unwrap();
}

fn one_that_does_not_start() {
    for failing in ["store-1", "front-1"] {
        let (place, backend) = (Place::new(), backend("failing"));
        let error = place.start_failing(&place.launch(&backend, 3, failing, "all"));
        let (role, _) = failing.split_once('-').unwrap();
        let StartError::Died { how, tail, log, .. } = &error else { panic!("{error}") };
        assert!(how.contains(&format!("({role}, node 1) ended with exit code 101")), "{error}");
        assert!(tail.contains("no luck"), "{error}");
        assert_eq!(log, &place.folder().join(format!("server-{failing}.log")));
        place.assert_nothing_is_left(&backend);
        assert!(place.noted("join ").is_empty());
    }
}

fn a_join_that_fails() {
    let (place, backend) = (Place::new(), backend("join"));
    let error = place.start_failing(&place.launch(&backend, 3, "none", "impossible")).to_string();
    assert!(error.contains("(joining the nodes) ended with exit code 101"), "{error}");
    assert!(error.contains("it cannot be joined"), "{error}");
    place.assert_nothing_is_left(&backend);
    assert_eq!(place.noted("stop ").len(), 6, "the others stop in order");
}

fn one_that_dies() {
    let (place, backend) = (Place::new(), backend("death"));
    let server = place.start(&backend);
    let (deaths, death) = sync_channel(4);
    server.on_end(move |how| deaths.send(how.to_owned()).unwrap());
    let victim = server.processes().iter().find(|p| (p.role.as_str(), p.node) == ("store", 2)).unwrap();
    kill(victim.id.pid);
    let how = death.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(how.contains("(store, node 2) was ended by signal 9"), "{how}");
    assert!(!server.is_alive());
    wait_for("the end of the others", || place.pids().into_iter().all(|pid| !place.is_alive(pid)));
    assert!(server.folder().exists(), "who was not told to end it may want to look");
    assert_eq!(server.stop().unwrap(), Ended::Removed);
    assert!(death.try_recv().is_err());
    place.assert_nothing_is_left(&backend);
}

fn single_processes() {
    let (place, backend) = (Place::new(), backend("actions"));
    let server = place.start(&backend);
    let actor = server.actor();
    let pid =
        |role, node| server.processes().iter().find(|p| (p.role.as_str(), p.node) == (role, node)).unwrap().id.pid;
    let state = |pid| procfs::process::Process::new(pid).unwrap().stat().unwrap().state;
    actor.act(ProcessAction::Stop, "store", 1).unwrap();
    wait_for("it to stand still", || state(pid("store", 1)) == 'T');
    actor.act(ProcessAction::Continue, "store", 1).unwrap();
    wait_for("it to go on", || state(pid("store", 1)) != 'T');
    actor.act(ProcessAction::Kill, "store", 2).unwrap();
    assert!(!place.is_alive(pid("store", 2)) && server.is_alive() && server.ended().is_none());
    // One that is gone, one that stands still, and one that runs.
    actor.act(ProcessAction::Stop, "front", 0).unwrap();
    for (role, node, stopped) in [("store", 2, false), ("front", 0, true), ("store", 0, true)] {
        let (name, before) = (format!("{role}-{node}"), pid(role, node));
        actor.act(ProcessAction::Restart, role, node).unwrap();
        // Until it listens it dies of a store that is restarted.
        wait_for("it to listen", || place.noted("listen ").iter().filter(|n| **n == name).count() == 2);
        assert!(!place.is_alive(before) && server.is_alive(), "{name}");
        assert_eq!(place.noted("stop ").contains(&name) || place.noted("orphan ").contains(&name), stopped, "{name}");
    }
    let error = actor.act(ProcessAction::Kill, "front", 7).unwrap_err();
    assert_eq!(error, "there is no front on node 7");
    let others = [("store", 1), ("front", 1), ("front", 2)];
    assert!(others.into_iter().all(|(role, node)| place.is_alive(pid(role, node))), "the others went on");
    assert_eq!(server.stop().unwrap(), Ended::Removed);
    assert!(actor.act(ProcessAction::Kill, "front", 0).is_err());
    place.assert_nothing_is_left(&backend);
}

fn a_killed_parent_leaves_nothing() {
    let (place, backend) = (Place::new(), backend("parent"));
    let (mut parent, _) = child(&place, &backend, "hold");
    assert_eq!(place.noted("ready ").len(), 6);
    assert_eq!(folders_of(&backend).len(), 1);
    parent.kill().unwrap();
    parent.wait().unwrap();
    place.assert_nothing_is_left(&backend);
    assert_eq!(place.noted("stop ").len(), 6, "they were asked");
}

fn a_killed_supervisor() {
    let (place, backend) = (Place::new(), backend("supervisor"));
    let server = place.start(&backend);
    let first = procfs::process::Process::new(server.processes()[0].id.pid).unwrap();
    kill(first.stat().unwrap().ppid);
    wait_for("the news", || server.ended().is_some());
    assert_eq!(server.stop().unwrap(), Ended::Removed);
    place.assert_nothing_is_left(&backend);
}

/// Neither gets the time to notice that the other is gone.
fn killed_with_its_supervisor() {
    for is_supervisor_first in [true, false] {
        let (place, backend) = (Place::new(), backend(if is_supervisor_first { "orphan" } else { "orphan-too" }));
        let (mut parent, _) = child(&place, &backend, "hold");
        let servers = place.pids();
        assert!(servers.len() == 6 && servers.iter().all(|&pid| place.is_alive(pid)));
        let supervisor = procfs::process::Process::new(servers[0]).unwrap().stat().unwrap().ppid;
        let mut both = [supervisor, i32::try_from(parent.id()).unwrap()];
        if !is_supervisor_first {
            both.reverse();
        }
        send(both[1], Signal::STOP);
        both.iter().for_each(|&pid| kill(pid));
        parent.wait().unwrap();
        wait_for("the end of the servers", || servers.iter().all(|&pid| !place.is_alive(pid)));
        assert!(place.noted("stop ").is_empty(), "nobody was left to ask them");
        for folder in folders_of(&backend) {
            fs::remove_dir_all(folder).unwrap();
        }
    }
}

fn nobody_gets_the_callers_environment() {
    let (place, backend) = (Place::new(), backend("environment"));
    let (mut parent, _) = child(&place, &backend, "hold");
    let environment_of = |pid: i32| procfs::process::Process::new(pid).unwrap().environ().unwrap();
    let is_secret_in = |pid: i32| environment_of(pid).contains_key(OsStr::new(SECRET_VARIABLE));
    assert!(is_secret_in(i32::try_from(parent.id()).unwrap()));
    let mut pids = place.pids();
    pids.push(procfs::process::Process::new(pids[0]).unwrap().stat().unwrap().ppid);
    assert!(pids.len() == 7 && !pids.into_iter().any(is_secret_in));
    // The end of its input is its end.
    drop(parent.stdin.take());
    assert!(parent.wait().unwrap().success());
    place.assert_nothing_is_left(&backend);
}

fn a_kept_cluster() {
    let (place, backend) = (Place::new(), backend("kept"));
    let server = place.start(&backend);
    let endpoints = server.endpoints().to_vec();
    server.keep().unwrap();
    let Ended::Kept(folder) = server.stop().unwrap() else { panic!("it was not kept") };
    let other = place.launch(&backend, 1, "none", "all").on_kept_folder(folder.clone());
    let error = place.start_failing(&other);
    assert!(matches!(error, StartError::OtherNodes { nodes: 3, wanted: 1, .. }), "{error}");

    let again = start(&place.launch(&backend, 3, "none", "all").on_kept_folder(folder.clone()), &|| false).unwrap();
    assert_eq!(again.endpoints(), endpoints);
    assert_eq!(
        (place.noted("init ").len(), place.noted("join ").len()),
        (6, 1),
        "only what is new is filled and joined"
    );
    assert!(matches!(again.stop(), Ok(Ended::Kept(_))));
    fs::remove_dir_all(folder).unwrap();
    place.assert_nothing_is_left(&backend);
}

fn a_cluster_runs_on() {
    let (place, backend) = (Place::new(), backend("detached"));
    let (mut parent, _) = child(&place, &backend, "detach");
    assert!(parent.wait().unwrap().success());
    assert!(place.pids().into_iter().all(|pid| place.is_alive(pid)) && place.pids().len() == 6);
    let (mut other, said) = child(&place, &backend, "stop");
    assert!(other.wait().unwrap().success());
    assert_eq!(said, "3 addresses, 6 processes");
    place.assert_nothing_is_left(&backend);
    let left: Vec<_> = fs::read_dir(place.folder().join("iotbench")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

fn kill(pid: i32) {
    send(pid, Signal::KILL);
}

fn send(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Another program, which has done `what` when it says something; and what it says.
fn child(place: &Place, backend: &str, what: &str) -> (Child, String) {
    let mut command = Command::new(place.program());
    command.args(["parent", what, backend]).arg(place.folder());
    command
        .env(SECRET_VARIABLE, "c4n4ry")
        .env("XDG_RUNTIME_DIR", place.folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    (child, said.trim().into())
}

/// That other program.
#[expect(clippy::print_stdout, reason = "who started it waits for a line")]
pub fn parent(arguments: &[&str]) {
    let [what, backend, folder] = *arguments else { panic!("{arguments:?}") };
    let place = Place::of_parent(Path::new(folder));
    match what {
        "hold" => {
            let _server = place.start(backend);
            println!("ready");
            // Until it is killed.
            io::stdin().read_to_end(&mut Vec::new()).unwrap();
        }
        "detach" => {
            let records = Records::open().unwrap();
            let server = place.start(backend);
            records.add(&server.record(&place.folder().join("server.log")).unwrap()).unwrap();
            server.detach().unwrap();
            println!("ready");
        }
        "stop" => {
            let records = Records::open().unwrap();
            let record = records.of(backend).unwrap().remove(0);
            assert!(record.is_alive());
            println!("{} addresses, {} processes", record.urls.len(), record.processes.len());
            assert_eq!(records.stop(&record, None).unwrap(), Ended::Removed);
        }
        _ => panic!("{what}"),
    }
}
