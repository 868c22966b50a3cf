//! What `series.csv` says of the machine's other users.

use crate::{folder::FolderError, printable::printable};
use iotbench_sampler::OthersShare;
use iotbench_simulator::open_regular;
use std::{io, ops::Range, path::Path};

/// Over these seconds of a run, as far as the file knows them; `None`: it knows nothing of any.
pub(super) fn others(path: &Path, seconds: &Range<u64>) -> Result<Option<OthersShare>, FolderError> {
    match open_regular(path) {
        Ok(file) => Ok(read(file, seconds)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FolderError::Read { path: printable(&path.to_string_lossy()), source }),
    }
}

/// Lines that cannot be understood are passed over: they say nothing.
fn read(text: impl io::Read, seconds: &Range<u64>) -> Option<OthersShare> {
    let mut csv = csv::ReaderBuilder::new().flexible(true).from_reader(text);
    let head = csv.headers().ok()?.clone();
    let place = |name: &str| head.iter().position(|column| column == name);
    let (second, cpu) = (place("second")?, place("others_cpu_pct")?);
    let (steal, disturbed) = (place("steal_pct")?, place("disturbed")?);
    let (mut sum, mut steal_sum) = (OthersShare::default(), 0.0);
    for row in csv.records().flatten() {
        let cell = |place: usize| row.get(place).and_then(|cell| cell.parse::<f64>().ok()).filter(|n| n.is_finite());
        let is_in =
            row.get(second).and_then(|cell| cell.parse::<u64>().ok()).is_some_and(|number| seconds.contains(&number));
        let (Some(cpu), Some(steal), true) = (cell(cpu), cell(steal), is_in) else { continue };
        sum.seconds += 1;
        sum.cpu_mean += cpu / 100.0;
        sum.cpu_max = sum.cpu_max.max(cpu / 100.0);
        steal_sum += steal / 100.0;
        sum.disturbed += u64::from(row.get(disturbed) == Some("1"));
    }
    let count = (sum.seconds > 0).then_some(sum.seconds as f64)?;
    Some(OthersShare { cpu_mean: sum.cpu_mean / count, steal_mean: steal_sum / count, ..sum })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIES: &str = "second,seconds,others_cpu_pct,steal_pct,disturbed\n\
                          0,1,90.0,0.0,1\n1,1,10.0,1.0,1\n2,1,4.0,0.0,0\n3,1,,,\nnonsense\n4,1,1.0,2.0,0\n5,1,80.0,0.0,1\n";

    #[test]
    fn the_seconds_of_a_stretch_are_added_up_as_far_as_they_are_known() {
        let share = read(SERIES.as_bytes(), &(1..5)).unwrap();
        assert_eq!((share.seconds, share.disturbed), (3, 1));
        assert!((share.cpu_mean - 0.05).abs() < 1e-12 && (share.steal_mean - 0.01).abs() < 1e-12, "{share:?}");
        assert!((share.cpu_max - 0.1).abs() < 1e-12, "{share:?}");
    }

    #[test]
    fn of_what_it_does_not_know_it_says_nothing() {
        assert_eq!(read(SERIES.as_bytes(), &(3..4)), None);
        assert_eq!(read("second,seconds\n0,1\n".as_bytes(), &(0..1)), None);
        assert_eq!(read("".as_bytes(), &(0..1)), None);
    }
}
