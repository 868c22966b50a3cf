//! The search on machines whose truth is known.

mod machine;
