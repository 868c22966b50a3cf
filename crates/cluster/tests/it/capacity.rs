//! A search for capacity by agents over a real NATS server, of a server whose capacity is known.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use iotbench_cluster::{AgentOptions, Allowed, Broker, Fleet, Offer, RECIPE, SigningKey, Stop, Trust, serve};
use iotbench_core::{Backend, BackendInfo, Capabilities, Database, OpenRequest, SettingError};
use iotbench_engine::{Bounds, Outcome, Overrides, PlanRequest, RunOptions, StopSignal, parse_profile, plan, run};
use iotbench_launcher::Programs;
use iotbench_oracle_server::{
    Discipline, Program, Server, ServiceTime, Settings,
    backend::{OracleBackend, target},
};
use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, LazyLock},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

const BACKENDS: &[&dyn Backend] = &[&Served];

/// The oracle as what it is to an agent: a server, which the agent's process does not hold.
#[derive(Debug)]
struct Served;

static INFO: LazyLock<BackendInfo> = LazyLock::new(|| {
    let info = OracleBackend.info().clone();
    BackendInfo { capabilities: Capabilities { embedded: false, ..info.capabilities }, ..info }
});

impl Backend for Served {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        OracleBackend.open(request)
    }
}

/// One after the other, 10 ms each.
const CAPACITY_PER_S: f64 = 100.0;

const SEARCH: &str = r#"
name = "search"
summary = "test"
devices = 6
[dataset]
name = "machine"
[[groups]]
name = "sensors"
connections = 200
load = { model = "open", rate = "auto" }
operations = [{ kind = "write", datapoints = 1 }]
[ramp]
first = 75
growth = 1.5
step = "5s"
resolution = "5%"
trials = 12
[stop]
mean_response = "300ms"
[phases]
others_cpu = "100%"
duration = "3s"
deadline = "20s"
"#;

#[test]
fn two_agents_find_the_capacity_that_one_finds() {
    if !broker_is_here() {
        return;
    }
    let broker = NatsServer::start();
    // A machine that stands still now and then spoils a search, and not three.
    let mut seen = Vec::new();
    let found = (0..3).any(|_| {
        let (one, two) = thread::scope(|scope| {
            let one = scope.spawn(|| search(&broker, "one", 1));
            let two = search(&broker, "two", 2);
            (one.join().unwrap(), two)
        });
        let bounds = [&one, &two].map(|outcome| outcome.capacity.as_ref().unwrap().bounds);
        let near = bounds.into_iter().all(is_near) && overlap(bounds);
        seen.push(bounds);
        near
    });
    assert!(found, "{seen:#?}");
}

/// So many agents of this name search the capacity of a server of their own.
fn search(broker: &NatsServer, name: &str, agents: usize) -> Outcome {
    let program = Program {
        service: ServiceTime::Constant(Duration::from_millis(10)),
        discipline: Discipline::Queue,
        faults: Vec::new(),
    };
    let server =
        Server::start(Settings { ledger_capacity: 1 << 20, ..Settings::new(program, Instant::now()) }).unwrap();
    let names: Vec<String> = (1..=agents).map(|number| format!("{name}-{number}")).collect();
    let key = SigningKey::drawn();
    let ready: Vec<Agent> = names.iter().map(|name| Agent::start(broker.broker(), name, &key)).collect();
    let profile = parse_profile("test.toml", SEARCH).unwrap().with(&Overrides::default()).unwrap();
    let request = PlanRequest {
        profile,
        profile_file: "test.toml".into(),
        base: Path::new("."),
        run_id: name.to_owned(),
        target: target(server.address()),
        now_ns: 0,
    };
    let fleet = Fleet::new(broker.broker(), key, names.join(",").parse().unwrap(), Duration::from_secs(30));
    let options = RunOptions { loaders: Some(Arc::new(fleet)), ..RunOptions::default() };
    let planned = plan(request, &Served).unwrap();
    let outcome = run(planned, &Served, options, &mut (), &StopSignal::default());
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
    let of_agents: u64 = outcome.agents.iter().map(|agent| agent.points.acked).sum();
    assert_eq!((outcome.agents.len(), of_agents), (agents, outcome.points.acked), "{:?}", outcome.verdict);
    ready.into_iter().for_each(Agent::end);
    outcome
}

fn is_near(bounds: Bounds) -> bool {
    let is_near = bounds.estimate.is_some_and(|estimate| (estimate.load / CAPACITY_PER_S - 1.0).abs() <= 0.04);
    is_near && !bounds.client_limited
}

fn overlap([one, two]: [Bounds; 2]) -> bool {
    one.lower <= two.upper && two.lower <= one.upper
}

#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn broker_is_here() -> bool {
    match Programs::find(&RECIPE) {
        Ok(_) => true,
        Err(missing) => {
            assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "{missing}");
            eprintln!("skipped: {} not found", missing.name);
            false
        }
    }
}

/// A NATS server that is killed when it is dropped.
struct NatsServer {
    process: Child,
    port: u16,
}

impl NatsServer {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("nats-server");
        command.args(["--addr", "127.0.0.1", "--port", &port.to_string()]);
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(90), "the NATS server does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        Self { process, port }
    }

    fn broker(&self) -> Broker {
        Broker::new(&format!("nats://127.0.0.1:{}", self.port), None, None).unwrap()
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Agent {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Agent {
    fn start(broker: Broker, name: &str, trusted: &SigningKey) -> Self {
        let (stop, stopped) = oneshot::channel();
        let options = AgentOptions {
            name: name.into(),
            offers: vec![Offer::Load],
            listen: None,
            trust: Trust::of(&[trusted.public()]).unwrap(),
            allowed: Allowed::everything(),
        };
        let thread = thread::spawn(move || {
            let wanted = async {
                let _ = stopped.await;
                Stop::Wanted
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(serve(&broker, &options, BACKENDS, &|_| (), wanted)).unwrap();
        });
        Self { stop, thread }
    }

    fn end(self) {
        drop(self.stop);
        self.thread.join().unwrap();
    }
}
