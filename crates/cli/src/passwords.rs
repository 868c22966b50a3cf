//! Other users see the command line, and the environment they do not.

use crate::console;

/// Says so, if the option that holds a password was given as an argument; `variable` can hold it instead.
pub(crate) fn warn_of(option: &str, variable: &str) {
    let is_it = |word: String| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    if std::env::args().any(is_it) {
        console::say(&format!(
            "warning: other users of this machine can see the password in {option}: set {variable} instead"
        ));
    }
}
