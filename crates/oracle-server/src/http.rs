//! HTTP/1.1 as a server for tests speaks it: which requests are programmed and recorded, which are answered at once, and
//! what an answer is, a sound or a hostile one.
//!
//! ```
//! use std::{io::{Read, Write}, net::TcpStream, time::{Duration, Instant}};
//! use iotbench_oracle_server::{
//!     Discipline, Program, Protocol, Server, ServiceTime, Settings,
//!     http::{Answer, Endpoint, Service},
//! };
//!
//! let service = Service::new(vec![Endpoint::lines("POST /write", Answer::new("204 No Content", "", ""))]);
//! let program = Program {
//!     service: ServiceTime::Constant(Duration::from_millis(1)),
//!     discipline: Discipline::Parallel,
//!     faults: vec![],
//! };
//! let settings = Settings { protocol: Protocol::Http(service), ..Settings::new(program, Instant::now()) };
//! let server = Server::start(settings)?;
//! let mut client = TcpStream::connect(server.address())?;
//! client.write_all(b"POST /write HTTP/1.1\r\nContent-Length: 16\r\n\r\nt v=1 70\nt v=2 71")?;
//! let mut answer = [0; 12];
//! client.read_exact(&mut answer)?;
//! assert_eq!(&answer, b"HTTP/1.1 204");
//! let ledger = server.ledger();
//! assert_eq!((ledger.entries[0].id, ledger.entries[0].points), (70, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod head;

pub use answer::{Answer, Then};
pub(crate) use head::Head;

use crate::protocol::{Destination, Taken};
use std::sync::{Arc, Mutex, PoisonError};

/// The endpoints of a server, and the answers that its faults give.
#[derive(Debug, Clone, Default)]
pub struct Service {
    endpoints: Vec<Endpoint>,
    answers: Vec<Answer>,
    kept: Arc<Mutex<String>>,
}

/// Requests that are answered alike.
#[derive(Debug, Clone)]
pub struct Endpoint {
    begins: &'static str,
    holds: &'static str,
    answer: Answer,
    programmed: Option<Points>,
    keeps: Option<Keeps>,
}

/// What a request does to the one text that a service keeps.
#[derive(Debug, Clone, Copy)]
enum Keeps {
    /// It is what stands between these in the body.
    Between(&'static str, &'static str),
    /// It is gone.
    Nothing,
}

/// How the datapoints of a request are counted.
#[derive(Debug, Clone, Copy)]
enum Points {
    /// A line each.
    Lines,
    /// So often this stands in the body.
    Each(&'static str),
}

impl Endpoint {
    /// Writes of lines, whose last word is a time, which becomes the request's id. `begins` is how a request's first line
    /// begins: method, space, path.
    #[must_use]
    pub fn lines(begins: &'static str, answer: Answer) -> Self {
        Self { begins, holds: "", answer, programmed: Some(Points::Lines), keeps: None }
    }

    /// Writes, or questions, that hold a datapoint for each `mark` in the body. Their id is 0.
    #[must_use]
    pub fn each(begins: &'static str, mark: &'static str, answer: Answer) -> Self {
        Self { begins, holds: "", answer, programmed: Some(Points::Each(mark)), keeps: None }
    }

    /// The same, with these lines in the answer's head, and the connection closed after it.
    #[must_use]
    pub fn closing(self, headers: &str) -> Self {
        Self { answer: self.answer.closing(headers), ..self }
    }

    /// Requests that are answered at once, whatever is programmed, and are not recorded.
    #[must_use]
    pub fn at_once(begins: &'static str, answer: Answer) -> Self {
        Self { begins, holds: "", answer, programmed: None, keeps: None }
    }

    /// The same for only those requests that hold this in their first line or body.
    #[must_use]
    pub fn that_holds(self, holds: &'static str) -> Self {
        Self { holds, ..self }
    }

    /// The same, and the service keeps what stands between these in the body: `{kept}` in an answer is that.
    #[must_use]
    pub fn that_keeps(self, from: &'static str, to: &'static str) -> Self {
        Self { keeps: Some(Keeps::Between(from, to)), ..self }
    }

