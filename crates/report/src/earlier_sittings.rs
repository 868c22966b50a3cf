//! What earlier runs of the same found: the nearest that one sitting comes to a spread.

use crate::{
    compare::unlike,
    document::{Document, EarlierSittings, Status},
    folder::{RUN_FILE, has_sessions, read_document, read_sessions},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// So many of the latest folders are looked at: reading them is not to take longer than the run.
const MOST_FOLDERS: usize = 100;

/// The valid runs that lie beside this one's folder and differ from it in nothing but chance; `None`: there are none, or it is
/// no search. What cannot be read is passed over: it is nothing of this run.
pub(crate) fn earlier_sittings(folder: &Path, document: &Document) -> Option<EarlierSittings> {
    document.capacity.as_ref()?;
    let of_same = |earlier: &Document| {
        earlier.verdict.status == Status::Valid
            && earlier.profile_sha256 == document.profile_sha256
            && earlier.run_id != document.run_id
            && earlier.started < document.started
            && unlike(earlier, document).is_empty()
    };
    let found: Vec<f64> = beside(folder, document)
        .iter()
        .filter_map(|path| read_document(path).ok())
        .filter(of_same)
        .filter_map(|earlier| earlier.capacity.as_ref()?.limit())
        .collect();
    let (least, greatest) = found.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), f| (a.min(*f), b.max(*f)));
    (!found.is_empty()).then_some(EarlierSittings { count: found.len() as u64, least, greatest })
}

/// The folders of runs of this name beside a run's folder, and in the folders of sittings there, the latest first.
fn beside(folder: &Path, document: &Document) -> Vec<PathBuf> {
    let entries = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    // A folder is called by time, profile, backend and layout.
    let named = format!("-{}-{}-{}-", document.profile, document.target.backend, document.target.layout);
    let is_named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains(&named));
    let of_sittings = |path: &PathBuf| match read_sessions(path) {
        Ok(record) => record.ended().map(|end| path.join(&end.folder)).collect::<Vec<_>>(),
        Err(_) => Vec::new(),
    };
    let all = folder.parent().map(entries).unwrap_or_default();
    let mut found: Vec<PathBuf> = all.iter().filter(|path| path.join(RUN_FILE).is_file()).cloned().collect();
    found.extend(all.iter().filter(|path| has_sessions(path)).flat_map(of_sittings));
    found.retain(|path| is_named(path) && path != folder);
    found.sort_unstable_by(|a, b| b.file_name().cmp(&a.file_name()));
    found.truncate(MOST_FOLDERS);
    found
}
