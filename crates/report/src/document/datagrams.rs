//! What a client sent in datagrams: it is in no figure that is read from TCP connections.

use super::Resources;

/// What went over the network in datagrams in the measured part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagrams {
    /// Nothing: requests have answers, and go over connections.
    No,
    /// So many bytes of payload, as the client sent them.
    Sent(u64),
    /// They were not told apart from what was read, or in a ramp, whose resources may be another step's than its answer.
    Unknown,
}

const SENT: &str = "bytes sent with those of the datagrams, as iotbench counted them";
const RECEIVED: &str = "bytes received not known: they came in datagrams";

impl Datagrams {
    /// Puts them into what was read from a process's connections: who receives them may have dropped some.
    pub(super) fn complete(self, resources: &mut Resources) {
        let note = match self {
            Self::No => return,
            _ if !resources.is_of_client() => {
                (resources.net_rx_bytes, resources.net_rx_least_bytes) = (None, None);
                RECEIVED
            }
            Self::Sent(bytes) => {
                for sent in [&mut resources.net_tx_bytes, &mut resources.net_tx_least_bytes] {
                    *sent = sent.map(|of_connections| of_connections + bytes);
                }
                SENT
            }
            Self::Unknown => {
                (resources.net_tx_bytes, resources.net_tx_least_bytes) = (None, None);
                "bytes sent not known: they went in datagrams, which were not counted apart"
            }
        };
        resources.add_note(note);
    }
}
