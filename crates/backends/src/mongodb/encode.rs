//! BSON, written into one buffer that is used again. <https://bsonspec.org/spec.html>

#[cfg(test)]
mod cost;

use iotbench_core::Value;
use mongodb::bson::spec::ElementType;

/// Documents in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

/// Where a document that is not ended yet begins.
#[must_use]
pub(crate) struct Begun(usize);

impl Encoder {
    /// A buffer with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes back what was written since the buffer had this length.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Begins the outermost document.
    pub(crate) fn begin(&mut self) -> Begun {
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        Begun(start)
    }

    pub(crate) fn begin_document(&mut self, name: &str) -> Begun {
        self.key(ElementType::EmbeddedDocument, name);
        self.begin()
    }

    pub(crate) fn begin_array(&mut self, name: &str) -> Begun {
        self.key(ElementType::Array, name);
        self.begin()
    }

    /// Begins a document that is an element of an array.
    pub(crate) fn begin_item(&mut self, index: usize) -> Begun {
        self.index(ElementType::EmbeddedDocument, index);
        self.begin()
    }

    /// Ends what was begun last: its length is known now.
    pub(crate) fn end(&mut self, Begun(start): Begun) {
        self.bytes.push(0);
        let length = u32::try_from(self.bytes.len() - start).unwrap_or(u32::MAX);
        self.bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    pub(crate) fn int32(&mut self, name: &str, value: i32) {
        self.key(ElementType::Int32, name);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn int64(&mut self, name: &str, value: i64) {
        self.key(ElementType::Int64, name);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn boolean(&mut self, name: &str, value: bool) {
        self.key(ElementType::Boolean, name);
        self.bytes.push(u8::from(value));
    }

    /// A date, in milliseconds since 1970.
    pub(crate) fn date(&mut self, name: &str, milliseconds: i64) {
        self.key(ElementType::DateTime, name);
        self.bytes.extend(milliseconds.to_le_bytes());
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.key(ElementType::String, name);
        self.push_text(text);
    }

    /// A text of letters, digits and the like that is written in place.
    pub(crate) fn text_of(&mut self, name: &str, value: impl std::fmt::Display) {
        self.key(ElementType::String, name);
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        // Writing to a Vec cannot fail.
        let _ = std::io::Write::write_fmt(&mut self.bytes, format_args!("{value}\0"));
        let length = u32::try_from(self.bytes.len() - start - 4).unwrap_or(u32::MAX);
        self.bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// A UUID.
    pub(crate) fn uuid(&mut self, name: &str, uuid: [u8; 16]) {
        self.key(ElementType::Binary, name);
        self.bytes.extend(16_i32.to_le_bytes());
        self.bytes.push(4);
        self.bytes.extend(uuid);
    }

    /// A value under a name: numbers as double, int32 or int64, whichever holds all of its type.
    pub(crate) fn value(&mut self, name: &str, value: Value<'_>) {
        self.key(type_of(value), name);
        self.push_value(value);
    }

    /// A value that is an element of an array.
    pub(crate) fn item(&mut self, index: usize, value: Value<'_>) {
        self.index(type_of(value), index);
        self.push_value(value);
    }

    fn key(&mut self, element: ElementType, name: &str) {
        self.bytes.push(element as u8);
        self.bytes.extend(name.as_bytes());
        self.bytes.push(0);
    }

    fn index(&mut self, element: ElementType, index: usize) {
        self.key(element, itoa::Buffer::new().format(index));
    }

    fn push_value(&mut self, value: Value<'_>) {
        match value {
            Value::F32(v) => self.bytes.extend(f64::from(v).to_le_bytes()),
            Value::F64(v) => self.bytes.extend(v.to_le_bytes()),
            Value::I64(v) => self.bytes.extend(v.to_le_bytes()),
            Value::U16(v) => self.bytes.extend(i32::from(v).to_le_bytes()),
            Value::Text(text) => self.push_text(text),
        }
    }

    fn push_text(&mut self, text: &str) {
        let length = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }
}

fn type_of(value: Value<'_>) -> ElementType {
    match value {
        Value::F32(_) | Value::F64(_) => ElementType::Double,
        Value::I64(_) => ElementType::Int64,
        Value::U16(_) => ElementType::Int32,
        Value::Text(_) => ElementType::String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::{Bson, Document, RawDocumentBuf, doc};
    use proptest::prelude::*;

    fn decoded(encoder: Encoder) -> Document {
        Document::try_from(RawDocumentBuf::from_bytes(encoder.into_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn every_kind_of_element_is_bson() {
        let mut encoder = Encoder::with_capacity(8);
        let all = encoder.begin();
        encoder.int32("a", -7);
        encoder.int64("b", i64::MIN);
        encoder.boolean("c", true);
        encoder.date("d", -1);
        encoder.text("e", "grö\0ße");
        encoder.text_of("k", format_args!("r_{}", 7));
        let inner = encoder.begin_document("f");
        encoder.value("g", Value::F32(0.1));
        encoder.end(inner);
        let array = encoder.begin_array("h");
        encoder.item(0, Value::U16(65535));
        let item = encoder.begin_item(1);
        encoder.value("i", Value::Text(""));
        encoder.end(item);
        encoder.end(array);
        encoder.uuid("j", [7; 16]);
        encoder.end(all);
        let uuid = mongodb::bson::Uuid::from_bytes([7; 16]);
        assert_eq!(
            decoded(encoder),
            doc! {
                "a": -7, "b": i64::MIN, "c": true, "d": mongodb::bson::DateTime::from_millis(-1), "e": "grö\0ße", "k": "r_7",
                "f": { "g": f64::from(0.1_f32) }, "h": [65535, { "i": "" }], "j": uuid,
            }
        );
    }

    proptest! {
        #[test]
        fn numbers_keep_every_bit(double in any::<f64>(), integer: i64, text in "\\PC{0,20}") {
            let mut encoder = Encoder::default();
            let all = encoder.begin();
            encoder.value("d", Value::F64(double));
            encoder.value("i", Value::I64(integer));
            encoder.value("t", Value::Text(&text));
            encoder.end(all);
            let decoded = decoded(encoder);
            prop_assert_eq!(decoded.get_f64("d").unwrap().to_bits(), double.to_bits());
            prop_assert_eq!(decoded.get("i"), Some(&Bson::Int64(integer)));
            prop_assert_eq!(decoded.get_str("t").unwrap(), text);
        }
    }
}
