//! Where a database is: the values of `--url`.

use crate::error::SessionError;
use iotbench_core::Endpoint;
use iotbench_launcher::Records;
use url::Url;

/// The addresses that these texts mean, none for none. A text is never repeated: it may hold a password.
///
/// # Errors
/// The first that is no URL; texts that are all empty, as of a command that printed nothing.
pub fn endpoints(texts: &[String]) -> Result<Vec<Endpoint>, SessionError> {
    let wrong = |e| SessionError::usage(format!("--url cannot be read: {e}; write for example sqlite:PATH"));
    let written = whole(texts)?;
    let endpoints = written.iter().flat_map(|text| each_host(text)).map(|url| url.parse().map_err(wrong));
    let endpoints = endpoints.collect::<Result<Vec<_>, _>>()?;
    if endpoints.iter().any(Endpoint::is_cut_off) {
        return Err(SessionError::usage(
            "--url has an @ behind its host: where it belongs to user or password, write / as %2F, ? as %3F, # as %23 and \
             @ as %40 in them",
        ));
    }
    if endpoints.is_empty() && !texts.is_empty() {
        return Err(SessionError::usage("--url is empty: give an address, or leave it out"));
    }
    Ok(endpoints)
}

/// The addresses, those of servers that `iotbench server start` left running with their user and password: the user's other
/// commands know them, and nobody else does.
#[must_use]
pub fn admitted(endpoints: Vec<Endpoint>) -> Vec<Endpoint> {
    // Looking makes the folder of the records: not for an embedded database, nor where nothing is named.
    if !endpoints.iter().any(|endpoint| endpoint.expose().has_host()) {
        return endpoints;
    }
    let records = Records::open().and_then(|records| records.list()).unwrap_or_default();
    let admitted = |endpoint: Endpoint| {
        let known = records.iter().find_map(|record| record.admitted(endpoint.expose()));
        known.map_or(endpoint, Endpoint::new)
    };
    endpoints.into_iter().map(admitted).collect()
}

/// A server's address as `iotbench server start` prints it: what it says of other ports, which are named so, on lines of
/// their own. Other programs understand the first line, and `--url` all of them.
#[must_use]
pub fn in_lines(address: &str, ports: &[&str]) -> String {
    let Ok(mut url) = address.parse::<Url>() else { return format!("{address}\n") };
    let pairs = url.query_pairs().into_owned();
    let (named, others): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| ports.contains(&key.as_str()));
    if named.is_empty() {
        return format!("{address}\n");
    }
    url.set_query(None);
    if !others.is_empty() {
        url.query_pairs_mut().extend_pairs(others);
    }
    let lines = named.iter().map(|(key, value)| format!("{key}={value}\n"));
    std::iter::once(format!("{url}\n")).chain(lines).collect()
}

/// The addresses with what stands on lines behind them put in: the opposite of [`in_lines`].
fn whole(texts: &[String]) -> Result<Vec<String>, SessionError> {
    let mut whole: Vec<String> = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty()) {
        match (is_named(line), whole.last_mut()) {
            (true, Some(address)) => {
                address.push(if address.contains('?') { '&' } else { '?' });
                address.push_str(line);
            }
            (true, None) => {
                return Err(SessionError::usage("--url begins with NAME=HOST:PORT: that stands behind an address"));
            }
            (false, _) => whole.push(line.into()),
        }
    }
    Ok(whole)
}

/// Whether a line is `name=value` and no address.
fn is_named(line: &str) -> bool {
    let name = line.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

/// An address for people: without user, password and options.
#[must_use]
pub fn shown(text: &str) -> String {
    let shown = |text: String| text.parse().map_or_else(|_| "***".into(), |endpoint: Endpoint| endpoint.to_string());
    text.lines().filter(|line| !is_named(line.trim())).flat_map(each_host).map(shown).collect::<Vec<_>>().join(" ")
}

/// The hosts of one set may stand in one address, with commas between them: each is an address of its own.
fn each_host(text: &str) -> Vec<String> {
    let Some((scheme, rest)) = text.split_once("://") else { return vec![text.into()] };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    hosts.split(',').map(|host| format!("{scheme}://{user}{host}{path}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(texts: &[&str]) -> Vec<String> {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        endpoints(&texts).unwrap().iter().map(|endpoint| endpoint.expose().to_string()).collect()
    }

    #[test]
    fn each_host_of_a_list_is_an_address_with_all_the_rest() {
        assert_eq!(
            urls(&["mongodb://me:p,w@a:1,b:2,[::1]:3/d?replicaSet=r", "mongodb://c/d"]),
            [
                "mongodb://me:p,w@a:1/d?replicaSet=r",
                "mongodb://me:p,w@b:2/d?replicaSet=r",
                "mongodb://me:p,w@[::1]:3/d?replicaSet=r",
                "mongodb://c/d"
            ]
        );
        assert_eq!(urls(&["http://a/", "", " http://b/\n"]), ["http://a/", "http://b/"]);
        assert!(endpoints(&[]).unwrap().is_empty() && endpoints(&[String::new()]).is_err());
        let cut_off = endpoints(&["http://me:12/s3cret@h:8086/".into()]).unwrap_err();
        let cut_off = format!("{cut_off:?}");
        assert!(cut_off.contains("%2F") && !cut_off.contains("s3cret"), "{cut_off}");
        // Commas elsewhere mean nothing.
        for one in ["http://h/a,b?c=d,e", "sqlite:/tmp/a,b", "sqlite:///tmp/a,b"] {
            assert_eq!(urls(&[one]), [one]);
        }
    }

    #[test]
    fn what_a_server_prints_is_an_address_as_it_is() {
        let address = "http://127.0.0.1:8086/?udp=127.0.0.1:8089";
        let printed = in_lines(address, &["http", "udp", "rpc"]);
        assert_eq!(printed, "http://127.0.0.1:8086/\nudp=127.0.0.1:8089\n");
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(urls(&[&printed]), [address]);
        assert_eq!(urls(&lines), [address], "also line by line, as the shell's word and the environment come");
        let other = "http://127.0.0.1:1/?setup=private";
        assert_eq!(in_lines(other, &["http"]), format!("{other}\n"), "what is no port stays");
        assert_eq!(in_lines("http://h/?a=b&udp=h:1", &["udp"]), "http://h/?a=b\nudp=h:1\n");
        assert_eq!(shown(&printed), shown("http://127.0.0.1:8086/"));
        assert!(endpoints(&["udp=h:1".into()]).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_not_repeated() {
        let error = endpoints(&["not a url s3cret".into()]).unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
        assert_eq!(shown("mongodb://me:s3cret@a,b/d"), "mongodb://a/d mongodb://b/d");
        assert_eq!(shown("s3cret"), "***");
    }
}
