//! A load as a file has it: a CSV of `time`, in seconds, and `rate`, which holds until the next line's time.

use crate::shape::ShapeStep;
use iotbench_simulator::read_regular;
use std::{path::Path, time::Duration};

/// A day in steps of ten seconds; all of it stands in the result.
const MAX_LINES: usize = 10_000;
const MAX_BYTES: u64 = 1 << 20;

/// Its steps from its first line's time on, with rates for factors, and when its last line begins, or a second where it is the only
/// one: what it says behind that has no end.
pub(super) fn read(path: &Path) -> Result<(Vec<ShapeStep>, u64), String> {
    let told = |line: u64, message: &str| format!("{}: line {line}: {message}", path.display());
    let bytes = read_regular(path, MAX_BYTES).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes.as_slice());
    if reader.headers().map_err(|e| told(1, &e.to_string()))?.iter().ne(["time", "rate"]) {
        return Err(told(1, "its columns are time and rate: write that as the first line"));
    }
    let mut steps: Vec<ShapeStep> = Vec::new();
    let mut first: Option<Duration> = None;
    for record in reader.records() {
        let record = record.map_err(|e| format!("{}: {e}", path.display()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |place: usize| record.get(place).and_then(|cell| cell.parse::<f64>().ok()).filter(|n| *n >= 0.0);
        let Some(time) = number(0).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
            return Err(told(line, "time is a number of seconds"));
        };
        let Some(factor) = number(1).filter(|rate| rate.is_finite()) else {
            return Err(told(line, "rate is a number a second, 0 or more"));
        };
        let since = time.checked_sub(*first.get_or_insert(time)).map(|since| since.as_nanos());
        let Some(from_ns) = since.and_then(|ns| u64::try_from(ns).ok()) else {
            return Err(told(line, "its time is before the first one's"));
        };
        if steps.last().is_some_and(|before| before.from_ns >= from_ns) {
            return Err(told(line, "its time is not after that of the line before"));
        }
        if steps.len() == MAX_LINES {
            return Err(told(line, &format!("more than {MAX_LINES} lines")));
        }
        steps.push(ShapeStep { from_ns, factor });
    }
    let ends_ns = match steps.as_slice() {
        [] => return Err(told(2, "it has no rate")),
        [_] => 1_000_000_000,
        [.., last] => last.from_ns,
    };
    let lasting = if steps.len() > 1 { &steps[..steps.len() - 1] } else { &steps };
    if lasting.iter().all(|step| step.factor == 0.0) {
        return Err(format!("{}: its rates are 0", path.display()));
    }
    Ok((steps, ends_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<(Vec<ShapeStep>, u64), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn times_count_from_the_first_line() {
        let steps = |steps: &[(u64, f64)]| -> Vec<_> {
            steps.iter().map(|&(ms, factor)| ShapeStep { from_ns: ms * 1_000_000, factor }).collect()
        };
        assert_eq!(
            of("time,rate\n5,10\n6.5,0\n8, 1e3\n"),
            Ok((steps(&[(0, 10.0), (1_500, 0.0), (3_000, 1e3)]), 3_000_000_000))
        );
        assert_eq!(of("time,rate\n1790000000,7\n"), Ok((steps(&[(0, 7.0)]), 1_000_000_000)));
    }

    #[test]
    fn a_line_that_says_nothing_is_told_with_its_number() {
        for (text, told) in [
            ("", "line 1"),
            ("rate,time\n1,2\n", "line 1"),
            ("time,rate\n", "no rate"),
            ("time,rate\n0,1\nx,1\n", "line 3: time"),
            ("time,rate\n0,1\n1,-1\n", "line 3: rate"),
            ("time,rate\n0,1\n1,inf\n", "line 3: rate"),
            ("time,rate\n0,1\n1,NaN\n", "line 3: rate"),
            ("time,rate\n0,1\n1,1\n1,2\n", "line 4: its time is not after"),
            ("time,rate\n5,1\n1,1\n", "line 3: its time is before"),
            ("time,rate\n0,1\n1\n", "line: 3"),
            ("time,rate\n0,0\n1,5\n", "its rates are 0"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(told) && error.contains("trace.csv"), "{text:?}: {error}");
        }
        let many: String = (0..=MAX_LINES).map(|second| format!("{second},1\n")).collect();
        assert!(of(&format!("time,rate\n{many}")).unwrap_err().contains("more than 10000 lines"));
        assert!(read(Path::new("/dev/zero")).unwrap_err().contains("not a regular file"));
    }
}
