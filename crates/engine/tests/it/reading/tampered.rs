//! A database whose answers are not what it stored.

use async_trait::async_trait;
use iotbench_core::{
    Backend, BackendInfo, Chunk, Counts, Database, Error, OpenRequest, Query, Reader, Reply, ServerFacts, SettingError,
    Settled, Sink, TagSupport, Value, Writer,
};
use std::sync::{Arc, LazyLock};

/// How an answer is spoilt.
#[derive(Clone, Copy, Debug)]
pub enum Spoil {
    /// The last row of each chunk is left out.
    Row,
    /// Each time is a millisecond late.
    Time,
    /// The first value of each chunk is another.
    Value,
    /// The first row of each chunk comes twice.
    Twice,
    /// Rows come whether they meet the condition or not.
    Condition,
}

static INFO: LazyLock<BackendInfo> = LazyLock::new(|| {
    let memory = super::backend("memory").info().capabilities.clone();
    BackendInfo {
        tags: TagSupport { most: 2, ..TagSupport::NONE },
        ..BackendInfo::new("tampered", "tells lies", memory)
    }
});

/// The `memory` backend, with spoilt answers.
pub struct Tampered(pub Spoil);

impl Backend for Tampered {
    fn info(&self) -> &BackendInfo {
        &INFO
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        Ok(Arc::new(TamperedDatabase { truth: super::backend("memory").open(request)?, spoil: self.0 }))
    }
}

struct TamperedDatabase {
    truth: Arc<dyn Database>,
    spoil: Spoil,
}

#[async_trait]
impl Database for TamperedDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.truth.ping().await
    }
    async fn create(&self) -> Result<(), Error> {
        self.truth.create().await
    }
    async fn settle(&self) -> Result<Settled, Error> {
        self.truth.settle().await
    }
    async fn count(&self) -> Result<Counts, Error> {
        self.truth.count().await
    }
    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        self.truth.storage_bytes().await
    }
    async fn drop_created(&self) -> Result<(), Error> {
        self.truth.drop_created().await
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        self.truth.writer().await
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(TamperedReader { truth: self.truth.reader().await?, spoil: self.spoil }))
    }
}

struct TamperedReader {
    truth: Box<dyn Reader>,
    spoil: Spoil,
}

#[async_trait]
impl Reader for TamperedReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let spoil = self.spoil;
        let mut spoilt = move |chunk: &Chunk| {
            let chunk = spoilt(chunk, spoil);
            if chunk.is_empty() { Ok(()) } else { sink.push(&chunk) }
        };
        match query {
            Query::Having { of, at_least: None, .. } if matches!(spoil, Spoil::Condition) => {
                self.truth.query(of, &mut spoilt).await
            }
            Query::Where { of, .. } if matches!(spoil, Spoil::Condition) => self.truth.query(of, &mut spoilt).await,
            query => self.truth.query(query, &mut spoilt).await,
        }
    }
}

fn spoilt(chunk: &Chunk, spoil: Spoil) -> Chunk {
    let mut other = Chunk::new(chunk.columns.iter().map(iotbench_core::ReplyColumn::value_type));
    let rows = chunk.len() - usize::from(matches!(spoil, Spoil::Row));
    for row in 0..rows {
        let times = if row == 0 && matches!(spoil, Spoil::Twice) { 2 } else { 1 };
        for _ in 0..times {
            other.devices.push(chunk.devices[row]);
            let late_ns = if matches!(spoil, Spoil::Time) { 1_000_000 } else { 0 };
            other.timestamps_ns.push(chunk.timestamps_ns[row] + late_ns);
            for (to, from) in other.columns.iter_mut().zip(&chunk.columns) {
                let value = from.get(row);
                let is_changed = row == 0 && matches!(spoil, Spoil::Value);
                to.push(if is_changed { Some(value.map_or(Value::F64(0.0), changed)) } else { value }).unwrap();
            }
        }
    }
    other
}

fn changed(value: Value<'_>) -> Value<'_> {
    match value {
        Value::F32(v) => Value::F32(f32::from_bits(v.to_bits() ^ 1)),
        Value::F64(v) => Value::F64(v + 1e-6 * v.abs().max(1.0)),
        Value::I64(v) => Value::I64(v + 1),
        Value::U16(v) => Value::U16(v ^ 1),
        Value::Text(_) => Value::Text("changed"),
    }
}
