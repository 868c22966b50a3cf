//! Where a coordinator's control thread and the parts of a load elsewhere meet.

use super::{Orders, Progress, Told};
use crate::{
    agents::AgentFigures,
    client::ClientLoad,
    control::{Control, Generation},
    ledger::Reached,
    plan::Plan,
    slice::{NotOurSlice, Slice},
    threads::kinds,
    verify::ReadTerms,
};
use iotbench_recorder::OperationKind;
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError, mpsc::SyncSender},
};

/// Where those who make the load elsewhere get their orders, and put down what they are told.
#[derive(Clone, Debug)]
pub struct Desk {
    control: Arc<Control>,
    slices: SyncSender<Slice>,
    reached: Option<Arc<Reached>>,
    kinds: Arc<[OperationKind]>,
    /// The generation that is the result; `None`: a ramp's answer is.
    measured: Option<u32>,
    /// What agents measured of themselves, by generation.
    clients: Clients,
    terms: ReadTerms,
}

/// What agents measured of themselves in the latest generations.
#[derive(Clone, Debug, Default)]
pub struct Clients(Arc<Mutex<BTreeMap<u32, Named>>>);

/// What each agent, by its name, measured.
type Named = Vec<(String, ClientLoad)>;

/// Generations whose clients are kept: those of a step, and what came before it.
const GENERATIONS: usize = 8;

impl Clients {
    /// What each agent, by its name, measured over a generation that has ended.
    #[must_use]
    pub fn of(&self, generation: u32) -> Vec<(String, ClientLoad)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&generation).cloned().unwrap_or_default()
    }

    fn note(&self, generation: u32, agent: &str, client: ClientLoad) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.entry(generation).or_default().push((agent.to_owned(), client));
        while clients.len() > GENERATIONS {
            clients.pop_first();
        }
    }
}

impl Desk {
    pub(crate) fn new(
        plan: &Plan,
        control: &Arc<Control>,
        slices: SyncSender<Slice>,
        reached: Option<Arc<Reached>>,
        terms: ReadTerms,
    ) -> Self {
        Self {
            control: Arc::clone(control),
            slices,
            reached,
            kinds: kinds(plan),
            measured: plan.ramp.is_none().then(|| u32::from(plan.phases.warmup_ns > 0)),
            clients: Clients::default(),
            terms,
        }
    }

    /// So many parts make the load: what the control thread waits for, each has to tell.
    pub fn set_parts(&self, parts: usize) {
        self.control.set_loops(parts);
    }

    /// One of them is lost, and not waited for any more.
    pub fn lose_part(&self) {
        self.control.lose_loop();
    }

    /// Where what agents measure of themselves is put down.
    #[must_use]
    pub fn clients(&self) -> Clients {
        self.clients.clone()
    }

    /// How those who make the load judge what they read.
    #[must_use]
    pub fn read_terms(&self) -> ReadTerms {
        self.terms
    }

    /// What the control thread wants now.
    #[must_use]
    pub fn orders(&self) -> Orders {
        let Generation { number, start_ns } = self.control.generation();
        Orders {
            generation: number,
            generation_start_ns: start_ns,
            users: self.control.users(),
            reading: self.control.reading(),
            load: self.control.load(),
            stop_at_ns: self.control.stops_at_ns(),
            abandon: self.control.abandoned(),
        }
    }

    /// Where the agent of this name, whose part is for these devices, puts down what it tells.
    #[must_use]
    pub fn part(&self, name: &str, devices: Range<u32>) -> PartDesk {
        PartDesk { desk: self.clone(), figures: AgentFigures { name: name.into(), devices, ..AgentFigures::default() } }
    }

    /// Ends the load: nobody makes it any more as it was planned. What was recorded stays.
    pub fn stop(&self) {
        self.control.stop_at(0);
    }
}

/// Where one part of a load puts down what it tells.
#[derive(Debug)]
pub struct PartDesk {
    desk: Desk,
    figures: AgentFigures,
}

impl PartDesk {
    /// Takes what the part tells; waits when the control thread is behind.
    ///
    /// # Errors
    /// It cannot be what that part recorded. Nothing of the message is counted then.
    pub fn take(&mut self, told: Told) -> Result<(), NotOurSlice> {
        let Self { desk, figures } = self;
        let received = told.slices.into_iter().map(|slice| slice.received(&desk.kinds, &figures.devices));
        let slices = received.collect::<Result<Vec<_>, _>>()?;
        if let Some(reached) = &desk.reached {
            reached.reach(told.reached);
        }
        for slice in slices {
            figures.add(&slice, desk.measured);
            // Without a receiver the run is over.
            let _ = desk.slices.send(slice);
        }
        figures.clock.late_ns = told.late_ns;
        desk.control.add_late(told.late);
        for (generation, client) in told.clients {
            if desk.measured == Some(generation) {
                figures.client = Some(client.clone());
            }
            desk.clients.note(generation, &figures.name, client);
        }
        if let Some(answers) = told.answers {
            figures.answers.get_or_insert_default().merge(answers);
        }
        if let Some((cause, message)) = told.failure {
            desk.control.fail(cause, &message);
        }
        Ok(())
    }

    /// Tells the control thread how far the part's threads have come, once all that they told before has been taken.
    pub fn note(&self, progress: Progress) {
        progress.informed.iter().for_each(|&generation| self.desk.control.inform(generation));
        progress.settled.iter().for_each(|&generation| self.desk.control.settle(generation));
    }

    /// What it told.
    #[must_use]
    pub fn into_figures(self) -> AgentFigures {
        self.figures
    }
}
