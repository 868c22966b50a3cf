//! A real server over real sockets: order and content of the ledger, and times only as bounds that no slow machine can
//! break.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
    num::{NonZeroU8, NonZeroU64},
    time::{Duration, Instant},
};

use iotbench_oracle_server::{
    CONNECTIONS_MAX, Discipline, Fate, Fault, Program, Server, ServiceTime, Settings, StartError,
    wire::{Client, PAYLOAD_MAX_BYTES, Reply, Request},
};
use xxhash_rust::xxh3::xxh3_64;

const SERVICE: Duration = Duration::from_millis(5);
const SERVICE_NS: u64 = 5_000_000;
const SOON: Duration = Duration::from_millis(50);

fn program(discipline: Discipline, faults: Vec<Fault>) -> Program {
    Program { service: ServiceTime::Constant(SERVICE), discipline, faults }
}

fn start(discipline: Discipline, faults: Vec<Fault>) -> Server {
    Server::start(Settings::new(program(discipline, faults), Instant::now())).unwrap()
}

fn request(id: u64) -> Request<'static> {
    Request { id, points: 10, payload: b"payload" }
}

fn ok(id: u64) -> Reply {
    Reply { id, status: 0, count: 10 }
}

#[test]
fn the_ledger_lies_within_what_the_client_measures() {
    let epoch = Instant::now();
    let server = Server::start(Settings::new(program(Discipline::Parallel, vec![]), epoch)).unwrap();
    let mut client = Client::connect(server.address()).unwrap();
    let measured: Vec<(Duration, Duration)> = (0..20)
        .map(|id| {
            let sent = epoch.elapsed();
            assert_eq!(client.call(&request(id)).unwrap(), ok(id));
            (sent, epoch.elapsed())
        })
        .collect();
    let ledger = server.ledger();
    assert_eq!(ledger.entries.len(), 20);
    assert_eq!(ledger.overflow, 0);
    assert_eq!(ledger.confirmed_points(), 200);
    assert!(ledger.service_ns().all(|service_ns| service_ns >= SERVICE_NS));
    for (id, (entry, (sent, received))) in (0..).zip(ledger.entries.iter().zip(measured)) {
        assert_eq!((entry.id, entry.connection, entry.points, entry.payload_bytes), (id, 0, 10, 7));
        assert_eq!(entry.payload_hash, xxh3_64(b"payload"));
        assert!(sent <= Duration::from_nanos(entry.arrival_ns));
        assert!(Duration::from_nanos(entry.reply_ns().unwrap()) <= received);
    }
}

#[test]
fn a_queue_answers_three_simultaneous_requests_one_two_three_service_times_later() {
    let server = start(Discipline::Queue, vec![]);
    let mut clients: Vec<Client> = (0..3).map(|_| Client::connect(server.address()).unwrap()).collect();
    for (id, client) in (0..).zip(&mut clients) {
        client.send(&[request(id)]).unwrap();
    }
    for (id, client) in (0..).zip(&mut clients) {
        assert_eq!(client.receive().unwrap(), ok(id));
    }
    let ledger = server.ledger();
    let mut replies_ns: Vec<u64> = ledger.entries.iter().map(|entry| entry.reply_ns().unwrap()).collect();
    assert!(replies_ns.is_sorted(), "answered in the order taken");
    let first_arrival_ns = ledger.arrivals().min().unwrap();
    for (place, reply_ns) in (1..).zip(replies_ns.drain(..)) {
        assert!(reply_ns >= first_arrival_ns + place * SERVICE_NS);
    }
}

#[test]
fn pipelined_requests_arrive_together() {
    let server = start(Discipline::Queue, vec![]);
    let mut client = Client::connect(server.address()).unwrap();
    client.send(&[request(0), request(1), request(2)]).unwrap();
    assert_eq!([0; 3].map(|_| client.receive().unwrap().id), [0, 1, 2]);
    let ledger = server.ledger();
    let arrivals_ns: Vec<u64> = ledger.arrivals().collect();
    assert_eq!(arrivals_ns, [arrivals_ns[0]; 3]);
    let service_ns: Vec<u64> = ledger.service_ns().collect();
    assert!((1..).zip(service_ns).all(|(place, service_ns)| service_ns >= place * SERVICE_NS));
}

#[test]
fn a_programmed_stall_holds_replies_until_it_ends() {
    let length = Duration::from_millis(200);
    let server = start(Discipline::Parallel, vec![Fault::Stall { at: Duration::ZERO, length }]);
    let mut client = Client::connect(server.address()).unwrap();
    client.call(&request(0)).unwrap();
    let ledger = server.ledger();
    assert!(ledger.entries[0].reply_ns().unwrap() >= 200_000_000 + SERVICE_NS);
    assert_eq!((ledger.stalls[0].from_ns, ledger.stalls[0].until_ns), (0, Some(200_000_000)));
}

