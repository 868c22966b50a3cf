//! The simulator's machine tool: its datapoints, and which cycles are true.

use crate::machine::store::{Answer, Found, Row, Store};
use iotbench_core::{Batch, Run};
use iotbench_cycle_finder::{CycleSearch, SearchSpec, Strategy};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, MACHINE_AMPLITUDE, MachineCycles};
use proptest::{prelude::*, strategy::Strategy as Any};
use std::{path::Path, sync::Arc};

pub const AMPLITUDE: f64 = MACHINE_AMPLITUDE as f64;
const RATE: f64 = 1000.0;

/// Parameters of the dataset.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub seed: u64,
    pub noise: f64,
    pub cycles: f64,
    pub cycle_jitter: f64,
    /// Of timestamps.
    pub jitter_us: i64,
}

/// The study's.
pub const STUDY: Settings = Settings { seed: 1, noise: 0.005, cycles: 3.0, cycle_jitter: 0.1, jitter_us: 100 };

/// Anything that the simulator takes, with timestamps of which a lost one can be told.
pub fn settings() -> impl Any<Value = Settings> {
    (any::<u64>(), 0.0..=0.025, 1.0..15.6, 0.0..=0.5, 0_i64..=300).prop_map(
        |(seed, noise, cycles, cycle_jitter, jitter_us)| Settings { seed, noise, cycles, cycle_jitter, jitter_us },
    )
}

/// A machine's first datapoints, stored.
pub struct Machine {
    pub settings: Settings,
    pub dataset: Arc<dyn Dataset>,
    pub cycles: MachineCycles,
    pub store: Store,
}

impl Machine {
    pub fn new(settings: Settings, seconds: u32) -> Self {
        let Settings { seed, noise, cycles, cycle_jitter, jitter_us } = settings;
        let dataset = DatasetConfig::named("machine")
            .unwrap()
            .with("noise", noise)
            .with("cycles", cycles)
            .with("cycle_jitter", cycle_jitter)
            .with("jitter", format!("{jitter_us}us"))
            .open(seed, DEFAULT_ORIGIN_NS, 1, Path::new("."))
            .unwrap();
        let count = seconds * 1000;
        let mut batch = Batch::new(dataset.schema());
        dataset.fill(Run { device: 0, first: 0, count }, &mut batch);
        let values = |row| batch.columns().iter().map(|c| c.get(row)?.as_f64()).collect();
        let row = |(row, &time_ns)| Row { time_ns, values: values(row) };
        let store = Store(batch.timestamps_ns().iter().enumerate().map(row).collect());
        Self { settings, dataset, cycles: MachineCycles::new(RATE, cycles, cycle_jitter, seed).unwrap(), store }
    }

    pub fn search(&self, strategy: Strategy, t_ns: i64) -> CycleSearch {
        let spec = SearchSpec { strategy, signals: vec![0, 1, 2, 3, 4], abscissa: 0, amplitude: AMPLITUDE };
        CycleSearch::new(spec, 0, t_ns).unwrap()
    }

    /// What each strategy finds, and that all three agree: on the cycle, or that there is none.
    pub fn answer(&self, t_ns: i64) -> Result<Answer, TestCaseError> {
        let answers = Strategy::ALL.map(|strategy| self.store.search(&mut self.search(strategy, t_ns)).0);
        let [individual, bulk, bulk1] = answers;
        prop_assert_eq!(individual.clone().ok(), bulk.clone().ok(), "individual {:?}, bulk {:?}", individual, bulk);
        prop_assert_eq!(&bulk, &bulk1);
        Ok(individual)
    }

    pub fn index(&self, time_ns: i64) -> i64 {
        i64::try_from(self.dataset.index_at(0, time_ns)).unwrap()
    }

    pub fn time_ns(&self, index: i64) -> i64 {
        self.dataset.timestamp_ns(0, u64::try_from(index).unwrap())
    }

    /// The number of the cycle that is to be found from a time: that of the datapoint after it.
    pub fn number(&self, t_ns: i64) -> i64 {
        self.cycles.number_at(0, self.dataset.index_at(0, t_ns + 1))
    }

    /// By how many datapoints the least of the first ones may come late: until the sawtooth has risen by the noise from
    /// peak to peak, rounding included.
    pub fn late(&self, noise: f64, length: i64) -> i64 {
        let height = 2.0 * 3.4642 * noise * AMPLITUDE + 1.0;
        (height / AMPLITUDE * length as f64).floor() as i64
    }

    /// That a found cycle is the true one of this number: one rise, as long as the true one within the noise, and the
    /// sums are the simulator's.
    pub fn is_true(&self, number: i64, found: &Found) -> Result<(), TestCaseError> {
        let cycle = self.cycles.cycle(0, number);
        let (start, end) = (self.index(found.start_ns), self.index(found.end_ns));
        let late = self.late(self.settings.noise, cycle.end - cycle.start);
        prop_assert!((cycle.start..=cycle.start + late).contains(&start), "start {start} of {cycle:?}, late {late}");
        prop_assert_eq!(end, cycle.end);
        self.sums_are_the_simulators(found)
    }

    pub fn sums_are_the_simulators(&self, found: &Found) -> Result<(), TestCaseError> {
        let (start, end) = (self.index(found.start_ns), self.index(found.end_ns));
        let mut batch = Batch::new(self.dataset.schema());
        let (first, count) = (u64::try_from(start).unwrap(), u32::try_from(end - start).unwrap());
        self.dataset.fill(Run { device: 0, first, count }, &mut batch);
        prop_assert_eq!(found.points, u64::from(count));
        let sum =
            |c: &iotbench_core::Column| (0..c.len()).map(|row| c.get(row).unwrap().as_f64().unwrap()).sum::<f64>();
        prop_assert_eq!(&found.sums, &batch.columns().iter().map(sum).collect::<Vec<_>>());
        Ok(())
    }
}
