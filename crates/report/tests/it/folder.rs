//! The results folder: whose it is, and what is no folder of a run.

use iotbench_report::{FolderName, RUN_FILE, ResultsFolder, read_document};
use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::SystemTime};

#[test]
fn the_folder_is_for_this_user_only_and_never_an_old_one() {
    let out = tempfile::tempdir().unwrap();
    let name = FolderName::new(SystemTime::UNIX_EPOCH, "p", "b", "l").unwrap();
    let folder = ResultsFolder::create(&out.path().join("new/results"), &name).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path()), 0o700);
    assert_eq!(mode(&folder.database_dir().unwrap()), 0o700);
    assert_eq!(folder.database_dir().unwrap(), folder.path().join("database"), "asking twice is allowed");
    let again = ResultsFolder::create(&out.path().join("new/results"), &name).unwrap_err();
    assert_eq!(again.exit_code(), 30, "{again}");
}

#[test]
fn an_out_that_is_a_file_is_local_io() {
    let out = tempfile::NamedTempFile::new().unwrap();
    let name = FolderName::new(SystemTime::UNIX_EPOCH, "p", "b", "l").unwrap();
    let error = ResultsFolder::create(out.path(), &name).unwrap_err();
    assert_eq!(error.exit_code(), 30, "{error}");
}

#[test]
fn what_is_no_document_is_refused_with_its_path() {
    let out = tempfile::tempdir().unwrap();
    assert!(read_document(out.path()).unwrap_err().to_string().contains("run.json"));
    fs::write(out.path().join(RUN_FILE), r#"{"schema": "iotbench-run/4.0"}"#).unwrap();
    assert!(read_document(out.path()).unwrap_err().to_string().contains("iotbench-run/4.0"));
    fs::write(out.path().join(RUN_FILE), r#"{"schema": "iotbench-run/1.0"}"#).unwrap();
    assert!(read_document(out.path()).unwrap_err().to_string().contains("missing field"));
}
