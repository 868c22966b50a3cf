//! A database that follows a script: it fails where it is told to, and knows exactly what it holds.

use async_trait::async_trait;
use iotbench_core::{
    Acknowledged, Acknowledgement, Applied, Backend, BackendInfo, Batch, Capabilities, Cause, Counts, Database, Domain,
    Duplicates, Error, Layout, OpenRequest, Promise, PromiseLevel, PromiseSource, Run, ServerFacts, SettingError,
    TimeUnit, Writer,
};
use iotbench_engine::PointRanges;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// What one call is told to do.
#[derive(Clone)]
pub enum Act {
    /// To succeed, after so long.
    Succeed(Duration),
    /// To fail so. Of a write the rows that the error names are stored; of one that may be applied all are, and of a
    /// commit that may be.
    Fail(Error),
}

pub const SUCCEED: Act = Act::Succeed(Duration::ZERO);

pub fn fail(cause: Cause, applied: Applied) -> Act {
    Act::Fail(Error::new(cause, "as the script says").applied(applied))
}

/// What is told to the calls of a kind, by their number over all connections, from 0.
pub struct Script {
    pub write: fn(u64) -> Act,
    pub commit: fn(u64) -> Act,
}

/// What goes wrong with the first write of a table, unseen by its writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is acknowledged and not stored.
    Lost,
    /// It is stored twice.
    Doubled,
    /// It has no answer, and is stored with the first write of the table after it.
    Late,
}

/// What the database did.
#[derive(Default)]
pub struct State {
    pub stored: Vec<Run>,
    values_per_point: u64,
    pub begins: u64,
    pub writes: u64,
    pub commits: u64,
    pub connections: u64,
    /// How long it takes to create a table in the place of an earlier one, and to drop one.
    pub dropping_takes: Duration,
    /// How often that came to its end.
    pub drops: u64,
    /// How many datapoints were stored each time that the table was created.
    pub replaced: Vec<u64>,
    /// Bytes on disk; none where it has no files.
    pub bytes: Option<u64>,
    /// What goes wrong in the table of this number, from 1.
    pub fault: Option<(usize, Fault)>,
    /// So many counts find a datapoint of which a value is not there yet.
    pub counts_while_landing: u32,
    /// What is stored late, and the number of the table after which it is.
    late: (usize, Vec<Run>),
}

impl State {
    pub fn points(&self) -> u64 {
        self.stored.iter().map(|run| u64::from(run.count)).sum()
    }

    /// What is stored, as the ledger would name it.
    pub fn ranges(&self) -> PointRanges {
        let mut ranges = PointRanges::default();
        self.stored.iter().for_each(|&run| ranges.add(run));
        assert_eq!(ranges.len(), self.points(), "a datapoint is stored twice");
        ranges
    }
}

pub struct Scripted {
    script: Script,
    pub state: Arc<Mutex<State>>,
    info: BackendInfo,
}

impl Scripted {
    /// Lives as long as the process: a run keeps its backend as long.
    pub fn new(script: Script) -> &'static Self {
        Self::with(script, false)
    }

    /// One whose every connection gets a thread, and so a loop, of its own.
    pub fn blocking(script: Script) -> &'static Self {
        Self::with(script, true)
    }

    fn with(script: Script, blocking: bool) -> &'static Self {
        let capabilities = Capabilities {
            layouts: &[Layout::Wide],
            time_unit: TimeUnit::Ns,
            duplicates: Duplicates::Keep,
            domain: |_| Domain::Full,
            acknowledgement: Acknowledgement::Applied,
            transactions: true,
            buckets: &[],
            most_writers: None,
            blocking,
            embedded: true,
            stores: true,
            empties: true,
        };
        let info = BackendInfo::new("scripted", "fails where it is told to", capabilities);
        Box::leak(Box::new(Self { script, state: Arc::default(), info }))
    }
}

impl Backend for Scripted {
    fn info(&self) -> &BackendInfo {
        &self.info
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        self.state.lock().unwrap().values_per_point = request.table.schema.width() as u64;
        Ok(Arc::new(Table { write: self.script.write, commit: self.script.commit, state: Arc::clone(&self.state) }))
    }
}

#[derive(Clone)]
struct Table {
    write: fn(u64) -> Act,
    commit: fn(u64) -> Act,
    state: Arc<Mutex<State>>,
}

