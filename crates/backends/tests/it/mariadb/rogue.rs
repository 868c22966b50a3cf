//! A server that means ill: it asks for a file, or for the password itself.

#![expect(clippy::disallowed_methods, reason = "the rogue is a thread of the test's own")]

use crate::mariadb::server::{none, open, table};
use iotbench_core::{Cause, Layout, TableSpec, ValueType};
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread::{JoinHandle, spawn},
};

const LOCAL_FILES: u32 = 0x80;
const FILE_REQUEST: &[u8] = b"\xfb/etc/passwd";
const OK: &[u8] = b"\0\0\0\x02\0\0\0";

fn wide() -> TableSpec {
    table(Layout::Wide, &[ValueType::U16], 1)
}

fn greeting(plugin: &str) -> Vec<u8> {
    let mut packet = vec![10];
    packet.extend(b"5.5.5-10.11.0-MariaDB\0");
    packet.extend(7_u32.to_le_bytes());
    packet.extend(b"12345678\0");
    let capabilities: u32 = 0x00ff_f7ff;
    packet.extend(&capabilities.to_le_bytes()[..2]);
    packet.extend([45, 2, 0]);
    packet.extend(&capabilities.to_le_bytes()[2..]);
    packet.push(21);
    packet.extend([0; 10]);
    packet.extend(b"123456789012\0");
    packet.extend(plugin.as_bytes());
    packet.push(0);
    packet
}

fn send(stream: &mut TcpStream, sequence: u8, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    stream.write_all(&[length[0], length[1], length[2], sequence]).unwrap();
    stream.write_all(payload).unwrap();
}

fn receive(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).ok()?;
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some(payload)
}

/// Greets, lets in, and answers the first statement with a request for a file. Gives the client's capabilities and what
/// it sent afterwards.
fn asks_for_a_file() -> (u16, JoinHandle<(u32, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        send(&mut stream, 0, &greeting("mysql_native_password"));
        let login = receive(&mut stream).unwrap();
        send(&mut stream, 2, OK);
        receive(&mut stream).unwrap();
        send(&mut stream, 1, FILE_REQUEST);
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut sent = Vec::new();
        let _ = stream.read_to_end(&mut sent);
        (u32::from_le_bytes([login[0], login[1], login[2], login[3]]), sent)
    });
    (port, server)
}

#[tokio::test]
async fn no_file_is_sent_to_a_server_that_asks_for_one() {
    let (port, server) = asks_for_a_file();
    let url = format!("mysql://root@127.0.0.1:{port}/d").parse().unwrap();
    let error = open(&url, none(), wide()).unwrap().ping().await.unwrap_err();
    assert!(matches!(error.cause, Cause::Connect | Cause::Protocol), "{error}");
    let (capabilities, sent) = server.join().unwrap();
    assert_eq!(capabilities & LOCAL_FILES, 0, "the client never offers to send files");
    assert_eq!(sent, b"", "not one byte follows");
}

#[tokio::test]
async fn no_password_is_given_to_a_server_that_wants_it_without_encryption() {
    for plugin in ["caching_sha2_password", "sha256_password"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            send(&mut stream, 0, &greeting(plugin));
            let mut sent = Vec::new();
            let _ = stream.read_to_end(&mut sent);
            sent
        });
        let url = format!("mysql://root:s3cret@127.0.0.1:{port}/d?sslmode=disable").parse().unwrap();
        let error = open(&url, none(), wide()).unwrap().ping().await.unwrap_err();
        assert_eq!(error.cause, Cause::Auth, "{error}");
        assert!(error.message.contains("sslmode"), "{error}");
        assert_eq!(server.join().unwrap(), b"");
    }
}

#[tokio::test]
async fn a_server_without_encryption_is_refused_where_it_is_asked_for() {
    for mode in ["require", "verify-ca", "verify-full"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut plain = greeting("mysql_native_password");
            // The bit that offers TLS, in the second byte of the capabilities.
            let version_end = plain.iter().position(|&b| b == 0).unwrap();
            plain[version_end + 1 + 4 + 9 + 1] &= !0x08;
            send(&mut stream, 0, &plain);
            let mut sent = Vec::new();
            let _ = stream.read_to_end(&mut sent);
            sent
        });
        let url = format!("mysql://root:s3cret@127.0.0.1:{port}/d?sslmode={mode}").parse().unwrap();
        let error = open(&url, none(), wide()).unwrap().ping().await.unwrap_err();
        assert_eq!(error.cause, Cause::Tls, "{error}");
        assert_eq!(server.join().unwrap(), b"", "neither user nor password was sent");
    }
}
