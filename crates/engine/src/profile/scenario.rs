//! What is done to processes of the server, as written.

use crate::units::{Auto, Span};
use iotbench_core::ProcessAction;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Something that is done to a process of the server while the load runs.
///
/// On the command line `AT:ACTION[:ROLE[:NODE]]`, or `crash` alone:
///
/// ```
/// # use iotbench_engine::ScenarioAction;
/// let action: ScenarioAction = "20s:kill:cassandra:2".parse()?;
/// assert_eq!((action.action.name(), action.node), ("kill", 2));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioAction {
    /// When, after the load's start: warm-up included. `auto`: in the middle of the measured part.
    #[serde(default)]
    pub at: Auto<Span>,
    /// What.
    pub action: ProcessAction,
    /// To a process of this role; `auto`: of the first one.
    #[serde(default)]
    pub role: Auto<String>,
    /// On this node, counted from 0.
    #[serde(default)]
    pub node: u32,
}

impl FromStr for ScenarioAction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = || ProcessAction::ALL.map(ProcessAction::name).join(", ");
        let form =
            || format!("write AT:ACTION[:ROLE[:NODE]], such as 20s:restart, or crash; an action is one of {}", words());
        let mut parts = text.split(':');
        if text == ProcessAction::Crash.name() {
            return Ok(Self { at: Auto::Auto, action: ProcessAction::Crash, role: Auto::Auto, node: 0 });
        }
        let (Some(at), Some(action)) = (parts.next(), parts.next()) else { return Err(form()) };
        let at = Auto::Set(at.parse().map_err(|e| format!("{at:?} is no time ({e}): {}", form()))?);
        let action = ProcessAction::ALL.into_iter().find(|a| a.name() == action).ok_or_else(form)?;
        let role = parts.next().map_or(Auto::Auto, |role| Auto::Set(role.to_owned()));
        let node = parts.next().map_or(Ok(0), str::parse).map_err(|_| form())?;
        if parts.next().is_some() {
            return Err(form());
        }
        Ok(Self { at, action, role, node })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_read_from_its_short_form() {
        let action = |text: &str| text.parse::<ScenarioAction>();
        let restart = action("20s:restart").unwrap();
        assert_eq!((restart.at, restart.action), (Auto::Set(Span::from_secs(20)), ProcessAction::Restart));
        assert_eq!((restart.role, restart.node), (Auto::Auto, 0));
        let kill = action("1m:kill:cassandra:2").unwrap();
        assert_eq!((kill.role, kill.node), (Auto::Set("cassandra".into()), 2));
        let crash = action("crash").unwrap();
        assert_eq!((crash.at, crash.action), (Auto::Auto, ProcessAction::Crash));
        assert_eq!(action("5s:crash").unwrap().at, Auto::Set(Span::from_secs(5)));
        for wrong in ["", "20s", "soon:kill", "20s:explode", "20s:kill:a:b", "20s:kill:a:1:2"] {
            assert!(action(wrong).unwrap_err().contains("AT:ACTION"), "{wrong}");
        }
    }
}