    /// The same, and what was kept is gone.
    #[must_use]
    pub fn that_forgets(self) -> Self {
        Self { keeps: Some(Keeps::Nothing), ..self }
    }

    fn fits(&self, line: &str, body: &[u8]) -> bool {
        line.starts_with(self.begins) && (line.contains(self.holds) || count(body, self.holds.as_bytes()) > 0)
    }
}

impl Service {
    /// A service of these endpoints; a request goes to the first that it fits.
    #[must_use]
    pub fn new(endpoints: Vec<Endpoint>) -> Self {
        Self { endpoints, answers: Vec::new(), kept: Arc::default() }
    }

    /// A service that answers as InfluxDB 1.8 does where nothing is stored yet: of the database `iotbench` it knows the last flag
    /// of a run that has been put up there.
    #[must_use]
    pub fn like_influxdb() -> Self {
        let done = || Answer::new("204 No Content", "x-influxdb-version: 1.8.10\r\n", "");
        let answered = |result: &str| {
            let body = format!("{{\"results\":[{{\"statement_id\":0{result}}}]}}\n");
            Answer::new("200 OK", "x-influxdb-version: 1.8.10\r\n", &body)
        };
        let databases = r#","series":[{"name":"databases","columns":["name"],"values":[["iotbench"]]}]"#;
        let flag = r#","series":[{"name":"iotbench_marker","columns":["time","flag"],"values":[[0,"{kept}"]]}]"#;
        Self::new(vec![
            Endpoint::at_once("GET /ping", done()),
            Endpoint::at_once("POST /query", answered(databases)).that_holds("SHOW%20DATABASES"),
            Endpoint::at_once("POST /query", answered("")).that_holds("DROP%20SERIES").that_forgets(),
            Endpoint::at_once("POST /query", answered(flag)).that_holds("%22flag%22"),
            Endpoint::at_once("POST /query", answered("")),
            Endpoint::at_once("POST /write?", done()).that_holds("kind=flag").that_keeps(" flag=\"", "\" 0"),
            Endpoint::at_once("POST /write?", done()).that_holds("iotbench_marker"),
            Endpoint::lines("POST /write?", done()),
        ])
    }

    /// The same with answers for faults: a fault's status `n` gives the `n`-th of them, counted from 1.
    #[must_use]
    pub fn with_faults(self, answers: Vec<Answer>) -> Self {
        Self { answers, ..self }
    }

    /// Where a whole request goes, and what the ledger notes of it.
    pub(crate) fn take<'a>(&self, head: &Head<'a>, frame: &'a [u8]) -> Taken<'a> {
        let payload = head.body(frame);
        let found = self.endpoints.iter().zip(0..).find(|(endpoint, _)| endpoint.fits(head.line, payload));
        if let Some(keeps) = found.and_then(|(endpoint, _)| endpoint.keeps) {
            *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = keeps.of(payload);
        }
        let (id, points, place) = match found.map(|(endpoint, place)| (endpoint.programmed, place)) {
            None => (0, 0, Destination::Nowhere),
            Some((None, place)) => (0, 0, Destination::AtOnce(place)),
            Some((Some(Points::Lines), place)) => (time_of(payload), lines(payload), Destination::Programmed(place)),
            Some((Some(Points::Each(mark)), place)) => {
                (0, count(payload, mark.as_bytes()), Destination::Programmed(place))
            }
        };
        Taken { id, points, payload, place }
    }