#[async_trait]
impl Database for Table {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "scripted".into(),
            version: "1".into(),
            driver: "none".into(),
            method: "none".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::Applied,
            promise: Promise { level: PromiseLevel::Buffered, nodes: 1, source: PromiseSource::ReadBack },
        })
    }
    async fn create(&self) -> Result<(), Error> {
        self.drop_created().await?;
        let mut state = self.state.lock().unwrap();
        let points = state.points();
        state.replaced.push(points);
        state.stored.clear();
        Ok(())
    }
    async fn count(&self) -> Result<Counts, Error> {
        let mut state = self.state.lock().unwrap();
        let landing = u64::from(state.counts_while_landing > 0);
        state.counts_while_landing = state.counts_while_landing.saturating_sub(1);
        let values = (state.points() * state.values_per_point).saturating_sub(landing);
        Ok(Counts { points: state.points(), values })
    }
    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        Ok(self.state.lock().unwrap().bytes)
    }
    async fn drop_created(&self) -> Result<(), Error> {
        let takes = self.state.lock().unwrap().dropping_takes;
        tokio::time::sleep(takes).await;
        self.state.lock().unwrap().drops += 1;
        Ok(())
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        self.state.lock().unwrap().connections += 1;
        Ok(Box::new(Connection { table: self.clone(), uncommitted: None }))
    }
}

/// A transaction that is open when its connection goes is undone.
struct Connection {
    table: Table,
    uncommitted: Option<Vec<Run>>,
}

impl Connection {
    fn store(&mut self, runs: impl IntoIterator<Item = Run>) {
        match &mut self.uncommitted {
            Some(uncommitted) => uncommitted.extend(runs),
            None => self.table.state.lock().unwrap().stored.extend(runs),
        }
    }

    /// Stores a write, unless it is the one that goes wrong.
    fn store_or_fail(&mut self, runs: &[Run]) -> Result<(), Error> {
        let mut state = self.table.state.lock().unwrap();
        let is_first = state.stored.is_empty();
        if state.replaced.len() > state.late.0 {
            let late = std::mem::take(&mut state.late.1);
            state.stored.extend(late);
        }
        let fault = state.fault.filter(|&(table, _)| is_first && table == state.replaced.len()).map(|(_, fault)| fault);
        let (times, held) = match fault {
            None => (1, false),
            Some(Fault::Lost) => (0, false),
            Some(Fault::Doubled) => (2, false),
            Some(Fault::Late) => (0, true),
        };
        if fault.is_some() {
            state.fault = None;
        }
        drop(state);
        (0..times).for_each(|_| self.store(runs.iter().copied()));
        if held {
            let mut state = self.table.state.lock().unwrap();
            state.late = (state.replaced.len(), runs.to_vec());
            return Err(Error::new(Cause::TimedOut, "no answer").applied(Applied::Maybe));
        }
        Ok(())
    }
}

#[async_trait]
impl Writer for Connection {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let number = {
            let mut state = self.table.state.lock().unwrap();
            state.writes += 1;
            state.writes - 1
        };
        match (self.table.write)(number) {
            Act::Succeed(after) => {
                if !after.is_zero() {
                    tokio::time::sleep(after).await;
                }
                self.store_or_fail(batch.runs())?;
                Ok(Acknowledged { points: batch.len() as u64, bytes: 1 })
            }
            Act::Fail(error) => {
                match &error.applied {
                    Applied::No => {}
                    Applied::Maybe => self.store(batch.runs().iter().copied()),
                    Applied::Rows(rows) => {
                        let [run] = batch.runs() else { panic!("one stretch of one device") };
                        let one = |&row: &u32| Run { first: run.first + u64::from(row), count: 1, ..*run };
                        self.store(rows.iter().map(one).collect::<Vec<_>>());
                    }
                }
                Err(error)
            }
        }
    }

    async fn begin(&mut self) -> Result<(), Error> {
        assert!(self.uncommitted.is_none(), "a connection with an open transaction was used again");
        self.table.state.lock().unwrap().begins += 1;
        self.uncommitted = Some(Vec::new());
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), Error> {
        let written = self.uncommitted.take().unwrap();
        let number = {
            let mut state = self.table.state.lock().unwrap();
            state.commits += 1;
            state.commits - 1
        };
        match (self.table.commit)(number) {
            Act::Succeed(_) => {
                self.store(written);
                Ok(())
            }
            Act::Fail(error) => {
                if error.applied == Applied::Maybe {
                    self.store(written);
                }
                Err(error)
            }
        }
    }
}
