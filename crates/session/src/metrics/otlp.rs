//! Figures and results for a collector of OpenTelemetry, by OTLP over HTTP in its JSON form.

mod collector;
mod delivery;
mod message;

pub use collector::OtlpCollector;
pub use delivery::OtlpDelivered;

use super::{
    board::{Board, Target},
    families::{Family, Figures},
};
use crate::{error::SessionError, event::Event as SessionEvent, event::SessionObserver};
use async_channel::Sender;
use delivery::{Counts, Delivery, LAST, count};
use iotbench_engine::{Event, Observer, Plan, StopSignal};
use iotbench_report::{Document, METRICS, Status};
use message::{Message, Times};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, sync_channel},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::sync::watch;

/// Messages that wait, about a minute of them; of more the oldest is dropped, because sums go on in the newest.
const MAX_WAITING: usize = 64;
/// How much later than the last message a thread may end.
const LEFT_BEHIND: Duration = Duration::from_secs(1);

/// Pushes what runs came to so far once a second, and what each found out at its end: an observer of a session. A collector that is
/// away or slow delays nothing.
#[derive(Clone, Debug)]
pub struct OtlpPush(Arc<Pushing>);

#[derive(Debug)]
struct Pushing {
    messages: Sender<Message>,
    counts: Counts,
    ended: watch::Sender<bool>,
    over: Mutex<Receiver<()>>,
}

impl OtlpPush {
    /// Begins with nothing to send. `warn` is told once, when something goes wrong first.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(collector: OtlpCollector, warn: impl Fn(&str) + Send + 'static) -> Result<Self, SessionError> {
        let failed = |e| SessionError::internal(format!("--otlp: no thread: {e}"));
        let (messages, waiting) = async_channel::bounded(MAX_WAITING);
        let (ended, until) = watch::channel(false);
        let (end, over) = sync_channel(1);
        let counts = Counts::default();
        let delivery = Delivery::new(collector, Arc::clone(&counts), Box::new(warn));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let deliver = move || {
            runtime.block_on(delivery.run(waiting, until));
            // A name that is being looked up is not waited for.
            runtime.shutdown_background();
            // Who has waited too long has gone on.
            let _ = end.send(());
        };
        std::thread::Builder::new().name("otlp".into()).spawn(deliver).map_err(failed)?;
        Ok(Self(Arc::new(Pushing { messages, counts, ended, over: Mutex::new(over) })))
    }

    /// Waits a few seconds for what is still to be sent, and says what became of all. Nothing is sent afterwards.
    #[must_use]
    pub fn finish(&self) -> OtlpDelivered {
        self.0.messages.close();
        self.0.ended.send_replace(true);
        let over = self.0.over.lock().unwrap_or_else(PoisonError::into_inner);
        // Its thread has said what there is to say, or is left behind.
        let _ = over.recv_timeout(LAST + LEFT_BEHIND);
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Never waits.
    fn send(&self, run_id: &Arc<str>, families: Vec<Family>, start_ns: u64) {
        let times = Times { start_ns, now_ns: now_ns() };
        let message = Message { run_id: Arc::clone(run_id), families, times };
        // After the end nothing is sent.
        if let Ok(Some(_)) = self.0.messages.force_send(message) {
            count(&self.0.counts, |counts| counts.dropped += 1);
        }
    }
}

impl SessionObserver for OtlpPush {
    fn event(&self, event: &SessionEvent<'_>) {
        if let SessionEvent::RunEnded { document, .. } = event {
            self.send(&document.run_id.as_str().into(), result(document), now_ns());
        }
    }

    fn of_run(&self, plan: &Plan, _: &StopSignal) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        let mut board = Board::default();
        board.begin(Target::of(plan));
        let run_id = plan.run_id.as_str().into();
        Ok(vec![Box::new(RunPush { push: self.clone(), run_id, board, start_ns: now_ns() })])
    }
}

/// The figures of one run, whose sums begin with it: another one is another resource.
struct RunPush {
    push: OtlpPush,
    run_id: Arc<str>,
    board: Board,
    start_ns: u64,
}

impl Observer for RunPush {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        self.board.event(event);
        if matches!(event, Event::Second(_)) {
            self.push.send(&self.run_id, self.board.families(), self.start_ns);
        }
        Ok(())
    }
}

/// What a run found out: what runs are compared by, where it has it, in seconds where that is in microseconds.
fn result(document: &Document) -> Vec<Family> {
    let target = Target {
        profile: document.profile.clone(),
        backend: document.target.backend.clone(),
        layout: document.target.layout.clone(),
    };
    let gauge = |name: String, help: &'static str, unit: &'static str, figure: f64| Family {
        name: name.into(),
        help,
        unit,
        figures: Figures::Gauge(vec![(target.labels(None), figure.into())]),
    };
    let figures = METRICS.iter().filter_map(|metric| {
        let figure = metric.of(document)?;
        let (name, unit, figure) = match metric.name.strip_suffix("_us") {
            Some(name) => (format!("iotbench_result_{name}_seconds"), "s", figure / 1e6),
            None => (format!("iotbench_result_{}", metric.name), unit_of(metric.name), figure),
        };
        Some(gauge(name, "Of the measured part of a run that has ended", unit, figure))
    });
    let is_valid = if document.verdict.status == Status::Valid { 1.0 } else { 0.0 };
    let help = "1 where the result of a run that has ended can be believed, else 0";
    figures.chain([gauge("iotbench_result_valid".to_owned(), help, "", is_valid)]).collect()
}

fn unit_of(name: &str) -> &'static str {
    if name.ends_with("_bytes") { "By" } else { "" }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
