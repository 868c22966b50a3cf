//! The driver's clients: one for each thread that writes or reads, and a new one for each call of the control plane.
//!
//! A client watches every member of its set over connections and tasks of its own, so that one for each connection would be
//! a load of its own; and its tasks live on the thread that made it, so that one for all threads would not be polled. Its
//! pool has no limit: whoever sends has a connection at once. The control plane's thread does other things between two calls:
//! what its client knew of the servers then, and its connections, may be no more.

use super::{address::Address, error::classify};
use iotbench_core::{Applied, Cause, Error};
use mongodb::{Client, Database, bson::doc};
use std::{
    sync::{Mutex, PoisonError},
    thread::{self, ThreadId},
};

/// The clients of one database.
#[derive(Debug)]
pub(crate) struct Clients {
    address: Address,
    by_thread: Mutex<Vec<(ThreadId, Client)>>,
}

impl Clients {
    pub(crate) fn new(address: Address) -> Self {
        Self { address, by_thread: Mutex::default() }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// The present thread's client.
    fn client(&self) -> Result<Client, Error> {
        let mut by_thread = self.by_thread.lock().unwrap_or_else(PoisonError::into_inner);
        let present = thread::current().id();
        if let Some((_, client)) = by_thread.iter().find(|(thread, _)| *thread == present) {
            return Ok(client.clone());
        }
        let client = self.fresh()?;
        by_thread.push((present, client.clone()));
        Ok(client)
    }

    /// Our database by the present thread's client, once its server has answered.
    pub(crate) async fn database(&self) -> Result<Database, Error> {
        self.answering(&self.client()?).await
    }

    /// Our database for one call of the control plane, once its server has answered.
    pub(crate) async fn control(&self) -> Result<Database, Error> {
        self.answering(&self.fresh()?).await
    }

    async fn answering(&self, client: &Client) -> Result<Database, Error> {
        let database = client.database(self.address.database.as_str());
        database.run_command(doc! { "ping": 1 }).await.map_err(|e| classify(&e).applied(Applied::No))?;
        Ok(database)
    }

    fn fresh(&self) -> Result<Client, Error> {
        Client::with_options(self.address.options()?).map_err(|e| Error::new(Cause::Client, e))
    }
}
