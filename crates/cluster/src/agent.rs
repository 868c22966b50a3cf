//! An agent: is there for whoever coordinates a run, one run at a time, and makes its part of the load.

mod name;
mod orders;
mod servers;

use crate::{
    Allowed, Broker, ClusterError, Trust,
    agent_selector::check_name,
    lease::Lease,
    message::{Answer, FIND, Offer, Part, PartNews, Report, Seen, encode, subject_of},
    sampling::Sampling,
    serving::Serving,
    sessions::Sessions,
    work::{News, Work},
};
use async_nats::{Client, Message, PublishError, PublishErrorKind, RequestErrorKind, Subject, connection::State};
use bytes::Bytes;
use futures_util::StreamExt;
use iotbench_core::{Backend, Registry};
use iotbench_engine::{Planned, Told};
use std::{
    collections::VecDeque,
    future::Future,
    net::Ipv4Addr,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

/// A coordinator that is not heard of for so long is gone.
pub const LEASE: Duration = Duration::from_secs(5);
/// How often the agent looks after its lease, and repeats what was not received.
const LOOK: Duration = Duration::from_millis(500);
/// What was not received after so long is repeated.
const REPEAT: Duration = Duration::from_secs(1);
/// Reports that wait to be received; a run whose coordinator cannot take them has lost this agent.
const MAX_WAITING: usize = 4096;
/// How long the broker has to say that a coordinator is gone.
const PROOF: Duration = Duration::from_secs(5);

/// An agent between its messages.
struct Agent<'a> {
    client: Client,
    name: String,
    backends: &'static [&'static dyn Backend],
    say: &'a dyn Fn(&str),
    /// Time 0 of the agent's clock.
    epoch: Instant,
    hold: Lease,
    part: Option<AtWork>,
    sampling: Option<Sampling>,
    serving: Option<Serving>,
    /// Where other machines reach the servers that it starts.
    listen: Option<Ipv4Addr>,
    offers: Vec<Offer>,
    /// Whose orders it takes.
    trust: Trust,
    /// What they may have it open.
    allowed: Allowed,
    sessions: Sessions,
    /// How much it did not do.
    refused: u64,
    /// From the threads of its parts.
    news: mpsc::Sender<News>,
}

/// The part that it makes.
struct AtWork {
    run: String,
    work: Work,
    reports: String,
    /// Where its coordinator hears.
    alive: String,
    next: u64,
    waiting: VecDeque<Waiting>,
}

/// A report that is not known to be received.
struct Waiting {
    number: u64,
    bytes: Bytes,
    sent: Instant,
}

/// What an agent is.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Its name.
    pub name: String,
    /// What it does for runs.
    pub offers: Vec<Offer>,
    /// Where other machines reach the servers that it starts; `None`: they do not.
    pub listen: Option<Ipv4Addr>,
    /// The coordinators whose orders it takes.
    pub trust: Trust,
    /// What these may have it open.
    pub allowed: Allowed,
}

/// Why an agent ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody wants it to; a run that it makes a part of goes on without it.
    Wanted,
    /// Whoever started it for a run is gone.
    CoordinatorGone,
}

