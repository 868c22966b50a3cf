//! What limits throughput as users are added, and where its peak is.

use serde::{Deserialize, Serialize};

/// The Universal Scalability Law (Gunther), fitted to the throughput of each trial by its virtual users:
/// X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Different numbers of users that were measured.
    pub levels: u64,
    /// Why there is no fit; null: there is one.
    pub refused: Option<String>,
    /// Operations a second of a single user, λ; null like all that follows where there is no fit.
    pub single_per_s: Option<UslEstimate>,
    /// Contention σ: the part of the work that waits in a line.
    pub contention: Option<UslEstimate>,
    /// Coherency κ: what users cost each other, pair by pair.
    pub coherency: Option<UslEstimate>,
    /// What the law leaves unexplained: root mean square of the residuals, in percent of the throughput.
    pub unexplained_pct: Option<f64>,
    /// The users with the greatest throughput, N* = √((1 − σ) / κ); null: not told.
    pub peak_users: Option<UslEstimate>,
    /// Operations a second of that many users.
    pub peak_per_s: Option<UslEstimate>,
    /// Why a fit tells no peak; null: it does, or there is no fit.
    pub no_peak: Option<String>,
}

/// A fitted figure with its 95 % interval by a thousand resamples of the residuals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UslEstimate {
    /// The figure.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// Its upper end; null: it may be any.
    pub high: Option<f64>,
}
