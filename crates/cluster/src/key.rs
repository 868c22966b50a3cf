//! Keys: the seed with which a coordinator signs what it tells agents, and the public keys that an agent trusts.

use nkeys::KeyPair;
use rustix::fs::OFlags;
use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

/// More than this is no file of keys.
const MAX_BYTES: u64 = 64 * 1024;
/// What a user who is neither the file's owner nor of its group may do with it.
const OF_OTHERS: u32 = 0o007;

/// What is wrong with a key. Never repeats what was read or written: it may be a seed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("{}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// Everybody on the machine can sign as its owner.
    #[error("{}: other users of this machine can read this seed: chmod 600 it, or make a new one", .0.display())]
    Open(PathBuf),
    /// It holds no seed.
    #[error("{}: there is no seed in it: `iotbench agent-key FILE` makes one", .0.display())]
    NoSeed(PathBuf),
    /// What is to be trusted is neither a key nor a file of keys.
    #[error("--trust takes a public key (U…, as `iotbench agent-key FILE` prints it) or a file with one in each line")]
    NoKey,
    /// It is the secret half.
    #[error("--trust takes the public key (U…): this is a seed, which only the coordinator may know")]
    Seed,
    /// A seed that was read signs nothing.
    #[error("the key cannot sign: {0}")]
    Sign(String),
}

/// The seed of a coordinator.
#[derive(Clone)]
pub struct SigningKey(Arc<KeyPair>);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public())
    }
}

impl SigningKey {
    /// A new one, which nobody else has.
    #[must_use]
    pub fn drawn() -> Self {
        Self(Arc::new(KeyPair::new_user()))
    }

    /// A new one, kept in a new file that only its owner reads.
    ///
    /// # Errors
    /// The file is there already, or cannot be written.
    pub fn create(file: &Path) -> Result<Self, KeyError> {
        let cannot = |why: String| KeyError::File { file: file.into(), why };
        let key = Self::drawn();
        let seed = key.0.seed().map_err(|e| cannot(e.to_string()))?;
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        let mut created = created.map_err(|e| cannot(e.to_string()))?;
        let written = writeln!(created, "{seed}").and_then(|()| created.sync_all());
        written.map_err(|e| cannot(e.to_string()))?;
        Ok(key)
    }

    /// The one in this file.
    ///
    /// # Errors
    /// The file cannot be read, holds no seed, or is readable for every user of the machine.
    pub fn read(file: &Path) -> Result<Self, KeyError> {
        let (opened, text) = read(file)?;
        if opened.mode() & OF_OTHERS != 0 {
            return Err(KeyError::Open(file.into()));
        }
        let seed = lines(&text).next().and_then(|line| KeyPair::from_seed(line).ok());
        seed.map(|seed| Self(Arc::new(seed))).ok_or_else(|| KeyError::NoSeed(file.into()))
    }

    /// What agents are told to trust.
    #[must_use]
    pub fn public(&self) -> String {
        self.0.public_key()
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.0.sign(bytes).map_err(|e| KeyError::Sign(e.to_string()))
    }
}

/// The coordinators that an agent takes orders from, by their public keys.
#[derive(Clone, Debug)]
pub struct Trust(Vec<Arc<KeyPair>>);

impl Trust {
    /// Those of these words: public keys, and files with a public key in each line.
    ///
    /// # Errors
    /// A word that is neither; a file that cannot be read.
    pub fn of(words: &[String]) -> Result<Self, KeyError> {
        let mut keys = Vec::new();
        for word in words.iter().map(|word| word.trim()) {
            match public(word) {
                Err(KeyError::NoKey) if Path::new(word).exists() => {
                    let (_, text) = read(Path::new(word))?;
                    for line in lines(&text) {
                        keys.push(public(line)?);
                    }
                }
                key => keys.push(key?),
            }
        }
        Ok(Self(keys))
    }

    /// Whether nobody is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a trusted coordinator signed these bytes; `None`: this key is not trusted.
    pub(crate) fn has_signed(&self, key: &str, bytes: &[u8], signature: &[u8]) -> Option<bool> {
        let trusted = self.0.iter().find(|trusted| trusted.public_key() == key)?;
        Some(trusted.verify(bytes, signature).is_ok())
    }
}

