//! The weighted normalised score.
