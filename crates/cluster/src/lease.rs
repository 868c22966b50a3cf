//! Whose an agent is: one coordinator's at a time, and only as long as it is heard of. Pure.

/// Who holds an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The run that it is held for.
    pub run: String,
    /// Until when, in nanoseconds of the agent's clock.
    until_ns: u64,
}

/// The hold on an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    lease_ns: u64,
    holder: Option<Holder>,
}

impl Lease {
    /// An agent that nobody holds. A coordinator that is not heard of for so long holds it no more.
    #[must_use]
    pub fn new(lease_ns: u64) -> Self {
        Self { lease_ns, holder: None }
    }

    /// A coordinator wants to hold the agent for a run, or goes on holding it.
    ///
    /// # Errors
    /// Another run holds it.
    pub fn take(&mut self, run: &str, now_ns: u64) -> Result<(), &Holder> {
        let is_free = self.holder.as_ref().is_none_or(|holder| holder.run == run || holder.until_ns <= now_ns);
        if is_free {
            self.holder = Some(Holder { run: run.into(), until_ns: now_ns.saturating_add(self.lease_ns) });
        }
        match &self.holder {
            Some(holder) if !is_free => Err(holder),
            _ => Ok(()),
        }
    }

    /// The run that holds the agent.
    #[must_use]
    pub fn run(&self) -> Option<&str> {
        self.holder.as_ref().map(|holder| holder.run.as_str())
    }

    /// The holder was heard of. False where this run does not hold the agent any more: it has to take it anew.
    pub fn renew(&mut self, run: &str, now_ns: u64) -> bool {
        let Some(holder) = self.holder.as_mut().filter(|holder| holder.run == run && now_ns < holder.until_ns) else {
            return false;
        };
        holder.until_ns = now_ns.saturating_add(self.lease_ns);
        true
    }

    /// The run has ended.
    pub fn release(&mut self, run: &str) {
        self.holder = self.holder.take().filter(|holder| holder.run != run);
    }

    /// The run whose lease has ended since this was asked last: the agent ends what it does for it.
    pub fn take_expired(&mut self, now_ns: u64) -> Option<String> {
        let expired = self.holder.take_if(|holder| holder.until_ns <= now_ns);
        expired.map(|holder| holder.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn of_two_coordinators_one_is_told_who_holds_the_agent() {
        let mut hold = Lease::new(5 * S);
        assert!(hold.take("one", 0).is_ok());
        assert_eq!(hold.take("two", S).map_err(|holder| holder.run.clone()), Err("one".into()));
        assert!(hold.take("one", 2 * S).is_ok(), "taking it again is no fault");
        hold.release("two");
        assert!(hold.take("two", 3 * S).is_err(), "only the holder gives it back");
        hold.release("one");
        assert!(hold.take("two", 3 * S).is_ok());
    }

    #[test]
    fn a_coordinator_that_is_not_heard_of_holds_nothing() {
        let mut hold = Lease::new(5 * S);
        hold.take("one", 0).unwrap();
        for second in 1..100 {
            assert!(hold.renew("one", second * 4 * S), "heard of every four seconds");
            assert_eq!(hold.take_expired(second * 4 * S), None);
        }
        let last = 99 * 4 * S;
        assert_eq!(hold.take_expired(last + 5 * S - 1), None);
        assert_eq!(hold.take_expired(last + 5 * S), Some("one".into()));
        assert_eq!(hold.take_expired(last + 6 * S), None, "told once");
        assert!(!hold.renew("one", last + 6 * S), "and it does not come back by itself");
        assert!(hold.take("two", last + 6 * S).is_ok());
    }

    #[test]
    fn a_lease_that_nobody_looked_after_ends_all_the_same() {
        let mut hold = Lease::new(5 * S);
        hold.take("one", 0).unwrap();
        assert!(!hold.renew("one", 5 * S));
        assert!(hold.take("two", 5 * S).is_ok());
    }
}
