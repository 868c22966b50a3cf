//! The password of a private server: drawn for it alone, so that no other user of the machine comes in.

use serde::{Deserialize, Serialize};
use std::{
    fmt,
    fs::File,
    io::{self, Read},
};

/// A password of hexadecimal digits, which no template, address or SQL string has to escape. Never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Password(String);

impl Password {
    /// 128 bits from the system.
    pub(crate) fn draw() -> io::Result<Self> {
        let mut bits = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bits)?;
        Ok(Self(format!("{:032x}", u128::from_ne_bytes(bits))))
    }

    /// In place of one, where only the form of an address matters.
    pub(crate) fn planned() -> Self {
        Self("planned".into())
    }

    /// For what the server itself, or its client, is told.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_drawn_anew_and_none_is_shown() {
        let [one, other] = [Password::draw().unwrap(), Password::draw().unwrap()];
        assert_ne!(one, other);
        assert!(one.expose().len() == 32 && one.expose().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(format!("{one:?}"), "***");
    }
}
