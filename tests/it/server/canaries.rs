//! No secret comes out again, by whatever option, variable or part of an address it came in: every option that can hold one is given
//! words that stand nowhere else, and all that is written and said is searched for them.

mod marks;
mod ways;

use super::place::{Place, is_here, tree};
use iotbench_report::Document;
use marks::Marks;
use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::Stdio,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use ways::{Way, given, options_that_may_hold_a_secret, ways_of};

/// Variables that no option names.
const VARIABLES: [&str; 11] = [
    "IOTBENCH_DATABUS_KEY",
    "IOTBENCH_INFLUXDB2_TOKEN",
    "IOTBENCH_INFLUXDB_PASSWORD",
    "IOTBENCH_KAIROSDB_PASSWORD",
    "IOTBENCH_MARIADB_PASSWORD",
    "IOTBENCH_MONGODB_PASSWORD",
    "IOTBENCH_OPENTSDB_PASSWORD",
    "IOTBENCH_POSTGRES_PASSWORD",
    "IOTBENCH_QUESTDB_PASSWORD",
    "IOTBENCH_VICTORIAMETRICS_PASSWORD",
    "OTEL_EXPORTER_OTLP_HEADERS",
];

/// Calls the program with one secret, and looks for it. How it ended.
fn call_and_look(place: &Place, number: usize, way: &Way) -> i32 {
    let (marks, others) = (Marks::new(number), Marks::new(number + 10_000));
    let folder = place.root().join(format!("call-{number}"));
    fs::create_dir(&folder).unwrap();
    let words: Vec<_> = way.words.iter().map(|word| marks.put_into(word)).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let mut command = place.iotbench(&words);
    command.current_dir(&folder).env("IOTBENCH_OUT", folder.join("results"));
    // Those of the other databases are there too, as in a shell that has them all.
    for variable in VARIABLES {
        command.env(variable, others.put_into("RAW"));
    }
    if let Some((variable, value)) = &way.variable {
        command.env(variable, marks.put_into(value));
    }
    let output = super::place::output(command.spawn().unwrap());
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("panicked"), "{way:?}: {said}");
    for marks in [&marks, &others] {
        marks.assert_absent_from_text(&said, way);
        marks.assert_absent_from_folder(&folder, way);
    }
    retold(place, &folder, &[&marks, &others], way);
    fs::remove_dir_all(&folder).unwrap();
    output.status.code().unwrap()
}

/// What is told of a run afterwards.
fn retold(place: &Place, folder: &Path, marks: &[&Marks], way: &Way) {
    let results = folder.join("results");
    let runs = results.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path());
    for run in runs.filter(|run| run.join("run.json").is_file()) {
        let run = run.to_str().unwrap();
        for words in [
            &["show", run, "--output-format", "json"][..],
            &["show", run],
            &["report", run, "--format", "md"],
            &["report", run, "--format", "json"],
            &["history", results.to_str().unwrap()],
        ] {
            let (_, out, err) = place.call(words);
            marks.iter().for_each(|marks| marks.assert_absent_from_text(&format!("{out}{err}"), way));
        }
    }
}

#[test]
fn no_secret_comes_out_by_whatever_option_variable_or_part_of_an_address_it_came_in() {
    let place = Place::new();
    fs::write(place.root().join("recorded.csv"), "time,value\n0,1\n1,2\n").unwrap();
    // For `verify` to look at.
    let kept =
        ["run", "-p", "pmu_write", "-b", "sqlite", "--vus", "1", "--operations", "5", "--warmup", "0s", "--keep"];
    let (code, _, said) = place.call(&[&kept[..], &["--out", place.root().join("kept").to_str().unwrap()]].concat());
    assert!(code == 0 || code == 11, "{code}: {said}");
    let options = options_that_may_hold_a_secret(&place);
    let commands: BTreeSet<_> = options.iter().map(|option| &*option.command).collect();
    let known = ["agent", "capacity", "clean", "generate", "learn", "run", "server start", "suite", "verify"];
    assert_eq!(commands.into_iter().collect::<Vec<_>>(), known, "how is this command called?");
    let ways: Vec<Way> = options.iter().flat_map(|option| ways_of(option, &place)).collect();
    assert!(ways.len() > 150, "{}", ways.len());
    let (next, codes, leaks) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(way) = ways.get(number) else { break };
                    // All that leaks is told at once.
                    match catch_unwind(AssertUnwindSafe(|| call_and_look(&place, number, way))) {
                        Ok(code) => drop(codes.lock().unwrap().insert(code)),
                        Err(_) => leaks.lock().unwrap().push(way),
                    }
                }
            });
        }
    });
    let leaks = leaks.into_inner().unwrap();
    assert!(leaks.is_empty(), "{} of {} ways: {leaks:#?}", leaks.len(), ways.len());
    let codes = codes.into_inner().unwrap();
    assert!(codes.contains(&2) && codes.contains(&20), "some are refused, and some find nobody there: {codes:?}");
}

