//! Which devices a read is about.

use super::Context;
use crate::profile::{OperationConfig, RequestDevices};
use iotbench_core::TagId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which devices a request is about. Which of those that could be meant is drawn for each request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// So many consecutive ones, from a random one on.
    Consecutive(u32),
    /// Every one.
    All,
    /// Those with the value of a tag that a random device has.
    Tagged {
        /// The tag.
        tag: TagId,
        /// Its name.
        name: String,
    },
}

impl Whose {
    /// How many at least there must be.
    pub(super) fn least(&self) -> u32 {
        if let Self::Consecutive(count) = self { *count } else { 1 }
    }
}

impl Whose {
    /// The tag that they are chosen by.
    #[must_use]
    pub fn tag(&self) -> Option<TagId> {
        if let Self::Tagged { tag, .. } = self { Some(*tag) } else { None }
    }
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Consecutive(1) => f.write_str("a device"),
            Self::Consecutive(count) => write!(f, "{count} devices"),
            Self::All => f.write_str("all devices"),
            Self::Tagged { name, .. } => write!(f, "the devices of one {name}"),
        }
    }
}

/// What a profile says of them.
pub(super) fn whose(context: Context<'_>, config: &OperationConfig) -> Result<Whose, (String, String)> {
    let name = match &config.devices {
        RequestDevices::All => return Ok(Whose::All),
        RequestDevices::Count(count) => {
            return Ok(Whose::Consecutive(u32::try_from(*count).unwrap_or(u32::MAX)));
        }
        RequestDevices::Tag(name) => name,
        RequestDevices::By(_) => {
            let message =
                format!("{} asks of no devices together: figures, total_buckets and count_buckets do", config.kind);
            return Err(("devices".into(), message));
        }
    };
    let no_tag = "is neither a number nor all nor a tag of the devices";
    Ok(Whose::Tagged { tag: find(context, name, no_tag)?, name: name.clone() })
}

/// The tag by whose values devices are put together, where a profile says so, and its name.
pub(super) fn by_tag(
    context: Context<'_>,
    config: &OperationConfig,
) -> Result<Option<(TagId, String)>, (String, String)> {
    let RequestDevices::By(name) = &config.devices else { return Ok(None) };
    Ok(Some((find(context, name, "is no tag of the devices")?, name.clone())))
}

fn find(context: Context<'_>, name: &str, otherwise: &str) -> Result<TagId, (String, String)> {
    let tags = context.schema.tags();
    if tags.as_slice().iter().any(|tag| tag.name == name && tag.values.is_serial()) {
        let message = format!("{name} is the serial number of a unit, which nobody asks for: take another tag");
        return Err(("devices".into(), message));
    }
    tags.find(name).ok_or_else(|| {
        let names: Vec<_> = tags.as_slice().iter().map(|tag| tag.name.as_str()).collect();
        let there = if names.is_empty() { "none (dataset.tags)".into() } else { names.join(", ") };
        ("devices".into(), format!("{name:?} {otherwise}: the tags are {there}"))
    })
}
