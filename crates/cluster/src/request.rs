//! What a coordinator asks of one agent, and how it waits for the answer.

use crate::{
    ClusterError,
    clock::{Offset, RoundTrip},
    message::{Answer, Question, Request, decode, encode, subject_of},
    peer::Peer,
};
use async_nats::Client;
use futures_util::future::try_join_all;
use std::time::{Duration, Instant};

/// How long an agent may take for an answer.
pub(crate) const ANSWER: Duration = Duration::from_secs(2);
/// How often orders are repeated: agents hear of the coordinator so.
pub(crate) const REPEAT: Duration = Duration::from_millis(250);
/// Round trips that tell an agent's clock.
pub(crate) const ROUND_TRIPS: usize = 16;

pub(crate) async fn hold(peers: &[Peer], run: &str) -> Result<(), ClusterError> {
    let hold = Request::Hold { run: run.into() };
    let held = peers.iter().map(|peer| peer.done(&hold, ANSWER));
    try_join_all(held).await.map(drop)
}

/// Goes on holding agents that are busy; ends with an error alone.
pub(crate) async fn keep_holding(peers: &[Peer], run: &str) -> ClusterError {
    loop {
        tokio::time::sleep(REPEAT).await;
        if let Err(error) = hold(peers, run).await {
            return error;
        }
    }
}

pub(crate) async fn release(client: &Client, peers: &[Peer], run: &str) -> Result<(), ClusterError> {
    let released = async {
        for peer in peers {
            peer.tell(&Request::Release { run: run.into() }).await?;
        }
        client.flush().await.map_err(ClusterError::lost)
    };
    // A broker that is gone takes nothing: then leases end by themselves.
    tokio::time::timeout(ANSWER, released).await.unwrap_or(Ok(()))
}

pub(crate) async fn offset(client: Client, epoch: Instant, name: String) -> Result<Offset, ClusterError> {
    let mut trips = Vec::new();
    for _ in 0..ROUND_TRIPS {
        let sent_ns = signed(epoch.elapsed());
        let answer = question(&client, &name, Question::Time).await?;
        let back_ns = signed(epoch.elapsed());
        if let Answer::Time { came_ns, answered_ns } = answer {
            trips.push(RoundTrip { sent_ns, came_ns, answered_ns, back_ns });
        }
    }
    Offset::of(&trips).map_err(|e| ClusterError::Agent { agent: name, why: e.to_string() })
}

/// What anybody may ask.
pub(crate) async fn question(client: &Client, name: &str, question: Question) -> Result<Answer, ClusterError> {
    send(client, name, encode(&question)?, ANSWER).await
}

/// Sends a message to an agent, and waits for its answer.
pub(crate) async fn send(
    client: &Client,
    name: &str,
    bytes: Vec<u8>,
    within: Duration,
) -> Result<Answer, ClusterError> {
    let asked = client.request(subject_of(name), bytes.into());
    let failed = |why: String| ClusterError::Agent { agent: name.into(), why };
    let message = tokio::time::timeout(within, asked).await;
    let message = message.map_err(|_| failed(format!("no answer within {} s", within.as_secs_f64())))?;
    Ok(decode(&message.map_err(|e| failed(e.to_string()))?.payload)?)
}

/// A time since the coordinator's time 0, as agents' clocks are told.
pub(crate) fn signed(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