/// A run that succeeds and one that is not let in, at a server with a password in its address; agents make its load, so that there
/// are children, and these have it from the run.
#[test]
fn a_run_with_a_password_in_its_address_leaves_it_nowhere_and_gives_it_to_no_child_as_an_argument() {
    if !super::agents::are_here() {
        return;
    }
    for (backend, load) in [
        ("postgres", &["-p", "machine_write", "-b", "postgres:wide", "--set", "devices=4", "-r", "100"][..]),
        ("kairosdb", &["-p", "pmu_write", "-b", "kairosdb", "--vus", "2"]),
    ] {
        if is_here(backend) {
            leave_it_nowhere(backend, load);
        }
    }
}

fn leave_it_nowhere(backend: &str, load: &[&str]) {
    let place = Place::new();
    let address = place.started(&["server", "start", backend]);
    let (scheme, rest) = address.split_once("://").unwrap();
    let (user, rest) = rest.split_once(':').unwrap();
    let (password, host) = rest.split_once('@').unwrap();
    let wrong = Marks::new(1);
    let words = [given(&["run"]), given(load)].concat();
    let words = [words, given(&["--warmup", "0s", "-d", "1s", "--agents", "1", "--output-format", "json"])].concat();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let right = Marks::of(password);
    let no_way = Way::default();
    for (marks, url, wanted) in [
        (&right, address.clone(), &[0, 11][..]),
        (&wrong, format!("{scheme}://{user}:{}@{host}", wrong.put_into("ENC")), &[21]),
    ] {
        let folder = place.root().join(format!("results-{}", wanted[0]));
        let mut command = place.iotbench(&words);
        command.env("IOTBENCH_URL", url).env("IOTBENCH_OUT", &folder).stderr(Stdio::piped());
        let run = command.spawn().unwrap();
        let pid = i32::try_from(run.id()).unwrap();
        let ended = std::thread::spawn(move || super::place::output(run));
        let mut children = 0;
        while !ended.is_finished() {
            // Whoever has ended meanwhile has no arguments any more.
            for child in tree(pid) {
                let arguments = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
                marks.assert_absent_from_text(&String::from_utf8_lossy(&arguments), &no_way);
                children += usize::from(child != pid && !arguments.is_empty());
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let output = ended.join().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let code = output.status.code().unwrap();
        assert!(wanted.contains(&code) && !err.contains("panicked"), "{code}: {err}");
        assert!(children > 0, "it has agents");
        if code != 21 {
            // It was let in: the server has said what it is. On a machine that stands still, its one second may begin nothing.
            let document = Document::from_json(&out).unwrap();
            assert!(document.target.product.is_some(), "{out}");
            assert!(code == 11 || document.load.counts.started > 0, "{out}");
        }
        marks.assert_absent_from_text(&format!("{out}{err}"), &no_way);
        marks.assert_absent_from_folder(&folder, &no_way);
        let held = [marks];
        let place_of_results = place.root().join("retold");
        fs::create_dir(&place_of_results).unwrap();
        fs::rename(&folder, place_of_results.join("results")).unwrap();
        retold(&place, &place_of_results, &held, &no_way);
        fs::remove_dir_all(&place_of_results).unwrap();
    }
    place.out(&["server", "stop", backend]);
    place.assert_nothing_is_left();
}
