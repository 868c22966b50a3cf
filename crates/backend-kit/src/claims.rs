//! Who has a table, told by flags on its server ([`crate::flag`]).
//!
//! Each puts his own flag up first, and looks then: of two who come at the same time at least one sees the other. Both may be
//! refused, and never both have it. The server need not compare and write at once for that, which some cannot.
//!
//! A flag that is not put up again ends: when its time has come by the server's clock, or, where the server tells no time, when
//! nothing has changed about it over as many looks as a lease is long. Two machines' clocks are never compared. Who has stood still
//! for longer than that finds the other's flag when he looks again, and changes nothing any more.

use crate::{
    flag::{self, Flag, Flags, LEASE_S, Seen},
    looks::Looks,
};
use iotbench_core::{Cause, Error, LOOK_PAUSE, Name};
use std::sync::{Mutex, PoisonError};

/// A flag that has not changed over so many looks has ended: there is [`LOOK_PAUSE`] between two of them at least.
#[expect(clippy::cast_possible_truncation, reason = "some hundred")]
const LEASE_LOOKS: u32 = (LEASE_S as u128 * 1000 / LOOK_PAUSE.as_millis()) as u32;
/// A server that somebody may measure is not asked at each look.
const LOOKS_BETWEEN: u32 = 10;
/// One's own that is not seen after so many looks is put up once more.
const LOOKS_UNTIL_AGAIN: u32 = 100;
/// A flag of one's own that is not seen after so many looks is gone.
const MAX_LOOKS: u32 = 600;

/// The tables that one who has opened a database has there.
#[derive(Debug)]
pub struct Claims {
    owner: String,
    had: Mutex<Vec<Claim>>,
    /// One after the other: what is taken down must not be put up again by who had looked before.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct Claim {
    name: Name,
    flag: Flag,
    /// What others had left, and what may be seen a while longer.
    ended: Vec<Flag>,
}

impl Default for Claims {
    fn default() -> Self {
        Self { owner: flag::owner(), had: Mutex::default(), changing: tokio::sync::Mutex::default() }
    }
}

impl Claims {
    /// Takes a table, or makes sure that it is still had. What others have left is waited for until it has ended.
    ///
    /// # Errors
    /// [`Cause::NotOurs`]: somebody else has it.
    pub async fn take<F: Flags>(&self, server: &mut F, name: &Name, run_id: &str, looks: &Looks) -> Result<(), Error> {
        if self.has_still(server, name, looks).await? {
            return Ok(());
        }
        let flag = Flag { owner: self.owner.clone(), run_id: run_id.into(), has_it: false, beat: 0 };
        let (ended, now_s) = self.wait_for_others(server, name, looks).await?;
        let mut claim = Claim { name: name.clone(), flag, ended };
        let taken = self.take_free(server, &mut claim, now_s, looks).await;
        if taken.is_err() {
            // It says nothing once it has ended.
            let _ = server.take_down(name, &self.owner).await;
            return taken;
        }
        self.keep(claim);
        Ok(())
    }

    /// Puts the flag of a table that is had up again, which may be gone with what was removed in its place.
    ///
    /// # Errors
    /// [`Cause::NotOurs`]: somebody else has it.
    pub async fn confirm<F: Flags>(&self, server: &mut F, name: &Name, looks: &Looks) -> Result<(), Error> {
        let _changing = self.changing.lock().await;
        match self.claim(name) {
            Some(claim) => {
                let seen = server.flags(name).await?;
                self.put_up_again(server, claim, seen, looks).await
            }
            None => Ok(()),
        }
    }

    /// Says of every table that is had that it still is. It waits for nothing, nor for a change that says so itself.
    ///
    /// # Errors
    /// [`Cause::NotOurs`]: somebody else has one of them.
    pub async fn renew<F: Flags>(&self, server: &mut F) -> Result<(), Error> {
        let Ok(_changing) = self.changing.try_lock() else { return Ok(()) };
        for mut claim in self.had() {
            let seen = server.flags(&claim.name).await?;
            self.refuse_taken(&claim, &seen)?;
            claim.flag.beat = next_beat(&claim.flag, seen.now_s);
            // Where the table is just being dropped, nothing is made anew for it.
            server.put_up(&claim.name, &claim.flag, false).await?;
            self.keep(claim);
        }
        Ok(())
    }

    /// Whether there is nothing to renew.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.had.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    #[cfg(test)]
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// The tables that are had.
    #[must_use]
    pub fn names(&self) -> Vec<Name> {
        self.had().into_iter().map(|claim| claim.name).collect()
    }

    /// Lets go of a table.
    ///
    /// # Errors
    /// The server's own; its flag ends by itself then.
    pub async fn release<F: Flags>(&self, server: &mut F, name: &Name) -> Result<(), Error> {
        let _changing = self.changing.lock().await;
        if self.forget(name) { server.take_down(name, &self.owner).await } else { Ok(()) }
    }

    /// Whether a table is had, as its flag says as well. One that is gone, with the server's memory or by another's hand, is not.
    async fn has_still<F: Flags>(&self, server: &mut F, name: &Name, looks: &Looks) -> Result<bool, Error> {
        let _changing = self.changing.lock().await;
        let Some(claim) = self.claim(name) else { return Ok(false) };
        let seen = server.flags(name).await?;
        self.refuse_taken(&claim, &seen)?;
        if seen.flags.iter().any(|flag| flag.owner == self.owner && flag.has_it) {
            return self.put_up_again(server, claim, seen, looks).await.map(|()| true);
        }
        self.forget(name);
        Ok(false)
    }

