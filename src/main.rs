//! The program `iotbench`.

use std::process::ExitCode;

fn main() -> ExitCode {
    iotbench_cli::main()
}
