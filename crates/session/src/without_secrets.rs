//! The values of options as results keep them: only what is known to hold no secret.

use crate::addresses::shown;

/// Options whose values hold no secret, whatever they are. The value of any other is hidden.
pub const HARMLESS_OPTIONS: &[&str] = &[
    "agent-key",
    "agents",
    "arrival",
    "backend",
    "baseline",
    "batch",
    "clock-limit",
    "connections",
    "criterion",
    "duration",
    "first",
    "format",
    "history",
    "layout",
    "metric",
    "metrics",
    "most",
    "nats-ca",
    "nats-credentials",
    "on-agent-loss",
    "operations",
    "out",
    "over",
    "output-format",
    "profile",
    "rate",
    "resume",
    "runs",
    "sample",
    "scenario",
    "seed",
    "server-at",
    "server-memory",
    "sessions",
    "state",
    "strategy",
    "threshold",
    "trial",
    "trials",
    "variant",
    "verify",
    "vus",
    "warmup",
    "width",
];
/// Words in a key whose value is a secret.
const SECRET_WORDS: [&str; 5] = ["pass", "token", "secret", "credential", "auth"];
/// Of what follows the address in `--via`, the keys that are iotbench's own.
const VIA_KEYS: [&str; 2] = ["qos", "payload"];
const HIDDEN: &str = "***";
/// A longer word may be more than the name of a choice.
const LONGEST_WORD: usize = 16;

/// What a results folder keeps of an option's value. `option`: its long name, if it is known.
#[must_use]
pub fn shown_option(option: Option<&str>, value: &str) -> String {
    match option {
        Some("url") => shown(value),
        Some("via") => shown_way(value),
        Some("nats") => value.split(',').map(shown_broker).collect::<Vec<_>>().join(","),
        Some("set" | "with") => shown_assignment(value),
        Some(name) if HARMLESS_OPTIONS.contains(&name) => value.into(),
        _ => HIDDEN.into(),
    }
}

/// What `--via` says, without user and password, and of what is asked of a broker only what is plain.
fn shown_way(text: &str) -> String {
    let (place, query) = text.split_once('?').unwrap_or((text, ""));
    let place = if place == "mqtt" { place.into() } else { shown(place) };
    if query.is_empty() {
        return place;
    }
    let pair = |pair: &str| match pair.split_once('=') {
        Some((key, _)) if VIA_KEYS.contains(&key) => pair.into(),
        _ => shown_assignment(pair),
    };
    format!("{place}?{}", query.split('&').map(pair).collect::<Vec<_>>().join("&"))
}

/// A NATS server without what stands before the `@`, which is a token or a user with a password.
fn shown_broker(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return HIDDEN.into() };
    let host = rest.rsplit('@').next().unwrap_or_default();
    let is_host =
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte));
    let host = if is_host { host } else { HIDDEN };
    format!("{scheme}://{host}")
}

/// `key=value` with its value where that is a number, a list of them or one of a choice of words, and the key does not sound like
/// a secret.
fn shown_assignment(text: &str) -> String {
    let Some((key, value)) = text.split_once('=') else { return HIDDEN.into() };
    let is_secret = SECRET_WORDS.iter().any(|word| key.to_lowercase().contains(word));
    if !is_secret && is_plain(value) { text.into() } else { format!("{key}={HIDDEN}") }
}

fn is_plain(value: &str) -> bool {
    let value = value.trim().trim_matches('"');
    let is_word = value.len() <= LONGEST_WORD && value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    // 60s, 1e6, 4KiB, 10%, [1, 2, 4]: at most a unit's letters beside figures.
    let of_number = |byte: u8| byte.is_ascii_digit() || b".,-+%_ []\"".contains(&byte);
    let letters = value.bytes().filter(|&byte| !of_number(byte)).count();
    let is_number = value.starts_with(|first: char| first.is_ascii_digit() || "[-.".contains(first));
    let items = value.split(',').count();
    is_word || (is_number && letters <= 3 * items)
}
