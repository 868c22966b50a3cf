//! The coordinator's side of remote sampling: agents beside a database tell what they see of it.

use crate::{
    Broker, ClusterError, SigningKey,
    agent::LEASE,
    agent_selector::check_name,
    clock::Clocks,
    fleet::runtime,
    message::{Answer, Question, Request, Seen, Sight, decode},
    peer::{Peer, unexpected},
    request::{ANSWER, REPEAT, hold, offset, question, release, signed},
    subject::What,
};
use async_nats::{Client, Message, Subscriber};
use futures_util::{StreamExt, future::try_join_all};
use iotbench_core::Error;
use iotbench_engine::{RemoteSamplers, RemoteSampling};
use iotbench_sampler::RemoteProbe;
use std::{
    fmt,
    str::FromStr,
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// What one agent is to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The agent's name.
    pub agent: String,
    /// What runs beside it.
    pub what: What,
}

impl fmt::Display for Wish {
    /// As it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.agent, self.what)
    }
}

impl FromStr for Wish {
    type Err = String;

    /// `db1:postgres`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (agent, what) = text.split_once(':').filter(|(_, what)| !what.is_empty()).ok_or_else(|| {
            format!(
                "{text:?} is not AGENT:WHAT, such as db1:postgres, db1:4711, db1:/run/db.pid, db1:db.service, db1:host"
            )
        })?;
        check_name(agent).map_err(|e| e.to_string())?;
        let Ok(what) = what.parse();
        Ok(Self { agent: agent.into(), what })
    }
}

/// The agents that sample for runs.
#[derive(Debug)]
pub struct Observers {
    broker: Broker,
    key: SigningKey,
    wishes: Vec<Wish>,
}

impl Observers {
    /// Agents at this broker that trust this key.
    #[must_use]
    pub fn new(broker: Broker, key: SigningKey, wishes: Vec<Wish>) -> Self {
        Self { broker, key, wishes }
    }

    /// What is to be sampled.
    #[must_use]
    pub fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// What each wish was found to be. Blocks.
    ///
    /// # Errors
    /// The broker or an agent is not reached, or there is not one such thing.
    pub fn check(&self) -> Result<Vec<String>, ClusterError> {
        runtime()?.block_on(async {
            let client = self.broker.connect("iotbench coordinator").await?;
            let mut all = Vec::new();
            for Wish { agent, what } in &self.wishes {
                if let Answer::Here { held_by: Some(by), .. } = question(&client, agent, Question::Find).await? {
                    return Err(ClusterError::Held { agent: agent.clone(), by });
                }
                let peer = Peer::greet(&client, &self.key, agent).await?;
                match peer.ask(&Request::Resolve { what: what.clone() }, ANSWER).await? {
                    Answer::Found { what } => all.push(format!("{agent} samples {what}")),
                    other => return Err(unexpected(agent.clone(), &other)),
                }
            }
            Ok(all)
        })
    }
}

impl RemoteSamplers for Observers {
    fn connect(&self, run: &str, first_node: u32) -> Result<Box<dyn RemoteSampling>, Error> {
        let failed = |e: ClusterError| Error::new(e.cause(), e.to_string());
        let runtime = runtime().map_err(failed)?;
        let watch = runtime.block_on(Watch::open(self, run, first_node)).map_err(failed)?;
        let told = watch.subjects.iter().map(|subject| subject.told.clone()).collect();
        let (start, started) = mpsc::channel(1);
        let thread = std::thread::Builder::new().name("observers".into());
        let thread = thread.spawn(move || runtime.block_on(watch.keep(started)));
        let thread = thread.map_err(|e| failed(ClusterError::lost(format!("cannot start a thread: {e}"))))?;
        Ok(Box::new(UnderWay { start, told, thread }))
    }
}

/// Sampling for a run.
struct UnderWay {
    /// Dropped, it ends.
    start: mpsc::Sender<Instant>,
    told: Vec<RemoteProbe>,
    thread: JoinHandle<Vec<String>>,
}

impl RemoteSampling for UnderWay {
    fn subjects(&self) -> Vec<RemoteProbe> {
        self.told.clone()
    }

    fn start(&self, epoch: Instant) {
        // A thread that has ended by a fault says so at the end.
        let _ = self.start.try_send(epoch);
    }

    fn end(self: Box<Self>) -> Vec<String> {
        drop(self.start);
        self.thread.join().unwrap_or_else(|_| vec!["sampling elsewhere ended by a fault of iotbench".into()])
    }
}

/// The agents that sample for one run, from its coordinator's side.
struct Watch {
    client: Client,
    run: String,
    /// Time 0 of the coordinator's clock.
    epoch: Instant,
    inbox: String,
    /// One stream of all that is seen: the last part of the subject is the agent's place.
    reports: Subscriber,
    observers: Vec<Observer>,
    /// The way to each of them.
    peers: Vec<Peer>,
    subjects: Vec<Watched>,
}

/// An agent of them.
struct Observer {
    agent: String,
    clocks: Clocks,
    heard: Instant,
    lost: Option<String>,
}

/// What one of them samples.
struct Watched {
    /// The place of its agent.
    observer: usize,
    what: What,
    node: u32,
    told: RemoteProbe,
}

