//! Which language a server speaks, and a request of either as the ledger takes it.

use crate::{
    http::{self, Service},
    wire,
};

/// What a server speaks.
#[derive(Debug, Clone, Default)]
pub enum Protocol {
    /// The binary frames of [`wire`]: the backend of this crate.
    #[default]
    Raw,
    /// HTTP/1.1: the backends of real databases.
    Http(Service),
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken<'a> {
    pub(crate) id: u64,
    pub(crate) points: u32,
    pub(crate) payload: &'a [u8],
    pub(crate) place: Destination,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Into the ledger, to be served as programmed by this endpoint.
    Programmed(u16),
    /// Answered at once by this endpoint.
    AtOnce(u16),
    /// To no endpoint.
    Nowhere,
}

/// The stream cannot be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

impl Protocol {
    /// Length in bytes of the request that starts `bytes`, as soon as it can be told.
    pub(crate) fn frame_bytes(&self, bytes: &[u8]) -> Result<Option<usize>, Unreadable> {
        match self {
            Self::Raw => wire::frame_bytes(bytes).map_err(|_too_long| Unreadable),
            Self::Http(_) => Ok(http::Head::read(bytes)?.map(|head| head.frame_bytes())),
        }
    }

    /// The request at the start of `bytes` and the bytes it took, or `None` when it is not complete.
    pub(crate) fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Option<(Taken<'a>, usize)>, Unreadable> {
        match self {
            Self::Raw => {
                let decoded = wire::Request::decode(bytes).map_err(|_too_long| Unreadable)?;
                Ok(decoded.map(|(wire::Request { id, points, payload }, frame_bytes)| {
                    (Taken { id, points, payload, place: Destination::Programmed(0) }, frame_bytes)
                }))
            }
            Self::Http(service) => {
                let Some(head) = http::Head::read(bytes)? else { return Ok(None) };
                let frame_bytes = head.frame_bytes();
                Ok(bytes.get(..frame_bytes).map(|frame| (service.take(&head, frame), frame_bytes)))
            }
        }
    }
}
