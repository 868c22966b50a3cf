//! A call of a backend whose driver may panic at what a server sends.

use futures_util::FutureExt;
use iotbench_core::{Applied, Cause, Error};
use std::{any::Any, panic::AssertUnwindSafe};

/// The call's own result. A panic in it is an answer that the protocol does not allow: what of the call is stored is unknown, and its
/// connection is not used again. A server that means ill ends no run.
pub async fn caught<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match AssertUnwindSafe(call).catch_unwind().await {
        Ok(result) => result,
        Err(panic) => Err(panicked(&*panic)),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = format!("the driver panicked at what the server sent: {}", text.unwrap_or("no message"));
    Error::new(Cause::Protocol, message).applied(Applied::Maybe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Action;

    #[tokio::test]
    async fn a_panic_is_an_answer_that_the_protocol_does_not_allow() {
        assert_eq!(caught(async { Ok(7) }).await, Ok(7));
        let own = Error::new(Cause::Server, "full");
        assert_eq!(caught::<()>(async { Err(own.clone()) }).await, Err(own.clone()));
        let number = std::hint::black_box(3);
        let split = async move {
            tokio::task::yield_now().await;
            Ok(b"ab".split_at(number).0.len())
        };
        let error = caught(split).await.unwrap_err();
        assert_eq!(
            (error.cause, error.action, error.applied),
            (Cause::Protocol, Action::DiscardWriter, Applied::Maybe)
        );
        assert!(error.message.starts_with("the driver panicked at what the server sent: "), "{}", error.message);
    }
}
