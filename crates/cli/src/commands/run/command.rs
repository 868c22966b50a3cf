//! The command as given, for results: without secrets.

use crate::addresses;

/// Words in a key whose value is a secret.
const SECRET_WORDS: [&str; 4] = ["password", "passwd", "token", "secret"];
const HIDDEN: &str = "***";

/// The arguments of this process without secrets.
pub(super) fn command() -> Vec<String> {
    let arguments: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    without_secrets(&arguments)
}

fn without_secrets(arguments: &[String]) -> Vec<String> {
    let mut shown = Vec::with_capacity(arguments.len());
    let mut before = "";
    for argument in arguments {
        shown.push(match argument.strip_prefix("--url=") {
            Some(url) => format!("--url={}", addresses::shown(url)),
            None if before == "--url" => addresses::shown(argument),
            None => shown_assignment(argument),
        });
        before = argument;
    }
    shown
}

/// `key=value` with a hidden value when the key sounds like a secret.
fn shown_assignment(argument: &str) -> String {
    match argument.rsplit_once('=') {
        Some((key, _)) if SECRET_WORDS.iter().any(|word| key.to_lowercase().contains(word)) => {
            format!("{key}={HIDDEN}")
        }
        _ => argument.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_kept() {
        let given = [
            "iotbench",
            "--url",
            "postgres://me:s3cret@h/db",
            "--url=http://h/?token=s3cret",
            "--url=not a url s3cret",
            "--set",
            "backend.x.password=s3cret",
            "--set=backend.x.api_token=s3cret",
            "-d",
            "10s",
        ];
        let shown = without_secrets(&given.map(String::from));
        assert!(!shown.concat().contains("s3cret"), "{shown:?}");
        assert_eq!(shown[6], "backend.x.password=***");
        assert_eq!(shown[8..], ["-d", "10s"]);
    }
}
