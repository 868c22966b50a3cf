//! Messages on their way to a collector, one after the other, on a thread of their own.
//! <https://opentelemetry.io/docs/specs/otlp/#otlphttp>

use super::{collector::OtlpCollector, message::Message};
use async_channel::Receiver;
use hyper::{StatusCode, body::Bytes};
use iotbench_backend_kit::http::{Connection, Content, error::retry_after, limits::MAX_REFUSAL_BYTES};
use iotbench_core::{Cause, Error};
use serde::Deserialize;
use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::sleep};

/// An answer that takes longer does not come: OpenTelemetry's own default.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what still waits may take once the command has ended.
pub(super) const LAST: Duration = Duration::from_secs(5);
/// The first pause before a message is sent again, doubled from one to the next up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);
const JSON: Content = Content { media_type: Some("application/json"), gzip: false };

/// What became of the messages, each of which has the figures of a second or the result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpDelivered {
    /// Those that the collector took.
    pub taken: u64,
    /// Those that it refused, or that waited too long.
    pub dropped: u64,
    /// Figures that it refused in messages that it took.
    pub refused_figures: u64,
    /// What went wrong last; never holds a secret, nor what the collector wrote.
    pub failure: Option<String>,
}

pub(super) type Counts = Arc<Mutex<OtlpDelivered>>;
/// Told once, when something goes wrong first.
pub(super) type Warn = Box<dyn Fn(&str) + Send>;

pub(super) fn count(counts: &Counts, change: impl FnOnce(&mut OtlpDelivered)) {
    change(&mut counts.lock().unwrap_or_else(PoisonError::into_inner));
}

pub(super) struct Delivery {
    pub(super) collector: OtlpCollector,
    pub(super) counts: Counts,
    pub(super) warn: Warn,
    /// `None`: there is none, or it was left in the middle of an answer.
    connection: Option<Connection>,
    has_warned: bool,
}

/// What came of sending a message once.
enum Attempt {
    Taken {
        refused_figures: u64,
    },
    /// It may be taken later, not before this time where the collector says so.
    Later {
        why: String,
        after: Option<Duration>,
    },
    Refused {
        why: String,
    },
}

impl Delivery {
    pub(super) fn new(collector: OtlpCollector, counts: Counts, warn: Warn) -> Self {
        Self { collector, counts, warn, connection: None, has_warned: false }
    }

    /// Sends what comes, in order, until no more can come or the time after the end is over. What is left is dropped.
    pub(super) async fn run(mut self, messages: Receiver<Message>, mut ended: watch::Receiver<bool>) {
        let mut end = pin!(async move {
            // Who is gone has ended too.
            let _ = ended.wait_for(|ended| *ended).await;
            sleep(LAST).await;
        });
        while let Ok(message) = messages.recv().await {
            tokio::select! {
                () = self.deliver(&message) => {}
                () = &mut end => {
                    count(&self.counts, |counts| {
                        counts.dropped += 1;
                        counts.failure.get_or_insert_with(|| "it had not answered when the command ended".to_owned());
                    });
                    break;
                }
            }
        }
        let left = std::iter::from_fn(|| messages.try_recv().ok()).count();
        count(&self.counts, |counts| counts.dropped += left as u64);
    }

    /// Sends a message until it is taken or refused: what is newer waits meanwhile, in a bounded queue.
    async fn deliver(&mut self, message: &Message) {
        let body = Bytes::from(message.body());
        let mut pause = FIRST_PAUSE;
        loop {
            let attempt = tokio::time::timeout(PATIENCE, self.attempt(body.clone())).await;
            let late = || Attempt::Later { why: format!("no answer within {} s", PATIENCE.as_secs()), after: None };
            match attempt.unwrap_or_else(|_| late()) {
                Attempt::Taken { refused_figures } => {
                    count(&self.counts, |counts| {
                        counts.taken += 1;
                        counts.refused_figures += refused_figures;
                    });
                    if refused_figures > 0 {
                        self.failed(format!("it refuses {refused_figures} figures"));
                    }
                    return;
                }
                Attempt::Refused { why } => {
                    count(&self.counts, |counts| counts.dropped += 1);
                    return self.failed(why);
                }
                Attempt::Later { why, after } => {
                    self.failed(why);
                    // Several that were refused together do not come back together.
                    let jitter = pause.mul_f64(0.5 + fastrand::f64());
                    sleep(after.unwrap_or(jitter)).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn failed(&mut self, why: String) {
        if !self.has_warned {
            (self.warn)(&format!("{}: {why}; the run goes on, and what is dropped is told at its end", self.collector));
            self.has_warned = true;
        }
        count(&self.counts, |counts| counts.failure = Some(why));
    }

    async fn attempt(&mut self, body: Bytes) -> Attempt {
        match self.exchange(body).await {
            Ok(attempt) => attempt,
            Err(error) if matches!(error.cause, Cause::Tls | Cause::Client | Cause::Protocol) => {
                Attempt::Refused { why: error.message }
            }
            Err(error) => Attempt::Later { why: error.message, after: None },
        }
    }

    async fn exchange(&mut self, body: Bytes) -> Result<Attempt, Error> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.collector.server.connect().await?,
        };
        let (head, body) = connection.post(&self.collector.path, JSON, body).await?.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        // What it writes may repeat what lets us in: it is not shown.
        let why = format!("it answers {}", head.status);
        Ok(match head.status {
            status if status.is_success() => Attempt::Taken { refused_figures: refused_figures(&text) },
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Attempt::Later { why, after: retry_after(&head.headers) },
            _ => Attempt::Refused { why },
        })
    }
}

/// Figures that a collector did not take of a message that it took; 64-bit integers are texts, or numbers.
fn refused_figures(answer: &[u8]) -> u64 {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Answer {
        partial_success: PartialSuccess,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct PartialSuccess {
        rejected_data_points: serde_json::Value,
    }
    let answer: Answer = serde_json::from_slice(answer).unwrap_or_default();
    let refused = answer.partial_success.rejected_data_points;
    refused.as_u64().or_else(|| refused.as_str()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_collector_took_in_part_is_read_in_either_form() {
        for (answer, refused) in [
            (r#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"x"}}"#, 3),
            (r#"{"partialSuccess":{"rejectedDataPoints":4}}"#, 4),
            (r#"{"partialSuccess":{}}"#, 0),
            ("{}", 0),
            ("", 0),
            ("<html>", 0),
        ] {
            assert_eq!(refused_figures(answer.as_bytes()), refused, "{answer}");
        }
    }
}
