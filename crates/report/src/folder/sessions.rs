//! The folder of sittings: what became of each, for programs and for people, and the folders of their runs.

use super::{Flush, FolderError, ResultsFolder, SESSIONS_DOCUMENT, SESSIONS_TEXT, shown};
use crate::sessions::{SESSIONS_SCHEMA, SessionsRecord};
use iotbench_simulator::read_regular_text;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Larger files are none of ours.
const MAX_BYTES: u64 = 64 << 20;

impl ResultsFolder {
    /// Writes what became of sittings, as `sessions.json` and as text, `sessions.txt`: after each of them, so that the job can
    /// be gone on with.
    ///
    /// # Errors
    /// One cannot be written; what was there before stays.
    pub fn write_sessions(&self, record: &SessionsRecord<impl Serialize>, text: &str) -> Result<(), FolderError> {
        self.replace(SESSIONS_DOCUMENT, Flush::Now, |file| {
            serde_json::to_writer_pretty(&mut *file, record)?;
            file.write_all(b"\n")
        })?;
        self.replace(SESSIONS_TEXT, Flush::Later, |file| file.write_all(text.as_bytes()))
    }
}

/// Opens the folder of sittings that nobody holds at the moment.
///
/// # Errors
/// It is no such folder, one of another version, or another iotbench is at it.
pub fn open_sessions<J: DeserializeOwned>(path: &Path) -> Result<(ResultsFolder, SessionsRecord<J>), FolderError> {
    let folder = ResultsFolder::of_killed(path)?;
    Ok((folder, read_sessions(path)?))
}

/// Reads what became of the sittings in a folder.
///
/// # Errors
/// It is no such folder, or one of another version.
pub fn read_sessions<J: DeserializeOwned>(path: &Path) -> Result<SessionsRecord<J>, FolderError> {
    #[derive(Deserialize)]
    struct Format {
        schema: String,
    }
    let file = path.join(SESSIONS_DOCUMENT);
    let failed = |source| FolderError::Read { path: shown(&file), source };
    let wrong = |message: String| failed(io::Error::new(io::ErrorKind::InvalidData, message));
    let text = read_regular_text(&file, MAX_BYTES).map_err(failed)?;
    let no_record = |e: serde_json::Error| wrong(format!("no record of sittings: {e}"));
    let Format { schema } = serde_json::from_str(&text).map_err(no_record)?;
    if schema != SESSIONS_SCHEMA {
        let found = crate::printable(&schema);
        return Err(wrong(format!("it has the format {found:?}, and this iotbench reads {SESSIONS_SCHEMA}")));
    }
    let record: SessionsRecord<J> = serde_json::from_str(&text).map_err(no_record)?;
    let strange = record.ended().find(|end| !is_plain(&end.folder));
    match strange {
        Some(end) => Err(wrong(format!("{:?} is no folder in it", crate::printable(&end.folder)))),
        None => Ok(record),
    }
}

/// Whether it is one name, which leads nowhere else.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Whether a folder is that of sittings.
pub(crate) fn has_sessions(path: &Path) -> bool {
    path.join(SESSIONS_DOCUMENT).is_file()
}

/// The folders of the sittings' runs that have ended, in their order.
pub(super) fn folders_of_sittings(path: &Path) -> Result<Vec<PathBuf>, FolderError> {
    Ok(read_sessions::<IgnoredAny>(path)?.ended().map(|end| path.join(&end.folder)).collect())
}
