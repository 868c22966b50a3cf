//! What the manifests order, and that they fit each other.

use super::{
    assert_is_a_command, folder,
    manifests::{Manifests, name},
};
use k8s_openapi::{
    api::core::v1::{Container, PodSpec, PodTemplateSpec, Service, ServicePort},
    apimachinery::pkg::util::intstr::IntOrString,
};
use std::{collections::BTreeMap, fs, path::Path};

/// What every pod of a database carries.
const DATABASE: (&str, &str) = ("app.kubernetes.io/component", "database");

fn spec(pod: &PodTemplateSpec) -> &PodSpec {
    pod.spec.as_ref().unwrap()
}

fn labels(pod: &PodTemplateSpec) -> &BTreeMap<String, String> {
    pod.metadata.as_ref().unwrap().labels.as_ref().unwrap()
}

fn only_container(pod: &PodTemplateSpec) -> &Container {
    let [container] = &spec(pod).containers[..] else { panic!("{:?}", spec(pod).containers) };
    container
}

fn args(container: &Container) -> Vec<&str> {
    container.args.iter().flatten().map(String::as_str).collect()
}

fn value<'a>(args: &[&'a str], option: &str) -> &'a str {
    args[args.iter().position(|arg| *arg == option).unwrap() + 1]
}

/// The pods of iotbench itself.
fn ours(manifests: &Manifests) -> Vec<&PodTemplateSpec> {
    let of_iotbench = |pod: &&PodTemplateSpec| only_container(pod).image.as_deref().unwrap().starts_with("iotbench:");
    let ours: Vec<_> = manifests.pods().into_iter().filter(of_iotbench).collect();
    assert_eq!(ours.len(), 2);
    ours
}

#[test]
fn what_the_pods_start_are_commands_of_this_version() {
    let manifests = Manifests::read();
    for pod in ours(&manifests) {
        let container = only_container(pod);
        assert_eq!(container.image.as_deref(), Some(concat!("iotbench:", env!("CARGO_PKG_VERSION"))));
        assert_is_a_command(&args(container));
    }
}

#[test]
fn the_broker_is_where_runs_and_agents_look_for_it() {
    let manifests = Manifests::read();
    let is_broker = |service: &&Service| name(&service.metadata) == "nats";
    let service = manifests.services.iter().find(is_broker).unwrap().spec.as_ref().unwrap();
    let [ServicePort { port, target_port: Some(IntOrString::String(target)), .. }] =
        &service.ports.as_ref().unwrap()[..]
    else {
        panic!("{:?}", service.ports)
    };
    for pod in ours(&manifests) {
        assert_eq!(value(&args(only_container(pod)), "--nats"), format!("tls://nats:{port}"));
    }
    let broker = &manifests.deployments[0].spec.template;
    let ports = only_container(broker).ports.as_ref().unwrap();
    let listens = ports.iter().find(|port| port.name.as_ref() == Some(target)).unwrap().container_port;
    assert!(manifests.broker_configuration().contains(&format!("\nport: {listens}\n")));
    let policy = manifests.policies.iter().find(|policy| name(&policy.metadata) == "nats").unwrap();
    let policy = policy.spec.as_ref().unwrap();
    let chosen = policy.pod_selector.as_ref().unwrap().match_labels.as_ref().unwrap();
    assert_eq!(chosen, labels(broker), "the policy is about the broker");
    let from = policy.ingress.as_ref().unwrap()[0].from.as_ref().unwrap()[0].pod_selector.as_ref().unwrap();
    let let_in = from.match_labels.as_ref().unwrap();
    assert!(ours(&manifests).iter().all(|pod| let_in.iter().all(|(key, value)| labels(pod).get(key) == Some(value))));
}

