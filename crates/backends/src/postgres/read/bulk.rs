//! Datapoints out of whole records of layout bulk: those of one second are united and put in order here.

use super::{
    points::{Cells, Points},
    shape::Shape,
};
use iotbench_backend_kit::{answer::Answer, json::read_second, second::join, span::Span};
use iotbench_core::{Cause, Chunk, Error, SignalId};
use sqlx::postgres::PgRow;

/// Rows that are a record each, ascending: device, second, text of the document.
pub(crate) struct BulkPoints {
    signals: Vec<SignalId>,
    span: Span,
    /// Device and second of the records that are being united.
    present: Option<(u32, i64)>,
    /// Their datapoints in the order of storing.
    united: Chunk,
    /// Time and row of those that are wanted.
    order: Vec<(i64, usize)>,
    bytes: u64,
}

impl BulkPoints {
    pub(crate) fn new(shape: &Shape, signals: &[SignalId], span: Span) -> Self {
        let united = Chunk::new(signals.iter().map(|&signal| shape.value_type(signal)));
        Self { signals: signals.to_vec(), span, present: None, united, order: Vec::new(), bytes: 0 }
    }
}

impl Points for BulkPoints {
    fn take(&mut self, row: &PgRow, answer: &mut Answer<'_>) -> Result<(), Error> {
        let protocol = |message: &str| Error::new(Cause::Protocol, message);
        let mut cells = Cells::new(row);
        let device = cells.device()?;
        let second = cells.bigint()?.ok_or_else(|| protocol("a stored record has no second"))?;
        let text = cells.cell()?.ok_or_else(|| protocol("a stored record has no document"))?;
        if self.present != Some((device, second)) {
            self.finish(answer)?;
            self.present = Some((device, second));
        }
        let first = self.united.timestamps_ns.len();
        read_second(text, &self.signals, &mut self.united).map_err(|e| Error::new(Cause::Protocol, e))?;
        for (row, nanosecond) in self.united.timestamps_ns.iter().enumerate().skip(first) {
            let time = i32::try_from(*nanosecond).ok().and_then(|nanosecond| join(second, nanosecond));
            let time = time.ok_or_else(|| protocol("a stored time is out of range"))?;
            if self.span.contains(time) {
                self.order.push((time, row));
            }
        }
        self.bytes += cells.bytes;
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error> {
        if let Some((device, _)) = self.present.take() {
            self.order.sort_unstable();
            for &(time, row) in &self.order {
                let united = &self.united.columns;
                answer.row(device, time, |columns| {
                    columns.iter_mut().zip(united).try_for_each(|(to, from)| to.push(from.get(row)))
                })?;
            }
        }
        self.order.clear();
        self.united.clear();
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