#[test]
fn commands_stall_hang_and_resume_a_running_server() {
    let server = start(Discipline::Queue, vec![]);
    let mut client = Client::connect(server.address()).unwrap();
    server.hang();
    client.send(&[request(0)]).unwrap();
    client.set_timeout(Some(SOON)).unwrap();
    assert_eq!(client.receive().unwrap_err().kind(), ErrorKind::WouldBlock);
    server.resume();
    client.set_timeout(None).unwrap();
    assert_eq!(client.receive().unwrap(), ok(0));

    server.stall(SOON);
    assert_eq!(client.call(&request(1)).unwrap(), ok(1));
    let ledger = server.ledger();
    assert_eq!(ledger.stalls.len(), 2);
    for (stall, entry) in ledger.stalls.iter().zip(&ledger.entries) {
        assert!(entry.reply_ns().unwrap() >= stall.until_ns.unwrap() + SERVICE_NS);
    }
}

#[test]
fn a_hung_request_is_recorded_and_missing() {
    let server = start(Discipline::Parallel, vec![Fault::Hang { after: 1 }]);
    let mut client = Client::connect(server.address()).unwrap();
    assert_eq!(client.call(&request(0)).unwrap(), ok(0));
    client.set_timeout(Some(SOON)).unwrap();
    assert_eq!(client.call(&request(1)).unwrap_err().kind(), ErrorKind::WouldBlock);
    let ledger = server.ledger();
    let missing: Vec<(u64, Fate)> = ledger.missing().map(|entry| (entry.id, entry.fate)).collect();
    assert_eq!(missing, [(1, Fate::Unanswered)]);
}

#[test]
fn an_error_confirms_nothing() {
    let fault = Fault::ErrorEvery { every: NonZeroU64::new(2).unwrap(), status: NonZeroU8::new(9).unwrap() };
    let server = start(Discipline::Parallel, vec![fault]);
    let mut client = Client::connect(server.address()).unwrap();
    let replies = [0, 1, 2].map(|id| client.call(&request(id)).unwrap());
    assert_eq!(replies, [ok(0), Reply { id: 1, status: 9, count: 0 }, ok(2)]);
    let ledger = server.ledger();
    assert_eq!(ledger.confirmed_points(), 20);
    assert_eq!(ledger.missing().count(), 0);
}

#[test]
fn a_reset_comes_after_the_request_was_stored() {
    let fault = Fault::ResetAfterStoring { every: NonZeroU64::new(2).unwrap() };
    let server = start(Discipline::Parallel, vec![fault]);
    for round in 0..10 {
        let mut client = Client::connect(server.address()).unwrap();
        assert_eq!(client.call(&request(2 * round)).unwrap(), ok(2 * round));
        assert_eq!(client.call(&request(2 * round + 1)).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    let ledger = server.ledger();
    assert_eq!(ledger.entries.len(), 20);
    assert!(ledger.missing().all(|entry| entry.id % 2 == 1 && matches!(entry.fate, Fate::Reset { .. })));
    assert_eq!(ledger.missing().count(), 10);
    assert!(ledger.entries.iter().all(|entry| u64::from(entry.connection) == entry.id / 2));
}

#[test]
fn a_full_ledger_says_so_and_closes() {
    let settings =
        Settings { ledger_capacity: 1, ..Settings::new(program(Discipline::Parallel, vec![]), Instant::now()) };
    let server = Server::start(settings).unwrap();
    let mut client = Client::connect(server.address()).unwrap();
    assert_eq!(client.call(&request(0)).unwrap(), ok(0));
    assert_eq!(client.call(&request(1)).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    let ledger = server.ledger();
    assert_eq!((ledger.entries.len(), ledger.overflow), (1, 1));
}

#[test]
fn a_frame_over_the_limit_ends_its_connection_only() {
    let server = start(Discipline::Parallel, vec![]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(&u32::try_from(PAYLOAD_MAX_BYTES + 1).unwrap().to_le_bytes()).unwrap();
    let mut end = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut end).unwrap();
    assert!(end.is_empty());
    assert_eq!(Client::connect(server.address()).unwrap().call(&request(0)).unwrap(), ok(0));
}

#[test]
fn it_serves_as_many_connections_as_it_says_and_closes_the_next() {
    let server = start(Discipline::Parallel, vec![]);
    let connect = |_| Client::connect(server.address()).unwrap();
    let mut clients: Vec<Client> = (0..CONNECTIONS_MAX).map(connect).collect();
    for (id, client) in (0..).zip(&mut clients) {
        client.send(&[request(id)]).unwrap();
    }
    for (id, client) in (0..).zip(&mut clients) {
        assert_eq!(client.receive().unwrap(), ok(id));
    }
    let mut ids: Vec<u64> = server.ledger().entries.iter().map(|entry| entry.id).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..CONNECTIONS_MAX as u64));
    assert!(connect(0).call(&request(0)).is_err());
}

#[test]
fn dropping_the_server_ends_its_connections() {
    let server = start(Discipline::Parallel, vec![Fault::Hang { after: 0 }]);
    let mut client = Client::connect(server.address()).unwrap();
    client.send(&[request(0)]).unwrap();
    drop(server);
    assert!(client.receive().is_err());
}

#[test]
fn an_epoch_in_the_future_is_refused() {
    let epoch = Instant::now() + Duration::from_hours(1);
    let refused = Server::start(Settings::new(program(Discipline::Queue, vec![]), epoch)).unwrap_err();
    assert!(matches!(refused, StartError::EpochInFuture));
}
