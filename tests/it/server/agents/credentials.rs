//! What the operator of a NATS server gives out: signed claims of who may enter, and the file with which a user does (NATS,
//! "JWTs", version 2 of the claims).

use crate::server::place::Place;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::path::PathBuf;

/// An operator with one account of one user.
pub struct Operator {
    /// What makes a server trust it.
    pub configuration: PathBuf,
    /// The user's file.
    credentials: PathBuf,
    /// The user's secret key, which is in that file.
    pub seed: String,
}

impl Operator {
    /// Writes its files into the place under this name.
    pub fn new(place: &Place, name: &str) -> Self {
        let (operator, account, user) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_user());
        let anything = json!({ "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "conn": -1,
            "leaf": -1, "wildcards": true });
        let of_operator = claims(&operator, &operator, json!({ "type": "operator" }));
        let of_account = claims(&operator, &account, json!({ "type": "account", "limits": anything }));
        let of_user = claims(&account, &user, json!({ "type": "user", "subs": -1, "data": -1, "payload": -1 }));
        let seed = user.seed().unwrap();
        let configuration = format!(
            "operator: {of_operator}\nresolver: MEMORY\nresolver_preload: {{ {}: {of_account} }}\n",
            account.public_key()
        );
        let credentials = format!(
            "-----BEGIN NATS USER JWT-----\n{of_user}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        );
        let written = |ending: &str, text: String| {
            let file = place.root().join(format!("{name}.{ending}"));
            std::fs::write(&file, text).unwrap();
            file
        };
        Self { configuration: written("conf", configuration), credentials: written("creds", credentials), seed }
    }

    /// How the program is told of the user's file.
    pub fn words(&self) -> [&str; 2] {
        ["--nats-credentials", self.credentials.to_str().unwrap()]
    }
}

/// What `issuer` vouches for of `subject`, signed.
fn claims(issuer: &KeyPair, subject: &KeyPair, mut what: Value) -> String {
    what["version"] = 2.into();
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let body = json!({ "jti": subject.public_key(), "iat": 1_700_000_000, "iss": issuer.public_key(),
        "name": "iotbench", "sub": subject.public_key(), "nats": what });
    let [header, body] = [header, body].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let signed = format!("{header}.{body}");
    let signature = URL_SAFE_NO_PAD.encode(issuer.sign(signed.as_bytes()).unwrap());
    format!("{signed}.{signature}")
}
