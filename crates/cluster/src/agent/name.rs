//! A name is one agent's at a broker: who begins to have it asks who has, and says that it begins.

use crate::{
    ClusterError,
    message::{Question, encode, subject_of},
};
use async_nats::Client;
use bytes::Bytes;
use futures_util::StreamExt;
use std::time::Duration;

/// How long another agent of the same name has to say so.
const ANSWER: Duration = Duration::from_millis(500);

/// Whether another agent has this name, or begins to have it at the same time and comes first by the number that each draws.
pub(super) async fn is_taken(client: &Client, name: &str) -> Result<bool, ClusterError> {
    // An inbox is drawn at random.
    let own = client.new_inbox();
    let mut answers = client.subscribe(own.clone()).await.map_err(ClusterError::lost)?;
    let mut claims = client.subscribe(claims_of(name)).await.map_err(ClusterError::lost)?;
    client.flush().await.map_err(ClusterError::lost)?;
    client.publish_with_reply(claims_of(name), own.clone(), Bytes::new()).await.map_err(ClusterError::lost)?;
    let find = encode(&Question::Find)?;
    client.publish_with_reply(subject_of(name), own.clone(), find.into()).await.map_err(ClusterError::lost)?;
    let until = tokio::time::Instant::now() + ANSWER;
    loop {
        tokio::select! {
            Some(_) = answers.next() => return Ok(true),
            Some(claim) = claims.next() => match claim.reply.filter(|other| other.as_str() != own) {
                Some(other) if other.as_str() < own.as_str() => return Ok(true),
                // Who came a little later has not heard of this one's claim.
                Some(other) => client.publish(other, Bytes::new()).await.map_err(ClusterError::lost)?,
                None => {}
            },
            () = tokio::time::sleep_until(until) => return Ok(false),
        }
    }
}

/// Where those who begin to have a name say so.
fn claims_of(name: &str) -> String {
    format!("iotbench.claim.{name}")
}
