//! Who is there: the agents at a broker, and which of them a run is to have.

use crate::{
    ClusterError,
    agent_selector::AgentSelector,
    message::{Answer, FIND, Offer, Question, decode, encode},
};
use async_nats::Client;
use futures_util::StreamExt;
use std::{collections::BTreeMap, time::Duration};

/// How often it is asked who is there.
const ASK: Duration = Duration::from_millis(250);

/// The agents that a run is to have, in the order of their names: as soon as they are there, and at the latest after `within`.
/// `run`: agents that this run holds are free for it.
pub(crate) async fn find(
    client: &Client,
    wanted: &AgentSelector,
    within: Duration,
    run: Option<&str>,
) -> Result<Vec<String>, ClusterError> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.map_err(ClusterError::lost)?;
    let until = tokio::time::Instant::now() + within;
    let mut here = Present::default();
    loop {
        let find = encode(&Question::Find)?;
        client.publish_with_reply(FIND, inbox.clone(), find.into()).await.map_err(ClusterError::lost)?;
        let next = tokio::time::Instant::now() + ASK;
        while let Ok(Some(message)) = tokio::time::timeout_at(next.min(until), answers.next()).await {
            here.note(decode(&message.payload).map_err(|e| e.to_string()), run);
        }
        match here.chosen(wanted) {
            Ok(names) => return Ok(names),
            Err(error) if tokio::time::Instant::now() >= until => return Err(error),
            Err(_) => {}
        }
    }
}

/// Who has said that it is there.
#[derive(Default)]
struct Present {
    /// Those that make load, by name, with the other run that holds it.
    agents: BTreeMap<String, Option<String>>,
    /// What those said that are not understood.
    others: Vec<String>,
}

impl Present {
    fn note(&mut self, answer: Result<Answer, String>, run: Option<&str>) {
        match answer {
            Ok(Answer::Here { name, held_by, offers }) if offers.contains(&Offer::Load) => {
                drop(self.agents.insert(name, held_by.filter(|by| Some(by.as_str()) != run)));
            }
            Ok(Answer::Here { name, .. }) => {
                let why = format!("{name} makes no load");
                if !self.others.contains(&why) {
                    self.others.push(why);
                }
            }
            Ok(Answer::Failed { why }) | Err(why) if !self.others.contains(&why) => self.others.push(why),
            Ok(_) | Err(_) => {}
        }
    }

    fn chosen(&self, wanted: &AgentSelector) -> Result<Vec<String>, ClusterError> {
        match wanted {
            AgentSelector::Count(count) => {
                let free = self.agents.iter().filter(|(_, by)| by.is_none()).map(|(name, _)| name.clone());
                let free: Vec<String> = free.take(*count).collect();
                if free.len() == *count {
                    return Ok(free);
                }
                Err(ClusterError::TooFew { wanted: *count, found: free.len(), present: self.said() })
            }
            AgentSelector::Names(names) => {
                names.iter().try_fold(Vec::new(), |mut chosen, name| match self.agents.get(name) {
                    Some(None) => {
                        chosen.push(name.clone());
                        Ok(chosen)
                    }
                    Some(Some(by)) => Err(ClusterError::Held { agent: name.clone(), by: by.clone() }),
                    None => Err(ClusterError::Missing { agent: name.clone(), present: self.said() }),
                })
            }
        }
    }

    fn said(&self) -> Vec<String> {
        let held = |(name, by): (&String, &Option<String>)| match by {
            Some(by) => format!("{name} is held for {by}"),
            None => format!("{name} is free"),
        };
        self.agents.iter().map(held).chain(self.others.iter().cloned()).collect()
    }
}
