//! A backend that speaks the server's wire protocol, so that the whole client can be run against the oracle.
//!
//! One writer is one connection, and one batch is one request. The request's id tells which datapoint its batch begins
//! with ([`request_id`]), so that a ledger entry finds its place in the client's schedule; the payload is the batch's
//! content, so that equal ledger hashes mean equal datapoints.
//!
//! The server counts and keeps nothing that could be read back: [`Capabilities::stores`] is false, and a
//! [`Ledger`](crate::Ledger) is the better witness.

use crate::wire::{REPLY_BYTES, Reply, Request, STATUS_OK};
use async_trait::async_trait;
use iotbench_core::{
    Acknowledged, Acknowledgement, Action, Applied, Backend, BackendInfo, Batch, Capabilities, Cause, Column, Counts,
    Database, Domain, Duplicates, Endpoint, Error, Layout, OpenRequest, Promise, PromiseLevel, PromiseSource, Reader,
    Run, ServerFacts, SettingError, Target, TimeUnit, Writer,
};
use std::{collections::BTreeMap, io, net::SocketAddr, sync::Arc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

/// The oracle as a backend, named `oracle`; its endpoint is `oracle://127.0.0.1:PORT`.
#[derive(Debug)]
pub struct OracleBackend;

/// Bits of a request id that hold the index; those above hold the device.
const INDEX_BITS: u32 = 40;

/// The request id of a batch that begins with this run: the device above, the first index in the lower 40 bits. With one
/// device and one datapoint an operation it is the operation's number in its schedule.
#[must_use]
pub fn request_id(first: Run) -> u64 {
    u64::from(first.device) << INDEX_BITS | first.first & ((1 << INDEX_BITS) - 1)
}

/// The device and the first index of a request id.
#[must_use]
pub fn identity(request_id: u64) -> (u64, u64) {
    (request_id >> INDEX_BITS, request_id & ((1 << INDEX_BITS) - 1))
}

/// A target that is the server at this address.
///
/// # Panics
/// Never: an address is always the authority of a URL.
#[must_use]
pub fn target(address: SocketAddr) -> Target {
    #[expect(clippy::expect_used, reason = "an address is always the authority of a URL")]
    let url = Url::parse(&format!("oracle://{address}")).expect("an address is the authority of a URL");
    Target { endpoints: vec![Endpoint::new(url)], ..Target::default() }
}

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::Applied,
    transactions: false,
    buckets: &[],
    most_writers: None,
    blocking: false,
    embedded: true,
    stores: false,
    empties: false,
};

static INFO: BackendInfo = BackendInfo::new(
    "oracle",
    "test support: a server with programmed service times, and a ledger of every request",
    CAPABILITIES,
);

impl Backend for OracleBackend {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Config {}
        let Config {} = request.settings.typed(&[])?;
        Ok(Arc::new(Oracle { address: address(&request.target)? }))
    }
}

fn address(target: &Target) -> Result<SocketAddr, SettingError> {
    let wrong = || SettingError {
        key: "url".into(),
        message: "write oracle://127.0.0.1:PORT, the address at which the oracle server listens".into(),
        suggestion: None,
    };
    let [endpoint] = target.endpoints.as_slice() else { return Err(wrong()) };
    let url = endpoint.expose();
    let (Some(host), Some(port)) = (url.host_str(), url.port()) else { return Err(wrong()) };
    format!("{host}:{port}").parse().map_err(|_| wrong())
}

#[derive(Debug)]
struct Oracle {
    address: SocketAddr,
}

impl Oracle {
    async fn connect(&self) -> Result<TcpStream, Error> {
        let refused = |e: io::Error| Error::new(Cause::Connect, format!("no connection to {}: {e}", self.address));
        let stream = TcpStream::connect(self.address).await.map_err(refused)?;
        stream.set_nodelay(true).map_err(refused)?;
        Ok(stream)
    }
}

#[async_trait]
impl Database for Oracle {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.connect().await?;
        Ok(ServerFacts {
            product: "oracle".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            driver: "tokio".into(),
            method: "request".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::Applied,
            promise: Promise {
                level: PromiseLevel::Buffered,
                nodes: 1,
                source: PromiseSource::Declared("it keeps a ledger, and no data".into()),
            },
        })
    }

    async fn create(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn count(&self) -> Result<Counts, Error> {
        Ok(Counts::default())
    }

    async fn drop_created(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let stream = self.connect().await?;
        Ok(Box::new(OracleWriter { stream, payload: Vec::new(), frame: Vec::new() }))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Err(Error::new(Cause::Client, "the oracle keeps nothing that could be read").action(Action::Stop))
    }
}

#[derive(Debug)]
struct OracleWriter {
    stream: TcpStream,
    payload: Vec<u8>,
    frame: Vec<u8>,
}

