//! A NATS server of a test's own, and agents at it.

use crate::server::place::{Place, wait_for};
use iotbench_cluster::RECIPE;
use iotbench_launcher::Programs;
use rustix::process::Signal;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{IpAddr, Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Whether there is a NATS server here. Where it must be, its absence fails the test.
#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
pub fn broker_is_here() -> bool {
    match Programs::find(&RECIPE) {
        Ok(_) => true,
        Err(missing) => {
            assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "{missing}");
            eprintln!("skipped: {} not found", missing.name);
            false
        }
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A NATS server that is killed when it is dropped.
pub struct Broker {
    process: Child,
    address: IpAddr,
    port: u16,
    arguments: Vec<String>,
}

impl Broker {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST.into(), arguments)
    }

    /// One at another address of this machine.
    pub fn start_at(address: IpAddr, arguments: &[&str]) -> Self {
        let arguments: Vec<_> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let port = free_port();
        Self { process: process(address, port, &arguments), address, port, arguments }
    }

    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.address, self.port)
    }

    /// A connection to it of somebody else.
    pub fn connection(&self) -> TcpStream {
        TcpStream::connect((self.address, self.port)).unwrap()
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub fn restart(&mut self) {
        self.kill();
        self.process = process(self.address, self.port, &self.arguments);
    }

    /// An agent that is ready.
    pub fn agent(&self, place: &Place, name: &str) -> Agent {
        self.agent_with(place, name, &[])
    }

    /// An agent with these options that is ready.
    pub fn agent_with(&self, place: &Place, name: &str, more: &[&str]) -> Agent {
        self.started(name, self.command(place, name, more))
    }

    /// One that has none of this in its environment.
    pub fn agent_without(&self, variables: &[&str], place: &Place, name: &str, more: &[&str]) -> Agent {
        let mut command = self.command(place, name, more);
        for variable in variables {
            command.env_remove(variable);
        }
        self.started(name, command)
    }

    /// One that is ready, and ended by the kernel when it writes to a file.
    pub fn agent_without_a_disk(&self, place: &Place, name: &str) -> Agent {
        let agent = self.command(place, name, &[]);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\""]).arg(agent.get_program()).args(agent.get_args());
        for (name, value) in agent.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        self.started(name, command)
    }

    fn command(&self, place: &Place, name: &str, more: &[&str]) -> Command {
        let url = self.url();
        place.iotbench(&[&["agent", "--nats", &url, "--name", name], more].concat())
    }

    fn started(&self, name: &str, command: Command) -> Agent {
        Agent::started(&format!("agent {name} at nats://{}", self.address), command)
    }

    /// Has everything that is said to somebody alone said again, of two things the later one first; how often, so far.
    pub fn say_all_again(&self) -> Arc<AtomicUsize> {
        let mut stream = self.connection();
        // Without an echo it does not hear itself.
        let hello = b"CONNECT {\"verbose\":false,\"echo\":false}\r\nSUB _INBOX.*.* 1\r\nPING\r\n";
        stream.write_all(hello).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while !line.starts_with("PONG") {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0, "it has subscribed");
        }
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        std::thread::spawn(move || {
            let mut earlier: Option<(String, Vec<u8>)> = None;
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                let words: Vec<_> = line.split_whitespace().collect();
                let said = match words.as_slice() {
                    ["MSG", subject, _, length] => {
                        let mut payload = vec![0; length.parse::<usize>().unwrap() + 2];
                        reader.read_exact(&mut payload).unwrap();
                        let again = [Some(((*subject).to_owned(), payload)), earlier.take()];
                        let mut send = |(subject, payload): &(String, Vec<u8>)| {
                            write!(stream, "PUB {subject} {}\r\n", payload.len() - 2)?;
                            stream.write_all(payload)
                        };
                        let is_report = again.iter().flatten().any(|(_, payload)| is_report(payload));
                        counted.fetch_add(usize::from(is_report), Ordering::Relaxed);
                        let sent = again.iter().flatten().try_for_each(&mut send);
                        // Every other one is held back until the next has been said.
                        let [now, before] = again;
                        earlier = if before.is_none() { now } else { None };
                        sent
                    }
                    ["PING"] => stream.write_all(b"PONG\r\n"),
                    _ => Ok(()),
                };
                if said.is_err() {
                    return;
                }
                line.clear();
            }
        });
        count
    }

    /// Who claims a name as soon as another does, too late to hear of it, and comes after it; done when it has been told.
    pub fn late_claimant(&self, name: &str) -> JoinHandle<()> {
        // Behind whatever an inbox is drawn of.
        const INBOX: &str = "_INBOX.~";
        let mut stream = self.connection();
        let claims = format!("iotbench.claim.{name}");
        let hello =
            format!("CONNECT {{\"verbose\":false,\"echo\":false}}\r\nSUB {INBOX} 1\r\nSUB {claims} 2\r\nPING\r\n");
        stream.write_all(hello.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "PONG"), "it has subscribed");
        std::thread::spawn(move || {
            assert!(lines.any(|line| line.starts_with(&format!("MSG {claims} "))), "somebody claims the name");
            write!(stream, "PUB {claims} {INBOX} 0\r\n\r\n").unwrap();
            assert!(lines.any(|line| line.starts_with(&format!("MSG {INBOX} "))), "it is told that it comes too late");
        })
    }

    /// Who answers as an agent of a later version would.
    pub fn agent_of_another_version(&self) -> JoinHandle<()> {
        let mut stream = self.connection();
        stream.write_all(b"CONNECT {\"verbose\":false}\r\nSUB iotbench.find 1\r\nPING\r\n").unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "PONG"), "it has subscribed");
        std::thread::spawn(move || {
            let answer = "{\"schema\":\"iotbench-cluster/9\",\"message\":{\"new\":1}}";
            for line in lines {
                let words: Vec<_> = line.split(' ').collect();
                let answered = match words.as_slice() {
                    ["MSG", _, _, reply, _] => write!(stream, "PUB {reply} {}\r\n{answer}\r\n", answer.len()),
                    ["PING"] => stream.write_all(b"PONG\r\n"),
                    _ => Ok(()),
                };
                if answered.is_err() {
                    return;
                }
            }
        })
    }
}

