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
        let with_address = ["--url", "--via"].into_iter().find_map(|option| {
            let url = argument.strip_prefix(option)?.strip_prefix('=')?;
            Some(format!("{option}={}", shown_address(option, url)))
        });
        shown.push(match with_address {
            Some(shown) => shown,
            None if matches!(before, "--url" | "--via") => shown_address(before, argument),
            None => shown_assignment(argument),
        });
        before = argument;
    }
    shown
}

/// An address without secrets. What `--via` asks of a broker is none.
fn shown_address(option: &str, text: &str) -> String {
    let (place, query) = text.split_once('?').unwrap_or((text, ""));
    match option {
        "--via" if place == "mqtt" => text.into(),
        "--via" if !query.is_empty() => format!("{}?{query}", addresses::shown(place)),
        _ => addresses::shown(text),
    }
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
            "--via=mqtt://me:s3cret@h?qos=1",
            "--via",
            "mqtt?qos=0",
            "--set",
            "backend.x.password=s3cret",
            "--set=backend.x.api_token=s3cret",
            "-d",
            "10s",
        ];
        let shown = without_secrets(&given.map(String::from));
        assert!(!shown.concat().contains("s3cret"), "{shown:?}");
        assert_eq!(shown[5..8], ["--via=mqtt://h?qos=1", "--via", "mqtt?qos=0"]);
        assert_eq!(shown[9], "backend.x.password=***");
        assert_eq!(shown[11..], ["-d", "10s"]);
    }
}
