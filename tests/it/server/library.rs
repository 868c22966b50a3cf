//! The launcher as a library.

use crate::server::place::{is_alive, is_here, kill, parent, recipe, some_servers, wait_for};
use iotbench_core::ProcessAction;
use iotbench_launcher::{Ended, Launch, PrivateServer, ProcessId, StartError, start};
use std::{
    fs,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    sync::mpsc::sync_channel,
    time::Duration,
};

fn launch(backend: &str, folder: &Path) -> Launch {
    let log = folder.join(format!("{backend}.log"));
    Launch::new(backend, recipe(backend), log).supervisor(env!("CARGO_BIN_EXE_iotbench").into())
}

fn started(backend: &str, folder: &Path) -> PrivateServer {
    start(&launch(backend, folder), &|| false).unwrap_or_else(|e| panic!("{backend}: {e}"))
}

/// The one process of a server of one.
fn process(server: &PrivateServer) -> ProcessId {
    let [process] = server.processes() else { panic!("{server:?}") };
    process.id
}

fn port(server: &PrivateServer) -> u16 {
    server.endpoints()[0].expose().port().unwrap()
}

#[test]
fn a_server_is_started_reached_and_stopped_and_only_its_log_is_left() {
    for backend in some_servers() {
        let folder = tempfile::tempdir().unwrap();
        let server = started(backend, folder.path());
        let (process, files) = (process(&server), server.folder().to_owned());
        let supervisor = parent(process.pid);
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, port(&server))).unwrap());
        assert!(files.is_dir() && process.is_alive());
        assert_eq!(server.nodes()[0].pid.map(i64::from), Some(i64::from(process.pid)));
        assert_eq!(server.stop().unwrap(), Ended::Removed);
        assert!(!files.exists() && !process.is_alive() && !is_alive(supervisor));
        assert!(folder.path().join(format!("{backend}.log")).exists());
    }
}

#[test]
fn a_server_that_is_dropped_is_stopped() {
    if !is_here("influxdb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = started("influxdb", folder.path());
    let (process, files) = (process(&server), server.folder().to_owned());
    drop(server);
    assert!(!files.exists() && !process.is_alive());
}

/// The next run on it, of a sweep, samples what is there then.
#[test]
fn what_is_sampled_is_the_process_as_it_is_now() {
    if !is_here("influxdb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = started("influxdb", folder.path());
    let pid = || server.nodes()[0].pid;
    let first = pid();
    let restarted = server.actor().act(ProcessAction::Crash, "server", 0).unwrap();
    assert!(restarted.is_some() && restarted != first);
    assert_eq!(pid(), restarted);
    assert_eq!(server.actor().act(ProcessAction::Kill, "server", 0), Ok(None));
    assert_eq!(pid(), None, "nothing is left of it to be sampled");
    assert_eq!(server.stop().unwrap(), Ended::Removed);
}

#[test]
fn a_port_that_is_taken_is_given_up_for_another() {
    for backend in some_servers() {
        let folder = tempfile::tempdir().unwrap();
        // It accepts, and so does not look free to a probe.
        let stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = stranger.local_addr().unwrap().port();
        let launch = launch(backend, folder.path()).wanted_ports(&[taken]);
        let server = start(&launch, &|| false).unwrap_or_else(|e| panic!("{backend}: {e}"));
        assert_ne!(port(&server), taken);
        assert_eq!(server.stop().unwrap(), Ended::Removed);
    }
}

#[test]
fn a_link_planted_in_the_folder_leads_nowhere() {
    if !is_here("influxdb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("file"), "precious").unwrap();
    let server = started("influxdb", folder.path());
    std::os::unix::fs::symlink(&theirs, server.folder().join("folder")).unwrap();
    std::os::unix::fs::symlink(theirs.join("file"), server.folder().join("data/file")).unwrap();
    assert_eq!(server.stop().unwrap(), Ended::Removed);
    assert_eq!(fs::read_to_string(theirs.join("file")).unwrap(), "precious");
}

#[test]
fn a_death_is_told_once_and_cleaned_up() {
    for backend in some_servers() {
        let folder = tempfile::tempdir().unwrap();
        let server = started(backend, folder.path());
        let (deaths, death) = sync_channel(4);
        server.on_end(move |how| deaths.send(how.to_owned()).unwrap());
        kill(process(&server).pid);
        let how = death.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(how.contains("signal 9"), "{how}");
        assert_eq!(server.ended(), Some(how));
        let files = server.folder().to_owned();
        assert!(files.exists(), "who was not told to end it may want to look");
        assert_eq!(server.stop().unwrap(), Ended::Removed);
        assert!(!files.exists() && death.try_recv().is_err());
    }
}

#[test]
fn an_orderly_end_is_no_death() {
    if !is_here("influxdb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = started("influxdb", folder.path());
    let (deaths, death) = sync_channel::<String>(1);
    server.on_end(move |how| deaths.send(how.to_owned()).unwrap());
    assert_eq!(server.stop().unwrap(), Ended::Removed);
    assert!(death.recv().is_err(), "the callback is dropped uncalled");
}

#[test]
fn a_killed_supervisor_is_replaced_by_its_caller() {
    for backend in some_servers() {
        let folder = tempfile::tempdir().unwrap();
        let server = started(backend, folder.path());
        let (process, files) = (process(&server), server.folder().to_owned());
        kill(parent(process.pid));
        wait_for("the news", || server.ended().is_some());
        assert_eq!(server.stop().unwrap(), Ended::Removed);
        assert!(!files.exists() && !process.is_alive());
    }
}

#[test]
fn a_start_can_be_given_up() {
    if !is_here("mariadb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let given_up = start(&launch("mariadb", folder.path()), &|| true);
    assert!(matches!(given_up, Err(StartError::Cancelled)), "{given_up:?}");
}

#[test]
fn without_iotbench_there_is_no_server() {
    if !is_here("influxdb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let launch = launch("influxdb", folder.path()).supervisor("/bin/true".into());
    let error = start(&launch, &|| false).unwrap_err().to_string();
    assert!(error.contains("supervisor"), "{error}");
}
