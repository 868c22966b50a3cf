//! `iotbench doctor`.

use crate::{
    console::{self, columns, printable_lines},
    exit_codes::EXIT_CODES,
    form::FormArguments,
};
use clap::Args;
use iotbench_engine::Finding;
use iotbench_session::{Diagnosis, SessionError};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench doctor                     servers, processors, clock, memory, disks and ports of this machine, a verdict a line
  iotbench doctor --out /data/runs    results would lie there
  iotbench doctor --json              the same for programs, with the facts that it judges by
  iotbench doctor && iotbench suite quick

It takes some five seconds, and writes small files where servers and results would lie, which it removes.
Exit code 10: something here would spoil a measurement (each warning), or no server can be started. A server that is missing \
beside others is none.";

#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct DoctorArguments {
    /// Where results folders would be made
    #[arg(long, env = "IOTBENCH_OUT", value_name = "FOLDER", default_value = "./results")]
    out: PathBuf,
    #[command(flatten)]
    form: FormArguments,
}

pub(super) fn doctor(arguments: &DoctorArguments) -> Result<u8, SessionError> {
    let diagnosis = Diagnosis::of_this_machine(&arguments.out);
    let text = match arguments.form.is_json() {
        true => serde_json::to_string_pretty(&diagnosis).map_err(SessionError::internal)? + "\n",
        false => in_words(&diagnosis),
    };
    console::print(&text)?;
    Ok(diagnosis.exit_code())
}

/// A verdict a line, then what brings what is missing, then whether to measure here.
fn in_words(diagnosis: &Diagnosis) -> String {
    let servers: Vec<_> = diagnosis.servers.iter().map(|server| line(&server.finding)).collect();
    let machine: Vec<_> = diagnosis.findings.iter().map(line).collect();
    let mut text = format!("Servers\n{}\nMachine\n{}", columns(&servers), columns(&machine));
    if !diagnosis.install.is_empty() {
        let commands = diagnosis.install.iter();
        let commands: Vec<_> =
            commands.map(|install| [format!("  {}", install.command), install.brings.clone()]).collect();
        text.push_str(&format!("\nTo get what is missing\n{}", columns(&commands)));
    }
    text.push_str(&format!("\n{}\n", conclusion(diagnosis)));
    text
}

/// Whether to measure here.
fn conclusion(diagnosis: &Diagnosis) -> String {
    let warnings = match diagnosis.warnings() {
        0 => None,
        1 => Some("1 warning: it would spoil what is measured here".to_owned()),
        several => Some(format!("{several} warnings: they would spoil what is measured here")),
    };
    let none = (!diagnosis.can_start).then(|| "no server can be started".to_owned());
    let reasons: Vec<String> = warnings.into_iter().chain(none).collect();
    match reasons.is_empty() {
        true => "Nothing here would spoil what is measured.".into(),
        false => format!("Not fit (exit code {}): {}.", diagnosis.exit_code(), reasons.join("; ")),
    }
}

fn line(finding: &Finding) -> [String; 3] {
    let Finding { about, fitness, found, details, advice } = finding;
    let details = if details.is_empty() { String::new() } else { format!(" ({details})") };
    let advice = if advice.is_empty() { String::new() } else { format!(": {advice}") };
    let text = format!("{found}{details}{advice}");
    [fitness.name().into(), about.clone(), printable_lines(&text).to_string()]
}