/// Its file names a file of a secret that only it mounts; those of the others have the login and the authority.
#[test]
fn the_broker_asks_for_a_login_that_runs_and_agents_have_and_no_argument_or_variable_holds() {
    let manifests = Manifests::read();
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let broker = &manifests.deployments[0].spec.template;
    let [config, file] = args(only_container(broker))[..] else { panic!("a file alone") };
    assert_eq!(config, "--config");
    let place = |pod, name: &str| {
        let mut mounts = only_container(pod).volume_mounts.iter().flatten();
        Path::new(&mounts.find(|mount| mount.name == name).unwrap().mount_path).to_owned()
    };
    let folder_of_file = place(broker, "configuration");
    assert_eq!(Path::new(file), folder_of_file.join("nats.conf"));
    let configuration = manifests.broker_configuration();
    for name in ["broker.conf", "tls.crt", "tls.key"] {
        let named = configuration.split('"').find(|text| text.ends_with(name)).unwrap();
        let named = named.strip_prefix("../").map_or(named.into(), |rest| format!("/etc/{rest}"));
        assert_eq!(Path::new(&named), place(broker, "secret").join(name), "{name}");
    }
    for pod in ours(&manifests) {
        for (option, name) in [("--nats-ca", "ca.crt"), ("--nats-credentials", "login")] {
            assert_eq!(Path::new(value(&args(only_container(pod)), option)), place(pod, "broker").join(name));
        }
        let variables = only_container(pod).env.iter().flatten();
        assert!(variables.into_iter().all(|variable| !variable.name.contains("NATS")));
    }
    let made = |secret: &str, files: &[&str]| {
        let files: String = files.iter().map(|file| format!(" --from-file=secrets/{file}")).collect();
        assert!(readme.contains(&format!("kubectl create secret generic {secret}{files}\n")), "{secret}");
    };
    made("iotbench-broker", &["broker.conf", "tls.crt", "tls.key"]);
    made("iotbench-nats", &["ca.crt", "login"]);
}

#[test]
fn what_one_manifest_names_another_one_has() {
    let manifests = Manifests::read();
    for service in &manifests.services {
        let selector = service.spec.as_ref().unwrap().selector.as_ref().unwrap();
        assert_eq!(manifests.pods().iter().filter(|pod| labels(pod) == selector).count(), 1, "{selector:?}");
    }
    let set = &manifests.stateful_sets[0];
    let set_spec = &set.spec;
    let service = set_spec.service_name.as_deref().unwrap();
    assert!(manifests.services.iter().any(|other| name(&other.metadata) == service));
    let run = &manifests.jobs[0].spec.as_ref().unwrap().template;
    let agents: i32 = value(&args(only_container(run)), "--agents").parse().unwrap();
    assert_eq!(Some(agents), set_spec.replicas, "a run has the agents that there are");
    let own_name = value(&args(only_container(&set_spec.template)), "--name");
    let variables = only_container(&set_spec.template).env.as_ref().unwrap();
    assert!(variables.iter().any(|variable| own_name == format!("$({})", variable.name)));
    let claimed: Vec<_> = manifests.claims.iter().map(|claim| name(&claim.metadata)).collect();
    let volumes = spec(run).volumes.iter().flatten();
    let claims: Vec<_> =
        volumes.filter_map(|volume| Some(&volume.persistent_volume_claim.as_ref()?.claim_name)).collect();
    assert_eq!(claims, claimed);
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let secret = only_container(run).env.as_ref().unwrap()[0].value_from.as_ref().unwrap();
    let secret = secret.secret_key_ref.as_ref().unwrap();
    assert!(readme.contains(&format!("generic {} --from-literal={}=", secret.name, secret.key)), "{secret:?}");
}

/// The seed is the run's alone; agents have its public half, and what they may connect to.
#[test]
fn agents_trust_the_key_of_the_run_and_have_it_not() {
    let manifests = Manifests::read();
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let agents = &manifests.stateful_sets[0].spec.template;
    let run = &manifests.jobs[0].spec.as_ref().unwrap().template;
    let secrets = |pod| {
        let volumes = spec(pod).volumes.iter().flatten();
        volumes.filter_map(|volume| volume.secret.as_ref()?.secret_name.as_deref()).collect::<Vec<_>>()
    };
    assert_eq!((secrets(agents), secrets(run)), (vec!["iotbench-nats"], vec!["iotbench-nats", "iotbench-key"]));
    assert_eq!(secrets(&manifests.deployments[0].spec.template), ["iotbench-broker"]);
    let file = Path::new(value(&args(only_container(run)), "--agent-key"));
    let places = only_container(run).volume_mounts.iter().flatten();
    let place = places.into_iter().find(|mount| mount.name == "key").unwrap();
    assert_eq!(file.parent(), Some(Path::new(&place.mount_path)));
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(readme.contains(&format!("create secret generic iotbench-key --from-file=secrets/{name}\n")));
    for (variable, key) in [("IOTBENCH_TRUST", "trust"), ("IOTBENCH_ALLOW_TARGET", "allow-target")] {
        let mut variables = only_container(agents).env.iter().flatten();
        let from = variables.find(|of| of.name == variable).unwrap().value_from.as_ref().unwrap();
        let from = from.config_map_key_ref.as_ref().unwrap();
        assert_eq!((&*from.name, &*from.key), ("iotbench-agents", key));
        assert!(readme.contains(&format!(" --from-literal={key}=")), "{key}");
    }
    assert!(readme.contains("create configmap iotbench-agents "));
}

