//! Datapoints out of whole records of layout bulk: those of one second are united and put in order here.

use super::{
    points::{Cells, Points},
    shape::Shape,
};
use iotbench_backend_kit::{
    answer::{Answer, types},
    assemble::Second,
    json::read_second,
    second::join,
    span::Span,
};
use iotbench_core::{Cause, Chunk, Error, SignalId};
use sqlx::postgres::PgRow;

/// Rows that are a record each, ascending: device, second, text of the document.
pub(crate) struct BulkPoints {
    signals: Vec<SignalId>,
    /// Device and second of the records that are being united.
    present: Option<(u32, i64)>,
    united: Second,
    bytes: u64,
}

impl BulkPoints {
    pub(crate) fn new(shape: &Shape, signals: &[SignalId], span: Span) -> Self {
        let united = Second::new(types(&shape.table().spec.schema, signals), span, false);
        Self { signals: signals.to_vec(), present: None, united, bytes: 0 }
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
        let read =
            |united: &mut Chunk| read_second(text, &self.signals, united).map_err(|e| Error::new(Cause::Protocol, e));
        self.united.record(read, |nanosecond| {
            let time = i32::try_from(nanosecond).ok().and_then(|nanosecond| join(second, nanosecond));
            time.ok_or_else(|| protocol("a stored time is out of range"))
        })?;
        self.bytes += cells.bytes;
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer<'_>) -> Result<(), Error> {
        if let Some((device, _)) = self.present.take() {
            self.united.hand_over(device, answer)?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
