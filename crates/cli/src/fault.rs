//! What is said of a panic in a library, of which the engine makes an error: a line, and not the words of a crash.

use crate::console::{self, printable_lines};
use std::{
    ffi::OsStr,
    panic::{self, PanicHookInfo},
    path::Path,
};

/// From now on.
pub(crate) fn tell_faults_of_libraries_in_a_line() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |panic| match panic.location().filter(|at| is_of_a_library(Path::new(at.file()))) {
        Some(at) => {
            let file = Path::new(at.file()).file_name().unwrap_or_default().to_string_lossy();
            console::say(&format!(
                "warning: a library ended a call: {} ({file}:{})",
                printable_lines(message(panic)),
                at.line()
            ));
        }
        None => tell(panic),
    }));
}

/// Cargo compiles what is not of this workspace by its whole path, and this program too where a registry gave it.
fn is_of_a_library(file: &Path) -> bool {
    let is_ours = |part: &OsStr| part.to_string_lossy().starts_with("iotbench");
    file.is_absolute() && !file.iter().any(is_ours)
}

fn message<'a>(panic: &'a PanicHookInfo<'_>) -> &'a str {
    let text = panic.payload();
    text.downcast_ref::<String>().map(String::as_str).or(text.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_files_are_named_from_the_workspace() {
        assert!(!is_of_a_library(Path::new(file!())), "{}", file!());
        assert!(!is_of_a_library(Path::new("/home/me/.cargo/registry/src/x/iotbench-cli-0.1.0/src/fault.rs")));
        assert!(is_of_a_library(Path::new("/home/me/.cargo/registry/src/x/bytes-1.0.0/src/lib.rs")));
    }
}
