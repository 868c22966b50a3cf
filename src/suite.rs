//! A suite as a few lines of code.

use crate::benchmark::{BenchmarkError, Running};
use iotbench_engine::StopSignal;
use iotbench_report::Document;
use iotbench_session::{
    AgentsWanted, ProgressStream, SessionObserver, SessionOptions, Suite, SuiteLength, WrittenSuite, progress,
    read_options,
};
use iotbench_suite::Record;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// All runs that answer one question, as `iotbench suite` makes them.
pub struct BenchmarkSuite {
    written: WrittenSuite,
    full: bool,
    runs: Option<u32>,
    results: PathBuf,
    program: Option<PathBuf>,
    observers: Vec<Arc<dyn SessionObserver>>,
    stop: StopSignal,
}

/// What became of a suite's runs.
#[derive(Clone, Debug)]
pub struct SuiteOutcome {
    /// Each of them.
    pub record: Record,
    /// The documents of those that ended.
    pub documents: Vec<Document>,
    /// The suite's folder, with the folders of its runs and its page.
    pub folder: PathBuf,
}

impl BenchmarkSuite {
    /// A built-in suite, such as `quick`.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn builtin(name: &str) -> Result<Self, BenchmarkError> {
        Ok(Self::new(WrittenSuite::find(name)?))
    }

    /// A suite from a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no suite.
    pub fn from_file(path: &Path) -> Result<Self, BenchmarkError> {
        Ok(Self::new(WrittenSuite::read(path)?))
    }

    fn new(written: WrittenSuite) -> Self {
        Self {
            written,
            full: false,
            runs: None,
            results: PathBuf::from("results"),
            program: None,
            observers: Vec::new(),
            stop: StopSignal::default(),
        }
    }

    /// The study's own lengths instead of the short form.
    #[must_use]
    pub fn full(mut self) -> Self {
        self.full = true;
        self
    }

    /// So many runs of each, instead of the suite's own number.
    #[must_use]
    pub fn runs(mut self, runs: u32) -> Self {
        self.runs = Some(runs.max(1));
        self
    }

    /// Where its folder is made; `results` by default.
    #[must_use]
    pub fn results(mut self, folder: impl Into<PathBuf>) -> Self {
        self.results = folder.into();
        self
    }

    /// The program `iotbench`, as for [`Benchmark::program`](crate::Benchmark::program).
    #[must_use]
    pub fn program(mut self, iotbench: impl Into<PathBuf>) -> Self {
        self.program = Some(iotbench.into());
        self
    }

    /// What happens, as a stream of values; it ends with the last run.
    #[must_use]
    pub fn progress(mut self) -> (Self, ProgressStream) {
        let (observer, stream) = progress();
        self.observers.push(Arc::new(observer));
        (self, stream)
    }

    /// What ends it before its time; the run that is under way then is not counted.
    #[must_use]
    pub fn stop_signal(mut self, stop: StopSignal) -> Self {
        self.stop = stop;
        self
    }

    /// Runs all of it; blocks. A run that fails does not end the others. `iotbench suite --resume FOLDER` goes on with one that
    /// was stopped.
    ///
    /// # Errors
    /// A run of it cannot be planned, or its folder not be written.
    pub fn run(self) -> Result<SuiteOutcome, BenchmarkError> {
        let observer: Arc<dyn SessionObserver> = Arc::new(self.observers);
        let read = |words: &[String]| {
            let (workload, options) = read_options(words, &self.results)?;
            Ok((workload, SessionOptions { program: self.program.clone(), ..options }))
        };
        let length = SuiteLength { full: self.full, runs: self.runs, sittings: None, results: &self.results };
        let mut runs = Suite::new(self.written, length, &read, &AgentsWanted::default())?.begin(&self.results)?;
        runs.carry_out(&observer, None, &self.stop)?;
        let results = runs.results()?;
        results.page()?;
        let documents = results.runs.iter().map(|run| run.document.clone()).collect();
        Ok(SuiteOutcome { record: runs.record().clone(), documents, folder: results.folder.to_owned() })
    }

    /// The same beside other work: a future that a thread of its own works off, under any runtime. Dropped, it stops the suite.
    pub fn run_async(self) -> Running<SuiteOutcome> {
        let stop = self.stop.clone();
        Running::start(stop, move || self.run())
    }
}