impl Watch {
    async fn open(observers: &Observers, run: &str, first_node: u32) -> Result<Self, ClusterError> {
        let client = observers.broker.connect("iotbench coordinator").await?;
        let mut names: Vec<String> = Vec::new();
        let mut subjects = Vec::new();
        for (Wish { agent, what }, node) in observers.wishes.iter().zip(first_node..) {
            let observer = names.iter().position(|name| name == agent).unwrap_or_else(|| {
                names.push(agent.clone());
                names.len() - 1
            });
            subjects.push(Watched { observer, what: what.clone(), node, told: RemoteProbe::default() });
        }
        let (epoch, inbox) = (Instant::now(), client.new_inbox());
        let reports = client.subscribe(format!("{inbox}.*")).await.map_err(ClusterError::lost)?;
        let peers = try_join_all(names.iter().map(|agent| Peer::greet(&client, &observers.key, agent))).await?;
        let offsets = async {
            hold(&peers, run).await?;
            try_join_all(names.iter().map(|agent| offset(client.clone(), epoch, agent.clone()))).await
        };
        let offsets = match offsets.await {
            Ok(offsets) => offsets,
            Err(error) => {
                release(&client, &peers, run).await?;
                return Err(error);
            }
        };
        let observer =
            |(agent, offset)| Observer { agent, clocks: Clocks::new(offset), heard: Instant::now(), lost: None };
        let all = names.into_iter().zip(offsets).map(observer).collect();
        Ok(Self { client, run: run.into(), epoch, inbox, reports, observers: all, peers, subjects })
    }

    /// Puts down what is seen from the run's start on, until nobody wants it any more; what there is to say of it then.
    async fn keep(mut self, mut start: mpsc::Receiver<Instant>) -> Vec<String> {
        let mut look = tokio::time::interval(REPEAT);
        let mut has_started = false;
        loop {
            tokio::select! {
                epoch = start.recv() => match epoch {
                    Some(epoch) => {
                        self.begin(epoch).await;
                        has_started = true;
                    }
                    None => break,
                },
                Some(message) = self.reports.next() => self.take(&message),
                _ = look.tick() => self.look(has_started).await,
            }
        }
        self.end().await
    }

    async fn begin(&mut self, epoch: Instant) {
        let start_ns = signed(epoch.saturating_duration_since(self.epoch));
        for place in 0..self.observers.len() {
            let Some(observer) = self.observers.get(place) else { continue };
            let own = self.subjects.iter().filter(|subject| subject.observer == place);
            let sample = Request::Sample {
                run: self.run.clone(),
                subjects: own.map(|subject| subject.what.clone()).collect(),
                at_ns: observer.clocks.agents_ns(start_ns),
                reports: format!("{}.{place}", self.inbox),
            };
            match self.peers[place].done(&sample, ANSWER).await {
                Ok(()) => self.observers[place].heard = Instant::now(),
                Err(error) => self.lose(place, error.to_string()),
            }
        }
    }

    fn take(&mut self, message: &Message) {
        let place = message.subject.rsplit('.').next().and_then(|place| place.parse::<usize>().ok());
        let Some((place, observer)) = place.and_then(|place| Some((place, self.observers.get_mut(place)?))) else {
            return;
        };
        let Ok(seen) = decode::<Seen>(&message.payload) else { return };
        if seen.run != self.run || observer.lost.is_some() {
            return;
        }
        observer.heard = Instant::now();
        let own = self.subjects.iter().filter(|subject| subject.observer == place);
        for (subject, sight) in own.zip(seen.subjects) {
            match sight {
                Sight::Sampled(sample, method) => subject.told.tell(sample, method),
                Sight::Gone => subject.told.tell_gone(),
                Sight::Unreadable => {}
            }
        }
    }

    /// Goes on holding the agents, and gives up those that are silent.
    async fn look(&mut self, has_started: bool) {
        let hold = Request::Hold { run: self.run.clone() };
        for place in 0..self.observers.len() {
            let Some(observer) = self.observers.get(place).filter(|observer| observer.lost.is_none()) else { continue };
            let silent = observer.heard.elapsed();
            if has_started && silent >= LEASE {
                self.lose(place, format!("nothing was heard of it for {:.1} s", silent.as_secs_f64()));
            } else {
                // A broker that is away comes back, or the agent is silent.
                let _ = self.peers[place].tell(&hold).await;
            }
        }
    }

    fn lose(&mut self, place: usize, why: String) {
        let Some(observer) = self.observers.get_mut(place) else { return };
        for subject in self.subjects.iter().filter(|subject| subject.observer == place) {
            subject.told.lose(&format!("the agent {} was lost: {why}", observer.agent));
        }
        observer.lost = Some(why);
    }

    /// Looks at the clocks once more, gives the agents back, and says who sampled what.
    async fn end(mut self) -> Vec<String> {
        for observer in self.observers.iter_mut().filter(|observer| observer.lost.is_none()) {
            if let Ok(offset) = offset(self.client.clone(), self.epoch, observer.agent.clone()).await {
                observer.clocks.note(offset);
            }
        }
        // Without the broker leases end by themselves.
        let _ = release(&self.client, &self.peers, &self.run).await;
        let remark = |Watched { observer, what, node, .. }: &Watched| {
            let Observer { agent, clocks, lost, .. } = self.observers.get(*observer)?;
            let clock = Duration::from_nanos(clocks.uncertainty_ns());
            let lost = lost.as_ref().map(|why| format!("; the agent was lost, and its figures end there: {why}"));
            let lost = lost.unwrap_or_default();
            Some(format!(
                "server {node} is {agent}:{what}, sampled by that agent, its clock known to ± {clock:.1?}{lost}"
            ))
        };
        self.subjects.iter().filter_map(remark).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_names_an_agent_and_what_runs_beside_it() {
        let wish: Wish = "db1:/run/db.pid".parse().unwrap();
        assert_eq!(wish, Wish { agent: "db1".into(), what: What::PidFile("/run/db.pid".into()) });
        for wrong in ["db1", "db1:", ":4711", "a b:4711"] {
            assert!(wrong.parse::<Wish>().is_err(), "{wrong}");
        }
        assert!("db1".parse::<Wish>().unwrap_err().contains("db1:postgres"));
    }
}
