//! What decides a result, as one digest.

use super::Document;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

/// SHA-256 of a profile as `profile.toml` holds it.
#[must_use]
pub fn of_profile(profile: &impl Serialize) -> Option<String> {
    toml::to_string(profile).ok().map(|text| hex(text.as_bytes()))
}

/// SHA-256 of tool, profile, seed, database and machine. Addresses and the steal of this very run are left out.
pub(super) fn of_document(document: &Document) -> String {
    let mut target = document.target.clone();
    target.endpoints.clear();
    let mut environment = document.environment.clone();
    environment.steal_pct = None;
    let text = json!([
        document.tool,
        document.profile,
        document.profile_sha256,
        document.seed,
        document.origin,
        target,
        environment
    ]);
    hex(text.to_string().as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
