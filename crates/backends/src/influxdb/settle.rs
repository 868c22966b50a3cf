//! When datagrams have arrived: the UDP listener counts what it received and what it wrote.

use super::{
    client::Client,
    diagnostics::{Part, figure, parts},
};
use iotbench_core::{Cause, Error, LOOK_PAUSE, Settled};
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// So many looks in a row that find nothing new and nothing waiting mean that nothing more comes.
const QUIET_LOOKS: u32 = 10;
/// A listener that failed to write some of its points holds them for ever: so long it is looked at, twice as long as it
/// holds points back by default.
const MAX_HELD: Duration = Duration::from_secs(2);

/// What was sent to the listener, and how far it has come with it.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    lines_sent: AtomicU64,
    progress: Mutex<Progress>,
    resting: Mutex<Resting>,
}

/// Since when the listener has stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Resting {
    last: Listener,
    still_looks: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    /// How far the listener was when our table was made.
    before: Listener,
    last: Listener,
    quiet_looks: u32,
}

/// The listener's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Listener {
    received: u64,
    written: u64,
}

impl Datagrams {
    /// Notes lines that were sent.
    pub(crate) fn sent(&self, lines: u64) {
        self.lines_sent.fetch_add(lines, Ordering::Relaxed);
    }

    /// Begins to count with an empty table.
    pub(crate) async fn begin(&self, client: &mut Client, port: u16) -> Result<(), Error> {
        let before = look(client, port).await?.unwrap_or_default();
        self.lines_sent.store(0, Ordering::Relaxed);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        *progress = Progress { before, last: before, quiet_looks: 0 };
        Ok(())
    }

    /// One look: settled when the listener has written as many lines as were sent. When it rests with fewer, some were
    /// lost on the way, and nobody can tell that none is still to come.
    pub(crate) async fn settle(&self, client: &mut Client, port: u16) -> Result<Settled, Error> {
        let Some(listener) = look(client, port).await? else { return Ok(Settled::CannotTell) };
        let sent = self.lines_sent.load(Ordering::Relaxed);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(progress.note(listener, sent))
    }

    /// One look whether the listener rests: a point that it writes after its measurement was dropped would make that anew,
    /// without our marker.
    pub(crate) async fn rest(&self, client: &mut Client, port: u16) -> Result<Settled, Error> {
        let Some(listener) = look(client, port).await? else { return Ok(Settled::Yes) };
        Ok(self.resting.lock().unwrap_or_else(PoisonError::into_inner).note(listener))
    }
}

impl Resting {
    fn note(&mut self, listener: Listener) -> Settled {
        self.still_looks = if listener == self.last { self.still_looks.saturating_add(1) } else { 0 };
        self.last = listener;
        let is_enough = match listener.received > listener.written {
            true => LOOK_PAUSE.saturating_mul(self.still_looks) >= MAX_HELD,
            false => self.still_looks >= QUIET_LOOKS,
        };
        if is_enough { Settled::Yes } else { Settled::NotYet }
    }
}

impl Progress {
    fn note(&mut self, listener: Listener, sent: u64) -> Settled {
        let received = listener.received.saturating_sub(self.before.received);
        let written = listener.written.saturating_sub(self.before.written);
        let is_quiet = listener == self.last && received <= written;
        self.quiet_looks = if is_quiet { self.quiet_looks + 1 } else { 0 };
        self.last = listener;
        if written >= sent {
            Settled::Yes
        } else if self.quiet_looks >= QUIET_LOOKS {
            Settled::CannotTell
        } else {
            Settled::NotYet
        }
    }
}

/// The counters of the listener at this port; `None` where they cannot be read.
async fn look(client: &mut Client, port: u16) -> Result<Option<Listener>, Error> {
    match parts(client, "SHOW STATS FOR 'udp'").await {
        Err(e) if e.cause == Cause::Auth => Ok(None),
        listeners => Ok(of_port(&listeners?, port)),
    }
}

fn of_port(listeners: &[Part], port: u16) -> Option<Listener> {
    let ends = format!(":{port}");
    let part = listeners.iter().find(|part| part.tags.get("bind").is_some_and(|bind| bind.ends_with(&ends)))?;
    Some(Listener { received: figure(part, "pointsRx")?, written: figure(part, "pointsTx")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_is_when_all_that_was_sent_is_written() {
        let at = |received, written| Listener { received, written };
        // Five points were received and never written before our table was made.
        let mut progress = Progress { before: at(105, 100), ..Progress::default() };
        assert_eq!(progress.note(at(115, 105), 10), Settled::NotYet);
        assert_eq!(progress.note(at(115, 110), 10), Settled::Yes);
        assert_eq!(progress.note(at(115, 110), 11), Settled::NotYet);
        for _ in 2..QUIET_LOOKS {
            assert_eq!(progress.note(at(115, 110), 11), Settled::NotYet);
        }
        assert_eq!(progress.note(at(115, 110), 11), Settled::CannotTell);
        assert_eq!(progress.note(at(116, 110), 11), Settled::NotYet, "one is still waiting");
    }

    #[test]
    fn the_listener_rests_once_it_stands_still_with_nothing_held_back_or_for_long() {
        let looks_until_rest = |resting: &mut Resting, listener| {
            (1_u32..).find(|_| resting.note(listener) == Settled::Yes).unwrap_or_default()
        };
        let mut resting = Resting::default();
        let written = Listener { received: 5, written: 5 };
        assert_eq!(looks_until_rest(&mut resting, written), 1 + QUIET_LOOKS);
        assert_eq!(looks_until_rest(&mut resting, written), 1, "and it still does");
        let held = Listener { received: 9, written: 5 };
        let looks = looks_until_rest(&mut resting, held);
        assert_eq!(LOOK_PAUSE * (looks - 1), MAX_HELD, "{looks} looks");
        assert_eq!(resting.note(Listener { received: 9, written: 9 }), Settled::NotYet, "it has moved");
    }

    #[test]
    fn the_listener_is_known_by_its_port() {
        let part = |bind: &str, received: &str| Part {
            name: "udp".into(),
            tags: [("bind".to_owned(), bind.to_owned())].into(),
            figures: [("pointsRx", received), ("pointsTx", "1")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        };
        let listeners = [part(":8089", "2"), part("127.0.0.1:18089", "3")];
        assert_eq!(of_port(&listeners, 18089).map(|l| l.received), Some(3));
        assert_eq!(of_port(&listeners, 8089).map(|l| l.received), Some(2));
        assert_eq!(of_port(&listeners, 9), None);
    }
}
