//! The options of a suite's runs, read without the command line: those that say what is run, by their long names.

use crate::{
    error::SessionError, job::BackendWord, options::SessionOptions, workload::Workload,
    written_profile::find_written_profile,
};
use iotbench_engine::{Arrival, ArrivalOverride, Overrides, Strategy};
use std::{fmt::Display, path::Path, str::FromStr};

/// What one of a suite's runs is, and how it is run, with results in `results`.
///
/// # Errors
/// An option that there is not, or that is for the command line alone; a value that cannot be read.
pub fn read_options(words: &[String], results: &Path) -> Result<(Workload<'static>, SessionOptions), SessionError> {
    let mut options = SessionOptions::new(results.to_owned());
    let (mut profile, mut databases) = (None, Vec::new());
    let (mut overrides, mut variants, mut strategies) = (Overrides::default(), Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, joined) =
            word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
        match option {
            "--full" => overrides.full = true,
            "--keep" => options.keep = true,
            "--trace" => options.trace = true,
            "--insecure" => options.insecure = true,
            _ => {
                let value = joined.or_else(|| words.next().map(String::as_str));
                let value = value.ok_or_else(|| SessionError::usage(format!("{option} needs a value")))?;
                match option {
                    "--profile" => profile = Some(find_written_profile(value)?),
                    "--backend" => {
                        let read = |word| BackendWord::read(word);
                        databases.extend(value.split(',').map(read).collect::<Result<Vec<_>, _>>()?);
                    }
                    "--variant" => variants.extend(value.split(',').map(String::from)),
                    "--strategy" => {
                        strategies.extend(list::<Strategy>(option, value)?);
                    }
                    "--verify" => options.verify = read(option, value)?,
                    "--via" => options.via = Some(read(option, value)?),
                    _ => change(&mut overrides, option, value)?,
                }
            }
        }
    }
    let profile = profile.ok_or_else(|| SessionError::usage("a suite's run without a profile"))?;
    let insecure = options.insecure;
    let endpoints = Vec::new();
    Ok((Workload { profile, databases, endpoints, overrides, variants, strategies, insecure }, options))
}

/// An option that changes the profile.
fn change(overrides: &mut Overrides, option: &str, value: &str) -> Result<(), SessionError> {
    match option {
        "--set" => overrides.set.push(value.into()),
        "--layout" => overrides.layout = Some(read(option, value)?),
        "--duration" => overrides.duration = Some(read(option, value)?),
        "--operations" => overrides.operations = Some(read(option, value)?),
        "--warmup" => overrides.warmup = Some(read(option, value)?),
        "--rate" => overrides.rate = Some(read(option, value)?),
        "--vus" => overrides.users = Some(read(option, value)?),
        "--connections" => overrides.connections = Some(read(option, value)?),
        "--batch" => overrides.batch = Some(read(option, value)?),
        "--history" => overrides.history = Some(read(option, value)?),
        "--seed" => overrides.seed = Some(read(option, value)?),
        "--state" => overrides.state = Some(read(option, value)?),
        "--scenario" => overrides.scenario.extend(list(option, value)?),
        "--arrival" => {
            overrides.arrival = Some(match value {
                "constant" => ArrivalOverride::Open(Arrival::Constant),
                "poisson" => ArrivalOverride::Open(Arrival::Poisson),
                "closed" => ArrivalOverride::Closed,
                _ => return Err(SessionError::usage(format!("--arrival {value}: write constant, poisson or closed"))),
            });
        }
        _ => return Err(SessionError::usage(format!("{option} is no option of a suite's runs, by its long name"))),
    }
    Ok(())
}

fn list<T: FromStr<Err: Display>>(option: &str, value: &str) -> Result<Vec<T>, SessionError> {
    value.split(',').map(|word| read(option, word)).collect()
}

fn read<T: FromStr<Err: Display>>(option: &str, value: &str) -> Result<T, SessionError> {
    value.parse().map_err(|e| SessionError::usage(format!("{option} {value}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_suite::SuiteFile;
    use iotbench_workloads::SUITES;

    fn read(words: &[&str]) -> Result<(Workload<'static>, SessionOptions), SessionError> {
        read_options(&words.iter().map(ToString::to_string).collect::<Vec<_>>(), Path::new("results"))
    }

    #[test]
    fn every_run_of_every_built_in_suite_is_read_and_planned() {
        for suite in SUITES {
            let file = SuiteFile::from_toml(suite.toml).unwrap();
            for cell in &file.cells {
                for backend in &cell.backends {
                    for full in [false, true] {
                        let (workload, _) = read_options(&cell.options(backend, full), Path::new("results")).unwrap();
                        assert!(!workload.jobs().unwrap().is_empty(), "{}", suite.name);
                    }
                }
            }
        }
    }

    #[test]
    fn options_are_read_in_both_ways_of_writing_them() {
        let words = ["--profile=pmu_write", "--backend", "sqlite:bulk,blackhole", "--vus=7", "--arrival", "closed"];
        let (workload, options) = read(&[&words[..], &["--set=think_time=0s", "--keep"]].concat()).unwrap();
        assert_eq!((workload.databases.len(), workload.overrides.users.map(|n| n.0)), (2, Some(7)));
        assert_eq!((workload.overrides.set, options.keep), (vec!["think_time=0s".to_owned()], true));
    }

    #[test]
    fn what_is_no_option_or_no_value_is_named() {
        for (words, hint) in [
            (&["--profile", "pmu_write", "--sessions", "2"][..], "--sessions"),
            (&["--profile", "pmu_write", "--vus"], "--vus needs a value"),
            (&["--profile", "pmu_write", "--vus", "many"], "--vus many"),
            (&["--backend", "sqlite"], "without a profile"),
        ] {
            let error = read(words).map(drop).unwrap_err().to_string();
            assert!(error.contains(hint), "{error}");
        }
    }
}
