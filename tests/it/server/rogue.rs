//! Servers that mean ill, in the protocols of drivers that are not ours.

use crate::server::place::{Place, is_here, output};
use procfs::process::Process;
use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    process::Child,
    sync::mpsc,
    time::Duration,
};
use url::Url;

const MIB: u64 = 1 << 20;

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

/// This over and over until the client has enough, about 100 MiB a second: a client that waits for a processor for a while is not flooded
/// meanwhile.
fn pour(stream: &mut TcpStream, what: &[u8]) {
    for part in what.chunks(1 << 20).cycle() {
        if stream.write_all(part).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

const ZEROS: &[u8] = &[0; 1 << 20];

/// Each client gets what this does with its connection.
fn serving(serve: impl Fn(&mut TcpStream) + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(&mut stream));
        }
    });
    port
}

/// A message of PostgreSQL of 2 GiB (55.7, `R`), in answer to the first.
fn huge_postgres(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 1024]);
    let _ = stream.write_all(b"R\x7f\xff\xff\xff");
    pour(stream, ZEROS);
}

/// Packets of MySQL of the greatest length, which another one follows each: a greeting without an end.
fn chained_mysql(stream: &mut TcpStream) {
    let packet = [b"\xff\xff\xff\0".as_slice(), &vec![0; 0xff_ffff]].concat();
    pour(stream, &packet);
}

/// A greeting of MongoDB that allows messages of 2 GiB, and then one.
fn greedy_mongodb(stream: &mut TcpStream) {
    let answer = |id: [u8; 4], code: u32, before: &[u8], length: usize| {
        let length = u32::try_from(16 + before.len() + length).unwrap().to_le_bytes();
        [length, [0; 4], id, code.to_le_bytes()].concat().into_iter().chain(before.iter().copied()).collect::<Vec<_>>()
    };
    // {isWritablePrimary: true, maxBsonObjectSize, maxMessageSizeBytes, maxWireVersion: 17, ok: 1.0}
    let fields = [
        b"\x08isWritablePrimary\0\x01".as_slice(),
        b"\x10maxBsonObjectSize\0\0\0\0\x01",
        b"\x10maxMessageSizeBytes\0\xff\xff\xff\x7f",
        b"\x10maxWireVersion\0\x11\0\0\0",
        b"\x01ok\0\0\0\0\0\0\0\xf0\x3f\0",
    ]
    .concat();
    let document = [&u32::try_from(fields.len() + 4).unwrap().to_le_bytes()[..], &fields].concat();
    let mut request = [0; 65_536];
    while let Ok(16..) = stream.read(&mut request) {
        let id = [request[4], request[5], request[6], request[7]];
        let is_message = request[12..16] == 2013_u32.to_le_bytes();
        let is_greeting = request.windows(4).any(|word| word == b"ello" || word == b"aste");
        let before: &[u8] = if is_message { &[0; 5] } else { b"\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0" };
        let code = if is_message { 2013 } else { 1 };
        if is_greeting {
            let _ = stream.write_all(&[answer(id, code, before, document.len()), document.clone()].concat());
        } else {
            let length = 0x7fff_0000;
            let _ = stream.write_all(&answer(id, code, before, length));
            let _ = stream.write_all(&u32::try_from(length).unwrap().to_le_bytes());
            return pour(stream, ZEROS);
        }
    }
}

/// What a process says until it ends, its exit code, and the most memory that it was seen to have, in MiB.
fn ended(child: Child) -> (i32, String, u64) {
    let process = Process::new(i32::try_from(child.id()).unwrap()).unwrap();
    let (over, is_over) = mpsc::sync_channel::<()>(0);
    let looking = std::thread::spawn(move || {
        let mut most = 0;
        while is_over.recv_timeout(Duration::from_millis(2)) == Err(mpsc::RecvTimeoutError::Timeout) {
            // In KiB; none of one that has ended.
            most = most.max(process.status().ok().and_then(|status| status.vmhwm).unwrap_or(0) * 1024 / MIB);
        }
        most
    });
    let output = output(child);
    drop(over);
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap(), looking.join().unwrap())
}

