//! Whose document it is: the device, and its tags.

use crate::mongodb::{encode::Encoder, layout::Table};
use iotbench_core::{Tag, TagType, Tags, TypedTag, Value};
use mongodb::bson::{Bson, RawBsonRef};
use std::borrow::Cow;

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
        for (Tag { name, values }, value) in self.tags.of(device) {
            match value.typed(values.tag_type()) {
                TypedTag::Text(value) => to.text_of(name, value),
                TypedTag::Integer(value) => to.int64(name, value),
                TypedTag::Number(value) => to.value(name, Value::F64(value)),
                TypedTag::Truth(value) => to.boolean(name, value),
            }
        }
        to.end(tags);
    }
}

/// A value of a tag as it is stored.
pub(crate) fn stored(value: TypedTag<'_>) -> Bson {
    match value {
        TypedTag::Text(value) => value.to_string().into(),
        TypedTag::Integer(value) => value.into(),
        TypedTag::Number(value) => value.into(),
        TypedTag::Truth(value) => value.into(),
    }
}

/// The text that stands for a stored value of a type; `None`: it is of another one.
pub(crate) fn text_of(stored: RawBsonRef<'_>, tag_type: TagType) -> Option<Cow<'_, str>> {
    match (tag_type, stored) {
        (TagType::Text, RawBsonRef::String(text)) => Some(text.into()),
        (TagType::Integer, RawBsonRef::Int64(value)) => Some(value.to_string().into()),
        (TagType::Number, RawBsonRef::Double(value)) => Some(value.to_string().into()),
        (TagType::Truth, RawBsonRef::Boolean(value)) => Some(value.to_string().into()),
        _ => None,
    }
}

/// The element that holds one tag.
pub(crate) fn path(name: &str) -> String {
    format!("{TAGS}.{name}")
}