fn public(word: &str) -> Result<Arc<KeyPair>, KeyError> {
    if KeyPair::from_seed(word).is_ok() {
        return Err(KeyError::Seed);
    }
    KeyPair::from_public_key(word).map(Arc::new).map_err(|_| KeyError::NoKey)
}

/// Whether this is how a public key is written.
pub(crate) fn is_public(word: &str) -> bool {
    KeyPair::from_public_key(word).is_ok()
}

/// What is written in lines that are neither empty nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The facts of a regular file that is not too long, and its text.
fn read(file: &Path) -> Result<(std::fs::Metadata, String), KeyError> {
    let cannot = |why: &str| KeyError::File { file: file.into(), why: why.into() };
    let opened = open(file).map_err(|e| cannot(&e.to_string()))?;
    let facts = opened.metadata().map_err(|e| cannot(&e.to_string()))?;
    if !facts.is_file() || facts.len() > MAX_BYTES {
        return Err(cannot("it is no regular file, or too long for one of keys"));
    }
    let mut text = String::new();
    opened.take(MAX_BYTES).read_to_string(&mut text).map_err(|e| cannot(&e.to_string()))?;
    Ok((facts, text))
}

/// Without waiting for whoever fills a pipe.
fn open(file: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_seed_lies_in_a_new_file_that_only_its_owner_reads() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("run.key");
        let made = SigningKey::create(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(SigningKey::read(&file).unwrap().public(), made.public());
        let before = fs::read(&file).unwrap();
        let seed = std::str::from_utf8(&before).unwrap().trim();
        assert!(seed.starts_with("SU") && made.public().starts_with('U'), "{made:?}");
        assert!(!format!("{made:?}").contains(seed), "{made:?}");
        assert!(matches!(SigningKey::create(&file), Err(KeyError::File { .. })), "never over another");
        assert_eq!(fs::read(&file).unwrap(), before);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        assert!(matches!(SigningKey::read(&file), Err(KeyError::Open(_))));
    }

    #[test]
    fn what_is_trusted_is_a_key_or_a_file_of_keys_and_no_seed_is_repeated() {
        let place = tempfile::tempdir().unwrap();
        let [one, two, three] = [(); 3].map(|()| SigningKey::drawn());
        let file = place.path().join("trusted");
        fs::write(&file, format!("# ours\n{}\n\n  {}\n", one.public(), two.public())).unwrap();
        let trust = Trust::of(&[file.display().to_string(), three.public()]).unwrap();
        for key in [&one, &two, &three] {
            assert_eq!(trust.has_signed(&key.public(), b"x", &key.sign(b"x").unwrap()), Some(true));
            assert_eq!(trust.has_signed(&key.public(), b"y", &key.sign(b"x").unwrap()), Some(false));
        }
        let other = SigningKey::drawn();
        assert_eq!(trust.has_signed(&other.public(), b"x", &other.sign(b"x").unwrap()), None);

        let seed = one.0.seed().unwrap();
        fs::write(&file, &seed).unwrap();
        for word in [seed.clone(), file.display().to_string()] {
            let error = Trust::of(&[word]).unwrap_err();
            assert!(matches!(error, KeyError::Seed) && !error.to_string().contains(&seed), "{error}");
        }
        for word in ["", "UNOKEY", "/no/such/file", "/dev/zero"] {
            assert!(Trust::of(&[word.into()]).is_err(), "{word}");
        }
    }

    #[test]
    fn what_is_no_regular_file_holds_no_seed() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let endless = place.path().join("endless");
        File::create(&endless).unwrap().set_len(1 << 40).unwrap();
        for file in [pipe, endless, "/dev/zero".into(), place.path().into(), place.path().join("none")] {
            assert!(matches!(SigningKey::read(&file), Err(KeyError::File { .. })), "{}", file.display());
        }
        let text = place.path().join("text");
        let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&text);
        made.unwrap().write_all(b"no seed\n").unwrap();
        assert!(matches!(SigningKey::read(&text), Err(KeyError::NoSeed(_))));
    }
}
