//! The search for one machine cycle in stored data, as a pure state machine.
//!
//! After Arnst, Herpich, Plenk and Wöltche (Hof University, 2019), Figure 3. With the amplitude A of the abscissa, a
//! sawtooth, and any time t:
//!
//! | mark | is |
//! |---|---|
//! | t1 | the first datapoint after t with an abscissa above A/2 |
//! | t2 | the last datapoint before t1 with an abscissa below A/8 |
//! | t3 | the last datapoint before t2 with an abscissa above A/2: the end of the cycle before |
//! | t4 | the least abscissa in \[t3, t2\], the earliest of equals: the cycle's start |
//! | t5 | the first datapoint after t1 with an abscissa below A/8: the cycle's end |
//!
//! The cycle is \[t4, t5), and what is wanted of it is the sum of every channel. A [`Strategy`] says how it is read.
//!
//! ```
//! use iotbench_core::{Chunk, Direction, Query, ValueType};
//! use iotbench_cycle_finder::{CycleSearch, SearchSpec, Step, Strategy};
//!
//! // A database of one channel: 100 datapoints a second, 50 a cycle, from 0 up to 4095.
//! let abscissa = |i: i64| (i % 50) * 4095 / 49;
//! let stored: Vec<(i64, i64)> = (0..1_000).map(|i| (i * 10_000_000, abscissa(i))).collect();
//! let answer = |query: &Query, chunk: &mut Chunk| match query {
//!     Query::Range { range, .. } => {
//!         for &(time_ns, value) in stored.iter().filter(|(time_ns, _)| range.contains(*time_ns)) {
//!             chunk.devices.push(0);
//!             chunk.timestamps_ns.push(time_ns);
//!             chunk.columns[0].push(Some(iotbench_core::Value::I64(value))).unwrap();
//!         }
//!     }
//!     _ => unreachable!("the strategy bulk asks for ranges only"),
//! };
//!
//! let spec = SearchSpec { strategy: Strategy::Bulk, signals: vec![0], abscissa: 0, amplitude: 4095.0 };
//! let mut search = CycleSearch::new(spec, 0, 5_200_000_000)?;
//! let mut chunk = Chunk::new([ValueType::I64]);
//! loop {
//!     match search.step() {
//!         Step::Ask(query) => {
//!             chunk.clear();
//!             answer(&query, &mut chunk);
//!             search.take(&chunk);
//!             search.answered(query);
//!         }
//!         Step::Found(cycle) => {
//!             assert_eq!((cycle.start_ns, cycle.end_ns, cycle.points), (5_000_000_000, 5_500_000_000, 50));
//!             assert_eq!(cycle.sums, [(0..50).map(abscissa).sum::<i64>() as f64]);
//!             break;
//!         }
//!         Step::NotFound(reason) => panic!("{reason}"),
//!     }
//! }
//! # Ok::<(), iotbench_cycle_finder::SearchError>(())
//! ```
//!
//! # Limits
//! - A cycle lies within [`HORIZON_S`] of the time it is searched from.
//! - A cycle has at least [`MIN_POINTS`] datapoints and rises steadily. A short standstill is taken for a part of it: one
//!   of less than half of the cycle's length in the study's noise, of twice its length in the greatest that is searched.
//! - With noise, the datapoint with the least abscissa may lie a little after the true start: by as many datapoints as
//!   the sawtooth needs to rise by the noise's peak-to-peak height.
//! - A gap is seen against the other datapoints of the cycle: a series that lost every second one looks whole.
//!
//! # Invariants
//! - No length of a cycle and no rate enters the search: thresholds follow from the amplitude alone.
//! - Nothing is found across a gap, a standstill, or in noise that the thresholds cannot stand: there is a [`Reason`].
//! - No I/O, no clock; at most [`WINDOW_BYTES`] are held, and a search that is begun again allocates nothing once warm.

mod marks;
mod reason;
mod rise;
mod search;
mod strategy;
mod window;

pub use marks::Mark;
pub use reason::Reason;
pub use rise::MIN_POINTS;
pub use search::{Cycle, CycleSearch, HORIZON_S, SearchError, SearchSpec, Step};
pub use strategy::{Strategy, UnknownStrategy};
pub use window::WINDOW_BYTES;
