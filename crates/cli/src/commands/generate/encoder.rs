//! Batches as text.

use iotbench_core::Batch;
use iotbench_simulator::InfluxEncoder;

/// Turns batches into text of one format.
pub(super) trait Encoder {
    /// Appends what stands before the first datapoint.
    fn head(&mut self, out: &mut Vec<u8>);

    /// Appends all datapoints of a batch.
    fn encode(&mut self, batch: &Batch, out: &mut Vec<u8>);
}

impl Encoder for InfluxEncoder {
    fn head(&mut self, _out: &mut Vec<u8>) {}

    fn encode(&mut self, batch: &Batch, out: &mut Vec<u8>) {
        Self::encode(self, batch, out);
    }
}
