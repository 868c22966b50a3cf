//! A backend of one's own, without a fork: a journal. A table is a file that begins with whose it is, and each batch a line of
//! JSON that is on the disk before it is acknowledged: what plain appends carry, a storage engine with a log has to beat.
//!
//! `cargo run --release --example own_backend`; `tests/it/own_backend.rs` holds it to what is expected of every backend.

use async_trait::async_trait;
use iotbench::Benchmark;
use iotbench::backend_kit::{marker, refuse::refuse, scan};
use iotbench::core::{
    Acknowledged, Acknowledgement, Applied, Backend, BackendInfo, Batch, Capabilities, Cause, Counts, Database, Domain,
    Duplicates, Error, Layout, OpenRequest, Promise, PromiseLevel, PromiseSource, Query, Reader, Reply, ServerFacts,
    SettingError, Sink, TableSpec, TimeUnit, Writer,
};
use std::{collections::BTreeMap, error, fmt, fs, io::Write, path::PathBuf, sync::Arc};

/// What is known of it before a table is opened.
static INFO: BackendInfo = BackendInfo {
    promise: PromiseLevel::OsCrash,
    ..BackendInfo::new(
        "journal",
        "a line of JSON a batch, flushed to the disk",
        Capabilities {
            layouts: &[Layout::Wide],
            time_unit: TimeUnit::Ns,
            duplicates: Duplicates::Keep,
            domain: |_| Domain::Full,
            acknowledgement: Acknowledgement::Durable,
            transactions: false,
            buckets: &[],
            most_writers: Some(1),
            blocking: true,
            embedded: true,
            stores: true,
            empties: true,
        },
    )
};

pub(crate) struct Journal;

impl Backend for Journal {
    fn info(&self) -> &BackendInfo {
        &INFO
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let path = request.target.folder.unwrap_or_default().join(format!("{}.jsonl", request.table.name));
        Ok(Arc::new(Table { path, spec: Arc::new(request.table) }))
    }
}

/// The control plane of one table; it is read as well, always as a whole.
#[derive(Clone)]
struct Table {
    path: PathBuf,
    spec: Arc<TableSpec>,
}

fn failed(error: impl fmt::Display) -> Error {
    Error::new(Cause::Server, error)
}

impl Table {
    /// The run whose file it is; `None`: there is none.
    fn owner(&self) -> Result<Option<String>, Error> {
        let text = match fs::read(&self.path) {
            Err(_) if !self.path.exists() => return Ok(None),
            text => String::from_utf8_lossy(&text.map_err(failed)?).into_owned(),
        };
        let foreign = || Error::new(Cause::NotOurs, format!("{} is no journal of iotbench", self.path.display()));
        text.lines().next().and_then(marker::of_comment).map(|marker| Some(marker.run_id)).ok_or_else(foreign)
    }
    /// All that is stored, and how many bytes it takes. A line without an end is still being written.
    fn batches(&self) -> Result<(Vec<Batch>, u64), Error> {
        let text = fs::read_to_string(&self.path).map_err(failed)?;
        let lines = text.split_inclusive('\n').skip(1).filter(|line| line.ends_with('\n'));
        let batches = lines.map(serde_json::from_str).collect::<Result<_, _>>();
        Ok((batches.map_err(|error| Error::new(Cause::Protocol, error))?, text.len() as u64))
    }
}

#[async_trait]
impl Database for Table {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let source = PromiseSource::Declared("File::sync_data after each batch".into());
        Ok(ServerFacts {
            product: "journal".into(),
            version: "1".into(),
            driver: "std::fs".into(),
            method: "append".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::Durable,
            promise: Promise { level: PromiseLevel::OsCrash, nodes: 1, source },
        })
    }
    async fn create(&self) -> Result<(), Error> {
        self.owner()?;
        fs::write(&self.path, marker::comment(&self.spec.marker) + "\n").map_err(failed)
    }
    async fn count(&self) -> Result<Counts, Error> {
        let points = self.batches()?.0.iter().map(|batch| batch.len() as u64).sum();
        Ok(Counts { points, values: points * self.spec.schema.width() as u64 })
    }
    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        fs::metadata(&self.path).map(|file| Some(file.len())).map_err(failed)
    }
    async fn drop_created(&self) -> Result<(), Error> {
        let is_ours = matches!(self.owner(), Ok(Some(run_id)) if run_id == self.spec.marker.run_id);
        if is_ours { fs::remove_file(&self.path).map_err(failed) } else { Ok(()) }
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let file = fs::File::options().append(true).open(&self.path).map_err(failed)?;
        Ok(Box::new(Appender { file, spec: Arc::clone(&self.spec) }))
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.clone()))
    }
}

/// The data plane: a batch in, an acknowledgement out.
struct Appender {
    file: fs::File,
    spec: Arc<TableSpec>,
}

#[async_trait]
impl Writer for Appender {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.spec)?;
        let mut line = serde_json::to_vec(batch).map_err(failed)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| failed(error).applied(Applied::Maybe))?;
        Ok(Acknowledged { points: batch.len() as u64, bytes: line.len() as u64 })
    }
}

#[async_trait]
impl Reader for Table {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (batches, bytes) = self.batches()?;
        Ok(Reply { bytes, ..scan::answer(query, &self.spec, &batches, sink)? })
    }
}

pub(crate) fn main() -> Result<(), Box<dyn error::Error>> {
    let outcome = Benchmark::builtin("pmu_write")?.on(Journal).users(20).duration("2s").run()?;
    let (status, acked, stored) =
        (outcome.verdict.status, outcome.points.acked, outcome.stored.counts.unwrap_or_default());
    Ok(writeln!(std::io::stdout(), "{status:?}: {acked} datapoints acknowledged, {} stored", stored.points)?)
}
