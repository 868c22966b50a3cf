//! Datapoints that are objects, read back.

use super::{Key, ValueSeed, read};
use iotbench_core::ReplyColumn;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// Reads an object of [`super::ObjectWriter`]: one value, or nothing, to each column, which are those of `names`.
pub(crate) fn read_object(
    json: &[u8],
    names: &[impl AsRef<str>],
    columns: &mut [ReplyColumn],
) -> serde_json::Result<()> {
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
        // Our own objects hold the signals in order: those that are passed over are missing.
        let mut next = 0;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let Some(place) = self.names.iter().skip(next).position(|name| name.as_ref() == key.0) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            for missing in &mut self.columns[next..next + place] {
                missing.push(None).map_err(de::Error::custom)?;
            }
            next += place;
            map.next_value_seed(ValueSeed(&mut self.columns[next]))?;
            next += 1;
        }
        self.columns[next..].iter_mut().try_for_each(|c| c.push(None)).map_err(de::Error::custom)
    }
}
