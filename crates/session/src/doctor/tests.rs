//! What follows from the facts of a machine and of its servers.

use super::*;
use iotbench_sampler::OthersNow;

fn server(kind: ServerKind, fitness: Fitness) -> ServerFacts {
    let finding = Finding { fitness, ..Finding::ok("x", "1.2") };
    let (name, debian) = ("x".into(), Vec::new());
    ServerFacts { name, setting: None, kind, version: None, finding, debian, by_script: false }
}

fn machine(cpu: f64) -> MachineFacts {
    let others = Some(OthersNow { seconds: 0.3, cpu, steal: Some(0.0), busiest: vec![] });
    MachineFacts { governor: Some("performance".into()), others, ..MachineFacts::default() }
}

fn code(servers: &[ServerFacts], machine: MachineFacts) -> u8 {
    Diagnosis::of(servers.to_vec(), machine, Vec::new(), true).exit_code()
}

#[test]
fn a_machine_that_would_spoil_a_measurement_or_can_start_nothing_has_exit_code_10() {
    let (there, missing) = (server(ServerKind::Private, Fitness::Ok), server(ServerKind::Private, Fitness::Missing));
    let built_in = server(ServerKind::BuiltIn, Fitness::Ok);
    assert_eq!(code(std::slice::from_ref(&there), machine(0.0)), 0);
    assert_eq!(code(&[there.clone(), missing.clone()], machine(0.0)), 0, "one that is missing spoils nothing");
    assert_eq!(code(std::slice::from_ref(&there), machine(0.37)), 10);
    assert_eq!(code(&[built_in, missing], machine(0.0)), 10, "only what is built in can be run");
    assert_eq!(code(&[there.clone(), server(ServerKind::Broker, Fitness::Missing)], machine(0.0)), 0);
    assert_eq!(code(&[there, server(ServerKind::Tool, Fitness::Missing)], machine(0.0)), 10, "none is started without");
}

#[test]
fn a_port_that_is_taken_spoils_nothing() {
    let taken = PortFacts { port: 5432, of: vec!["x".into()], taken_by: Some("xd (process 7)".into()) };
    let found = Diagnosis::of(vec![server(ServerKind::Private, Fitness::Ok)], machine(0.0), vec![taken], true);
    assert_eq!((found.exit_code(), found.fit), (0, true));
    assert_eq!(found.findings.last().unwrap().about, "port 5432 of x");
}

#[test]
fn a_run_is_warned_in_few_words_of_what_would_spoil_it() {
    let slow = MachineFacts { governor: Some("powersave".into()), ..machine(0.37) };
    assert_eq!(warnings(&slow, 0.05), ["governor powersave", "foreign load 37 %"]);
    assert_eq!(warnings(&slow, 1.0), ["governor powersave"], "where the profile allows others all");
    assert_eq!(warnings(&machine(0.04), 0.05), Vec::<String>::new());
}
