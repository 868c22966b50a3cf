//! What a server says before anybody logs in: which way to log in it expects.

use super::error::classify;
use iotbench_core::{Cause, Error};
use tokio::{io::AsyncReadExt, net::TcpStream};

/// Ways to log in that hand the password to whoever holds the other end, encrypted for a key that nobody vouches for.
const NEED_TLS: [&str; 2] = ["caching_sha2_password", "sha256_password"];
const MAX_BYTES: usize = 1024;

/// Refuses a server that would be given the password over a connection in plain text.
///
/// # Errors
/// [`Cause::Auth`] where it expects one of the SHA-2 ways; what fails on the way to it.
pub(crate) async fn refuse_bare_password(host: &str, port: u16) -> Result<(), Error> {
    let failed = |e: std::io::Error| classify(&sqlx::Error::Io(e));
    let mut stream = TcpStream::connect((host, port)).await.map_err(failed)?;
    let mut header = [0; 4];
    stream.read_exact(&mut header).await.map_err(failed)?;
    let length = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
    let mut greeting = vec![0; length.min(MAX_BYTES)];
    stream.read_exact(&mut greeting).await.map_err(failed)?;
    match plugin(&greeting) {
        Some(plugin) if NEED_TLS.iter().any(|name| name.as_bytes() == plugin) => {
            let message = "this server logs in by SHA-2, which gives the password away without TLS: \
                           write ?sslmode=verify-full with the setting ca, or ?sslmode=require";
            Err(Error::new(Cause::Auth, message))
        }
        _ => Ok(()),
    }
}

/// The way to log in that a greeting of protocol version 10 names.
/// Source: <https://mariadb.com/kb/en/connection/#initial-handshake-packet>.
fn plugin(greeting: &[u8]) -> Option<&[u8]> {
    const AFTER_VERSION: usize = 4 + 8 + 1 + 2 + 1 + 2 + 2;
    let rest = greeting.strip_prefix(&[10])?;
    let version_end = rest.iter().position(|&b| b == 0)?;
    let rest = rest.get(version_end + 1 + AFTER_VERSION..)?;
    let (&salt_length, rest) = rest.split_first()?;
    let second_salt = usize::from(salt_length).saturating_sub(8).max(13);
    let name = rest.get(10 + second_salt..)?;
    Some(name.split(|&b| b == 0).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(name: &[u8]) -> Vec<u8> {
        let mut bytes = vec![10];
        bytes.extend(b"8.0.36\0");
        bytes.extend([1; 4 + 8 + 1 + 2 + 1 + 2 + 2]);
        bytes.push(21);
        bytes.extend([0; 10]);
        bytes.extend([7; 13]);
        bytes.extend(name);
        bytes
    }

    #[test]
    fn the_way_to_log_in_is_read_from_the_greeting() {
        assert_eq!(plugin(&greeting(b"caching_sha2_password\0")), Some(&b"caching_sha2_password"[..]));
        assert_eq!(plugin(&greeting(b"mysql_native_password")), Some(&b"mysql_native_password"[..]));
    }

    #[test]
    fn what_is_no_greeting_names_none() {
        let whole = greeting(b"x\0");
        for length in 0..whole.len() - 2 {
            assert_eq!(plugin(&whole[..length]), None, "{length} bytes");
        }
        assert_eq!(plugin(b"\xff\x10\x04Too many connections"), None);
    }
}
