//! What a database tells of the tags that it stores.

use crate::Error;
use serde::{Deserialize, Serialize};

/// Where a database keeps the tags of devices, as far as it can be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagsKept {
    /// It cannot be read back.
    CannotTell,
    /// In a table of devices: each device has one row, whether or not something is stored of it.
    WithDevices,
    /// Beside what is stored of a device: each combination is told at least once, and nothing of a device without datapoints.
    WithDatapoints,
}

/// Takes a device and what is stored of each of its tags, in the schema's order; `None` where there is nothing. A number or a
/// truth value that has a column of its own type comes as `Display` writes it, whatever is stored as text as it is.
pub type TakeTags<'a> = dyn FnMut(u32, &[Option<&str>]) -> Result<(), Error> + Send + 'a;
