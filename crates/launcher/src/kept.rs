//! The folders that runs kept of their servers, noted so that the next run of that database starts its server there.

use crate::{
    folder::{FolderError, ServerFolder},
    order::Marker,
    records::{Record, RecordError, Records, remove_file},
    setting::ServerSettings,
};
use iotbench_core::Recipe;
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What the name of a note begins with; behind it stands the folder's own name.
const PREFIX: &str = "kept-";

/// The folder of a server that is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptServer {
    /// Its backend.
    pub backend: String,
    /// Its folder.
    pub folder: PathBuf,
    /// User and group that have the folder, if the server runs as another user.
    pub owner: Option<(u32, u32)>,
    /// The settings that it was started with, to be compared only.
    settings: String,
}

impl KeptServer {
    /// The folder of a server that runs with these settings.
    #[must_use]
    pub fn of(record: &Record, settings: &ServerSettings) -> Self {
        let Record { backend, folder, owner, .. } = record;
        Self { backend: backend.clone(), folder: folder.clone(), owner: *owner, settings: format!("{settings:?}") }
    }

    /// An error where another server has it, or it is no longer what it was.
    fn open(&self) -> Result<(ServerFolder, Marker), FolderError> {
        ServerFolder::open(&self.folder, &self.backend, self.owner)
    }
}

impl Records {
    /// Notes a folder that is kept.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note_kept(&self, kept: &KeptServer) -> Result<(), RecordError> {
        let path = self.note(kept);
        let fail = |source| RecordError::Io { path: path.clone(), source };
        let text = serde_json::to_vec(kept).map_err(|e| fail(e.into()))?;
        fs::write(&path, text).map_err(fail)
    }

    /// The folders that are kept, by name. Notes of those that are gone, or are no longer ours, are removed.
    ///
    /// # Errors
    /// The notes cannot be read or removed.
    pub fn kept(&self) -> Result<Vec<KeptServer>, RecordError> {
        let entries = fs::read_dir(self.folder()).map_err(|source| self.fail(source))?;
        let is_note = |path: &Path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX));
        let notes = entries.flatten().map(|entry| entry.path()).filter(|path| is_note(path));
        let mut kept: Vec<KeptServer> =
            notes.filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok()).collect();
        kept.sort_by(|a, b| a.folder.cmp(&b.folder));
        let mut there = Vec::new();
        for kept in kept {
            match kept.open() {
                Ok(_) | Err(FolderError::InUse { .. }) => there.push(kept),
                Err(FolderError::Io { source, .. }) if source.kind() != io::ErrorKind::NotFound => {}
                Err(_) => remove_file(&self.note(&kept))?,
            }
        }
        Ok(there)
    }

    /// A folder that a server of this backend and recipe, started with the same settings, left, and that no server uses now.
    ///
    /// # Errors
    /// The notes cannot be read or removed.
    pub fn find_kept(
        &self,
        backend: &str,
        recipe: &Recipe,
        settings: &ServerSettings,
    ) -> Result<Option<KeptServer>, RecordError> {
        let settings = format!("{settings:?}");
        let is_free = |kept: &KeptServer| kept.open().is_ok_and(|(_, marker)| marker.is_of(recipe));
        let mut kept = self.kept()?.into_iter();
        Ok(kept.find(|kept| kept.backend == backend && kept.settings == settings && is_free(kept)))
    }

    /// Removes a folder that is kept, and its note.
    ///
    /// # Errors
    /// A server uses it, or it cannot be removed.
    pub fn remove_kept(&self, kept: &KeptServer) -> Result<(), RecordError> {
        let (folder, _) = kept.open()?;
        let fail = |source| RecordError::Io { path: kept.folder.clone(), source };
        ServerFolder::keep_no_longer(&kept.folder).map_err(fail)?;
        folder.remove_unless_kept(kept.owner)?;
        remove_file(&self.note(kept))
    }

    fn note(&self, kept: &KeptServer) -> PathBuf {
        let name = kept.folder.file_name().unwrap_or_default().to_string_lossy();
        self.folder().join(format!("{PREFIX}{name}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{On, Ready, Role, StopBy};

    const fn role(name: &'static str) -> Role {
        Role {
            name,
            on: On::EveryNode,
            ports: &["port"],
            open_ports: &[],
            files: &[],
            init: &[],
            environment: &[],
            start: &[],
            setting: &[],
            reserved: &[],
            ready: Ready::Listens,
            ready_within_s: 1,
            stop: StopBy::Terminate,
            url: None,
        }
    }

    const fn recipe(roles: &'static [Role]) -> Recipe {
        Recipe { programs: &[], jars: &[], version: &[], user: "nobody", tuning: &[], nodes: &[1], roles, join: &[] }
    }

    static ALONE: Recipe = recipe(&[role("server")]);
    static WITH_A_STORE: Recipe = recipe(&[role("store"), role("server")]);

    #[test]
    fn a_folder_is_found_by_its_backend_and_settings_until_it_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let records = Records::in_folder(&parent.path().join("records")).unwrap();
        let path = parent.path().join("server");
        let marker = Marker { backend: "exampled".into(), nodes: 1, ports: vec![1], password: None };
        let server = ServerFolder::create(&path, &marker, None).unwrap();
        ServerFolder::keep(&path).unwrap();
        let settings = ServerSettings::default();
        let kept = KeptServer {
            backend: "exampled".into(),
            folder: path.clone(),
            owner: None,
            settings: format!("{settings:?}"),
        };
        records.note_kept(&kept).unwrap();
        assert_eq!(records.find_kept("exampled", &ALONE, &settings).unwrap(), None, "its server still runs");
        assert!(matches!(records.remove_kept(&kept), Err(RecordError::Folder(FolderError::InUse { .. }))));
        drop(server);
        assert_eq!(records.find_kept("exampled", &ALONE, &settings).unwrap().as_ref(), Some(&kept));
        assert_eq!(records.find_kept("exampled", &WITH_A_STORE, &settings).unwrap(), None, "it has other processes");
        assert_eq!(records.find_kept("other", &ALONE, &settings).unwrap(), None);
        let others = KeptServer { settings: "others".into(), ..kept.clone() };
        records.note_kept(&others).unwrap();
        assert_eq!(records.find_kept("exampled", &ALONE, &settings).unwrap(), None);
        records.remove_kept(&others).unwrap();
        assert!(!path.exists() && records.kept().unwrap().is_empty());
    }

    #[test]
    fn a_folder_that_is_gone_or_another_is_forgotten_and_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let records = Records::in_folder(&parent.path().join("records")).unwrap();
        let path = parent.path().join("theirs");
        fs::create_dir(&path).unwrap();
        let folders = [path.clone(), parent.path().join("gone")];
        for folder in folders {
            let kept = KeptServer { backend: "exampled".into(), folder, owner: None, settings: String::new() };
            records.note_kept(&kept).unwrap();
            assert!(records.remove_kept(&kept).is_err());
            assert_eq!(records.kept().unwrap(), []);
        }
        assert!(path.exists());
    }
}
