//! A load from many machines: agents make it, one coordinator decides on it, and NATS carries what they say.
//!
//! [`serve`] is an agent. A [`Fleet`] gives the engine's run the agents that make its load: the run itself, with its phases,
//! totals, ledger and verdict, is the engine's as ever.
//!
//! # Invariants
//! - No load policy, statistics or merging of its own: the engine's and the recorder's.
//! - Clocks, leases and sequences take times and return values: only the agent and the coordinator read a clock or do I/O.
//! - No latency is a difference of two machines' clocks unless the uncertainty of these is known and within its limit.
//! - No order is obeyed that was not signed, for this agent and this session of it, by a key that its command line trusts, nor twice.
//! - Nothing is opened by an order that the agent's command line does not allow, and no message ends an agent.
//! - No message of another schema version is understood by halves: it is refused.

mod agent;
mod agent_selector;
mod allowed;
mod broker;
mod clock;
mod coordinator;
mod discovery;
mod error;
mod fleet;
#[doc(hidden)]
pub mod foreign;
mod key;
mod lease;
mod message;
mod observers;
mod peer;
mod private;
mod remote_server;
mod request;
mod roster;
mod sampling;
mod sequence;
mod serving;
mod sessions;
mod signed;
mod subject;
mod work;

pub use agent::{AgentOptions, LEASE, Stop, serve};
pub use agent_selector::AgentSelector;
pub use allowed::{Allowed, AllowedTarget};
pub use broker::Broker;
pub use clock::{ClockError, Clocks, Offset, RoundTrip};
pub use error::ClusterError;
pub use fleet::Fleet;
pub use key::{KeyError, SigningKey, Trust};
pub use lease::{Holder, Lease};
pub use message::{MessageError, Offer, SCHEMA};
pub use observers::{Observers, Wish};
pub use private::{RECIPE, TOKEN};
pub use remote_server::RemoteServer;
pub use roster::{AgentState, Loss, OnLoss, Roster, Then};
pub use sequence::{Came, Sequence};
pub use subject::What;
