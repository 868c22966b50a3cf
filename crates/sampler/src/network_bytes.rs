//! Bytes that went over a network.

/// Bytes received and sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkBytes {
    /// Received.
    pub rx: u64,
    /// Sent.
    pub tx: u64,
}

impl NetworkBytes {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { rx: self.rx + other.rx, tx: self.tx + other.tx }
    }
}
