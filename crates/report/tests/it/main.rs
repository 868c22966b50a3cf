//! What holds of folders whatever ran. What begins with a run is tested where runs are known, in `crates/session/tests`.

mod folder;
