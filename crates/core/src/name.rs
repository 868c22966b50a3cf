//! Names of tables, databases and folders that iotbench creates.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A name that needs no quoting anywhere: `[a-z][a-z0-9_]*`, at most 48 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// A text that cannot be the name of an object that iotbench creates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot name a table: use lower-case letters, digits and _, a letter first, at most 48 bytes")]
pub struct NameError(pub String);

impl Name {
    /// Checks a name against the allow-list.
    ///
    /// # Errors
    /// Any character outside it, an empty or a long name.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let starts_well = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        let allowed = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if starts_well && allowed && text.len() <= 48 { Ok(Self(text.into())) } else { Err(NameError(text.into())) }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_name_needs_quoting(text in "\\PC{0,60}") {
            if let Ok(name) = Name::new(&text) {
                prop_assert!(name.as_str().bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric()));
                prop_assert!(name.as_str().len() <= 48);
            }
        }
    }

    #[test]
    fn hostile_names_are_refused() {
        for bad in ["", "a'b", "a\"b", "a;b", "$(x)", "a\nb", "../x", "ä", "1a"] {
            assert_eq!(Name::new(bad), Err(NameError(bad.into())));
        }
    }
}
