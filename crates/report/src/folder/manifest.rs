//! Digests of a run's files, so that a change shows.

use super::{FolderError, MANIFEST_FILE, REPORT_FILE, shown};
use iotbench_simulator::read_regular_text;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// Name and version of the manifest's format.
const SCHEMA: &str = "iotbench-manifest/1.0";
const BUFFER_BYTES: usize = 64 << 10;
/// A folder of ours has a dozen files.
const MAX_BYTES: u64 = 1 << 20;

/// The files of a run with their digests. Folders, such as that of a database, are not in it, nor is itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format.
    pub schema: String,
    /// Every file, by name.
    pub files: Vec<ManifestFile>,
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// Its name in the folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// A file that is not what the manifest says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Its content is another.
    #[error("{0} was changed after the run")]
    Changed(String),
    /// It is gone.
    #[error("{0} is missing")]
    Missing(String),
    /// It came later.
    #[error("{0} was added after the run")]
    Added(String),
}

impl Manifest {
    pub(super) fn of(folder: &Path) -> Result<Self, FolderError> {
        let fail = |source| FolderError::Read { path: shown(folder), source };
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let is_file = entry.file_type().map_err(fail)?.is_file();
            // Files that we write have plain names; others are none of ours.
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            if is_file && name != MANIFEST_FILE && !name.starts_with('.') {
                let (bytes, sha256) =
                    digest(&entry.path()).map_err(|source| FolderError::Read { path: shown(&entry.path()), source })?;
                files.push(ManifestFile { name, bytes, sha256 });
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { schema: SCHEMA.into(), files })
    }
}

/// Compares a run's files with its manifest. `report.html` may come after the run.
///
/// # Errors
/// A folder that cannot be read or has no manifest (the run was killed). What differs is the list returned.
pub fn check_manifest(folder: &Path) -> Result<Vec<ManifestError>, FolderError> {
    let path = folder.join(MANIFEST_FILE);
    let text =
        read_regular_text(&path, MAX_BYTES).map_err(|source| FolderError::Read { path: shown(&path), source })?;
    let then: Manifest =
        serde_json::from_str(&text).map_err(|e| FolderError::Document { path: shown(&path), source: e.into() })?;
    let now = Manifest::of(folder)?;
    let find = |files: &[ManifestFile], name: &str| files.iter().find(|f| f.name == name).cloned();
    let mut errors = Vec::new();
    for file in &then.files {
        match find(&now.files, &file.name) {
            None => errors.push(ManifestError::Missing(crate::printable::printable(&file.name))),
            Some(found) if found != *file => {
                errors.push(ManifestError::Changed(crate::printable::printable(&file.name)));
            }
            Some(_) => {}
        }
    }
    let added = now.files.iter().filter(|f| f.name != REPORT_FILE && find(&then.files, &f.name).is_none());
    errors.extend(added.map(|f| ManifestError::Added(crate::printable::printable(&f.name))));
    Ok(errors)
}

fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else { break };
        hasher.update(chunk);
        bytes += chunk.len() as u64;
    }
    Ok((bytes, format!("{:x}", hasher.finalize())))
}
