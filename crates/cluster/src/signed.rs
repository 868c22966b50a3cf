//! Orders as they travel: signed by their coordinator, for one agent, in one session of it, with a number. Pure.
//!
//! ```text
//! iotbench-cluster/6 KEY SIGNATURE
//! {"to":"rack-1","session":"…","number":7,"message":…}
//! ```
//!
//! The signature is over the first word and the second line, so that no text that was signed for another purpose is an order.

use crate::{
    key::{SigningKey, Trust, is_public},
    message::{MessageError, Request, SCHEMA},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

/// A longer message is not looked at.
pub(crate) const MAX_BYTES: usize = 8 << 20;

/// A message for one agent alone, and once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order<T> {
    /// The agent.
    pub(crate) to: String,
    /// The session that this agent began.
    pub(crate) session: String,
    /// Greater than those before it in the session.
    pub(crate) number: u64,
    /// What it is to do.
    pub(crate) message: T,
}

/// Why an agent does not do what a message says. In words of its own: nothing of the message is repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Longer than any of ours.
    #[error("a message is too long")]
    TooLong,
    /// No message of ours.
    #[error("a message cannot be read: it is of another version of iotbench, or damaged")]
    Unreadable,
    /// Its key is not among those that the agent was told to trust.
    #[error("its coordinator's key {0} is not trusted: start the agent with --trust {0}, if it is yours")]
    Untrusted(String),
    /// The signature is not of this key over these bytes.
    #[error("a message is not what its coordinator signed")]
    Forged,
    /// It was signed for another agent.
    #[error("a message is for another agent")]
    ForAnother,
    /// It was signed for an earlier session, or for none.
    #[error("a message is of no session that this agent has open: it is too old")]
    NoSession,
    /// It has come before.
    #[error("a message has come before")]
    Again,
}

/// An order as it travels.
pub(crate) fn seal<T: Serialize>(key: &SigningKey, order: &Order<T>) -> Result<Vec<u8>, MessageError> {
    seal_body(key, serde_json::to_vec(order)?)
}

/// The same of an order that is written already.
pub(crate) fn seal_body(key: &SigningKey, body: Vec<u8>) -> Result<Vec<u8>, MessageError> {
    let signature = key.sign(&signed(&body)).map_err(|e| MessageError::Unsigned(e.to_string()))?;
    let mut bytes = format!("{SCHEMA} {} {}\n", key.public(), STANDARD.encode(signature)).into_bytes();
    bytes.extend(body);
    Ok(bytes)
}

/// The order in these bytes, and the key of the trusted coordinator that signed it.
pub(crate) fn open(bytes: &[u8], trust: &Trust) -> Result<(String, Order<Request>), Refusal> {
    if bytes.len() > MAX_BYTES {
        return Err(Refusal::TooLong);
    }
    let end = bytes.iter().take(256).position(|&byte| byte == b'\n').ok_or(Refusal::Unreadable)?;
    let (head, body) = (&bytes[..end], &bytes[end + 1..]);
    let head = std::str::from_utf8(head).map_err(|_| Refusal::Unreadable)?;
    let [schema, key, signature] = head.split(' ').collect::<Vec<_>>()[..] else { return Err(Refusal::Unreadable) };
    if schema != SCHEMA || !is_public(key) {
        return Err(Refusal::Unreadable);
    }
    let signature = STANDARD.decode(signature).map_err(|_| Refusal::Unreadable)?;
    match trust.has_signed(key, &signed(body), &signature) {
        None => Err(Refusal::Untrusted(key.into())),
        Some(false) => Err(Refusal::Forged),
        // One of another version says so in its first word.
        Some(true) => Ok((key.into(), serde_json::from_slice(body).map_err(|_| Refusal::Unreadable)?)),
    }
}

fn signed(body: &[u8]) -> Vec<u8> {
    [SCHEMA.as_bytes(), b"\n", body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(number: u64) -> Order<Request> {
        Order { to: "a".into(), session: "s".into(), number, message: Request::Hold { run: "r".into() } }
    }

    fn trust(key: &SigningKey) -> Trust {
        Trust::of(&[key.public()]).unwrap()
    }

    #[test]
    fn what_a_trusted_coordinator_signed_is_what_is_read() {
        let key = SigningKey::drawn();
        let (by, read) = open(&seal(&key, &order(7)).unwrap(), &trust(&key)).unwrap();
        assert_eq!((by, &*read.to, &*read.session, read.number), (key.public(), "a", "s", 7));
        assert!(matches!(read.message, Request::Hold { run } if run == "r"));
    }

    #[test]
    fn whoever_is_not_trusted_orders_nothing_also_under_the_name_of_one_who_is() {
        let (ours, theirs) = (SigningKey::drawn(), SigningKey::drawn());
        let sealed = seal(&theirs, &order(7)).unwrap();
        assert_eq!(open(&sealed, &trust(&ours)).unwrap_err(), Refusal::Untrusted(theirs.public()));
        let text = String::from_utf8(sealed).unwrap().replace(&theirs.public(), &ours.public());
        assert_eq!(open(text.as_bytes(), &trust(&ours)).unwrap_err(), Refusal::Forged);
        assert_eq!(open(text.as_bytes(), &Trust::of(&[]).unwrap()).unwrap_err(), Refusal::Untrusted(ours.public()));
    }

    #[test]
    fn a_message_of_any_length_is_refused_before_it_is_read() {
        let key = SigningKey::drawn();
        let mut long = seal(&key, &order(7)).unwrap();
        long.resize(MAX_BYTES + 1, b' ');
        assert_eq!(open(&long, &trust(&key)).unwrap_err(), Refusal::TooLong);
        for other in [&b""[..], b"\n", b"{}", b"a b c\nd", b"iotbench-cluster/6 x y\n{}", &[b'x'; 1000]] {
            assert_eq!(open(other, &trust(&key)).unwrap_err(), Refusal::Unreadable);
        }
    }

    proptest! {
        /// A byte that was changed on the way, wherever it is, makes it no order.
        #[test]
        fn nothing_of_it_can_be_changed(place in any::<prop::sample::Index>(), bit in 0_u32..8) {
            let key = SigningKey::drawn();
            let mut sealed = seal(&key, &order(7)).unwrap();
            let place = place.index(sealed.len());
            sealed[place] ^= 1 << bit;
            // Of the last letters of a key and a signature some bits mean nothing, and are not taken otherwise than as zero.
            prop_assert!(open(&sealed, &trust(&key)).is_err());
        }

        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(open(&bytes, &trust(&SigningKey::drawn())).is_err());
        }
    }
}
