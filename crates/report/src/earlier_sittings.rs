//! What earlier runs of the same found: the nearest that one sitting comes to a spread.

use crate::{
    compare::unlike,
    document::{Capacity, Document, EarlierSittings, Status, StorageProbes},
    folder::{RUN_FILE, has_sessions, read_document, read_sessions},
};
use serde::de::IgnoredAny;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// So many of the latest folders are looked at: reading them is not to take longer than the run.
const MAX_FOLDERS: usize = 100;

/// The valid runs that lie beside this one's folder and differ from it in nothing but chance; `None`: there are none, or it is
/// no search. What cannot be read is passed over: it is nothing of this run.
#[must_use]
pub fn earlier_sittings(folder: &Path, document: &Document) -> Option<EarlierSittings> {
    document.capacity.as_ref()?;
    let of_same = |earlier: &Document| {
        earlier.verdict.status == Status::Valid
            && earlier.profile_sha256 == document.profile_sha256
            && earlier.run_id != document.run_id
            && earlier.started < document.started
            && unlike(earlier, document).is_empty()
    };
    let found: Vec<Capacity> = beside(folder, document)
        .iter()
        .filter_map(|path| read_document(path).ok())
        .filter(of_same)
        .filter_map(|earlier| earlier.capacity.filter(|capacity| capacity.limit().is_some()))
        .collect();
    let (least, greatest) = range(found.iter().filter_map(Capacity::limit)).unzip();
    let probed = |figure: fn(&StorageProbes) -> Option<f64>| {
        range(found.iter().filter_map(|capacity| figure(capacity.storage_probes.as_ref()?))).unzip()
    };
    let (work_us_least, work_us_most) = probed(|probes| probes.work_us);
    let (append_us_least, append_us_most) = probed(|probes| probes.p50_us);
    let count = found.len() as u64;
    Some(EarlierSittings {
        count,
        least: least?,
        greatest: greatest?,
        work_us_least,
        work_us_most,
        append_us_least,
        append_us_most,
    })
}

/// The least and the greatest; `None`: there are none.
fn range(figures: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    figures.fold(None, |range, figure| {
        let (least, greatest) = range.unwrap_or((figure, figure));
        Some((least.min(figure), greatest.max(figure)))
    })
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
    let of_sittings = |path: &PathBuf| match read_sessions::<IgnoredAny>(path) {
        Ok(record) => record.ended().map(|end| path.join(&end.folder)).collect::<Vec<_>>(),
        Err(_) => Vec::new(),
    };
    let all = folder.parent().map(entries).unwrap_or_default();
    let mut found: Vec<PathBuf> = all.iter().filter(|path| path.join(RUN_FILE).is_file()).cloned().collect();
    found.extend(all.iter().filter(|path| has_sessions(path)).flat_map(of_sittings));
    found.retain(|path| is_named(path) && path != folder);
    found.sort_unstable_by(|a, b| b.file_name().cmp(&a.file_name()));
    found.truncate(MAX_FOLDERS);
    found
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_is_from_the_least_to_the_greatest() {
        assert_eq!(range([2.0, 1.0, 3.0].into_iter()), Some((1.0, 3.0)));
        assert_eq!((range([5.0].into_iter()), range(std::iter::empty())), (Some((5.0, 5.0)), None));
    }
}
