//! Certificates as the tests of encrypted connections need them: good ones, and each kind of bad one.

use crate::server::place::{Place, recipe};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// An authority of a test's own, which no client trusts unless told to.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate, for the setting `ca`.
    pub file: PathBuf,
}

/// A certificate and its key, in files that the server of one backend may read.
pub struct Certificate {
    pub file: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    pub fn new(place: &Place, name: &str) -> Self {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let file = place.root().join(format!("{name}.pem"));
        fs::write(&file, parameters.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(parameters, key), file }
    }

    /// A certificate of a host that is good for many years.
    pub fn issue(&self, place: &Place, backend: &str, host: &str) -> Certificate {
        self.sign(place, backend, &parameters(host))
    }

    /// A certificate of a host that was good for many years.
    pub fn issue_expired(&self, place: &Place, backend: &str, host: &str) -> Certificate {
        let mut parameters = parameters(host);
        parameters.not_before = date_time_ymd(1999, 1, 1);
        parameters.not_after = date_time_ymd(2019, 1, 1);
        self.sign(place, backend, &parameters)
    }

    fn sign(&self, place: &Place, backend: &str, parameters: &CertificateParams) -> Certificate {
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        written(place.root(), backend, &certificate.pem(), &key)
    }
}

/// A certificate and its key as Java keeps them.
pub struct KeyStore {
    pub file: PathBuf,
    pub password: &'static str,
}

impl Certificate {
    /// Whether the program that [`key_store`](Self::key_store) needs is here.
    pub fn can_be_key_store() -> bool {
        Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// The same as a PKCS #12 file.
    pub fn key_store(&self, folder: &Path) -> KeyStore {
        let store = KeyStore { file: folder.join("server.p12"), password: "changeit" };
        let mut openssl = Command::new("openssl");
        openssl.args(["pkcs12", "-export", "-passout", &format!("pass:{}", store.password), "-in"]).arg(&self.file);
        openssl.arg("-inkey").arg(&self.key).arg("-out").arg(&store.file);
        assert!(openssl.status().unwrap().success());
        fs::set_permissions(&store.file, Permissions::from_mode(0o644)).unwrap();
        store
    }
}

/// A certificate of a host that nobody but itself vouches for.
pub fn self_signed(place: &Place, backend: &str, host: &str) -> Certificate {
    let key = KeyPair::generate().unwrap();
    written(place.root(), backend, &parameters(host).self_signed(&key).unwrap().pem(), &key)
}

fn parameters(host: &str) -> CertificateParams {
    CertificateParams::new(vec![host.to_owned()]).unwrap()
}

/// Servers refuse a key that others may read, or cannot read one that is not theirs.
fn written(folder: &Path, backend: &str, certificate: &str, key: &KeyPair) -> Certificate {
    let written = Certificate { file: folder.join("server.pem"), key: folder.join("server.key") };
    fs::write(&written.file, certificate).unwrap();
    // MongoDB has both in one file.
    let both = if backend == "mongodb" { certificate } else { "" };
    fs::write(&written.key, format!("{both}{}", key.serialize_pem())).unwrap();
    readable_by_server_alone(&written.key, backend);
    written
}

pub fn readable_by_server_alone(file: &Path, backend: &str) {
    fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(file, Some(user_id(recipe(backend).user)), None).unwrap();
    }
}

fn user_id(name: &str) -> u32 {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| users.lines().find(|line| line.split(':').next() == Some(name));
    // What a server runs as that has no user of its own.
    let user = find(name).or_else(|| find("nobody")).unwrap();
    user.split(':').nth(2).unwrap().parse().unwrap()
}
