//! Two programs on one database would each count what the other wrote: one at a time, on this machine and for this user.

use crate::error::SessionError;
use iotbench_core::{Backend, Endpoint};
use iotbench_launcher::Records;
use iotbench_report::{Lock, printable_lines};
use sha2::{Digest, Sha256};
use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};
use url::Host;

/// The locks of the databases at these addresses, as long as they are kept.
///
/// # Errors
/// Another program of this user works on one of them, or there is no place for the locks.
pub fn lock_targets<'a, 'b>(
    addresses: impl Iterator<Item = (&'b dyn Backend, &'a Endpoint)>,
) -> Result<Vec<Lock>, SessionError> {
    let identified = |(backend, endpoint): (&dyn Backend, &'a Endpoint)| (identity(endpoint, backend), endpoint);
    let mut targets: Vec<_> = addresses.map(identified).collect();
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let records = Records::open()?;
    // In one order, so that of two that want the same ones each takes the same first.
    targets.sort_by(|a, b| a.0.cmp(&b.0));
    targets.dedup_by(|a, b| a.0 == b.0);
    let lock = |(identity, endpoint): (String, &Endpoint)| {
        let name: String = format!("{:x}", Sha256::digest(identity)).chars().take(32).collect();
        Lock::take(&records.lock_of(&name), &printable_lines(&endpoint.to_string()))
    };
    Ok(targets.into_iter().map(lock).collect::<Result<_, _>>()?)
}

/// What makes an address the same database as another: a file by its real path, a server by host, port (the
/// backend's own, where it is left out) and path. Who logs in and how does not.
fn identity(endpoint: &Endpoint, backend: &dyn Backend) -> String {
    let url = endpoint.expose();
    let Some(host) = url.host() else {
        let path = Path::new(url.path());
        return format!("file {}", real(path).display());
    };
    let is_this_machine = match &host {
        // Only of schemes of the web is a host of digits told from a name.
        Host::Domain(name) => {
            name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        }
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    let host = if is_this_machine { "localhost".into() } else { host.to_string().to_lowercase() };
    let port = endpoint.port().or_else(|| backend.info().default_port);
    let port = port.map_or_else(|| url.scheme().to_owned(), |port| port.to_string());
    format!("server {host} {port} {}", url.path().trim_end_matches('/'))
}

/// The path without links and dots, of a file that may not be there yet.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let folder = absolute.parent().and_then(|folder| folder.canonicalize().ok());
    absolute.canonicalize().ok().or_else(|| Some(folder?.join(absolute.file_name()?))).unwrap_or(absolute)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_backends::BACKENDS;
    use iotbench_core::Registry;

    fn of(text: &str, backend: &str) -> String {
        identity(&text.parse().unwrap(), Registry::new(BACKENDS).find(backend).unwrap())
    }

    #[test]
    fn one_database_by_several_names_is_one() {
        let names = ["postgres://me:secret@localhost/iot", "postgres://you@127.0.0.1/iot/", "postgres://[::1]/iot?x=1"];
        assert!(names.iter().all(|name| of(name, "postgres") == of(names[0], "postgres")), "{names:?}");
        assert_eq!(of("postgres://h/a", "postgres"), of("postgresql://H:5432/a", "postgres"));
        assert_eq!(of("mysql://h/a", "mysql"), of("mariadb://h:3306/a", "mariadb"));
        assert_eq!(of("http://h", "influxdb"), of("https://h:8086", "influxdb2"));
        assert!(!of(names[0], "postgres").contains("secret"));
    }

    #[test]
    fn a_server_with_and_without_its_own_port_is_one_and_with_another_port_another() {
        for &backend in BACKENDS {
            let port = backend.info().default_port;
            assert_eq!(port.is_none(), backend.info().capabilities.embedded, "{}", backend.info().name);
            let Some(port) = port else { continue };
            for scheme in ["http", "https", "postgres", "mysql", "mongodb"] {
                let of = |rest: String| of(&format!("{scheme}://{rest}"), backend.info().name);
                assert_eq!(of("h/a".into()), of(format!("h:{port}/a")), "{} by {scheme}", backend.info().name);
                assert_ne!(of("h/a".into()), of(format!("h:{}/a", port + 1)), "{} by {scheme}", backend.info().name);
            }
        }
    }

    #[test]
    fn other_databases_are_others() {
        let names = ["postgres://h/a", "postgres://h/b", "postgres://other/a", "postgres://h:1/a", "sqlite:/a"];
        for (place, one) in names.iter().enumerate() {
            assert!(names[..place].iter().all(|other| of(other, "postgres") != of(one, "postgres")), "{one}");
        }
        assert_ne!(of("http://h", "influxdb"), of("http://h", "questdb"));
        assert_ne!(of("http://h", "influxdb"), of("http://h:80", "influxdb"));
    }

    #[test]
    fn a_file_by_a_link_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("link")).unwrap();
        let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
        let of = |name: &str| of(&url(name), "sqlite");
        assert_eq!(of("real/a.db"), of("link/./a.db"));
        assert_ne!(of("real/a.db"), of("real/b.db"));
    }
}
