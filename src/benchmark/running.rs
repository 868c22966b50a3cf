//! Runs beside other work, and who watches them.

use super::BenchmarkError;
use iotbench_engine::{Event, Observer, Plan, StopSignal};
use iotbench_session::{SessionError, SessionObserver};
use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};
use tokio::sync::oneshot;

/// As a user's Ctrl-C.
const CANCELLED: i32 = 2;

/// Runs that go on in a thread of their own. Awaited, their result; dropped, they are stopped in order, and what they started is
/// removed. It needs no particular runtime.
#[must_use = "dropped, it stops the runs"]
pub struct Running<T> {
    ended: oneshot::Receiver<Result<T, BenchmarkError>>,
    stop: StopSignal,
    is_over: bool,
}

impl<T: Send + 'static> Running<T> {
    pub(crate) fn start(stop: StopSignal, run: impl FnOnce() -> Result<T, BenchmarkError> + Send + 'static) -> Self {
        let (tell, ended) = oneshot::channel();
        let work = move || {
            // Nobody waits any more: then nobody wants it.
            let _ = tell.send(run());
        };
        // Without a thread the channel is closed, and the future says so.
        let _ = std::thread::Builder::new().name("benchmark".into()).spawn(work);
        Self { ended, stop, is_over: false }
    }
}

impl<T> Future for Running<T> {
    type Output = Result<T, BenchmarkError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = Pin::new(&mut self.ended).poll(context);
        ended.map(|ended| {
            self.is_over = true;
            ended.unwrap_or(Err(BenchmarkError::Fault))
        })
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        if !self.is_over {
            self.stop.request(CANCELLED);
        }
    }
}

/// One observer for all runs, one after the other.
pub(super) struct Forwarded(Arc<Mutex<dyn Observer>>);

impl Forwarded {
    pub(super) fn new(observer: impl Observer + 'static) -> Self {
        Self(Arc::new(Mutex::new(observer)))
    }
}

impl SessionObserver for Forwarded {
    fn of_run(&self, _: &Plan, _: &StopSignal) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        Ok(vec![Box::new(OfRun(Arc::clone(&self.0)))])
    }
}

struct OfRun(Arc<Mutex<dyn Observer>>);

impl Observer for OfRun {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).event(event)
    }
}
