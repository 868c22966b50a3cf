//! A backend that errs is found out, whatever its fault.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use async_trait::async_trait;
use iotbench_conformance::{Fixture, Verdict, check};
use iotbench_core::{
    Acknowledged, Backend, BackendInfo, Batch, Chunk, Counts, Database, Error, Layout, OpenRequest, Query, Reader,
    Registry, Reply, ServerFacts, SettingError, Settings, Settled, Sink, TableSpec, Target, Writer,
};
use std::sync::{Arc, LazyLock};

/// What is wrong with a backend that otherwise does as `memory`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    ForgetsABatch,
    CountsOneMore,
    MovesTime,
    SwapsSignals,
    ReversesRows,
    AnswersTwice,
    SaysTooManyRows,
    DoesNotEmptyTheTable,
    DoesNotDrop,
    AcknowledgesTooMuch,
    NamesNoProduct,
}

struct Faulty(Fault);

fn memory() -> &'static dyn Backend {
    Registry::new(iotbench_backends::BACKENDS).find("memory").unwrap()
}

static INFO: LazyLock<BackendInfo> =
    LazyLock::new(|| BackendInfo::new("faulty", "memory with a fault", memory().info().capabilities.clone()));

impl Backend for Faulty {
    fn info(&self) -> &BackendInfo {
        &INFO
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        Ok(Arc::new(FaultyDatabase(memory().open(request)?, self.0)))
    }
}

struct FaultyDatabase(Arc<dyn Database>, Fault);

#[async_trait]
impl Database for FaultyDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        let mut facts = self.0.ping().await?;
        if self.1 == Fault::NamesNoProduct {
            facts.product.clear();
        }
        Ok(facts)
    }
    async fn create(&self) -> Result<(), Error> {
        if self.1 == Fault::DoesNotEmptyTheTable && self.0.count().await.is_ok() {
            return Ok(());
        }
        self.0.create().await
    }
    async fn settle(&self) -> Result<Settled, Error> {
        self.0.settle().await
    }
    async fn count(&self) -> Result<Counts, Error> {
        let mut counts = self.0.count().await?;
        counts.values += u64::from(self.1 == Fault::CountsOneMore && counts.points > 0);
        Ok(counts)
    }
    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        self.0.storage_bytes().await
    }
    async fn drop_created(&self) -> Result<(), Error> {
        if self.1 == Fault::DoesNotDrop { Ok(()) } else { self.0.drop_created().await }
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(FaultyWriter(self.0.writer().await?, self.1, 0)))
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(FaultyReader(self.0.reader().await?, self.1)))
    }
}

struct FaultyWriter(Box<dyn Writer>, Fault, u32);

#[async_trait]
impl Writer for FaultyWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        self.2 += 1;
        if self.1 == Fault::ForgetsABatch && self.2 == 2 {
            return Ok(Acknowledged { points: batch.len() as u64, bytes: 0 });
        }
        let mut acknowledged = self.0.write(batch).await?;
        acknowledged.points += u64::from(self.1 == Fault::AcknowledgesTooMuch);
        Ok(acknowledged)
    }
    async fn begin(&mut self) -> Result<(), Error> {
        self.0.begin().await
    }
    async fn commit(&mut self) -> Result<(), Error> {
        self.0.commit().await
    }
}

struct FaultyReader(Box<dyn Reader>, Fault);

#[async_trait]
impl Reader for FaultyReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let fault = self.1;
        let mut spoil = |chunk: &Chunk| {
            let mut chunk = chunk.clone();
            match fault {
                Fault::MovesTime => chunk.timestamps_ns.iter_mut().for_each(|time| *time += i64::from(*time != 0)),
                Fault::SwapsSignals => chunk.columns.reverse(),
                Fault::ReversesRows => {
                    chunk.timestamps_ns.reverse();
                    chunk.devices.reverse();
                }
                Fault::AnswersTwice => sink.push(&chunk)?,
                _ => {}
            }
            sink.push(&chunk)
        };
        let mut reply = self.0.query(query, &mut spoil).await?;
        reply.rows += u64::from(fault == Fault::SaysTooManyRows);
        Ok(reply)
    }
}

struct Fixed(&'static Faulty);

impl Fixture for Fixed {
    fn backend(&self) -> &'static dyn Backend {
        self.0
    }
    fn request(&self, table: TableSpec) -> OpenRequest {
        OpenRequest { target: Target::default(), settings: Settings::default(), table }
    }
}

async fn failures(backend: &'static Faulty) -> usize {
    let outcomes = check(&Fixed(backend), Layout::Wide).await;
    outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_))).count()
}

#[tokio::test]
async fn every_fault_is_found_and_none_where_there_is_none() {
    assert_eq!(failures(&Faulty(Fault::None)).await, 0);
    static FAULTY: [Faulty; 11] = [
        Faulty(Fault::ForgetsABatch),
        Faulty(Fault::CountsOneMore),
        Faulty(Fault::MovesTime),
        Faulty(Fault::SwapsSignals),
        Faulty(Fault::ReversesRows),
        Faulty(Fault::AnswersTwice),
        Faulty(Fault::SaysTooManyRows),
        Faulty(Fault::DoesNotEmptyTheTable),
        Faulty(Fault::DoesNotDrop),
        Faulty(Fault::AcknowledgesTooMuch),
        Faulty(Fault::NamesNoProduct),
    ];
    for faulty in &FAULTY {
        assert!(failures(faulty).await > 0, "{:?} went unnoticed", faulty.0);
    }
}
