//! Starting the program.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// The program with these arguments and no environment of its own, in this folder.
pub fn iotbench_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("IOTBENCH_")) {
        command.env_remove(name);
    }
    command
}

/// The program with these arguments.
pub fn iotbench(arguments: &[&str]) -> Command {
    iotbench_in(Path::new("."), arguments)
}

/// What a call that ended left behind.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Calls the program and waits for its end.
pub fn call(arguments: &[&str]) -> Said {
    ended(&mut iotbench(arguments))
}

/// Waits for a call's end.
///
/// # Panics
/// The program was killed, or panicked.
pub fn ended(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said = Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    said
}
