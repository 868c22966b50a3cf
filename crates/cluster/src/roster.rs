//! The agents of a run: who is at work, who is lost, and whether the rest goes on. Pure.

/// What becomes of a run that loses an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// It ends; what was measured is kept.
    #[default]
    Stop,
    /// The other agents go on.
    Continue,
}

/// How an agent stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// It makes its part of the load.
    AtWork,
    /// All that it did has been told.
    Done,
    /// It was not heard of for too long, or said that it cannot go on. What it sent and did not tell is unknown.
    Lost {
        /// Why, in words.
        why: String,
    },
}

/// An agent was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its place among the agents.
    pub agent: usize,
    /// Why, in words.
    pub why: String,
    /// What becomes of the run.
    pub then: Then,
}

/// What becomes of a run after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The others go on.
    GoOn,
    /// It ends.
    Stop,
}

/// Looks are more often than this: from one to the next at most such a part of a lease counts as listened.
const LOOKS_IN_LEASE: u64 = 5;

/// The agents of a run. Silence is counted in time in which it was listened: what a coordinator that stood still itself has not
/// heard yet is no silence of its agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    lease_ns: u64,
    on_loss: OnLoss,
    agents: Vec<Agent>,
    looked_ns: u64,
    /// The time listened, up to the last look.
    listened_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Agent {
    /// After how much listening it was last heard of.
    heard_ns: u64,
    state: AgentState,
}

impl Roster {
    /// So many agents at work, heard of at `now_ns`. One that is not heard of for `lease_ns` is lost.
    #[must_use]
    pub fn new(agents: usize, lease_ns: u64, on_loss: OnLoss, now_ns: u64) -> Self {
        let agent = Agent { heard_ns: 0, state: AgentState::AtWork };
        Self { lease_ns, on_loss, agents: vec![agent; agents], looked_ns: now_ns, listened_ns: 0 }
    }

