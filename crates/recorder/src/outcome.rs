//! How an operation or a request ended.

/// How an operation or a request ended: Jepsen's ok, fail and info.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Acknowledged by the target.
    Ok,
    /// Definitely not applied.
    Fail,
    /// Definitely not applied, and not answered within its deadline: a failure whose response time is at least the time that it
    /// was waited for.
    Expired,
    /// Sent, and no verdict came (a time-out, a lost connection): it may have been applied.
    Unknown,
}
