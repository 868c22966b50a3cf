//! A backend of one's own, without a fork: it writes every datapoint as a line of CSV to a file.
//!
//! ```text
//! cargo run --example own_backend
//! ```

use async_trait::async_trait;
use iotbench::{
    Benchmark,
    core::{
        Acknowledged, Acknowledgement, Backend, BackendInfo, Batch, Capabilities, Cause, Column, Counts, Database,
        Domain, Duplicates, Error, Layout, OpenRequest, Promise, PromiseLevel, PromiseSource, ServerFacts,
        SettingError, TimeUnit, Writer,
    },
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    sync::Arc,
};

/// Static facts: what the "database" can hold and do.
struct CsvFile;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::Applied,
    transactions: false,
    most_writers: Some(1),
    blocking: true,
    embedded: true,
    stores: true,
    empties: false,
};

static INFO: BackendInfo = BackendInfo::new("csv_file", "lines of CSV in a file", CAPABILITIES);

impl Backend for CsvFile {
    fn info(&self) -> &BackendInfo {
        &INFO
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let folder = request.target.folder.unwrap_or_default();
        let width = request.table.schema.width() as u64;
        Ok(Arc::new(CsvDatabase { path: folder.join(format!("{}.csv", request.table.name)), width }))
    }
}

/// The control plane.
struct CsvDatabase {
    path: PathBuf,
    width: u64,
}

fn failed(error: &std::io::Error) -> Error {
    Error::new(Cause::Server, error)
}

#[async_trait]
impl Database for CsvDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "a file".into(),
            version: "1".into(),
            driver: "std::fs".into(),
            method: "append".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::Applied,
            promise: Promise {
                level: PromiseLevel::ProcessCrash,
                nodes: 1,
                source: PromiseSource::Declared("written, never flushed to the disk".into()),
            },
        })
    }
    async fn create(&self) -> Result<(), Error> {
        File::create_new(&self.path).map(drop).map_err(|e| Error::new(Cause::NotOurs, e))
    }
    async fn count(&self) -> Result<Counts, Error> {
        let file = File::open(&self.path).map_err(|e| failed(&e))?;
        let points = BufReader::new(file).lines().count() as u64;
        Ok(Counts { points, values: points * self.width })
    }
    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        fs::metadata(&self.path).map(|m| Some(m.len())).map_err(|e| failed(&e))
    }
    async fn drop_created(&self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(|e| failed(&e))
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        let file = File::options().append(true).open(&self.path).map_err(|e| failed(&e))?;
        Ok(Box::new(CsvWriter { file, lines: Vec::new() }))
    }
}

/// The data plane: a batch in, an acknowledgement out.
struct CsvWriter {
    file: File,
    lines: Vec<u8>,
}

#[async_trait]
impl Writer for CsvWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        self.lines.clear();
        for (row, time) in batch.timestamps_ns().iter().enumerate() {
            let _ = write!(self.lines, "{time}");
            for value in batch.columns().iter().filter_map(|c: &Column| c.get(row)) {
                let _ = write!(self.lines, ",{value:?}");
            }
            self.lines.push(b'\n');
        }
        self.file.write_all(&self.lines).map_err(|e| failed(&e))?;
        Ok(Acknowledged { points: batch.len() as u64, bytes: self.lines.len() as u64 })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let outcome = Benchmark::builtin("pmu_write")?.on(CsvFile).users(20).duration("2s").run()?;
    let stored = outcome.stored.map_or(0, |s| s.points);
    let message =
        format!("{:?}: {} datapoints acknowledged, {stored} stored", outcome.verdict.status, outcome.points.acked);
    writeln!(std::io::stdout(), "{message}")?;
    Ok(())
}
