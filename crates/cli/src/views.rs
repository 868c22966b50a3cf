//! How a command's runs can be watched, besides their folders.

use crate::{
    console,
    dashboard::{Dashboard, Screen},
    progress::Progress,
};
use iotbench_engine::{Observer, Plan, StopSignal};
use iotbench_session::{Metrics, MetricsAddress, SessionError};

/// What shows the runs of a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Views {
    /// The terminal that a dashboard takes while a run lasts; `None`: progress is lines.
    screen: Option<Screen>,
    metrics: Option<Metrics>,
}

impl Views {
    /// Opens what is asked for.
    ///
    /// # Errors
    /// There is no terminal for a dashboard, or the address cannot be listened at.
    pub(crate) fn open(ui: bool, metrics: Option<MetricsAddress>) -> Result<Self, SessionError> {
        let screen = ui.then(Screen::new).transpose()?;
        let metrics = metrics.map(Metrics::serve).transpose()?.map(|(metrics, at)| {
            console::say(&format!("metrics: http://{at}/metrics"));
            metrics
        });
        Ok(Self { screen, metrics })
    }

    /// The terminal that a dashboard takes.
    pub(crate) fn screen(&self) -> Option<&Screen> {
        self.screen.as_ref()
    }

    /// Who watches a run of this plan. `among`: where it is among those of its suite; empty: it is of none.
    ///
    /// # Errors
    /// The terminal cannot be taken.
    pub(crate) fn observers(
        &self,
        plan: &Plan,
        among: &str,
        shown: bool,
        stop: &StopSignal,
    ) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        match &self.screen {
            Some(screen) => {
                observers.push(Box::new(Dashboard::new(plan, among, screen.clone(), stop.clone())?));
            }
            None if shown => observers.push(Box::new(Progress::new(plan))),
            None => {}
        }
        if let Some(metrics) = &self.metrics {
            observers.push(Box::new(metrics.observer(plan)));
        }
        Ok(observers)
    }
}
