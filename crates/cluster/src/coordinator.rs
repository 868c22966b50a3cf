//! The coordinator's side: finds agents, holds them, sets their clocks, and has them make the load of a run.

use crate::{
    ClusterError,
    agent::LEASE,
    clock::{Clocks, Offset},
    key::SigningKey,
    message::{Part, PartNews, Report, Request, decode},
    peer::Peer,
    request::{ANSWER, REPEAT, hold, keep_holding, offset, release, signed},
    roster::{AgentState, Loss, OnLoss, Roster, Then},
    sequence::{Came, Sequence},
};
use async_nats::{Client, Message, Subscriber, connection::State};
use futures_util::{
    StreamExt,
    future::{join_all, try_join_all},
};
use iotbench_core::Endpoint;
use iotbench_engine::{Desk, LedgerHead, NotOurSlice, Orders, PartDesk, Plan, Planned, Progress, ReadTerms, Told};
use std::{
    collections::BTreeMap,
    future::{Future, pending},
    path::absolute,
    pin::Pin,
    time::{Duration, Instant},
};

/// How long it may take to open its connections.
const CONNECTING: Duration = Duration::from_secs(30);
/// How often it is seen whether they have changed.
const LOOK: Duration = Duration::from_millis(20);
/// How often, while the load runs, one agent's clock is looked at.
const CLOCK: Duration = Duration::from_secs(2);

/// An agent at work for a run.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) clocks: Clocks,
    pub(crate) desk: PartDesk,
    reports: Sequence,
    /// How far its threads had come by its reports, by their numbers, until all before those have come.
    progress: BTreeMap<u64, Progress>,
    /// How many reports there are in all, once the last one has come.
    all: Option<u64>,
}

impl Member {
    fn new(name: String, clocks: Clocks, desk: PartDesk) -> Self {
        Self { name, clocks, desk, reports: Sequence::default(), progress: BTreeMap::new(), all: None }
    }

    /// Takes what a report tells that has not come before.
    fn take(&mut self, number: u64, told: Told) -> Result<(), NotOurSlice> {
        self.all = self.all.or(told.is_finished.then_some(number + 1));
        self.progress.insert(number, told.progress());
        self.desk.take(told)?;
        while let Some(first) = self.progress.first_entry().filter(|first| *first.key() < self.reports.next()) {
            self.desk.note(first.remove());
        }
        Ok(())
    }

    /// Whether every report has come: the last one may overtake others.
    fn has_told_all(&self) -> bool {
        self.all.is_some_and(|all| self.reports.has_all(all))
    }
}

/// The agents of a run that is over, with why they were lost.
pub(crate) struct Members(pub(crate) Vec<(Member, Option<String>)>);

/// A look at an agent's clock that is under way.
type Measuring = Pin<Box<dyn Future<Output = (usize, Result<Offset, ClusterError>)> + Send>>;

/// A run's agents, as their coordinator sees them.
pub(crate) struct Coordinator {
    client: Client,
    run: String,
    /// Time 0 of the coordinator's clock.
    epoch: Instant,
    members: Vec<Member>,
    /// The way to each of them.
    peers: Vec<Peer>,
    roster: Roster,
    /// One stream of all reports: the last part of the subject is the agent's place.
    reports: Subscriber,
}

impl Coordinator {
    /// Holds the agents of a run, sets their clocks, and has them open their connections. `drops`: the first of them drops
    /// what the run creates, should its coordinator be gone.
    pub(crate) async fn gather(
        client: Client,
        key: &SigningKey,
        names: Vec<String>,
        planned: &Planned,
        drops: bool,
        desk: &Desk,
    ) -> Result<Self, ClusterError> {
        let (run, reading) = (planned.plan.run_id.clone(), desk.read_terms());
        let plans = planned.plan.parts(u32::try_from(names.len()).unwrap_or(u32::MAX))?;
        let (epoch, inbox) = (Instant::now(), client.new_inbox());
        let reports = client.subscribe(format!("{inbox}.*")).await.map_err(ClusterError::lost)?;
        let peers = try_join_all(names.iter().map(|name| Peer::greet(&client, key, name))).await?;
        let held = hold(&peers, &run).await;
        let connected = async {
            held?;
            let connect = async {
                let offsets = names.iter().map(|name| offset(client.clone(), epoch, name.clone()));
                let offsets = try_join_all(offsets).await?;
                let mut members = Vec::new();
                let mut requests = Vec::new();
                for (place, ((name, plan), offset)) in names.iter().zip(plans).zip(offsets).enumerate() {
                    let desk = desk.part(name, plan.devices.clone());
                    members.push(Member::new(name.clone(), Clocks::new(offset), desk));
                    let part = part(planned, plan, &inbox, place, (drops && place == 0, reading));
                    requests.push(Request::Connect(Box::new(part)));
                }
                let asked = peers.iter().zip(&requests).map(|(peer, part)| peer.done(part, CONNECTING));
                try_join_all(asked).await.map(|_| members)
            };
            tokio::select! {
                connected = connect => connected,
                error = keep_holding(&peers, &run) => Err(error),
            }
        };
        match connected.await {
            Ok(members) => {
                desk.set_parts(members.len());
                let roster = Roster::new(members.len(), lease_ns(), OnLoss::Stop, 0);
                Ok(Self { client, run, epoch, members, peers, roster, reports })
            }
            Err(error) => {
                release(&client, &peers, &run).await?;
                Err(error)
            }
        }
    }

