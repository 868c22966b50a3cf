//! What crosses the channel to the loops: which operation or datapoint is due, and when.

/// An operation of an open loop, or a datapoint of a sensor, that has become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// When it was intended, in nanoseconds since the run's start.
    pub intended_ns: u64,
    /// The operation's number, or the datapoint's position in its device's order.
    pub number: u64,
    /// The sensor; 0 for operations.
    pub device: u32,
    /// An operation is not about devices from this one on: they do not report in this step.
    pub devices: u32,
}
