//! The formula, its rules, and the ranking that a study printed.

mod hof;
mod robustness;
mod rules;