    async fn put_up_again<F: Flags>(
        &self,
        server: &mut F,
        mut claim: Claim,
        seen: Seen,
        looks: &Looks,
    ) -> Result<(), Error> {
        self.refuse_taken(&claim, &seen)?;
        let is_new = !seen.flags.iter().any(|flag| flag.owner == self.owner);
        let seen = put_up(server, &mut claim, seen.now_s, is_new, looks).await?;
        self.refuse_taken(&claim, &seen)?;
        self.keep(claim);
        Ok(())
    }

    /// Waits until no flag of others says anything any more; these, and the server's time.
    async fn wait_for_others<F: Flags>(
        &self,
        server: &mut F,
        name: &Name,
        looks: &Looks,
    ) -> Result<(Vec<Flag>, Option<u64>), Error> {
        let first = self.others(server.flags(name).await?);
        let (mut seen, mut looked) = (first.clone(), 0);
        while looked < LEASE_LOOKS && seen.flags.iter().any(|flag| !has_ended(flag, seen.now_s)) {
            for _ in 0..LOOKS_BETWEEN {
                looks.not_yet().await;
                looked += 1;
            }
            seen = self.others(server.flags(name).await?);
            // Who puts it up again lives.
            if let Some(living) = seen.flags.iter().find(|flag| !first.flags.contains(flag)) {
                return Err(in_use(name, living, seen.now_s));
            }
        }
        Ok((seen.flags, seen.now_s))
    }

    /// Takes a table that nobody has: asks for it, looks, has it, looks again.
    async fn take_free<F: Flags>(
        &self,
        server: &mut F,
        claim: &mut Claim,
        now_s: Option<u64>,
        looks: &Looks,
    ) -> Result<(), Error> {
        let seen = put_up(server, claim, now_s, true, looks).await?;
        self.refuse_others(claim, &seen)?;
        for flag in &claim.ended {
            server.take_down(&claim.name, &flag.owner).await?;
        }
        claim.flag.has_it = true;
        let seen = put_up(server, claim, seen.now_s, false, looks).await?;
        self.refuse_others(claim, &seen)
    }

    /// Who has not got it yet gives way to whoever is there.
    fn refuse_others(&self, claim: &Claim, seen: &Seen) -> Result<(), Error> {
        let other = seen.flags.iter().find(|flag| flag.owner != self.owner && !claim.ended.contains(flag));
        other.map_or(Ok(()), |other| Err(in_use(&claim.name, other, seen.now_s)))
    }

    /// Who has it gives way to who has it as well, because his own flag had ended.
    fn refuse_taken(&self, claim: &Claim, seen: &Seen) -> Result<(), Error> {
        let is_another = |flag: &&Flag| flag.has_it && flag.owner != self.owner && !claim.ended.contains(flag);
        seen.flags.iter().find(is_another).map_or(Ok(()), |other| Err(in_use(&claim.name, other, seen.now_s)))
    }

    fn others(&self, mut seen: Seen) -> Seen {
        seen.flags.retain(|flag| flag.owner != self.owner);
        seen
    }

    fn had(&self) -> Vec<Claim> {
        self.had.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn claim(&self, name: &Name) -> Option<Claim> {
        self.had().into_iter().find(|claim| claim.name == *name)
    }

    fn keep(&self, claim: Claim) {
        let mut had = self.had.lock().unwrap_or_else(PoisonError::into_inner);
        had.retain(|other| other.name != claim.name);
        had.push(claim);
    }

    /// Whether it was had.
    fn forget(&self, name: &Name) -> bool {
        let mut had = self.had.lock().unwrap_or_else(PoisonError::into_inner);
        let before = had.len();
        had.retain(|claim| claim.name != *name);
        had.len() < before
    }
}

/// Puts the flag of a claim up, and waits until it is seen; what is seen with it.
async fn put_up<F: Flags>(
    server: &mut F,
    claim: &mut Claim,
    now_s: Option<u64>,
    is_new: bool,
    looks: &Looks,
) -> Result<Seen, Error> {
    claim.flag.beat = next_beat(&claim.flag, now_s);
    for look in 0..MAX_LOOKS {
        // It may have gone with what another removed.
        if look % LOOKS_UNTIL_AGAIN == 0 {
            server.put_up(&claim.name, &claim.flag, is_new || look > 0).await?;
            server.hurry().await?;
        }
        let seen = server.flags(&claim.name).await?;
        let Flag { owner, has_it, beat, .. } = &claim.flag;
        if seen.flags.iter().any(|flag| flag.owner == *owner && flag.has_it == *has_it && flag.beat >= *beat) {
            return Ok(seen);
        }
        looks.not_yet().await;
    }
    let message = format!("what says that {} is in use was put up and is not there", claim.name);
    Err(Error::new(Cause::Server, message))
}

fn next_beat(flag: &Flag, now_s: Option<u64>) -> u64 {
    now_s.map_or(flag.beat + 1, |now_s| now_s + LEASE_S)
}

/// By the server's clock. A count of one who was told no time is no time.
fn has_ended(flag: &Flag, now_s: Option<u64>) -> bool {
    now_s.is_some_and(|now_s| (now_s / 2..now_s).contains(&flag.beat))
}

/// What is said where somebody else has a table.
fn in_use(name: &Name, flag: &Flag, now_s: Option<u64>) -> Error {
    let until = match now_s {
        Some(now_s) if now_s / 2 < flag.beat => {
            format!(
                "for another {} s by the server's clock, and again as long as it goes on",
                flag.beat.saturating_sub(now_s)
            )
        }
        _ => format!("until nothing is heard of it for {LEASE_S} s"),
    };
    let Flag { run_id, owner, .. } = flag;
    let message = format!(
        "{name} is in use by another run, {run_id} (its flag on the server is {owner}), {until}: wait for its end, or choose \
         another table or database"
    );
    Error::new(Cause::NotOurs, message)
}

#[cfg(test)]
mod tests;
