//! Bytes that went over a network.

/// Bytes received and sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NetworkBytes {
    pub rx: u64,
    pub tx: u64,
}

impl NetworkBytes {
    pub fn plus(self, other: Self) -> Self {
        Self { rx: self.rx + other.rx, tx: self.tx + other.tx }
    }
}
