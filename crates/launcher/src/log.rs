//! The logs of servers: opened, and read from their end.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// So much of the end of a log is shown.
const TAIL_LINES: usize = 30;
const TAIL_BYTES: u64 = 8192;

/// Opens a log to append to. A link in its place is refused.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default());
    options.open(path)
}

/// The log of one of several processes: `server.log` becomes `server-cassandra-0.log`.
pub(crate) fn of_member(log: &Path, member: &str) -> PathBuf {
    let stem = log.file_stem().unwrap_or_default().to_string_lossy();
    let extension = log.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    log.with_file_name(format!("{stem}-{member}{extension}"))
}

/// The last lines of a log, each after a line break and two blanks.
pub(crate) fn tail(log: &Path) -> String {
    let text = from_end(log, TAIL_BYTES).unwrap_or_default();
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default();
    last.iter().map(|line| format!("\n  {line}")).collect()
}

/// The last line of a log that complains of a setting by its name, however it writes hyphens and capitals.
pub(crate) fn complaint(log: &Path, key: &str) -> Option<String> {
    const WORDS: [&str; 8] = [
        "invalid",
        "unknown",
        "unrecogni",
        "not defined",
        "out of range",
        "outside the valid range",
        "illegal",
        "bad value",
    ];
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let key = plain(key);
    let text = from_end(log, TAIL_BYTES).ok()?;
    let complains = |line: &&str| {
        let line = plain(line);
        let is_named = line
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
            .any(|word| word.trim_matches('_').trim_matches('.') == key);
        is_named && WORDS.iter().any(|word| line.contains(word))
    };
    text.lines().rev().find(complains).map(|line| line.trim().into())
}

fn from_end(log: &Path, bytes: u64) -> io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut text = Vec::new();
    file.take(bytes).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Its length; 0 where there is none.
pub(crate) fn length(log: &Path) -> u64 {
    std::fs::metadata(log).map(|m| m.len()).unwrap_or(0)
}

/// Whether what was written to the log since it had this length speaks of a port that another program has.
pub(crate) fn says_port_is_taken(log: &Path, since: u64) -> bool {
    let new = length(log).saturating_sub(since);
    let text = from_end(log, new.min(TAIL_BYTES * 16)).unwrap_or_default().to_lowercase();
    ["address already in use", "could not bind socket"].iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        let lines: String = (0..1000).map(|i| format!("line {i}\n")).collect();
        std::fs::write(&log, lines).unwrap();
        let tail = tail(&log);
        assert!(tail.starts_with("\n  line 970\n") && tail.ends_with("\n  line 999"), "{tail}");
        assert_eq!(super::tail(&folder.path().join("none")), "");
    }

    #[test]
    fn a_complaint_names_the_setting_and_says_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        let of = |line: &str, key: &str| {
            std::fs::write(&log, format!("starting\n {line}\nstopping\n")).unwrap();
            complaint(&log, key)
        };
        for (key, line) in [
            ("shared_buffers", "FATAL:  invalid value for parameter \"shared_buffers\": \"much\""),
            ("max_conections", "[ERROR] mariadbd: unknown variable 'max-conections=10'"),
            ("search.maxSeries", "flag provided but not defined: -search.maxSeries"),
            ("port_x", "unrecognised option '--port_x'"),
        ] {
            assert_eq!(of(line, key).as_deref(), Some(line), "{key}");
        }
        assert_eq!(
            of("FATAL: invalid value for parameter \"shared_buffers_x\"", "shared_buffers"),
            None,
            "another one"
        );
        assert_eq!(of("LOG: shared_buffers is 128 MB", "shared_buffers"), None, "no complaint");
        assert_eq!(complaint(&folder.path().join("none"), "x"), None);
    }

    #[test]
    fn a_taken_port_is_told_from_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        std::fs::write(&log, "Bind on TCP/IP port: Address already in use\n").unwrap();
        assert!(says_port_is_taken(&log, 0));
        assert!(!says_port_is_taken(&log, 44));
    }

    #[test]
    fn a_link_in_the_logs_place_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("server.log");
        std::os::unix::fs::symlink(folder.path().join("theirs"), &link).unwrap();
        assert!(open(&link).is_err());
        assert!(!folder.path().join("theirs").exists());
    }

    #[test]
    fn each_of_several_processes_has_its_own() {
        assert_eq!(of_member(Path::new("/r/server.log"), "a-0"), Path::new("/r/server-a-0.log"));
        assert_eq!(of_member(Path::new("/r/log"), "a-0"), Path::new("/r/log-a-0"));
    }
}
