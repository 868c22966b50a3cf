//! The weighted normalised score of databases, after Arnst, Herpich, Plenk and Wöltche (Hof University, 2019).
//!
//! Of a contender with the losses L (lower is better) over criteria with weights:
//!
//! ```text
//! score = [1 − Σ(L / max L × weight) / Σ weight] × 100 %
//! ```
//!
//! max L is the greatest loss of that criterion among the contenders. A [`ScoreFile`] says which criteria there are and
//! what they weigh; [`rank`] makes contenders of runs, and tables of contenders.
//!
//! ```
//! use iotbench_scoring::{Criterion, Run, ScoreFile, rank};
//!
//! let file = ScoreFile::from_toml(
//!     r#"
//!     name = "mine"
//!     summary = "CPU counts three times as much as the data's growth"
//!     [write]
//!     profile = "machine_write"
//!     weights = { server_cpu_pct = 3, disk_growth_bytes = 1 }
//!     "#,
//! )?;
//! let run = |backend: &str, cpu, growth| Run {
//!     name: format!("a run of {backend}"),
//!     profile: "machine_write".into(),
//!     target: format!("{backend}:wide"),
//!     strategy: None,
//!     promise: "OS crash".into(),
//!     refused: None,
//!     figures: [(Criterion::ServerCpuPct, cpu), (Criterion::DiskGrowthBytes, growth)].into(),
//! };
//! let ranking = rank(&file, &[run("a", 10.0, 4e6), run("b", 5.0, 8e6)])?;
//! let write = ranking.write.expect("the file scores writing");
//! let scores: Vec<_> = write.rows.iter().map(|row| (row.contender.as_str(), row.score_pct, row.rank)).collect();
//! // a: 1 − (10/10 × 3 + 4/8 × 1) / 4; b: 1 − (5/10 × 3 + 8/8 × 1) / 4.
//! assert_eq!(scores, [("a:wide", 12.5, 2), ("b:wide", 37.5, 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//! - A score tells how contenders compare with each other, not how good one is: adding a contender changes the scores of
//!   all, and can change their order.
//! - The mean of several runs stands for a contender; [`robustness`] tells what their spread, and other weights, leave of the
//!   order.
//!
//! # Invariants
//! - No run that is not valid enters a score, and none is left out without a reason.
//! - A criterion that one contender lacks counts for none; nothing unknown counts as 0.
//! - Different promises of durability are never ranked together unless the score file says so.
//! - No I/O, no clock, no chance without a given seed.

mod criterion;
mod formula;
mod lines;
mod pareto;
mod random_weights;
mod ranking;
mod robustness;
mod score_file;
mod sensitivity;
mod uncertainty;

pub use criterion::Criterion;
pub use formula::{Formula, LossError, Scored, ScoredRow, Weight, ranks, score};
pub use pareto::pareto_front;
pub use random_weights::{RankShares, rank_shares};
pub use ranking::{Column, Contender, LeftOut, RankError, Ranking, Row, Run, Table, Total, rank};
pub use robustness::{HalfRobustness, Robustness, robustness};
pub use score_file::{Grades, Half, ScoreFile, ScoreFileError};
pub use sensitivity::{Overtaking, WeightRange, sensitivity, total_sensitivity};
pub use uncertainty::{ScoreInterval, Tie, Uncertainty, uncertainty};