fn short_run(place: &Place, backend: &str, url: &str) -> (i32, String, u64) {
    let results = place.results();
    let run = [
        "run",
        "-p",
        "pmu_write",
        "-b",
        backend,
        "--url",
        url,
        "-d",
        "60s",
        "--warmup",
        "0",
        "--vus",
        "4",
        "--set",
        "phases.deadline=4s",
    ];
    let run = [&run[..], &["--out", results.to_str().unwrap()]].concat();
    ended(place.iotbench(&run).spawn().unwrap())
}

#[test]
fn a_message_of_2_gib_takes_no_more_than_64_mib() {
    let place = Place::new();
    let silent = serving(|stream| drop(stream.shutdown(Shutdown::Both)));
    let cases: [(&str, &str, u16); 3] = [
        ("postgres", "postgres://me@127.0.0.1:{}/db?sslmode=disable", serving(huge_postgres)),
        ("mariadb", "mysql://me@127.0.0.1:{}/db?sslmode=disable", serving(chained_mysql)),
        ("mongodb", "mongodb://127.0.0.1:{}/db?tls=false", serving(greedy_mongodb)),
    ];
    for (backend, url, port) in cases {
        let (_, _, base) = short_run(&place, backend, &url.replace("{}", &silent.to_string()));
        let (code, said, most) = short_run(&place, backend, &url.replace("{}", &port.to_string()));
        assert_eq!(code, 20, "{backend}: {said}");
        assert!(said.contains("protocol: the server sends more than a driver can give on"), "{backend}: {said}");
        assert!(most > 0 && base > 0 && most <= base + 64, "{backend}: {most} MiB, without it {base} MiB");
    }
}

/// When a server turns.
#[derive(Clone, Copy)]
enum Turn {
    /// When the client has said much on one connection, as it does under load.
    UnderLoad,
    /// When it says this.
    At(&'static [u8]),
}

/// A way to a server that passes on what both say until its turn, and then gives the client `evil` without an end.
fn turning(server: &Url, at: Turn, evil: &'static [u8]) -> u16 {
    let address = (Ipv4Addr::LOCALHOST, server.port().unwrap());
    serving(move |client| {
        let mut server = TcpStream::connect(address).unwrap();
        let (mut answers, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let (turn, has_turned) = mpsc::sync_channel::<()>(1);
        let answering = std::thread::spawn(move || {
            let mut block = [0; 16_384];
            while let Ok(length @ 1..) = answers.read(&mut block) {
                if has_turned.try_recv().is_ok() {
                    let all = evil.repeat((1 << 20) / evil.len());
                    let _ = to.write_all(if evil[0] == b'D' { evil } else { &[] });
                    return pour(&mut to, &all);
                }
                let _ = to.write_all(&block[..length]);
            }
        });
        let (mut block, mut said) = ([0; 16_384], 0);
        while let Ok(length @ 1..) = client.read(&mut block) {
            said += length;
            let turns = match at {
                Turn::UnderLoad => said > 60_000,
                Turn::At(words) => block[..length].windows(words.len()).any(|said| said == words),
            };
            if turns {
                let _ = turn.try_send(());
            }
            if server.write_all(&block[..length]).is_err() {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Both);
        let _ = answering.join();
    })
}

#[test]
fn a_server_that_turns_during_a_run_ends_it() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let url: Url = place.started(&["server", "start", "postgres"]).trim().parse().unwrap();
    let (huge, endless) = (b"D\x7f\xff\xff\xff".as_slice(), b"S\0\0\0\x08a\0b\0".as_slice());
    let cases = [
        (Turn::UnderLoad, huge, "the server sends more than a driver can give on"),
        (Turn::UnderLoad, endless, "the server still sends one answer"),
        (Turn::At(b"CREATE TABLE"), endless, "the server still sends one answer"),
        (Turn::At(b"DROP TABLE"), endless, "the server still sends one answer"),
    ];
    for (at, evil, words) in cases {
        let mut by_way = url.clone();
        by_way.set_port(Some(turning(&url, at, evil))).unwrap();
        let (code, said, most) = short_run(&place, "postgres", by_way.as_str());
        assert_eq!(code, 20, "{words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(most < 192, "{words}: {most} MiB");
    }
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}
