//! Servers that mean ill, in the protocols of drivers that are not ours.

use crate::server::place::Place;
use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
};

/// To each client this answer to its first message, and nothing more.
fn answering(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
            // Open until the client has enough.
            let _ = stream.read(&mut [0; 1024]);
        }
    });
    port
}

/// A run on PostgreSQL at this port: its exit code, and all that it says.
fn run(port: u16) -> (i32, String) {
    let place = Place::new();
    let url = format!("postgres://me@127.0.0.1:{port}/db?sslmode=disable");
    let results = place.results();
    let run = ["run", "-p", "machine_write", "-b", "postgres", "--url", &url, "--out", results.to_str().unwrap()];
    let (code, out, err) = place.call(&run);
    (code, format!("{out}{err}"))
}

/// To each client, after its first message, that it is let in and then settings without an end.
fn endless() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"R\0\0\0\x08\0\0\0\0");
            let settings = b"S\0\0\0\x08a\0b\0".repeat(10_000);
            std::thread::spawn(move || while stream.write_all(&settings).is_ok() {});
        }
    });
    port
}

/// The driver reads for as long as something comes, and lets nobody see its deadline.
#[test]
fn a_greeting_without_an_end_ends_a_run_of_postgres() {
    let port = endless();
    let (code, said) = run(port);
    assert_eq!(code, 20, "{said}");
    assert!(said.contains("protocol: the server sends without an end"), "{said}");
}

/// The length of a message counts itself (PostgreSQL 15, 55.1): of less than 4 bytes the driver cuts off more than there is.
#[test]
fn a_message_of_no_length_ends_no_run_of_postgres() {
    for answer in [b"R\0\0\0\0", b"E\0\0\0\x03", b"K\0\0\0\x01"] {
        let (code, said) = run(answering(answer));
        assert_eq!(code, 20, "{answer:?}: {said}");
        assert!(said.contains("protocol: the driver panicked at what the server sent"), "{answer:?}: {said}");
        assert!(!said.contains("thread '") && !said.contains("RUST_BACKTRACE"), "{answer:?}: {said}");
    }
}