    /// Has the load begun, does what the control thread wants, and takes what is reported until all is told.
    pub(crate) async fn conduct(&mut self, epoch: Instant, on_loss: OnLoss, desk: &Desk) -> Result<(), ClusterError> {
        self.roster = Roster::new(self.members.len(), lease_ns(), on_loss, self.now_ns());
        self.start(epoch, desk).await;
        let (mut last, mut told): (Option<Orders>, _) = (None, Instant::now());
        let mut look = tokio::time::interval(LOOK);
        let (mut measuring, mut measured, mut place): (Option<Measuring>, _, _) = (None, Instant::now(), 0);
        while !self.roster.is_over() {
            let clock = async {
                match measuring.as_mut() {
                    Some(measuring) => measuring.await,
                    None => pending().await,
                }
            };
            tokio::select! {
                Some(message) = self.reports.next() => self.take(&message, desk),
                (place, offset) = clock => {
                    measuring = None;
                    // One that does not answer is noticed by its silence.
                    if let (Ok(offset), Some(member)) = (offset, self.members.get_mut(place)) {
                        member.clocks.note(offset);
                    }
                }
                _ = look.tick() => {
                    while let Some(loss) = self.roster.look(self.now_ns()) {
                        note_loss(&loss, desk);
                    }
                    let orders = desk.orders();
                    // What is published while the broker is away waits for it, and so would we.
                    let is_connected = self.client.connection_state() == State::Connected;
                    if is_connected && (last != Some(orders) || told.elapsed() >= REPEAT) {
                        (last, told) = (Some(orders), Instant::now());
                        self.tell(orders).await?;
                    }
                    if measuring.is_none() && measured.elapsed() >= CLOCK {
                        measured = Instant::now();
                        place = (place + 1) % self.members.len();
                        measuring = self.look_at_clock(place);
                    }
                }
            }
        }
        Ok(())
    }

    fn look_at_clock(&self, place: usize) -> Option<Measuring> {
        let member = self.members.get(place)?;
        let (client, epoch, name) = (self.client.clone(), self.epoch, member.name.clone());
        Some(Box::pin(async move { (place, offset(client, epoch, name).await) }))
    }

    async fn start(&mut self, epoch: Instant, desk: &Desk) {
        let start_ns = signed(epoch.saturating_duration_since(self.epoch));
        // All at once: one that does not answer must not keep the others waiting.
        let run = &self.run;
        let starts = self.members.iter().zip(&self.peers).map(|(member, peer)| async move {
            let start = Request::Start { run: run.clone(), at_ns: member.clocks.agents_ns(start_ns) };
            peer.done(&start, ANSWER).await
        });
        let started = join_all(starts).await;
        for (place, started) in started.into_iter().enumerate() {
            match started {
                Ok(()) => self.roster.hear(place),
                Err(error) => {
                    self.roster.fail(place, &error.to_string()).iter().for_each(|loss| note_loss(loss, desk));
                }
            }
        }
    }

    async fn tell(&self, orders: Orders) -> Result<(), ClusterError> {
        for (member, peer) in self.members.iter().zip(&self.peers) {
            let follow = Request::Follow { run: self.run.clone(), orders, received: member.reports.next() };
            peer.tell(&follow).await?;
        }
        Ok(())
    }

    fn take(&mut self, message: &Message, desk: &Desk) {
        let place = message.subject.rsplit('.').next().and_then(|place| place.parse::<usize>().ok());
        let Some(place) = place else { return };
        take(&mut self.members, &mut self.roster, &self.run, place, &message.payload, desk);
    }

    /// Looks at the clocks once more, and gives the agents back.
    pub(crate) async fn end(&mut self) -> Result<(), ClusterError> {
        let lost: Vec<bool> = self.lost().iter().map(Option::is_some).collect();
        for (member, _) in self.members.iter_mut().zip(lost).filter(|(_, lost)| !lost) {
            if let Ok(offset) = offset(self.client.clone(), self.epoch, member.name.clone()).await {
                member.clocks.note(offset);
            }
        }
        release(&self.client, &self.peers, &self.run).await
    }

    pub(crate) fn into_members(self) -> Members {
        let lost = self.lost();
        Members(self.members.into_iter().zip(lost).collect())
    }

