//! The comment that says which objects are ours: `iotbench run=… fingerprint=…`.

use iotbench_core::Marker;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What every comment of ours begins with.
pub(crate) const BEGINNING: &str = "iotbench run=";
const FINGERPRINT: &str = " fingerprint=";

/// A marker as a comment. All but letters and digits is percent-encoded, so that no run id can imitate another.
pub(crate) fn comment(marker: &Marker) -> String {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    format!("{BEGINNING}{}{FINGERPRINT}{}", encoded(&marker.run_id), encoded(&marker.fingerprint))
}

/// The marker in a comment; `None` unless it is to the letter one that [`comment`] makes.
pub(crate) fn parse(text: &str) -> Option<Marker> {
    let (run_id, fingerprint) = text.strip_prefix(BEGINNING)?.split_once(FINGERPRINT)?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned);
    let marker = Marker { run_id: decoded(run_id)?, fingerprint: decoded(fingerprint)? };
    (comment(&marker) == text).then_some(marker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_marker_comes_back(run_id in "\\PC{0,20}", fingerprint in "\\PC{0,20}") {
            let marker = Marker { run_id, fingerprint };
            prop_assert_eq!(parse(&comment(&marker)), Some(marker));
        }

        #[test]
        fn nothing_else_is_a_marker(text in "(iotbench run=)?[ -~]{0,20}( fingerprint=)?[ -~]{0,5}") {
            if let Some(marker) = parse(&text) {
                prop_assert_eq!(comment(&marker), text);
            }
        }
    }

    #[test]
    fn what_is_nearly_a_marker_is_none() {
        for text in [
            "",
            "iotbench",
            "iotbench run=a",
            " iotbench run=a fingerprint=b",
            "iotbench run=a fingerprint=b ",
            "iotbench run=a b fingerprint=c",
            "iotbench run=%61 fingerprint=b",
            "iotbench run=%ff fingerprint=b",
            "Iotbench run=a fingerprint=b",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