    /// An agent was heard of. One that is lost stays so: its part of the load has a gap that nobody can fill.
    pub fn hear(&mut self, agent: usize) {
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.heard_ns = self.listened_ns;
        }
    }

    /// An agent has told all that it did.
    pub fn end(&mut self, agent: usize) {
        if let Some(agent) = self.agents.get_mut(agent).filter(|agent| agent.state == AgentState::AtWork) {
            agent.state = AgentState::Done;
        }
    }

    /// An agent says that it cannot go on.
    pub fn fail(&mut self, agent: usize, why: &str) -> Option<Loss> {
        self.lose(agent, why.into())
    }

    /// The next agent that has not been heard of for too long; to be asked until there is none, many times in a lease.
    pub fn look(&mut self, now_ns: u64) -> Option<Loss> {
        self.listened_ns += now_ns.saturating_sub(self.looked_ns).min(self.lease_ns / LOOKS_IN_LEASE);
        self.looked_ns = self.looked_ns.max(now_ns);
        let listened_ns = self.listened_ns;
        let silent_ns = |agent: &Agent| listened_ns.saturating_sub(agent.heard_ns);
        let is_silent = |agent: &Agent| agent.state == AgentState::AtWork && silent_ns(agent) >= self.lease_ns;
        let lost = self.agents.iter().position(is_silent)?;
        let seconds = std::time::Duration::from_nanos(silent_ns(&self.agents[lost])).as_secs_f64();
        self.lose(lost, format!("nothing was heard of it for {seconds:.1} s"))
    }

    fn lose(&mut self, agent: usize, why: String) -> Option<Loss> {
        let lost = self.agents.get_mut(agent).filter(|agent| agent.state == AgentState::AtWork)?;
        lost.state = AgentState::Lost { why: why.clone() };
        let none_left = self.agents.iter().all(|agent| matches!(agent.state, AgentState::Lost { .. }));
        let then = if none_left || self.on_loss == OnLoss::Stop { Then::Stop } else { Then::GoOn };
        Some(Loss { agent, why, then })
    }

    /// How each agent stands, in their order.
    pub fn states(&self) -> impl Iterator<Item = &AgentState> {
        self.agents.iter().map(|agent| &agent.state)
    }

    /// Whether nothing more is to come of any agent.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.states().all(|state| *state != AgentState::AtWork)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_silent_agent_is_named_once_and_the_rest_goes_on_or_stops_as_asked() {
        for (on_loss, then) in [(OnLoss::Stop, Then::Stop), (OnLoss::Continue, Then::GoOn)] {
            let mut roster = Roster::new(3, 5 * S, on_loss, 0);
            for second in 1..5 {
                assert_eq!(roster.look(second * S), None);
                [0, 2].into_iter().for_each(|agent| roster.hear(agent));
            }
            let loss = roster.look(5 * S).unwrap();
            assert_eq!((loss.agent, loss.then, &*loss.why), (1, then, "nothing was heard of it for 5.0 s"));
            assert_eq!(roster.look(5 * S), None);
            roster.hear(1);
            assert!(matches!(roster.states().nth(1), Some(AgentState::Lost { .. })), "what is lost stays lost");
        }
    }

    #[test]
    fn without_any_agent_no_run_goes_on() {
        let mut roster = Roster::new(2, 5 * S, OnLoss::Continue, 0);
        assert_eq!(roster.fail(0, "its disk is full").map(|loss| loss.then), Some(Then::GoOn));
        assert!(!roster.is_over());
        let lost = (1..=5).find_map(|second| roster.look(second * S));
        assert_eq!(lost.map(|loss| (loss.agent, loss.then)), Some((1, Then::Stop)));
        assert!(roster.is_over());
    }

    #[test]
    fn one_that_has_ended_may_be_silent() {
        let mut roster = Roster::new(2, 5 * S, OnLoss::Stop, 0);
        roster.end(0);
        for second in 1..=60 {
            roster.hear(1);
            assert_eq!(roster.look(second * S), None);
        }
        assert_eq!(roster.fail(0, "late"), None);
        roster.end(1);
        assert!(roster.is_over());
    }

    /// A coordinator that was stopped finds the silence of its own sleep, and its agents' reports still unread.
    #[test]
    fn a_coordinator_that_stood_still_blames_nobody() {
        let mut roster = Roster::new(2, 5 * S, OnLoss::Stop, 0);
        for stopped in [60 * S, 120 * S, 180 * S] {
            assert_eq!(roster.look(stopped), None);
            (0..2).for_each(|agent| roster.hear(agent));
        }
        // It listens again, and one of them says nothing.
        let lost = (181..190).find_map(|second| {
            roster.hear(0);
            roster.look(second * S).map(|loss| (second, loss.agent))
        });
        assert_eq!(lost, Some((185, 1)));
    }

    proptest! {
        /// Whatever agents do: none that was heard of in time is lost, each is lost once at most, and one that is silent is.
        #[test]
        fn exactly_the_silent_are_lost(heard in prop::collection::vec((0..4_usize, 0..2 * S), 0..80), lease in 10..20_u64) {
            let (mut roster, mut now_ns, mut last, mut lost) = (Roster::new(4, lease * S, OnLoss::Continue, 0), 0, [0; 4], vec![]);
            for (agent, later_ns) in heard {
                now_ns += later_ns;
                while let Some(loss) = roster.look(now_ns) {
                    prop_assert!(now_ns - last[loss.agent] >= lease * S && !lost.contains(&loss.agent));
                    lost.push(loss.agent);
                }
                let silent = (0..4).filter(|&agent| now_ns - last[agent] >= lease * S);
                prop_assert!(silent.into_iter().all(|agent| lost.contains(&agent)));
                if !lost.contains(&agent) {
                    roster.hear(agent);
                    last[agent] = now_ns;
                }
            }
        }
    }
}
