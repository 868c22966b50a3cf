//! A number of 128 bits as its high and its low half, for serde.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[expect(clippy::cast_possible_truncation, reason = "halves of 64 bits")]
pub(crate) fn serialize<S: Serializer>(number: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    ((number >> 64) as u64, *number as u64).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
    let (high, low) = <(u64, u64)>::deserialize(deserializer)?;
    Ok(u128::from(high) << 64 | u128::from(low))
}