fn is_report(payload: &[u8]) -> bool {
    String::from_utf8_lossy(payload).contains("\"told\":")
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn process(address: IpAddr, port: u16, arguments: &[String]) -> Child {
    let mut command = Command::new("nats-server");
    command.args(["--addr", &address.to_string(), "--port", &port.to_string()]).args(arguments);
    let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the NATS server", || TcpStream::connect((address, port)).is_ok());
    process
}

/// An agent that is killed when it is dropped.
pub struct Agent {
    process: Child,
    said: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
    stalled: Option<Instant>,
}

impl Agent {
    /// One that has said this: that it is ready.
    pub fn started(ready: &str, mut command: Command) -> Self {
        let mut process = command.spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let heard = Arc::clone(&said);
        let listener = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let agent = Self { process, said, listener: Some(listener), stalled: None };
        agent.wait_until_it_says(ready);
        agent
    }

    pub fn wait_until_it_says(&self, text: &str) {
        wait_for(text, || self.said.lock().unwrap().contains(text));
    }

    /// All that it has said.
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.process.id()).unwrap()
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// It computes nothing for a second, whatever it waits for.
    pub fn wait_until_it_stands_still(&self) {
        let ticks = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
            let fields = stat.rsplit(')').next().unwrap().split_whitespace();
            fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum::<u64>()
        };
        let mut last = (ticks(), Instant::now());
        wait_for("the agent to stand still", || {
            let now = ticks();
            if now != last.0 {
                last = (now, Instant::now());
            }
            last.1.elapsed() >= Duration::from_secs(1)
        });
    }

    /// Keeps it from running.
    pub fn stall(&mut self) {
        self.signal(Signal::STOP);
        self.stalled = Some(Instant::now());
    }

    /// How long it has stood still.
    pub fn stood_for_s(&self) -> f64 {
        self.stalled.map_or(0.0, |since| since.elapsed().as_secs_f64())
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.process), signal).unwrap();
    }

    /// Asked to end, it ends in order.
    pub fn end(&mut self) {
        self.signal(Signal::TERM);
        wait_for("the agent's end", || self.process.try_wait().unwrap().is_some());
        let status = self.process.wait().unwrap();
        self.listener.take().unwrap().join().unwrap();
        assert!(status.success(), "{status}: {}", self.said.lock().unwrap());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
