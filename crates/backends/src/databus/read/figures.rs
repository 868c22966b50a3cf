//! Figures of signals, device by device. They are worked out here: the server's mean is rounded to ten places after the
//! point, and it has no module for several figures at once.

use super::{devices_of, walk::Walk};
use crate::databus::{client::Client, document::Number};
use iotbench_backend_kit::{answer::Answer, ask::Ask, millis::Millis, series::Series};
use iotbench_core::{Aggregate, ComputedBy, Error, Reply, Sink, TableSpec, ValueType};
use std::ops::ControlFlow;

/// Which figures are wanted.
pub(crate) struct Wish<'a> {
    pub(crate) ask: Ask<'a>,
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) span: Millis,
}

impl Wish<'_> {
    pub(crate) async fn answer(
        &self,
        client: &mut Client,
        stem: &str,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let signals = self.ask.signals;
        let mut answer = Answer::new(sink, signals.iter().map(|_| ValueType::F64));
        let mut bytes = 0;
        for device in devices_of(&self.ask, table) {
            let mut series = vec![Series::default(); signals.len()];
            let mut is_found = false;
            let walk = Walk { stem, device, signals, span: self.span, is_latest_first: false, limit: self.ask.limit };
            let take = &mut |_, cells: &[Option<Number>]| {
                is_found = true;
                for (series, cell) in series.iter_mut().zip(cells) {
                    if let Some(number) = cell {
                        series.take(number.as_f64());
                    }
                }
                Ok(ControlFlow::Continue(()))
            };
            bytes += walk.run(client, take).await?;
            for &aggregate in self.aggregates.iter().filter(|_| is_found) {
                answer.figures(device, series.iter().map(|series| series.figure(aggregate)))?;
            }
        }
        answer.finish(bytes, ComputedBy::Client)
    }
}
