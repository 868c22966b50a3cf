//! How a command's runs can be watched, besides their folders.

use crate::{
    console,
    dashboard::{Dashboard, Screen},
    progress::Progress,
};
use clap::Args;
use iotbench_engine::{Observer, Plan, StopSignal};
use iotbench_session::{
    Event, Metrics, MetricsAddress, OtlpCollector, OtlpDelivered, OtlpPush, SessionError, SessionObserver,
};
use std::sync::Arc;

/// Where figures go while a command lasts.
#[derive(Clone, Debug, Args)]
pub(crate) struct FiguresArguments {
    /// Serve the figures to Prometheus while this lasts: :9464 is 127.0.0.1:9464 (docs/live.md)
    #[arg(long, env = "IOTBENCH_METRICS", value_name = "[HOST]:PORT")]
    metrics: Option<MetricsAddress>,
    /// Push the figures of each second, and results, to a collector of OpenTelemetry, by OTLP over HTTP in JSON:
    /// http://HOST:4318. What lets in there is in OTEL_EXPORTER_OTLP_HEADERS (docs/howto/opentelemetry.md)
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", hide_env_values = true, value_name = "URL")]
    otlp: Option<String>,
}

/// What shows the runs of a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Views {
    /// The terminal that a dashboard takes while a run lasts; `None`: progress is lines.
    screen: Option<Screen>,
    metrics: Option<Metrics>,
    otlp: Option<Arc<Pushed>>,
}

/// What is pushed; at its end it is told what was not.
#[derive(Debug)]
struct Pushed(OtlpPush);

impl Views {
    /// Opens what is asked for.
    ///
    /// # Errors
    /// There is no terminal for a dashboard, an address cannot be listened at, or is none to push to.
    pub(crate) fn open(ui: bool, figures: &FiguresArguments) -> Result<Self, SessionError> {
        let screen = ui.then(Screen::new).transpose()?;
        let otlp = figures.otlp.as_deref().filter(|address| !address.trim().is_empty());
        let otlp = otlp.map(|address| Pushed::start(address).map(Arc::new)).transpose()?;
        let metrics = figures.metrics.map(Metrics::serve).transpose()?.map(|(metrics, at)| {
            console::say(&format!("metrics: http://{at}/metrics"));
            metrics
        });
        Ok(Self { screen, metrics, otlp })
    }

    /// The terminal that a dashboard takes.
    pub(crate) fn screen(&self) -> Option<&Screen> {
        self.screen.as_ref()
    }

    /// What a session tells.
    pub(crate) fn event(&self, event: &Event<'_>) {
        if let Some(pushed) = &self.otlp {
            pushed.0.event(event);
        }
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
        if let Some(pushed) = &self.otlp {
            observers.extend(pushed.0.of_run(plan, stop)?);
        }
        Ok(observers)
    }
}

impl Pushed {
    fn start(address: &str) -> Result<Self, SessionError> {
        let collector = OtlpCollector::new(address, |name| std::env::var(name).ok())?;
        console::say(&format!("otlp: {collector}"));
        OtlpPush::start(collector, |warning| console::say(&format!("warning: --otlp: {warning}"))).map(Self)
    }
}

impl Drop for Pushed {
    fn drop(&mut self) {
        if let Some(loss) = loss(&self.0.finish()) {
            console::say(&format!("warning: --otlp: {loss}"));
        }
    }
}

/// What was not pushed, in words; `None`: all was.
fn loss(OtlpDelivered { taken, dropped, refused_figures, failure }: &OtlpDelivered) -> Option<String> {
    if (*dropped, *refused_figures) == (0, 0) {
        return None;
    }
    let all = taken + dropped;
    let why = failure.as_ref().map(|failure| format!(": {failure}")).unwrap_or_default();
    Some(format!("{dropped} of {all} messages and {refused_figures} figures in the others were dropped{why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_pushed_is_told_and_nothing_where_all_was() {
        let all = OtlpDelivered { taken: 3, failure: Some("it answers 503".into()), ..OtlpDelivered::default() };
        assert_eq!(loss(&all), None);
        let some = loss(&OtlpDelivered { dropped: 2, ..all });
        let expected = "2 of 5 messages and 0 figures in the others were dropped: it answers 503";
        assert_eq!(some.as_deref(), Some(expected));
    }
}
