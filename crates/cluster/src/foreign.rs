//! What comes over the network as bytes, for the fuzz targets alone: read as an agent or a coordinator reads it, and written again.
//! No part of the interface.

use crate::{
    key::{SigningKey, Trust},
    message::{Answer, Question, Report, Request, Seen, decode, encode},
    signed::{self, Order},
};
use serde::{Serialize, de::DeserializeOwned};

/// Kinds of messages that are not signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To an agent, from anybody.
    Question,
    /// From an agent to who asked.
    Answer,
    /// From an agent that makes load.
    Report,
    /// From an agent that samples.
    Seen,
}

/// The message in these bytes, written again.
#[must_use]
pub fn rewritten(kind: Kind, bytes: &[u8]) -> Option<Vec<u8>> {
    match kind {
        Kind::Question => again::<Question>(bytes),
        Kind::Answer => again::<Answer>(bytes),
        Kind::Report => again::<Report>(bytes),
        Kind::Seen => again::<Seen>(bytes),
    }
}

fn again<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<Vec<u8>> {
    encode(&decode::<T>(bytes).ok()?).ok()
}

/// Whether an agent that trusts these keys takes the bytes for an order.
#[must_use]
pub fn is_order(bytes: &[u8], trust: &Trust) -> bool {
    signed::open(bytes, trust).is_ok()
}

/// What a trusted coordinator that means ill says, signed by its key.
///
/// # Errors
/// The key cannot sign.
pub fn signed_body(key: &SigningKey, body: &[u8]) -> Result<Vec<u8>, String> {
    signed::seal_body(key, body.to_vec()).map_err(|e| e.to_string())
}

/// The body of the order in these bytes, written again; what it would have an agent open is looked at too.
#[must_use]
pub fn reordered(bytes: &[u8], trust: &Trust) -> Option<Vec<u8>> {
    let (_, order): (_, Order<Request>) = signed::open(bytes, trust).ok()?;
    if let Request::Connect(part) = &order.message {
        let _ = part.target();
    }
    serde_json::to_vec(&order).ok()
}