/// Serves runs with what it offers until `stop`, and tells `say` what whoever watches the agent wants to know.
///
/// # Errors
/// The broker refuses what an agent needs, or another agent has its name.
pub async fn serve(
    broker: &Broker,
    options: &AgentOptions,
    backends: &'static [&'static dyn Backend],
    say: &dyn Fn(&str),
    stop: impl Future<Output = Stop>,
) -> Result<(), ClusterError> {
    let name = options.name.as_str();
    check_name(name)?;
    let client = broker.connect(&format!("iotbench agent {name}")).await?;
    let mut found = client.subscribe(FIND).await.map_err(ClusterError::lost)?;
    let mut asked = client.subscribe(subject_of(name)).await.map_err(ClusterError::lost)?;
    if name::is_taken(&client, name).await? {
        return Err(ClusterError::Taken(name.into()));
    }
    say(&format!("agent {name} at {}", broker.shown()));
    let (sender, mut news) = mpsc::channel(64);
    let (epoch, hold) = (Instant::now(), Lease::new(lease_ns()));
    let mut agent = Agent {
        client,
        name: name.into(),
        backends,
        say,
        epoch,
        hold,
        part: None,
        sampling: None,
        serving: None,
        listen: options.listen,
        offers: options.offers.clone(),
        trust: options.trust.clone(),
        allowed: options.allowed.clone(),
        sessions: Sessions::default(),
        refused: 0,
        news: sender,
    };
    let mut look = tokio::time::interval(LOOK);
    tokio::pin!(stop);
    let stopped = loop {
        tokio::select! {
            Some(message) = found.next() => agent.hear(message).await?,
            Some(message) = asked.next() => agent.hear(message).await?,
            Some(news) = news.recv() => agent.report(news).await?,
            _ = look.tick() => agent.look().await?,
            stopped = &mut stop => break stopped,
        }
    };
    if let Some(part) = agent.part.take() {
        let thread = match stopped {
            Stop::Wanted => part.work.give_up(),
            Stop::CoordinatorGone => {
                let (tell, is_gone) = oneshot::channel();
                let _ = tell.send(true);
                part.work.abandon(is_gone)
            }
        };
        while !thread.is_finished() {
            tokio::select! {
                Some(News::Said(said)) = news.recv() => say(&said),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }
    Ok(())
}

/// Whether the broker says that nobody hears on this subject: whoever did is gone. Silence says nothing: an agent that was
/// stalled, or is cut off itself, knows nothing of its coordinator.
async fn nobody_hears(client: &Client, subject: String) -> bool {
    let asked = tokio::time::timeout(PROOF, client.request(subject, Bytes::new())).await;
    matches!(asked, Ok(Err(error)) if error.kind() == RequestErrorKind::NoResponders)
}

/// Says something, without waiting long for a broker that is away or stands still: meanwhile the agent would see neither that its
/// lease has ended nor that it is to end. Reports are repeated, and who misses an answer asks again.
async fn publish(client: &Client, subject: Subject, bytes: Bytes) -> Result<(), PublishError> {
    tokio::time::timeout(LOOK, client.publish(subject, bytes)).await.unwrap_or(Ok(()))
}

impl Agent<'_> {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Begins a part; the answer follows when its connections are open.
    fn connect(&mut self, part: Part, now_ns: u64, message: &Message) -> Option<Answer> {
        if !self.hold.renew(&part.run, now_ns) {
            return Some(not_ours(&part.run));
        }
        let Part { run, reports, alive, drops, reading, .. } = part.clone();
        let devices = part.head.plan.devices.clone();
        let backend = match Registry::new(self.backends).find(&part.head.plan.backend) {
            Ok(backend) => backend,
            Err(error) => return Some(Answer::Failed { why: error.to_string() }),
        };
        if let Err(why) = self.allowed.check_part(&part, backend) {
            return Some(self.refuse(why));
        }
        let (answer, connected) = oneshot::channel();
        let plan = move || planned(part);
        let work = match Work::begin(&run, plan, (backend, reading), drops, self.news.clone(), answer) {
            Ok(work) => work,
            Err(error) => return Some(Answer::Failed { why: error.to_string() }),
        };
        (self.say)(&format!("run {run}: devices {} to {}", devices.start, devices.end.saturating_sub(1)));
        self.part = Some(AtWork { run, work, reports, alive, next: 0, waiting: VecDeque::new() });
        self.answer_later(message, async move {
            match connected.await {
                Ok(Ok(())) => Answer::Done,
                Ok(Err(why)) => Answer::Failed { why },
                Err(_) => Answer::Failed { why: "its thread ended by a fault of iotbench".into() },
            }
        });
        None
    }

    fn answer_later(&self, message: &Message, answer: impl Future<Output = Answer> + Send + 'static) {
        let (client, reply) = (self.client.clone(), message.reply.clone());
        tokio::spawn(async move {
            if let (Some(reply), Ok(bytes)) = (reply, encode(&answer.await)) {
                // Whoever asked waits no longer than it wants.
                let _ = client.publish(reply, bytes.into()).await;
            }
        });
    }

    async fn report(&mut self, news: News) -> Result<(), ClusterError> {
        let (run, told) = match news {
            News::Told(run, told) => (run, told),
            News::Seen(seen) => return self.tell_seen(&seen).await,
            News::Said(said) => {
                (self.say)(&said);
                return Ok(());
            }
        };
        let Some(part) = self.part.as_mut().filter(|part| part.run == run) else { return Ok(()) };
        for told in told.in_pieces() {
            let bytes = part.number(told)?;
            match publish(&self.client, part.reports.clone().into(), bytes).await {
                Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                    return self.give_up("a report is longer than the broker's max_payload").await;
                }
                Err(error) if error.kind() == PublishErrorKind::InvalidSubject => {
                    return self.give_up("its reports have no subject").await;
                }
                sent => sent.map_err(ClusterError::lost)?,
            }
        }
        if part.waiting.len() > MAX_WAITING {
            return self.give_up("its coordinator takes no reports").await;
        }
        Ok(())
    }

    /// Ends its part, and says why to whom it concerns.
    async fn give_up(&mut self, why: &str) -> Result<(), ClusterError> {
        let Some(AtWork { run, reports, .. }) = self.part.take() else { return Ok(()) };
        (self.say)(&format!("run {run}: ended, because {why}"));
        let report = Report { run, news: PartNews::GivenUp { why: why.into() } };
        self.send(reports.into(), encode(&report)?).await
    }

    async fn tell_seen(&mut self, seen: &Seen) -> Result<(), ClusterError> {
        let Some(sampling) = self.sampling.as_ref().filter(|sampling| sampling.run == seen.run) else { return Ok(()) };
        self.send(sampling.reports.clone().into(), encode(seen)?).await
    }

    /// Ends what nobody wants any more, and repeats what was not received.
    async fn look(&mut self) -> Result<(), ClusterError> {
        let now_ns = self.now_ns();
        if let Some(serving) = self.serving.take_if(|serving| serving.hold.take_expired(now_ns).is_some()) {
            (self.say)("its server is stopped: whoever wanted it is gone");
            drop(serving.stop());
        }
        let expired = self.hold.take_expired(self.now_ns());
        self.sampling = self.sampling.take().filter(|sampling| expired.as_ref() != Some(&sampling.run));
        if let Some(run) = expired
            && let Some(part) = self.part.take_if(|part| part.run == run)
        {
            let is_connected = self.client.connection_state() == State::Connected;
            let whom = if is_connected { "its coordinator" } else { "the broker" };
            (self.say)(&format!("run {run}: ended, because nothing is heard of {whom}"));
            let (tell, is_gone) = oneshot::channel();
            let client = self.client.clone();
            tokio::spawn(async move {
                let _ = tell.send(nobody_hears(&client, part.alive).await);
            });
            drop(part.work.abandon(is_gone));
        }
        let Some(part) = self.part.as_mut().filter(|_| self.client.connection_state() == State::Connected) else {
            return Ok(());
        };
        for report in part.waiting.iter_mut().filter(|report| report.sent.elapsed() >= REPEAT) {
            report.sent = Instant::now();
            let sent = publish(&self.client, part.reports.clone().into(), report.bytes.clone()).await;
            sent.map_err(ClusterError::lost)?;
        }
        Ok(())
    }
}

impl AtWork {
    /// A report with the next number, kept until it is received.
    fn number(&mut self, told: Told) -> Result<Bytes, ClusterError> {
        let number = self.next;
        self.next += 1;
        let bytes = Bytes::from(encode(&Report { run: self.run.clone(), news: PartNews::Told { number, told } })?);
        self.waiting.push_back(Waiting { number, bytes: bytes.clone(), sent: Instant::now() });
        Ok(bytes)
    }
}

fn planned(part: Part) -> Result<Planned, String> {
    let target = part.target()?;
    part.head.planned(target).map_err(|e| e.to_string())
}

fn lease_ns() -> u64 {
    u64::try_from(LEASE.as_nanos()).unwrap_or(u64::MAX)
}

fn not_ours(run: &str) -> Answer {
    Answer::Failed { why: format!("it is not held for the run {run}") }
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
