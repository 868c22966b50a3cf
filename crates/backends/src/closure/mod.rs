//! A function of the program's own in the place of a database: for tests of code that stores datapoints.
//!
//! It is no entry of [`BACKENDS`](crate::BACKENDS), because only the program that brings the function has it.

mod database;

use database::ClosureDatabase;
use iotbench_core::{
    Acknowledgement, Action, Applied, Backend, BackendInfo, Batch, Capabilities, Cause, Database, Domain, Duplicates,
    Error, Layout, OpenRequest, SettingError, TimeUnit,
};
use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::AtomicU64},
};

/// A function that takes batches of datapoints, as a backend.
///
/// It is called by several threads at once, one for each connection, and may block. What it promises is declared by nobody:
/// the result says `buffered`. Nothing is read back, so a valid run says how fast the function returned, and nothing of what
/// it keeps; with [`Closure::counting`] every datapoint that it took is at least counted. It cannot be asked: a profile that
/// reads needs a [`Backend`].
///
/// A call is not interrupted. One that outlasts the profile's deadline is waited for and counts with the time that it took,
/// and the run does not end before every call has returned.
pub struct Closure {
    write: Write,
    count: Option<Count>,
    info: BackendInfo,
}

type Write = Arc<dyn Fn(&Batch) -> Result<(), Error> + Send + Sync>;
type Count = Arc<dyn Fn() -> Result<u64, Error> + Send + Sync>;

/// What a function is taken to be that says nothing of itself. A layout means nothing to it, so that any will do.
const INFO: BackendInfo = BackendInfo::new(
    "closure",
    "a function of the program's own",
    Capabilities {
        layouts: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
        time_unit: TimeUnit::Ns,
        duplicates: Duplicates::Keep,
        domain: |_| Domain::Full,
        acknowledgement: Acknowledgement::None,
        transactions: false,
        buckets: &[],
        most_writers: None,
        blocking: true,
        // Its work and the client's are done by the same process.
        embedded: true,
        stores: false,
        empties: false,
    },
);

impl Closure {
    /// A function that has taken a batch when it returns `Ok`. An `Err` counts as without a verdict: nobody says what of the
    /// batch is kept. A panic ends the run.
    pub fn new<E: fmt::Display>(write: impl Fn(&Batch) -> Result<(), E> + Send + Sync + 'static) -> Self {
        let write = move |batch: &Batch| match catch_unwind(AssertUnwindSafe(|| write(batch))) {
            Ok(answer) => answer.map_err(|error| Error::new(Cause::Server, error).applied(Applied::Maybe)),
            Err(panic) => Err(panicked(&*panic)),
        };
        Self { write: Arc::new(write), count: None, info: INFO }
    }

    /// The same with a function that counts the datapoints that are kept. It is asked before the load and after it; where
    /// fewer came than were taken, or more than were sent, the result is invalid.
    #[must_use]
    pub fn counting<E: fmt::Display>(self, count: impl Fn() -> Result<u64, E> + Send + Sync + 'static) -> Self {
        let count = move || count().map_err(|error| Error::new(Cause::Server, error));
        // Whoever counts what it keeps says that it keeps what it took.
        let capabilities =
            Capabilities { acknowledgement: Acknowledgement::Applied, stores: true, ..INFO.capabilities };
        Self { count: Some(Arc::new(count)), info: BackendInfo { capabilities, ..INFO }, ..self }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = format!("the closure panicked: {}", text.unwrap_or("no message"));
    Error::new(Cause::Client, message).action(Action::Stop).applied(Applied::Maybe)
}

impl Backend for Closure {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        Ok(Arc::new(ClosureDatabase {
            write: Arc::clone(&self.write),
            count: self.count.clone(),
            before: AtomicU64::new(0),
            width: request.table.schema.width() as u64,
            acknowledgement: self.info.capabilities.acknowledgement,
        }))
    }
}
