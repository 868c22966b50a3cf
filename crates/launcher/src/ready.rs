//! Whether a server answers.

use crate::process::{ProcessId, descendants};
use procfs::{
    net::{TcpNetEntry, TcpState, tcp, tcp6},
    process::{FDTarget, Process},
};
use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A server that does not answer by then is asked again.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);
/// How a server that a user has set to encrypted connections answers one that is not.
const WANTS_TLS: &str = "400";
/// The first line of an answer is no longer.
const LONGEST_STATUS: u64 = 256;

/// A recipe's [`Ready`](iotbench_core::Ready), filled.
#[derive(Clone, Debug)]
pub(crate) enum Probe {
    Command(Vec<String>),
    Http {
        host: Ipv4Addr,
        port: u16,
        path: String,
    },
    /// Its port is looked at before any probe.
    None,
}

impl Probe {
    pub(crate) fn succeeds(&self) -> bool {
        match self {
            Self::Command(command) => command_succeeds(command),
            Self::Http { host, port, path } => http_succeeds(*host, *port, path).unwrap_or(false),
            Self::None => true,
        }
    }
}

fn command_succeeds(command: &[String]) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    let mut command = Command::new(program);
    // No setting of the user's for such programs, wherever it may stand.
    command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = spawned else { return false };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < ANSWER_WITHIN => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

fn http_succeeds(host: Ipv4Addr, port: u16, path: &str) -> std::io::Result<bool> {
    let address = SocketAddr::from((host, port));
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_WITHIN)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    stream.set_write_timeout(Some(ANSWER_WITHIN))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST_STATUS)).read_line(&mut line)?;
    // `HTTP/1.0 204 No Content`
    let status = line.split(' ').nth(1).filter(|_| line.starts_with("HTTP/1."));
    Ok(status.is_some_and(|status| status.starts_with('2') || status == WANTS_TLS))
}

/// Whether the server, and no other program, listens on this TCP port: a stranger who has taken it would answer too.
pub(crate) fn listens(server: ProcessId, host: Ipv4Addr, port: u16) -> bool {
    let is_there = |address: SocketAddr| {
        let ip = address.ip().to_canonical();
        address.port() == port && (ip == host || ip.is_unspecified())
    };
    let listening = |entries: Vec<TcpNetEntry>| {
        let ours = entries.into_iter().filter(|e| e.state == TcpState::Listen && is_there(e.local_address));
        ours.map(|entry| entry.inode).collect::<Vec<_>>()
    };
    let inodes: HashSet<u64> = [tcp(), tcp6()].into_iter().flatten().flat_map(listening).collect();
    let tree = descendants(server.pid).unwrap_or_default();
    std::iter::once(server).chain(tree).any(|process| holds(process.pid, &inodes))
}

fn holds(pid: i32, inodes: &HashSet<u64>) -> bool {
    let Ok(files) = Process::new(pid).and_then(|process| process.fd()) else { return false };
    files.flatten().any(|file| matches!(file.target, FDTarget::Socket(inode) if inodes.contains(&inode)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_is_told_from_a_stranger() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = ProcessId::of(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(listens(own, Ipv4Addr::LOCALHOST, port));
        assert!(!listens(own, Ipv4Addr::new(127, 0, 0, 2), port));
        let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
        let id = ProcessId::of(i32::try_from(stranger.id()).unwrap()).unwrap();
        assert!(!listens(id, Ipv4Addr::LOCALHOST, port));
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }

    #[test]
    fn an_http_status_decides() {
        for (answer, ready) in [("204 No Content", true), ("400 Bad Request", true), ("503 Service Unavailable", false)]
        {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                // To its end: a connection that is closed with something unread is reset, and what was answered may be lost.
                let lines = BufReader::new(&stream).lines().map(Result::unwrap);
                let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                write!(stream, "HTTP/1.1 {answer}\r\n\r\n").unwrap();
                head
            });
            assert_eq!(Probe::Http { host: Ipv4Addr::LOCALHOST, port, path: "/ping".into() }.succeeds(), ready);
            assert_eq!(server.join().unwrap().first().map(String::as_str), Some("GET /ping HTTP/1.0"));
        }
        assert!(!Probe::Http { host: Ipv4Addr::LOCALHOST, port: 1, path: "/".into() }.succeeds());
    }

    #[test]
    fn a_commands_end_decides() {
        assert!(Probe::Command(vec!["/bin/true".into()]).succeeds());
        assert!(!Probe::Command(vec!["/bin/false".into()]).succeeds());
        assert!(!Probe::Command(vec!["/nonexistent".into()]).succeeds());
    }
}
