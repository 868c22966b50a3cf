//! The driver's clients: one for each thread that writes or reads, and a new one for each call of the control plane.
//!
//! A client watches every member of its set over connections and tasks of its own, so that one for each connection would be
//! a load of its own; and its tasks live on the thread that made it, so that one for all threads would not be polled. Its
//! pool has no limit: whoever sends has a connection at once. The control plane's thread does other things between two calls:
//! what its client knew of the servers then, and its connections, may be no more.

use super::{address::Address, error::classify};
use iotbench_core::{Applied, Cause, Error};
use mongodb::{Client, Database, bson::doc, error::ErrorKind};
use std::{
    sync::{Mutex, PoisonError},
    thread::{self, ThreadId},
};

/// How often more than once a new client is waited for as long as for an election, while it connects.
const WAITS: u32 = 4;

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
        let mut waited = 0;
        loop {
            match database.run_command(doc! { "ping": 1 }).await {
                Ok(_) => return Ok(database),
                Err(e) if is_connecting(&e) && waited < WAITS => waited += 1,
                Err(e) => return Err(classify(&e).applied(Applied::No)),
            }
        }
    }

    fn fresh(&self) -> Result<Client, Error> {
        Client::with_options(self.address.options()?).map_err(|e| Error::new(Cause::Client, e))
    }
}

/// Whether a new client has found no server yet because no attempt to connect has ended, well or badly: on a busy machine that takes longer
/// than an election is waited for.
fn is_connecting(error: &mongodb::error::Error) -> bool {
    matches!(&*error.kind, ErrorKind::ServerSelection { message, .. } if !message.contains(FAILED))
}

/// What the driver says of a server which it could not connect to.
const FAILED: &str = "Error: ";

#[cfg(test)]
mod tests {
    use super::*;

    fn selecting(url: &str) -> mongodb::error::Error {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let options = "serverSelectionTimeoutMS=300&connectTimeoutMS=60000";
            let client = Client::with_uri_str(format!("{url}/?{options}")).await.unwrap();
            client.database("d").run_command(doc! { "ping": 1 }).await.unwrap_err()
        })
    }

    #[test]
    fn a_server_that_refuses_is_told_from_one_that_has_not_answered_yet() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let answer = selecting(&format!("mongodb://{}", silent.local_addr().unwrap()));
        assert!(is_connecting(&answer), "{answer}");
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let refused = selecting(&format!("mongodb://{gone}"));
        assert!(!is_connecting(&refused), "{refused}");
    }
}