    /// What an endpoint answers to a request of so many datapoints: its own answer, or that of a fault.
    pub(crate) fn answer(&self, endpoint: u16, status: u8, points: u32) -> Answer {
        let answer = match usize::from(status).checked_sub(1) {
            None => self.endpoints.get(usize::from(endpoint)).map(|endpoint| &endpoint.answer),
            Some(fault) => self.answers.get(fault),
        };
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        answer.map_or_else(Answer::missing, |answer| answer.of(points, &kept))
    }
}

impl Keeps {
    fn of(self, body: &[u8]) -> String {
        let Self::Between(from, to) = self else { return String::new() };
        let text = String::from_utf8_lossy(body);
        let kept = text.split_once(from).and_then(|(_, rest)| rest.split_once(to));
        kept.map_or_else(String::new, |(kept, _)| kept.to_owned())
    }
}

/// The time at the end of the first line, as it was sent; 0 where there is none.
fn time_of(body: &[u8]) -> u64 {
    let line = body.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let last = line.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
    let time = std::str::from_utf8(last).ok().and_then(|text| text.parse::<i64>().ok());
    time.unwrap_or(0).cast_unsigned()
}

fn lines(body: &[u8]) -> u32 {
    let lines = body.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count();
    u32::try_from(lines).unwrap_or(u32::MAX)
}

fn count(body: &[u8], mark: &[u8]) -> u32 {
    let found = if mark.is_empty() { 0 } else { body.windows(mark.len()).filter(|window| *window == mark).count() };
    u32::try_from(found).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        let ok = || Answer::new("204 No Content", "", "");
        Service::new(vec![
            Endpoint::at_once("POST /put", ok()).that_holds("marker"),
            Endpoint::at_once("GET /ping", ok()),
            Endpoint::lines("POST /write", ok()),
            Endpoint::each("POST /put", "\"metric\"", Answer::new("200 OK", "", "{\"success\":{points}}")),
        ])
        .with_faults(vec![Answer::new("500 Error", "", "no")])
    }

    fn take(request: &[u8]) -> Taken<'_> {
        service().take(&Head::read(request).unwrap().unwrap(), request)
    }

    #[test]
    fn a_request_goes_to_the_endpoint_that_it_begins_as() {
        let write = take(b"POST /write?db=x HTTP/1.1\r\ncontent-length: 10\r\n\r\na v=1 7\nb\n");
        assert_eq!((write.id, write.points, write.place), (7, 2, Destination::Programmed(2)));
        let put = take(b"POST /put HTTP/1.1\r\ncontent-length: 22\r\n\r\n[{\"metric\"},{\"metric\"}");
        assert_eq!((put.id, put.points, put.place), (0, 2, Destination::Programmed(3)));
        assert_eq!(take(b"POST /put HTTP/1.1\r\ncontent-length: 6\r\n\r\nmarker").place, Destination::AtOnce(0));
        assert_eq!(take(b"POST /put?marker HTTP/1.1\r\n\r\n").place, Destination::AtOnce(0));
        assert_eq!(take(b"GET /ping HTTP/1.1\r\n\r\n").place, Destination::AtOnce(1));
        assert_eq!(take(b"GET / HTTP/1.1\r\n\r\n").place, Destination::Nowhere);
    }

    #[test]
    fn a_service_answers_with_what_it_keeps_until_it_forgets_it() {
        let service = Service::like_influxdb();
        let told = |request: &[u8]| {
            let taken = service.take(&Head::read(request).unwrap().unwrap(), request);
            let Destination::AtOnce(place) = taken.place else { panic!("{:?}", taken.place) };
            String::from_utf8(service.answer(place, 0, 0).bytes).unwrap()
        };
        let question = b"POST /query?q=SELECT%20%22flag%22 HTTP/1.1\r\n\r\n";
        assert!(told(question).contains("[[0,\"\"]]"));
        told(b"POST /write?db=iotbench HTTP/1.1\r\ncontent-length: 40\r\n\r\niotbench_marker,kind=flag flag=\"mine\" 0\n");
        assert!(told(question).contains("[[0,\"mine\"]]"));
        told(b"POST /query?q=DROP%20SERIES HTTP/1.1\r\n\r\n");
        assert!(told(question).contains("[[0,\"\"]]"));
    }

    #[test]
    fn a_fault_has_its_own_answer_and_an_endpoint_tells_its_count() {
        let text = |status, points| String::from_utf8(service().answer(3, status, points).bytes).unwrap();
        assert_eq!(text(0, 42), "HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"success\":42}");
        assert!(text(1, 42).starts_with("HTTP/1.1 500 Error\r\n"));
        assert!(text(9, 42).starts_with("HTTP/1.1 501 "));
    }
}
