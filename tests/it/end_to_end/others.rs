//! Other programs beside a run.

use crate::end_to_end::program::{Run, run};
use std::{
    fs,
    process::{Child, Command},
};

/// Programs that do nothing but use a processor each, a quarter of all, until they are dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn on_some_processors() -> Self {
        let loops = 0..std::thread::available_parallelism().unwrap().get().div_ceil(4);
        Self(loops.map(|_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

fn told(run: &Run) -> Option<&str> {
    run.figure("others.disturbed").as_str()
}

const LOAD: [&str; 4] = ["-p", "pmu_write", "-b", "sqlite"];

#[test]
fn busy_programs_beside_a_run_are_told_first_and_in_each_second() {
    let busy = Busy::on_some_processors();
    let run = run(&[&LOAD[..], &["--vus", "2", "-d", "4s", "--warmup", "0"]].concat());
    drop(busy);
    run.assert_sound();
    let told = told(&run).unwrap_or_else(|| panic!("{:#}", run.figure("others")));
    assert_eq!(run.figure("remarks")[0], told);
    assert_eq!(run.count("others.seconds_disturbed"), run.count("others.seconds"), "{told}");
    let series = fs::read_to_string(run.folder.join("series.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(series.as_bytes());
    let headers = rows.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (measured, mark) = (column("others_cpu_pct"), column("disturbed"));
    let marks: Vec<_> = rows.records().map(Result::unwrap).filter(|row| !row[measured].is_empty()).collect();
    // The end of the run may come before the last second's reading.
    assert!(marks.len() >= 3, "{series}");
    assert!(marks.iter().all(|row| &row[mark] == "1"), "{series}");
}

#[test]
fn a_step_that_others_disturb_is_run_again_and_marked() {
    let busy = Busy::on_some_processors();
    let steps = ["--set", "ramp.steps=[2]", "--set", "ramp.step=3s", "--set", "ramp.probe=false"];
    let disturbed = run(&[&LOAD[..], &steps].concat());
    let allowed = run(&[&LOAD[..], &steps, &["--set", "others_cpu=100%"]].concat());
    drop(busy);
    let step = |run: &Run| run.figure("capacity.steps").as_array().unwrap().clone();
    let steps = step(&disturbed);
    assert_eq!(steps.len(), 1, "{steps:#?}");
    assert_eq!((&steps[0]["disturbed"], &steps[0]["disturbed_before"]), (&true.into(), &2.into()));
    assert!(told(&disturbed).is_some_and(|told| told.contains("1 of the steps")), "{:?}", told(&disturbed));
    let steps = step(&allowed);
    assert_eq!((&steps[0]["disturbed"], &steps[0]["disturbed_before"]), (&false.into(), &0.into()));
    assert_eq!(told(&allowed), None);
}

#[test]
fn a_share_of_the_processors_is_one() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["run", "-p", "pmu_write", "-b", "sqlite", "--set", "others_cpu=120%"];
    let refused = crate::end_to_end::program::iotbench(out.path(), &arguments).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}
