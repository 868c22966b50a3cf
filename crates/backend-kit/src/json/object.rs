//! Datapoints that are objects, read back.

use super::{Key, ValueSeed, read};
use iotbench_core::ReplyColumn;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// Reads an object of [`super::ObjectWriter`]: one value, or nothing, to each column, which are those of `names`.
pub fn read_object(json: &[u8], names: &[impl AsRef<str>], columns: &mut [ReplyColumn]) -> serde_json::Result<()> {
    read(json, ObjectSeed { names, columns })
}

struct ObjectSeed<'a, N> {
    names: &'a [N],
    columns: &'a mut [ReplyColumn],
}

impl<'de, N: AsRef<str>> DeserializeSeed<'de> for ObjectSeed<'_, N> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, N: AsRef<str>> Visitor<'de> for ObjectSeed<'_, N> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of signals")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let rows = self.columns.first().map_or(0, ReplyColumn::len);
        // Our own objects hold the signals in order, and so does what keeps them as text; MySQL sorts their keys.
        let mut next = 0;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let is_it = |&place: &usize| self.names[place].as_ref() == key.0;
            let Some(place) = (next..self.names.len()).chain(0..next).find(is_it) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let column = &mut self.columns[place];
            if column.len() > rows {
                return Err(de::Error::custom(format!("the signal {} is there twice", key.0)));
            }
            map.next_value_seed(ValueSeed(column))?;
            next = place + 1;
        }
        let mut missing = self.columns.iter_mut().filter(|column| column.len() == rows);
        missing.try_for_each(|column| column.push(None)).map_err(de::Error::custom)
    }
}
