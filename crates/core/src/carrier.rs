//! What carries datapoints from devices to writers, where they do not write themselves: a broker.

use crate::{Batch, Error, Schema};
use async_trait::async_trait;
use std::{collections::BTreeMap, fmt};

/// What a message says of the operation that it carries.
///
/// The times are those of the run's one clock, in nanoseconds since its start: they travel with the message, so that
/// whoever receives it can tell how long it took without a clock that would have to agree with the sender's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Whose message it is; of an operation about several devices, the first.
    pub device: u32,
    /// Its number among that device's messages, from 0 and without a gap.
    pub sequence: u64,
    /// When the operation was intended to start.
    pub intended_ns: u64,
    /// When it was handed over.
    pub published_ns: u64,
    /// Its place among its group's operations.
    pub operation: u32,
}

/// What is known of a carrier, for results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarrierFacts {
    /// Its name on the command line, such as `mqtt`.
    pub name: String,
    /// Where it is, without secrets.
    pub address: String,
    /// The port at which it listens; `None`: not known yet.
    pub port: Option<u16>,
    /// What it says of itself; `None`: nothing.
    pub version: Option<String>,
    /// What decides a result, such as `qos`.
    pub settings: BTreeMap<String, String>,
    /// Whether it promises that what it has acknowledged is delivered.
    pub promises_delivery: bool,
}

/// One direction from devices to writers: messages published on it are received on it and nowhere else.
#[derive(Clone, Debug)]
pub struct Way {
    /// The run, such as the name of its folder.
    pub run: String,
    /// The number of the group whose operations travel on it.
    pub group: u16,
    /// What its datapoints consist of.
    pub schema: Schema,
}

/// Carries operations from devices to writers.
#[async_trait]
pub trait Carrier: Send + Sync + fmt::Debug {
    /// What is known of it without asking.
    fn facts(&self) -> CarrierFacts;

    /// Looks whether it is there, and what it says of itself.
    ///
    /// # Errors
    /// It is not reached, or does not let us in.
    async fn ping(&self) -> Result<CarrierFacts, Error>;

    /// Opens the devices' end. To be called inside the runtime that will drive it.
    ///
    /// # Errors
    /// As [`Self::ping`].
    async fn publisher(&self, way: &Way) -> Result<Box<dyn Publisher>, Error>;

    /// Opens the writers' end: what is published from now on is received.
    ///
    /// # Errors
    /// As [`Self::ping`].
    async fn subscriber(&self, way: &Way) -> Result<Box<dyn Subscriber>, Error>;

    /// How many messages it says that it has dropped since it was started; `None`: it does not say.
    async fn dropped(&self) -> Option<u64>;
}

/// The devices' end.
#[async_trait]
pub trait Publisher: Send {
    /// Hands a message over, and waits while as many are under way as may be; true: it had to wait.
    ///
    /// # Errors
    /// The carrier is gone. Whether the message is on its way is not known.
    async fn publish(&mut self, label: &Label, batch: &Batch) -> Result<bool, Error>;

    /// Waits until all is sent, and acknowledged where the carrier acknowledges.
    ///
    /// # Errors
    /// The carrier is gone.
    async fn finish(&mut self) -> Result<(), Error>;

    /// Tells for each message acknowledged since this was asked last how long that took since it was handed over, in
    /// nanoseconds.
    fn acknowledged(&mut self, tell: &mut dyn FnMut(u64));
}

/// The writers' end.
#[async_trait]
pub trait Subscriber: Send {
    /// Waits for the next message and fills the empty `batch` with its datapoints.
    ///
    /// # Errors
    /// The carrier is gone, or the message is not one of ours ([`Cause::Data`](crate::Cause::Data)).
    async fn receive(&mut self, batch: &mut Batch) -> Result<Label, Error>;
}
