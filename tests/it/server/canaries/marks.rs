//! A secret whose parts stand nowhere else, and in which shapes it would still be one.

use super::ways::Way;
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use std::{collections::BTreeSet, fmt::Write, path::Path};

/// A secret with what would split it.
pub struct Marks {
    raw: String,
    shapes: BTreeSet<String>,
}

impl Marks {
    /// One of its own for each number.
    pub fn new(number: usize) -> Self {
        let [a, b, c] = ["a", "b", "c"].map(|part| format!("Qz{number:05}{part}wXyVu"));
        let mut marks = Self::of(&format!("{a}={b}@{c}"));
        // Cut where one of its characters means something, each part is still most of it.
        for part in [a, b, c] {
            marks.shapes.extend(shapes(&part));
            // Hosts have no capitals.
            marks.shapes.insert(part.to_lowercase());
        }
        marks
    }

    /// This secret.
    pub fn of(secret: &str) -> Self {
        Self { raw: secret.into(), shapes: shapes(secret) }
    }

    /// The text with the secret in it, as it is for `RAW`, and percent-encoded for `ENC`.
    pub fn put_into(&self, text: &str) -> String {
        text.replace("RAW", &self.raw).replace("ENC", &percent_encoded(&self.raw))
    }

    pub fn assert_absent_from_text(&self, text: &str, way: &Way) {
        let found = self.shapes.iter().find(|shape| text.contains(&***shape));
        assert!(found.is_none(), "{way:?}: {found:?} comes out: {text}");
    }

    /// Neither in a file nor in the name of one.
    pub fn assert_absent_from_folder(&self, folder: &Path, way: &Way) {
        for entry in folder.read_dir().into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            self.assert_absent_from_text(&entry.file_name().to_string_lossy(), way);
            if entry.file_type().unwrap().is_dir() {
                self.assert_absent_from_folder(&path, way);
            } else if entry.file_type().unwrap().is_file() {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                let found = self.shapes.iter().find(|shape| text.contains(&***shape));
                assert!(found.is_none(), "{way:?}: {found:?} is in {}", path.display());
            }
        }
    }
}

/// As it is, percent-encoded, and in Base64, alone and behind a user's name, wherever in three bytes it begins.
fn shapes(secret: &str) -> BTreeSet<String> {
    let mut shapes = BTreeSet::from([secret.to_owned(), percent_encoded(secret), STANDARD.encode(secret)]);
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for before in ["", "x", "xx"] {
            let encoded = engine.encode(format!("{before}{secret}"));
            // The characters that its neighbours take part in.
            let first = if before.is_empty() { 0 } else { 4 };
            shapes.insert(encoded[first..encoded.len() - 4].to_owned());
        }
    }
    shapes
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() {
            true => encoded.push(byte.into()),
            false => write!(encoded, "%{byte:02X}").unwrap(),
        }
    }
    encoded
}

#[test]
fn a_secret_is_found_in_every_shape() {
    let marks = Marks::new(7);
    let raw = marks.put_into("RAW");
    let basic = STANDARD.encode(format!("someone:{raw}"));
    for text in [&*raw, &marks.put_into("ENC"), &STANDARD.encode(&raw), &basic, &raw[..16], &raw[raw.len() - 14..]] {
        let told = std::panic::catch_unwind(|| marks.assert_absent_from_text(&format!("<{text}>"), &Way::default()));
        assert!(told.is_err(), "{text}");
    }
    marks.assert_absent_from_text("Qz00008awXyVu", &Way::default());
}
