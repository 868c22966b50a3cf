//! The private server that an agent starts for whoever wants one.

use super::{Agent, lease_ns};
use crate::{
    lease::Lease,
    message::Answer,
    serving::{ServerWish, Serving},
};
use async_nats::Message;
use iotbench_core::{Registry, Settings};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

impl Agent<'_> {
    /// Begins to start a server; the answer follows when it runs.
    pub(super) fn serve(
        &mut self,
        id: &str,
        backend: &str,
        settings: Settings,
        memory_bytes: u64,
        now_ns: u64,
        message: &Message,
    ) -> Option<Answer> {
        if let Some(by) = self.serving.as_ref().and_then(|serving| serving.hold.run()) {
            return Some(Answer::Held { by: by.into() });
        }
        let wish = match Registry::new(self.backends).find(backend) {
            Ok(backend) => ServerWish { backend, settings, memory_bytes, listen: self.listen },
            Err(error) => return Some(Answer::Failed { why: error.to_string() }),
        };
        if let Err(why) = wish.check() {
            return Some(self.refuse(why));
        }
        let mut hold = Lease::new(lease_ns());
        // Nobody else holds what is new.
        let _ = hold.take(id, now_ns);
        let (started, served) = oneshot::channel();
        match Serving::begin(wish, hold, started) {
            Ok(serving) => self.serving = Some(serving),
            Err(error) => return Some(Answer::Failed { why: format!("no thread can be started: {error}") }),
        }
        (self.say)(&format!("starting {backend} for {id}"));
        self.answer_later(message, async move {
            match served.await {
                Ok(Ok(served)) => Answer::Serving(served),
                Ok(Err(why)) => Answer::Failed { why },
                Err(_) => Answer::Failed { why: "its thread ended by a fault of iotbench".into() },
            }
        });
        None
    }

    /// Begins to stop a server; the answer follows when it has ended.
    pub(super) fn stop_server(&mut self, id: &str, message: &Message) -> Option<Answer> {
        let Some(serving) = self.serving.take_if(|serving| serving.hold.run() == Some(id)) else {
            return Some(Answer::Failed { why: format!("it runs no server for {id}") });
        };
        let thread = serving.stop();
        self.answer_later(message, async move {
            let joined = tokio::task::spawn_blocking(move || thread.map(JoinHandle::join)).await;
            match joined {
                Ok(_) => Answer::Done,
                Err(_) => Answer::Failed { why: "its thread ended by a fault of iotbench".into() },
            }
        });
        None
    }
}
