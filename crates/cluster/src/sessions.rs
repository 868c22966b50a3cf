//! The sessions in which coordinators may give an agent orders: it draws each one's name itself, so that what was signed for
//! another agent, for an earlier process, or before is of none of them. Pure.

use crate::signed::Refusal;
use std::collections::VecDeque;

/// More are not open at a time.
const MOST: usize = 256;
/// One in which nothing was ordered yet ends after so long.
const UNUSED_NS: u64 = 10_000_000_000;
/// And one in which nothing is ordered any more. A coordinator is heard of every second.
const SILENT_NS: u64 = 30_000_000_000;

/// The sessions of an agent.
#[derive(Debug, Default)]
pub(crate) struct Sessions(VecDeque<Session>);

#[derive(Debug)]
struct Session {
    name: String,
    /// Whoever ordered something in it first, and the number of the last order.
    used: Option<(String, u64)>,
    until_ns: u64,
}

impl Sessions {
    /// Begins one. Where too many are open the oldest that nobody used gives way: whoever is trusted is never driven out by
    /// those who are not.
    pub(crate) fn begin(&mut self, name: String, now_ns: u64) -> Result<(), &'static str> {
        self.0.retain(|session| now_ns < session.until_ns);
        if self.0.len() >= MOST {
            let unused = self.0.iter().position(|session| session.used.is_none());
            let _ = self.0.remove(unused.ok_or("too many coordinators have a session with it")?);
        }
        self.0.push_back(Session { name, used: None, until_ns: now_ns.saturating_add(UNUSED_NS) });
        Ok(())
    }

    /// Takes the order of this number, which this key signed.
    pub(crate) fn take(&mut self, name: &str, key: &str, number: u64, now_ns: u64) -> Result<(), Refusal> {
        let session = self.0.iter_mut().find(|session| session.name == name && now_ns < session.until_ns);
        let session = session.ok_or(Refusal::NoSession)?;
        match &session.used {
            Some((by, _)) if by != key => return Err(Refusal::NoSession),
            Some((_, last)) if number <= *last => return Err(Refusal::Again),
            _ => {}
        }
        session.used = Some((key.into(), number));
        session.until_ns = now_ns.saturating_add(SILENT_NS);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn an_order_counts_once_and_in_its_session_alone() {
        let mut sessions = Sessions::default();
        sessions.begin("one".into(), 0).unwrap();
        sessions.begin("two".into(), 0).unwrap();
        assert_eq!(sessions.take("one", "key", 1, S), Ok(()));
        assert_eq!(sessions.take("one", "key", 1, S), Err(Refusal::Again));
        assert_eq!(sessions.take("one", "key", 4, S), Ok(()), "some may be lost on the way");
        assert_eq!(sessions.take("one", "key", 3, S), Err(Refusal::Again));
        assert_eq!(sessions.take("one", "other", 5, S), Err(Refusal::NoSession), "another's session");
        assert_eq!(sessions.take("none", "key", 5, S), Err(Refusal::NoSession));
        assert_eq!(sessions.take("two", "other", 0, S), Ok(()));
    }

    #[test]
    fn what_is_held_back_until_a_session_has_ended_comes_too_late() {
        let mut sessions = Sessions::default();
        sessions.begin("unused".into(), 0).unwrap();
        sessions.begin("used".into(), 0).unwrap();
        assert_eq!(sessions.take("used", "key", 1, 9 * S), Ok(()));
        assert_eq!(sessions.take("unused", "key", 1, 10 * S), Err(Refusal::NoSession));
        assert_eq!(sessions.take("used", "key", 2, 38 * S), Ok(()), "an order keeps it open");
        assert_eq!(sessions.take("used", "key", 3, 68 * S), Err(Refusal::NoSession));
    }

    #[test]
    fn strangers_drive_out_nobody_who_is_trusted() {
        let mut sessions = Sessions::default();
        sessions.begin("ours".into(), 0).unwrap();
        sessions.take("ours", "key", 1, 0).unwrap();
        (0..10_000).for_each(|number| sessions.begin(format!("{number}"), S).unwrap());
        assert_eq!(sessions.0.len(), MOST);
        assert_eq!(sessions.take("ours", "key", 2, S), Ok(()));
        assert_eq!(sessions.take("9999", "key", 1, S), Ok(()), "the newest is there");
        for number in 9_000..10_000 {
            let _ = sessions.take(&format!("{number}"), "key", 2, S);
        }
        assert!(sessions.begin("more".into(), S).is_err(), "all are in use");
        assert_eq!(sessions.begin("more".into(), 40 * S), Ok(()), "until they end");
    }
}
