//! How a run's folder is called.

use super::FolderError;
use jiff::{Timestamp, fmt::strtime};
use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    time::SystemTime,
};

const LONGEST_PART: usize = 64;
const LETTERS: usize = 4;

/// How a run's folder is called: `<UTC time>-<profile>-<backend>-<layout>-<4 random letters>`. It is one plain file name,
/// and serves as the run's name too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderName(String);

impl FolderName {
    /// A name for a run that starts at `started`. Does no I/O.
    ///
    /// # Errors
    /// A part that is empty, too long, or has other characters than letters, digits, `_` and `-`.
    pub fn new(started: SystemTime, profile: &str, backend: &str, layout: &str) -> Result<Self, FolderError> {
        for part in [profile, backend, layout] {
            let plain = part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            if part.is_empty() || part.len() > LONGEST_PART || !plain {
                return Err(FolderError::Name(part.into()));
            }
        }
        let time = Timestamp::try_from(started).unwrap_or_default();
        let time = strtime::format("%Y%m%dT%H%M%SZ", time).map_err(|e| FolderError::Name(e.to_string()))?;
        Ok(Self(format!("{time}-{profile}-{backend}-{layout}-{}", random_letters())))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FolderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Letters that keep two runs of one second apart. The standard library's hasher takes its keys from the system.
fn random_letters() -> String {
    const ALPHABET: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";
    let mut number = RandomState::new().build_hasher().finish();
    let mut letter = || {
        let index = usize::try_from(number % 26).unwrap_or_default();
        number /= 26;
        char::from(ALPHABET[index])
    };
    (0..LETTERS).map(|_| letter()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{path::Path, time::Duration};

    #[test]
    fn a_name_tells_time_profile_backend_and_layout() {
        let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_607_200);
        let name = FolderName::new(started, "pmu_write", "sqlite", "wide").unwrap();
        assert!(name.as_str().starts_with("20260105T100000Z-pmu_write-sqlite-wide-"), "{name}");
        assert!(name.as_str().bytes().rev().take(LETTERS).all(|b| b.is_ascii_lowercase()), "{name}");
    }

    #[test]
    fn a_part_that_could_leave_the_folder_is_refused() {
        for bad in ["", "..", "../x", "/etc/x", "a/../../b", "a\0b", "a b", "a.b", "ä", "\x1b[2J", &"a".repeat(65)] {
            for parts in [[bad, "b", "c"], ["a", bad, "c"], ["a", "b", bad]] {
                let name = FolderName::new(SystemTime::UNIX_EPOCH, parts[0], parts[1], parts[2]);
                assert_eq!(name.map_err(|e| e.exit_code()), Err(2), "{bad:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_name_is_always_one_component(profile in any::<String>(), backend in "\\PC{0,70}", layout in "[./a-z]{0,9}") {
            if let Ok(name) = FolderName::new(SystemTime::UNIX_EPOCH, &profile, &backend, &layout) {
                let path = Path::new("/out").join(name.as_str());
                prop_assert_eq!(path.parent(), Some(Path::new("/out")));
            }
        }
    }
}
