//! Where a database is: the values of `--url`.

use crate::{console, error::CliError};
use iotbench_core::Endpoint;
use url::Url;

/// The addresses that these texts mean, none for none. A text is never repeated: it may hold a password.
///
/// # Errors
/// The first that is no URL; texts that are all empty, as of a command that printed nothing.
pub(crate) fn endpoints(texts: &[String]) -> Result<Vec<Endpoint>, CliError> {
    let wrong = |e| CliError::usage(format!("--url cannot be read: {e}; write for example sqlite:PATH"));
    let written = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    let endpoints = written.flat_map(each_host).map(|url| url.parse().map_err(wrong));
    let endpoints = endpoints.collect::<Result<Vec<_>, _>>()?;
    if endpoints.is_empty() && !texts.is_empty() {
        return Err(CliError::usage("--url is empty: give an address, or leave it out"));
    }
    Ok(endpoints)
}

/// An address for people: without user, password and options.
pub(crate) fn shown(text: &str) -> String {
    let shown = |text: String| text.parse().map_or_else(|_| "***".into(), |endpoint: Endpoint| endpoint.to_string());
    text.lines().flat_map(each_host).map(shown).collect::<Vec<_>>().join(" ")
}

/// Other users see the command line, and the environment they do not.
pub(crate) fn warn_of_password(endpoints: &[Endpoint]) {
    let given_as_argument = || std::env::args().any(|a| a == "--url" || a.starts_with("--url="));
    if endpoints.iter().map(Endpoint::expose).any(|url: &Url| url.password().is_some()) && given_as_argument() {
        console::say("warning: other users of this machine can see the password in --url: set IOTBENCH_URL instead");
    }
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
        // Commas elsewhere mean nothing.
        for one in ["http://h/a,b?c=d,e", "sqlite:/tmp/a,b", "sqlite:///tmp/a,b"] {
            assert_eq!(urls(&[one]), [one]);
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_repeated() {
        let error = endpoints(&["not a url s3cret".into()]).unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
        assert_eq!(shown("mongodb://me:s3cret@a,b/d"), "mongodb://a/d mongodb://b/d");
        assert_eq!(shown("s3cret"), "***");
    }
}
