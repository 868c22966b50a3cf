//! What was loaded so far, and what is going on. Pure.

use super::tally::Tally;
use crate::watch::ProgressFigures;
use iotbench_engine::{Event, Phase, Plan, Step};

/// What was loaded so far, and what is going on.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    /// A target's counts go on when it is run again, so that none ever falls.
    pub(super) targets: Vec<(Target, Tally)>,
    pub(super) present: Option<Present>,
}

/// The labels of a target. All are words of the program or names that need no quoting, as planning checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) profile: String,
    pub(super) backend: String,
    pub(super) layout: String,
}

/// The run that is under way.
#[derive(Clone, Debug)]
pub(super) struct Present {
    /// Its target's place.
    pub(super) target: usize,
    pub(super) phase: Phase,
    pub(super) step: Option<Step>,
    /// The last second.
    pub(super) figures: ProgressFigures,
}

impl Target {
    pub(super) fn of(plan: &Plan) -> Self {
        let (profile, backend) = (plan.profile.name.clone(), plan.backend.clone());
        Self { profile, backend, layout: plan.table.layout.name().to_owned() }
    }
}

impl Board {
    pub(super) fn begin(&mut self, target: Target) {
        let known = self.targets.iter().position(|(other, _)| *other == target);
        let target = known.unwrap_or_else(|| {
            self.targets.push((target, Tally::default()));
            self.targets.len() - 1
        });
        if let Some((_, tally)) = self.targets.get_mut(target) {
            tally.begin_run();
        }
        self.present = Some(Present { target, phase: Phase::Create, step: None, figures: ProgressFigures::default() });
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        let Some(present) = &mut self.present else { return };
        match event {
            Event::Phase { phase, .. } => present.phase = *phase,
            Event::Step(step) => present.step = Some(*step),
            Event::Second(second) => {
                present.figures = ProgressFigures::of(second);
                if let Some((_, tally)) = self.targets.get_mut(present.target) {
                    tally.second(second.window, second.readings);
                }
            }
            _ => {}
        }
    }
}
