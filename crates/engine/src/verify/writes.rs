//! What is known of the writes that go on while others read.

use super::{Frontier, overlap::Overlap};
use iotbench_core::Devices;
use std::sync::Arc;

/// The writes beside the reads.
#[derive(Clone, Debug, Default)]
pub enum Writes {
    /// There are none.
    #[default]
    None,
    /// There are, of too many devices to be followed, or by users' statements.
    NotFollowed,
    /// There are.
    Followed {
        /// How far they are.
        frontier: Arc<Frontier>,
        /// Whether what is acknowledged has to be seen: not where the database may lose it, or shows it later.
        acknowledged_is_visible: bool,
    },
}

impl Writes {
    /// A read of these devices begins.
    #[must_use]
    pub fn begin(&self, asked: &Devices) -> Overlap {
        match self {
            Self::None => Overlap::None,
            Self::NotFollowed => Overlap::Unknown,
            Self::Followed { frontier, acknowledged_is_visible } => frontier.begin(asked, *acknowledged_is_visible),
        }
    }

    /// The read ended.
    pub fn end(&self, overlap: &mut Overlap) {
        if let Some(frontier) = self.frontier() {
            frontier.end(overlap);
        }
    }

    /// How far they are.
    #[must_use]
    pub fn frontier(&self) -> Option<&Arc<Frontier>> {
        match self {
            Self::Followed { frontier, .. } => Some(frontier),
            Self::None | Self::NotFollowed => None,
        }
    }
}