    fn lost(&self) -> Vec<Option<String>> {
        let why = |state: &AgentState| if let AgentState::Lost { why } = state { Some(why.clone()) } else { None };
        self.roster.states().map(why).collect()
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Takes a report of the agent at this place.
fn take(members: &mut [Member], roster: &mut Roster, run: &str, place: usize, payload: &[u8], desk: &Desk) {
    let Some(member) = members.get_mut(place) else { return };
    // What is told of a part that was given up has no place any more: its gap is unknown.
    if matches!(roster.states().nth(place), Some(AgentState::Lost { .. })) {
        return;
    }
    let report = match decode::<Report>(payload) {
        Ok(report) if report.run == run => Ok(report.news),
        Ok(_) => return,
        Err(error) => Err(error.to_string()),
    };
    roster.hear(place);
    let taken = report.and_then(|news| match news {
        PartNews::GivenUp { why } => Err(why),
        PartNews::Told { number, told } => match member.reports.take(number) {
            Came::Again => Ok(()),
            Came::TooFarAhead => Err("its reports have a gap".into()),
            Came::New => member.take(number, told).map_err(|error| error.to_string()),
        },
    });
    match taken {
        Ok(()) if member.has_told_all() => roster.end(place),
        Ok(()) => {}
        Err(why) => roster.fail(place, &why).iter().for_each(|loss| note_loss(loss, desk)),
    }
}

fn note_loss(loss: &Loss, desk: &Desk) {
    match loss.then {
        Then::Stop => desk.stop(),
        Then::GoOn => desk.lose_part(),
    }
}

fn part(planned: &Planned, plan: Plan, inbox: &str, place: usize, (drops, reading): (bool, ReadTerms)) -> Part {
    let target = &planned.open.target;
    let base = absolute(&planned.base).unwrap_or_else(|_| planned.base.clone());
    Part {
        run: plan.run_id.clone(),
        head: LedgerHead { plan, base, endpoints: Vec::new(), kept: false },
        endpoints: target.endpoints.iter().map(Endpoint::expose_text).collect(),
        insecure: target.insecure,
        reports: format!("{inbox}.{place}"),
        // No number: what is said there is nobody's report.
        alive: format!("{inbox}.alive"),
        drops,
        reading,
    }
}

fn lease_ns() -> u64 {
    u64::try_from(LEASE.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Allowed;
    use iotbench_core::{Language, Statement, Target};
    use iotbench_engine::{Expected, OwnStatement, PlanRequest, Question, RequestKind, parse_profile, plan};
    use iotbench_oracle_server::backend::{OracleBackend, target};
    use std::path::Path;

    const PROFILE: &str = r#"
name = "part"
summary = "test"
dataset = { name = "machine" }
[[groups]]
name = "one"
connections = 1
load = { model = "open", rate = 1 }
operations = [{ kind = "write", datapoints = 1 }]
[phases]
duration = "1h"
"#;

    fn planned() -> Planned {
        let request = PlanRequest {
            profile: parse_profile("part.toml", PROFILE).unwrap(),
            profile_file: "part.toml".into(),
            base: Path::new("."),
            run_id: "part".into(),
            target: target(([127, 0, 0, 1], 1).into()),
            now_ns: 0,
        };
        plan(request, &OracleBackend).unwrap()
    }

    /// Whoever is trusted could ask the agent's database for anything.
    #[test]
    fn an_agent_takes_statements_where_its_owner_says_so_and_from_the_run_that_started_it() {
        let planned = planned();
        let mut told = part(&planned, planned.plan.clone(), "in", 0, (true, ReadTerms::default()));
        let only = |statements| Allowed::only(&[], Vec::new(), statements).unwrap();
        let refused = |allowed: Allowed, told: &Part| allowed.check_part(told, &OracleBackend).unwrap_err();
        assert!(!refused(only(false), &told).contains("statements"), "it is embedded, and that alone is said");
        let statement = Statement::parse("SELECT pg_read_file('/etc/passwd')", Language::Sql, false).unwrap();
        let expected = Expected::default();
        let own = OwnStatement { statement, signals: vec![0], window_ns: 1, expected, step_ns: None };
        told.head.plan.groups[0].operation.kind = RequestKind::Read(Question::Statement(own));
        let why = refused(only(false), &told);
        assert!(why.contains("start it with --allow-statements"), "{why}");
        for allowed in [only(true), Allowed::everything()] {
            let why = refused(allowed, &told);
            assert!(!why.contains("statements"), "{why}");
        }
    }

    /// `http://h` is the database's own port, `http://h:80` another one, and a URL knows no difference.
    #[test]
    fn an_agent_is_told_the_port_that_was_written() {
        let mut planned = planned();
        let endpoints =
            ["http://me:p@h:80/", "http://h/", "https://h:8443/"].map(|text| text.parse().unwrap()).to_vec();
        planned.open.target = Target { endpoints, insecure: true, ..Target::default() };
        let told = part(&planned, planned.plan.clone(), "in", 0, (true, ReadTerms::default()));
        assert_eq!(told.target().unwrap(), planned.open.target);
    }
}
