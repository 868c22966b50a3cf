//! Whose document it is: the device, and its tags.

use crate::mongodb::{encode::Encoder, layout::Table};
use iotbench_core::{Tag, Tags};

/// The element that holds the tags.
pub(crate) const TAGS: &str = "tags";

/// Writes what names a device.
pub(crate) struct Device {
    is_named: bool,
    tags: Tags,
}

impl Device {
    pub(crate) fn new(table: &Table) -> Self {
        Self { is_named: table.spec.has_device_column(), tags: table.spec.schema.tags().clone() }
    }

    /// `device, tags: { TAG, … }`, where the table has them.
    pub(crate) fn encode(&self, device: u32, to: &mut Encoder) {
        if self.is_named {
            to.int32("device", device.cast_signed());
        }
        if self.tags.is_empty() {
            return;
        }
        let tags = to.begin_document(TAGS);
        for (Tag { name, .. }, value) in self.tags.of(device) {
            to.text_of(name, value);
        }
        to.end(tags);
    }
}

/// The element that holds one tag.
pub(crate) fn path(name: &str) -> String {
    format!("{TAGS}.{name}")
}