#[test]
fn pods_have_a_place_for_all_that_they_write_and_no_rights_beyond() {
    let manifests = Manifests::read();
    for pod in manifests.pods() {
        let (container, security) = (only_container(pod), spec(pod).security_context.as_ref().unwrap());
        assert!(security.run_as_non_root == Some(true) && security.run_as_user.is_some_and(|user| user > 0));
        assert_eq!(spec(pod).automount_service_account_token, Some(false));
        let rights = container.security_context.as_ref().unwrap();
        assert!(rights.read_only_root_filesystem == Some(true) && rights.allow_privilege_escalation == Some(false));
        assert!(rights.privileged.is_none() && rights.run_as_user.is_none() && rights.run_as_non_root.is_none());
        let capabilities = rights.capabilities.as_ref().unwrap();
        assert_eq!((capabilities.drop.as_deref(), &capabilities.add), (Some(&["ALL".to_owned()][..]), &None));
        assert_eq!(security.seccomp_profile.as_ref().unwrap().type_, "RuntimeDefault");
        let of_the_node = [spec(pod).host_network, spec(pod).host_pid, spec(pod).host_ipc];
        assert_eq!(of_the_node, [None; 3], "nothing is sampled that the node alone shows");
        let limits = container.resources.as_ref().unwrap().limits.as_ref().unwrap();
        assert!(["cpu", "memory", "ephemeral-storage"].iter().all(|of| limits.contains_key(*of)), "{limits:?}");
        let mounts: Vec<_> = container.volume_mounts.iter().flatten().map(|mount| mount.name.as_str()).collect();
        let volumes: Vec<_> = spec(pod).volumes.iter().flatten().map(|volume| volume.name.as_str()).collect();
        assert_eq!(mounts, volumes);
    }
    for pod in ours(&manifests) {
        let places = only_container(pod).volume_mounts.iter().flatten().map(|mount| mount.mount_path.as_str());
        let (places, args) = (places.collect::<Vec<_>>(), args(only_container(pod)));
        let results = args.iter().position(|arg| *arg == "--out").map_or("/data", |place| args[place + 1]);
        assert!(places.contains(&"/tmp") && places.contains(&results), "{places:?}");
    }
}

#[test]
fn who_measures_has_processors_of_its_own_and_no_database_beside_it() {
    let manifests = Manifests::read();
    for pod in ours(&manifests) {
        let resources = only_container(pod).resources.as_ref().unwrap();
        assert_eq!(resources.requests, resources.limits, "what is asked for is what there is");
        let processors = &resources.limits.as_ref().unwrap()["cpu"].0;
        assert!(processors.parse::<u32>().is_ok(), "whole processors: {processors}");
        let apart = spec(pod).affinity.as_ref().unwrap().pod_anti_affinity.as_ref().unwrap();
        let apart = apart.required_during_scheduling_ignored_during_execution.as_ref().unwrap();
        let is_from_databases = apart.iter().any(|term| {
            let chosen = term.label_selector.as_ref().and_then(|selector| selector.match_labels.as_ref());
            let label = chosen.and_then(|labels| labels.get(DATABASE.0));
            label.is_some_and(|value| value == DATABASE.1)
                && term.topology_key == "kubernetes.io/hostname"
                && term.namespace_selector.is_some()
        });
        assert!(is_from_databases, "{apart:?}");
        assert_ne!(labels(pod).get(DATABASE.0).map(String::as_str), Some(DATABASE.1));
    }
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    assert!(readme.contains(&format!("{}={}", DATABASE.0, DATABASE.1)), "how a database gets the label");
}
