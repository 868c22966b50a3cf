//! A marker as text: in a comment, or as a JSON document.

use iotbench_core::Marker;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};

/// Who makes what a marker stands on.
pub const CREATED_BY: &str = concat!("iotbench ", env!("CARGO_PKG_VERSION"));
/// What a comment of ours begins with.
pub const BEGINNING: &str = "iotbench run=";
/// What [`CREATED_BY`] of any version begins with.
const OURS: &str = "iotbench ";
/// What a comment may hold as it is: neither a quote nor a blank.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Whether this names a version of iotbench.
#[must_use]
pub fn is_ours(created_by: &str) -> bool {
    created_by.starts_with(OURS)
}

/// A marker as a comment that needs no quoting.
#[must_use]
pub fn comment(marker: &Marker) -> String {
    encoded(marker, ENCODED)
}

fn encoded(marker: &Marker, set: &'static AsciiSet) -> String {
    let run_id = utf8_percent_encode(&marker.run_id, set);
    format!("{BEGINNING}{run_id} fingerprint={}", utf8_percent_encode(&marker.fingerprint, set))
}

/// The marker of a comment that [`comment`] wrote, or wrote in PostgreSQL before it was one for all databases, and of no other.
#[must_use]
pub fn of_comment(text: &str) -> Option<Marker> {
    let (run_id, fingerprint) = text.strip_prefix(BEGINNING)?.split_once(" fingerprint=")?;
    let decoded = |part: &str| percent_decode_str(part).decode_utf8().ok().map(std::borrow::Cow::into_owned);
    let marker = Marker { run_id: decoded(run_id)?, fingerprint: decoded(fingerprint)? };
    [ENCODED, NON_ALPHANUMERIC].iter().any(|set| encoded(&marker, set) == text).then_some(marker)
}

/// A marker as a document; what else a backend writes beside it is in `T`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkerDocument<T> {
    created_by: String,
    /// The marker.
    #[serde(flatten)]
    pub marker: Marker,
    /// The rest.
    #[serde(flatten)]
    pub beside: T,
}

/// Nothing beside a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {}

impl<T> MarkerDocument<T> {
    /// A mark of this version.
    pub fn new(marker: &Marker, beside: T) -> Self {
        Self { created_by: CREATED_BY.into(), marker: marker.clone(), beside }
    }

    /// The same mark, where iotbench wrote it.
    #[must_use]
    pub fn if_ours(self) -> Option<Self> {
        is_ours(&self.created_by).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_marker_comes_back_from_a_comment_that_needs_no_quoting(run_id in any::<String>(), print in any::<String>()) {
            let marker = Marker { run_id, fingerprint: print };
            let text = comment(&marker);
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b" =%-_.".contains(&b)), "{}", text);
            prop_assert_eq!(of_comment(&text), Some(marker));
        }

        #[test]
        fn nothing_else_is_a_marker(text in "(iotbench run=)?[ -~]{0,20}( fingerprint=)?[ -~]{0,5}") {
            if let Some(marker) = of_comment(&text) {
                prop_assert_eq!(comment(&marker), text.replace("%2D", "-").replace("%5F", "_").replace("%2E", "."));
            }
        }
    }

    #[test]
    fn what_we_did_not_write_is_no_marker() {
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
            "iotbench run=a fingerprint=b c",
            "a table for iotbench run=a fingerprint=b",
        ] {
            assert_eq!(of_comment(text), None, "{text}");
        }
        assert!(of_comment("iotbench run=a fingerprint=b").is_some());
        assert_eq!(
            of_comment("iotbench run=a%2D1 fingerprint=b").unwrap().run_id,
            "a-1",
            "as PostgreSQL's were written"
        );
        assert_eq!(of_comment("iotbench run=a%2D1-2 fingerprint=b"), None, "neither as one nor as the other");
    }

    #[test]
    fn only_a_document_of_our_make_is_ours() {
        let marker = Marker { run_id: "r\"1".into(), fingerprint: "f".into() };
        let text = serde_json::to_string(&MarkerDocument::new(&marker, Nothing {})).unwrap();
        let read =
            |text: &str| serde_json::from_str::<MarkerDocument<Nothing>>(text).ok().and_then(MarkerDocument::if_ours);
        assert_eq!(read(&text).unwrap().marker, marker);
        let written = r#"{"created_by":"iotbench 0.1.0","run_id":"r","fingerprint":"f"}"#;
        assert_eq!(read(written).unwrap().marker.run_id, "r", "as earlier versions wrote it");
        for theirs in ["", "7", "my bucket", "{}", r#"{"created_by":"me","run_id":"r","fingerprint":"f"}"#] {
            assert_eq!(read(theirs), None, "{theirs}");
        }
    }
}
