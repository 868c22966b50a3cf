//! A coordinator's end of its conversation with one agent: what it orders is signed, numbered, and for that agent alone.

use crate::{
    ClusterError,
    key::SigningKey,
    message::{Answer, Question, Request, subject_of},
    request::{question, send},
    signed::{Order, seal},
};
use async_nats::Client;
use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// An agent that takes orders in a session of its own.
pub(crate) struct Peer {
    pub(crate) name: String,
    client: Client,
    key: SigningKey,
    session: String,
    next: AtomicU64,
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Peer {
    /// Has an agent begin a session for this coordinator.
    pub(crate) async fn greet(client: &Client, key: &SigningKey, name: &str) -> Result<Self, ClusterError> {
        let (name, next) = (name.to_owned(), AtomicU64::new(0));
        match question(client, &name, Question::Greet).await? {
            Answer::Session { name: session } => {
                Ok(Self { name, client: client.clone(), key: key.clone(), session, next })
            }
            Answer::Failed { why } => Err(ClusterError::Agent { agent: name, why }),
            other => Err(unexpected(name, &other)),
        }
    }

    /// Orders something, and gives the answer.
    pub(crate) async fn ask(&self, request: &Request, within: Duration) -> Result<Answer, ClusterError> {
        match send(&self.client, &self.name, self.sealed(request)?, within).await? {
            Answer::Held { by } => Err(ClusterError::Held { agent: self.name.clone(), by }),
            Answer::Failed { why } => Err(ClusterError::Agent { agent: self.name.clone(), why }),
            Answer::Refused { why } => Err(ClusterError::Refused { agent: self.name.clone(), why }),
            answer => Ok(answer),
        }
    }

    /// Orders something that is done at once.
    pub(crate) async fn done(&self, request: &Request, within: Duration) -> Result<(), ClusterError> {
        match self.ask(request, within).await? {
            Answer::Done => Ok(()),
            other => Err(unexpected(self.name.clone(), &other)),
        }
    }

    /// Orders something that nobody answers.
    pub(crate) async fn tell(&self, request: &Request) -> Result<(), ClusterError> {
        let sent = self.client.publish(subject_of(&self.name), self.sealed(request)?.into()).await;
        sent.map_err(ClusterError::lost)
    }

    /// The connection keeps the order in which messages are handed to it, and an agent takes no number that is behind another: what
    /// is sealed is handed over at once.
    fn sealed(&self, message: &Request) -> Result<Vec<u8>, ClusterError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let order = Order { to: self.name.clone(), session: self.session.clone(), number, message };
        Ok(seal(&self.key, &order)?)
    }
}

pub(crate) fn unexpected(agent: String, answer: &Answer) -> ClusterError {
    ClusterError::Agent { agent, why: format!("an unexpected answer, {answer:?}") }
}
