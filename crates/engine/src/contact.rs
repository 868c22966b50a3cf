//! The first contact with a server, on a thread of its own: a driver that reads for as long as something comes lets nobody see its
//! deadline meanwhile.

use crate::{caught::caught, hoard::HoardWatch};
use iotbench_core::{Applied, Cause, Error};
use std::{
    sync::mpsc::{RecvTimeoutError, sync_channel},
    time::Duration,
};

/// So long after its deadline a call that has not seen it is left behind.
const GRACE: Duration = Duration::from_secs(1);

/// The result of a call, within a time. One that does not end by then keeps its thread, which ends with the program.
///
/// # Errors
/// The call's own; [`Cause::TimedOut`], or [`Cause::Protocol`] where the driver is kept busy by what the server sends.
pub fn contacted<T: Send + 'static>(
    within: Duration,
    call: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let client = |e: std::io::Error| Error::new(Cause::Client, format!("cannot start a thread: {e}"));
    let watch = HoardWatch::start(within, None);
    let (told, result) = sync_channel(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(client)?;
    let body = move || {
        let answered = runtime.block_on(async { tokio::time::timeout(within, caught(call)).await });
        // Who has waited too long has gone on.
        let _ = told.send(answered.unwrap_or_else(|_| Err(late(within))));
    };
    std::thread::Builder::new().name("iotbench-contact".into()).spawn(body).map_err(client)?;
    let found = || watch.as_ref().and_then(HoardWatch::found).cloned();
    match result.recv_timeout(within + GRACE) {
        Ok(answered) => answered.map_err(|error| found().unwrap_or(error)),
        Err(RecvTimeoutError::Timeout) => Err(endless(within)),
        Err(RecvTimeoutError::Disconnected) => Err(Error::new(Cause::Client, "the thread of the first contact ended")),
    }
}

fn late(within: Duration) -> Error {
    Error::new(Cause::TimedOut, format!("no answer within {} s", within.as_secs_f64()))
}

fn endless(within: Duration) -> Error {
    let message = format!(
        "the server sends without an end, and the driver reads it: given up after {} s, and what reads is left behind",
        within.as_secs_f64()
    );
    Error::new(Cause::Protocol, message).applied(Applied::Maybe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_handed_on_and_a_late_one_is_an_error() {
        assert_eq!(contacted(Duration::from_secs(60), async { Ok(7) }), Ok(7));
        let own = Error::new(Cause::Auth, "no");
        let failing = own.clone();
        assert_eq!(contacted::<()>(Duration::from_secs(60), async { Err(failing) }), Err(own));
        let never = contacted::<()>(Duration::from_millis(1), std::future::pending()).unwrap_err();
        assert_eq!((never.cause, never.message.as_str()), (Cause::TimedOut, "no answer within 0.001 s"));
    }

    /// As a driver that always has something to read.
    #[test]
    fn a_call_that_never_looks_up_is_left_behind() {
        let (goes_on, until) = sync_channel::<()>(0);
        let busy = contacted::<()>(Duration::from_millis(1), async move {
            // It blocks, and nobody is let in.
            let _ = until.recv();
            Ok(())
        });
        let error = busy.unwrap_err();
        assert_eq!(error.cause, Cause::Protocol);
        assert!(error.message.starts_with("the server sends without an end"), "{error}");
        drop(goes_on);
    }
}
