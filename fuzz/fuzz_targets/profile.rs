//! A profile: written again it is the same, and so is the plan that is made of it. Its data can be made.

#![no_main]

use iotbench_backends::BACKENDS;
use iotbench_core::{Batch, Registry, Run, Target};
use iotbench_engine::{Plan, PlanRequest, Profile, parse_profile, plan};
use libfuzzer_sys::fuzz_target;

fn read_again(profile: &Profile) {
    // Numbers that are none are equal to nothing, and cannot be written.
    let Ok(written) = toml::to_string(profile) else { return };
    if *profile != profile.clone() {
        return;
    }
    let again = parse_profile("again", &written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(again, *profile, "{written}");
}

fuzz_target!(|text: &str| {
    let profile = match parse_profile("profile", text) {
        Ok(profile) => profile,
        Err(error) => return drop(error.to_string()),
    };
    read_again(&profile);
    let Ok(backend) = Registry::new(BACKENDS).find("memory") else { return };
    let request = PlanRequest {
        profile,
        profile_file: "profile".into(),
        base: iotbench_fuzz::folder(),
        run_id: "r".into(),
        target: Target::default(),
        now_ns: 1_800_000_000_000_000_000,
    };
    let planned = match plan(request, backend) {
        Ok(planned) => planned,
        Err(error) => return drop(error.to_string()),
    };
    let written = serde_json::to_string(&planned.plan).unwrap();
    let again: Plan = serde_json::from_str(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    let mut batch = Batch::new(planned.dataset.schema());
    planned.dataset.fill(Run { device: planned.plan.devices.start, first: 0, count: 3 }, &mut batch);
});
