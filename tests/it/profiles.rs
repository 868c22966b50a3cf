//! Every built-in profile is parsed, planned or refused with a reason, and none is forgotten.

use iotbench::{
    BACKENDS, Layout, PROFILES, Profile, Registry,
    core::{Misfit, Target},
    engine::{Auto, Overrides, PartsError, PlanError, PlanRequest, Planned, parse_profile, plan},
};
use std::{collections::BTreeSet, path::Path};

#[test]
fn every_file_in_configs_is_built_in_and_named_as_its_file() {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/profiles")).unwrap();
    let files: BTreeSet<String> =
        files.map(|f| f.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let names: BTreeSet<String> = PROFILES.iter().map(|p| p.name.to_owned()).collect();
    assert_eq!(files, names);
    for builtin in PROFILES {
        assert_eq!(parse_profile(builtin.name, builtin.toml).unwrap().name, builtin.name);
    }
}

/// The plan of a run on a backend; where none of its devices can be replaced, after what the error says to write.
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
fn planned(run: &Profile, target: &Target, backend: &str) -> Result<Planned, PlanError> {
    let attempt = |profile: Profile| {
        let profile_file = profile.name.clone();
        let (base, target) = (Path::new("."), target.clone());
        let request = PlanRequest { profile, profile_file, base, run_id: "test".into(), target, now_ns: 0 };
        plan(request, Registry::new(BACKENDS).find(backend).unwrap())
    };
    match attempt(run.clone()) {
        Err(PlanError::Misfit(misfit @ Misfit::ChangingTags { .. })) => {
            let message = misfit.to_string();
            let set = message.split("--set ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
            let overrides = Overrides { set: vec![set.into()], ..Overrides::default() };
            attempt(run.clone().with(&overrides).unwrap())
        }
        planned => planned,
    }
}

#[test]
fn every_profile_plans_in_a_layout_of_sqlite() {
    let mut runnable = BTreeSet::new();
    for builtin in PROFILES {
        for full in [false, true] {
            let overrides = Overrides { full, ..Overrides::default() };
            let profile = parse_profile(builtin.name, builtin.toml).unwrap();
            let variants = profile.variants_on("sqlite", &overrides, &[]).unwrap();
            let runs = variants.into_iter().flat_map(|variant| {
                let overrides = Overrides { variant, ..overrides.clone() };
                profile.clone().with(&overrides).unwrap().runs().unwrap()
            });
            let runs: Vec<_> = runs.collect();
            for (run, layout) in runs.iter().flat_map(|run| Layout::ALL.map(|layout| (run, layout))) {
                let mut profile = run.clone();
                profile.layout = Auto::Set(layout);
                let target = Target { folder: Some("/nonexistent".into()), ..Target::default() };
                match planned(&profile, &target, "sqlite") {
                    Ok(planned) => {
                        runnable.insert(builtin.name);
                        let text = serde_json::to_string(&planned.plan).unwrap();
                        let back: iotbench::engine::Plan = serde_json::from_str(&text).unwrap();
                        assert_eq!(serde_json::to_string(&back).unwrap(), text, "a plan survives serialisation");
                    }
                    Err(PlanError::Misfit(misfit)) => assert!(layout == Layout::Narrow, "{}: {misfit}", builtin.name),
                    Err(error) => panic!("{} {layout}: {error}", builtin.name),
                }
            }
        }
    }
    let expected: BTreeSet<_> = PROFILES.iter().map(|p| p.name).collect();
    assert_eq!(runnable, expected);
}

/// Of one device, and of a number of operations that all take from, there are no parts.
#[test]
fn agents_make_the_load_of_every_profile_but_those_of_one_device_or_of_counted_operations() {
    let mut undivided = BTreeSet::new();
    for builtin in PROFILES {
        for run in
            parse_profile(builtin.name, builtin.toml).unwrap().with(&Overrides::default()).unwrap().runs().unwrap()
        {
            let target = Target { endpoints: vec!["postgres://127.0.0.1/d".parse().unwrap()], ..Target::default() };
            let planned = planned(&run, &target, "postgres").unwrap();
            match planned.plan.parts(2) {
                Ok(_) => {}
                Err(PartsError::TooMany { most: 1, .. }) if planned.plan.table.devices == 1 => {
                    undivided.insert((builtin.name, "one device"));
                }
                Err(PartsError::Operations) => {
                    undivided.insert((builtin.name, "counted"));
                }
                Err(other) => panic!("{}: {other}", builtin.name),
            }
        }
    }
    let one_device =
        ["greenhouse_dashboard", "greenhouse_insert", "greenhouse_trends", "machine_read", "machine_write"];
    let counted = ["weather_insert", "weather_max", "weather_select"];
    let expected = one_device.map(|name| (name, "one device")).into_iter().chain(counted.map(|name| (name, "counted")));
    assert_eq!(undivided, expected.collect());
}
