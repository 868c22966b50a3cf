//! The built-in score file.

/// The score of the Hof study, as in `configs/scores/hof.toml`.
pub const HOF_SCORE: &str = include_str!("../configs/scores/hof.toml");
