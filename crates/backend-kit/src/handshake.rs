//! What to do where an encrypted connection is refused. Pure.

/// What rustls, or a driver, says of the server, in lower case, and the way out.
const WAYS_OUT: [(&str, &str); 6] = [
    ("unknownissuer", "name its authority by the setting ca, if you trust it"),
    ("not valid for name", "use a host name that the certificate holds"),
    ("expired", "the server needs a new certificate"),
    ("does not support tls", "the server does not encrypt: set it to, or write sslmode=disable on a network you trust"),
    (
        "handshake eof",
        "the server closed the connection, and it may not encrypt: set it to, or write http:// on a network you trust",
    ),
    ("corrupt message", "the server does not encrypt: set it to, or write http:// on a network you trust"),
];

/// A refusal with what the user can do about it, where that is known.
pub fn with_way_out(refusal: &str) -> String {
    let text = refusal.to_lowercase();
    let found = WAYS_OUT.iter().find(|(words, _)| text.contains(words));
    found.map_or_else(|| refusal.to_owned(), |(_, way_out)| format!("{refusal}: {way_out}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do() {
        for (refusal, way_out) in [
            ("invalid peer certificate: UnknownIssuer", "the setting ca"),
            (
                "invalid peer certificate: certificate not valid for name \"h\"; certificate is only valid for …",
                "host name",
            ),
            ("invalid peer certificate: certificate expired: verification time …", "new certificate"),
            ("server does not support TLS", "sslmode=disable"),
            ("tls handshake eof", "may not encrypt"),
            ("received corrupt message of type InvalidContentType", "http://"),
        ] {
            let shown = with_way_out(refusal);
            assert!(shown.starts_with(refusal) && shown[refusal.len()..].contains(way_out), "{shown}");
        }
        assert_eq!(with_way_out("no common cipher"), "no common cipher");
    }
}
