//! Carries datapoints from devices to writers through an MQTT broker.
//!
//! [`Via`] is what stands behind `--via`: an address, or the wish for a private broker, with what is asked of it. [`Mqtt`]
//! is the [`Carrier`](iotbench_core::Carrier) that the engine publishes on and receives from; [`RECIPE`] is how a private
//! Mosquitto is made. The protocol is that of `rumqttc`, MQTT 3.1.1 (OASIS, 2014).
//!
//! # Invariants
//! - Never a time: the run's times travel in messages as they were given, and acknowledgements are measured as durations.
//! - Never a message sent twice by us: a connection that is lost is not opened again, because the client would forget what
//!   it had not sent.
//! - Never an unbounded buffer: what waits for the broker is bounded in messages, and whoever publishes waits.
//! - Never a password in an error, in facts or in `Debug`.
//! - Never an allocation that grows with the datapoints of a message, once buffers have their size, but the message itself.

mod address;
mod connection;
#[doc(hidden)]
pub mod foreign;
mod mqtt;
mod payload;
mod publisher;
mod recipe;
mod subscriber;
mod system_topics;

pub use address::{Payload, QosLevel, Via, ViaError};
pub use mqtt::Mqtt;
pub use recipe::RECIPE;
