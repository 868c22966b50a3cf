//! Standard output and standard error, which may be closed at any time.

pub(crate) use iotbench_report::printable_lines;
use iotbench_session::SessionError;
use rustix::{
    fs::{FileType, fstat},
    io::Errno,
};
use std::io::{self, ErrorKind, Write};

/// Prints a result. A reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), SessionError> {
    print_bytes(text.as_bytes())
}

/// Prints a result that need not be a text.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), SessionError> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    match written {
        Err(e) if e.kind() == ErrorKind::BrokenPipe || is_closed_terminal(&e) => Ok(()),
        written => written.map_err(|e| SessionError::local_io(format!("standard output cannot be written: {e}"))),
    }
}

/// Whether standard output was a terminal that is no more. (A file on a broken disk fails alike.)
fn is_closed_terminal(error: &io::Error) -> bool {
    let is_device = || fstat(io::stdout()).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_char_device());
    error.raw_os_error() == Some(Errno::IO.raw_os_error()) && is_device()
}

/// Prints a part of a result; false when nobody can read it any more.
pub(crate) fn print_unless_closed(text: &str) -> bool {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_ok()
}

/// Tells people something, if they listen.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable_lines(line));
}

/// Rows as columns of equal width; the last one is not padded.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let mut text = String::new();
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["a".to_owned(), "1".to_owned()], ["längst".to_owned(), "2".to_owned()]];
        assert_eq!(columns(&rows), "a       1\nlängst  2\n");
    }
}