#[async_trait]
impl Writer for OracleWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let Some(&first) = batch.runs().first() else { return Ok(Acknowledged::default()) };
        let id = request_id(first);
        self.payload.clear();
        encode(batch, &mut self.payload);
        self.frame.clear();
        let points = u32::try_from(batch.len()).map_err(|e| Error::new(Cause::Data, e))?;
        let request = Request { id, points, payload: &self.payload };
        request.encode(&mut self.frame).map_err(|e| Error::new(Cause::Data, e))?;
        self.stream.write_all(&self.frame).await.map_err(|e| classify(&e))?;
        let mut reply = [0; REPLY_BYTES];
        self.stream.read_exact(&mut reply).await.map_err(|e| classify(&e))?;
        acknowledged(id, Reply::decode(&reply), self.frame.len() + REPLY_BYTES)
    }
}

/// A connection lost after a request was sent, at least in part: the server may have recorded it.
fn classify(error: &io::Error) -> Error {
    let message = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection instead of answering".into(),
        _ => format!("the connection was lost: {error}"),
    };
    Error::new(Cause::Connect, message).applied(Applied::Maybe)
}

fn acknowledged(id: u64, reply: Reply, bytes: usize) -> Result<Acknowledged, Error> {
    if reply.id != id {
        let message = format!("request {id} got the answer of request {}", reply.id);
        return Err(Error::new(Cause::Protocol, message).applied(Applied::Maybe));
    }
    if reply.status != STATUS_OK {
        return Err(Error::new(Cause::Server, format!("the server answered with status {}", reply.status)));
    }
    Ok(Acknowledged { points: u64::from(reply.count), bytes: bytes as u64 })
}

/// Appends a batch's content: the identity of its datapoints, their timestamps, then column by column.
fn encode(batch: &Batch, out: &mut Vec<u8>) {
    for run in batch.runs() {
        out.extend_from_slice(&run.device.to_le_bytes());
        out.extend_from_slice(&run.first.to_le_bytes());
        out.extend_from_slice(&run.count.to_le_bytes());
    }
    batch.timestamps_ns().iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
    for column in batch.columns() {
        match column {
            Column::F32(values) => values.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
            Column::F64(values) => values.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
            Column::I64(values) => values.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
            Column::U16(values) => values.iter().for_each(|v| out.extend_from_slice(&v.to_le_bytes())),
            Column::Text(texts) => {
                for text in (0..texts.len()).filter_map(|row| texts.get(row)) {
                    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Schema, Signal, Value, ValueType};

    #[test]
    fn a_request_id_tells_device_and_index() {
        for (device, first) in [(0, 0), (0, 7), (3, 1 << 30), (1 << 20, 5)] {
            let id = request_id(Run { device, first, count: 1 });
            assert_eq!(identity(id), (u64::from(device), first));
        }
        assert_eq!(request_id(Run { device: 0, first: 42, count: 9 }), 42);
    }

    #[test]
    fn the_address_is_read_from_the_endpoint() {
        let local: SocketAddr = ([127, 0, 0, 1], 4711).into();
        assert_eq!(address(&target(local)), Ok(local));
        assert!(address(&Target::default()).is_err());
        let nowhere = Endpoint::new(Url::parse("oracle://127.0.0.1").unwrap());
        assert!(address(&Target { endpoints: vec![nowhere], ..Target::default() }).is_err());
    }

    #[test]
    fn an_answer_decides_what_is_known() {
        let reply = |id, status| Reply { id, status, count: 3 };
        assert_eq!(acknowledged(1, reply(1, 0), 50), Ok(Acknowledged { points: 3, bytes: 50 }));
        let refused = acknowledged(1, reply(1, 7), 50).unwrap_err();
        assert_eq!((refused.cause, refused.applied), (Cause::Server, Applied::No));
        let mixed_up = acknowledged(1, reply(2, 0), 50).unwrap_err();
        assert_eq!((mixed_up.cause, mixed_up.applied), (Cause::Protocol, Applied::Maybe));
        let lost = classify(&io::ErrorKind::UnexpectedEof.into());
        assert_eq!((lost.action, lost.applied), (Action::DiscardWriter, Applied::Maybe));
    }

    #[test]
    fn another_value_time_or_identity_is_another_payload() {
        let text = Signal { name: "t".into(), value_type: ValueType::Text, max_text_bytes: 9 };
        let number = Signal { name: "n".into(), value_type: ValueType::F32, max_text_bytes: 0 };
        let schema = Schema::new(vec![text, number]).unwrap();
        let payload = |device, time_ns, text: &str, number| {
            let mut batch = Batch::new(&schema);
            batch.append(Run { device, first: 0, count: 1 }, |times, columns| {
                times.push(time_ns);
                assert!(columns[0].push(Value::Text(text)) && columns[1].push(Value::F32(number)));
            });
            let mut out = Vec::new();
            encode(&batch, &mut out);
            out
        };
        let one = payload(0, 1, "a", 1.0);
        assert_eq!(one, payload(0, 1, "a", 1.0));
        for other in
            [payload(1, 1, "a", 1.0), payload(0, 2, "a", 1.0), payload(0, 1, "b", 1.0), payload(0, 1, "a", 2.0)]
        {
            assert_ne!(one, other);
        }
    }
}
