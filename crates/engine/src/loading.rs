//! Who makes the load of a run: threads of this process, or processes elsewhere, each a part of it.
//!
//! All else of a run stays where it was: phases, generations, totals, ledger and verdict are the control thread's, which
//! tells whoever makes the load what it would tell its own threads ([`Orders`]), and takes from them what it would take from
//! these ([`SentSlice`]).

mod desk;
mod part;

pub use desk::{Clients, Desk, PartDesk};
pub use part::PartLoad;

use crate::{agents::AgentFigures, client::ClientLoad, plan::Planned, slice::SentSlice, verify::Answers};
use iotbench_core::{Cause, Error};
use serde::{Deserialize, Serialize};
use std::{fmt, time::Instant};

/// A load that is connected and waits for its start.
pub trait Loading: Send {
    /// Begins it at this instant.
    fn start(&self, epoch: Instant);

    /// Whether nothing more of it is to come.
    fn are_finished(&self) -> bool;

    /// What each agent measured of itself over a generation that has ended; none: this process makes the load.
    fn clients(&self, generation: u32) -> Vec<(String, ClientLoad)>;

    /// Waits for its end; what each agent did, where there are any.
    ///
    /// # Errors
    /// It ended by a fault of the program.
    fn join(self: Box<Self>) -> Result<Vec<AgentFigures>, String>;
}

/// Has the load of a run made elsewhere.
pub trait Loaders: Send + Sync + fmt::Debug {
    /// Has every part of the load open its connections.
    ///
    /// # Errors
    /// A part cannot.
    fn connect(&self, planned: &Planned, desk: Desk) -> Result<Box<dyn Loading>, Error>;
}

/// What the control thread tells those who make the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// The present generation, from 0.
    generation: u32,
    /// When it begins, in nanoseconds since the run's start.
    generation_start_ns: u64,
    /// The users of a ramp.
    users: u32,
    /// Whether those that read do so.
    reading: bool,
    /// The load of the open loop that a ramp changes, and when it begins.
    load: (u32, u64),
    /// No operation starts from then on.
    stop_at_ns: u64,
    /// Operations under way are given up.
    abandon: bool,
}

impl Orders {
    /// Nobody wants the load any more.
    #[must_use]
    pub fn give_up() -> Self {
        Self {
            generation: 0,
            generation_start_ns: 0,
            users: 0,
            reading: false,
            load: (0, 0),
            stop_at_ns: 0,
            abandon: true,
        }
    }
}

/// What a part of the load tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// What was recorded, one element a message.
    pub slices: Vec<SentSlice>,
    /// The end of what may have been sent: see the ledger's reservation.
    pub reached: u64,
    /// An error that ends the run.
    pub failure: Option<(Cause, String)>,
    /// How long after its start it was told to begin, in nanoseconds.
    pub late_ns: u64,
    /// The generation that all its threads have come to: everything of earlier ones is told, with this or before.
    pub informed: Option<u32>,
    /// The generation before which nothing is left unanswered.
    pub settled: Option<u32>,
    /// Requests that were late at the ends of windows.
    pub late: u32,
    /// What was measured of the process that made it, over generations that have ended.
    pub clients: Vec<(u32, ClientLoad)>,
    /// At its end: what was found of what it read; `None`: it read nothing.
    pub answers: Option<Answers>,
    /// Whether it has ended, and this is all.
    pub is_finished: bool,
}

impl Told {
    /// Whether it says more than how far it has come.
    #[must_use]
    pub fn is_news(&self) -> bool {
        !self.slices.is_empty() || self.is_more()
    }

    /// Whether it says more than slices and how far it has come.
    fn is_more(&self) -> bool {
        let has_come = self.informed.is_some() || self.settled.is_some() || self.late > 0 || !self.clients.is_empty();
        has_come || self.failure.is_some() || self.is_finished
    }

    /// How far its threads have come: true once everything that was told before has been taken.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress { informed: self.informed, settled: self.settled }
    }

    /// The same in pieces of at most one slice: a message has a greatest length.
    #[must_use]
    pub fn in_pieces(mut self) -> Vec<Self> {
        let slices = std::mem::take(&mut self.slices);
        let (reached, late_ns) = (self.reached, self.late_ns);
        let piece = |slice| Self { slices: vec![slice], reached, late_ns, ..Self::default() };
        let mut pieces: Vec<Self> = slices.into_iter().map(piece).collect();
        // Last: what it says of generations is of all the slices.
        if self.is_more() || pieces.is_empty() {
            pieces.push(self);
        }
        pieces
    }
}

/// How far a part's threads have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    informed: Option<u32>,
    settled: Option<u32>,
}
