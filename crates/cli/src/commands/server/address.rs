//! What is printed of a server's address: what any program takes, and what it takes beside that by name.

use url::Url;

/// The option of an address that says where a server takes datagrams: no other program that is given the address knows it.
const DATAGRAMS: &str = "udp";

/// An address as any program takes it.
pub(super) fn address(url: &str) -> String {
    let Ok(mut address) = Url::parse(url) else { return url.into() };
    let others: Vec<(String, String)> =
        address.query_pairs().filter(|(key, _)| key != DATAGRAMS).map(|(k, v)| (k.into(), v.into())).collect();
    if address.query_pairs().count() == others.len() {
        return url.into();
    }
    address.set_query(None);
    if !others.is_empty() {
        address.query_pairs_mut().extend_pairs(others);
    }
    address.into()
}

/// Where it takes datagrams, if it does, and what to write for that.
pub(super) fn datagrams(url: &str) -> Option<String> {
    let address = Url::parse(url).ok()?;
    let (_, at) = address.query_pairs().find(|(key, _)| key == DATAGRAMS)?;
    Some(format!("{DATAGRAMS}: {at} (for datagrams the address ends in ?{DATAGRAMS}={at})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_for_datagrams_is_told_apart() {
        let whole = "http://127.0.0.1:1/?udp=127.0.0.1:2";
        assert_eq!(address(whole), "http://127.0.0.1:1/");
        assert!(datagrams(whole).unwrap().starts_with("udp: 127.0.0.1:2 "));
        assert_eq!(address("http://h/?db=a&udp=h:2"), "http://h/?db=a");
        // Everything else stays as it is written.
        for other in ["mongodb://h:1/?replicaSet=r", "postgres://postgres@127.0.0.1:1", "mysql://root@h:1/"] {
            assert_eq!((address(other).as_str(), datagrams(other)), (other, None));
        }
    }
}
