//! The fake programs. Each adds a line to the file of events, so that their order shows.

use signal_hook::{consts::SIGTERM, iterator::Signals};
use std::{
    fs::{self, OpenOptions},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

/// `init EVENTS NAME DATA`, `join EVENTS WORD…`, `serve EVENTS NAME ADDRESS PEERS NEEDS FAILING`, or `wait EVENTS NAME`.
pub fn run(arguments: &[&str]) {
    match *arguments {
        ["init", events, name, data] => {
            assert!(fs::exists("conf/fake.conf").unwrap(), "the files are there before the folder is filled");
            fs::create_dir(data).unwrap();
            note(events, &format!("init {name}"));
        }
        ["join", events, ref words @ ..] => {
            note(events, &format!("join {}", words.join(" ")));
            assert!(!words.contains(&"impossible"), "it cannot be joined");
        }
        ["serve", events, name, address, peers, needs, failing] => {
            let [events, name, peers, needs] = [events, name, peers, needs].map(str::to_owned);
            assert_ne!(name, failing, "no luck");
            Server { events, name, peers, needs }.run(address);
        }
        ["wait", events, name] => {
            let mut signals = Signals::new([SIGTERM]).unwrap();
            note(events, &format!("start {name} {}", std::process::id()));
            signals.forever().next();
            note(events, &format!("stop {name} {}", std::process::id()));
        }
        _ => panic!("{arguments:?}"),
    }
}

fn note(events: &str, line: &str) {
    let mut file = OpenOptions::new().append(true).open(events).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

#[derive(Clone)]
struct Server {
    events: String,
    name: String,
    /// It is ready when it reaches all of these.
    peers: String,
    /// It cannot live without these.
    needs: String,
}

impl Server {
    /// Serves until it is asked to stop.
    fn run(self, address: &str) {
        let mut signals = Signals::new([SIGTERM]).unwrap();
        self.note("start");
        assert!(fs::exists("data").unwrap(), "it starts in its own folder, which was filled");
        assert!(reaches(&self.needs), "it needs {}", self.needs);
        let listener = TcpListener::bind(address).unwrap();
        self.note("listen");
        let listening = self.clone();
        // It ends with this process.
        std::thread::spawn(move || listening.answer_all(&listener));
        signals.forever().next();
        self.note(if reaches(&self.needs) { "stop" } else { "orphan" });
    }

    fn note(&self, what: &str) {
        note(&self.events, &format!("{what} {} {}", self.name, std::process::id()));
    }

    fn answer_all(&self, listener: &TcpListener) {
        let mut was_ready = false;
        for mut stream in listener.incoming().map_while(Result::ok) {
            // Nothing comes from a peer that only looks.
            if stream.read(&mut [0; 256]).unwrap_or(0) == 0 {
                continue;
            }
            let is_ready = reaches(&self.peers);
            if is_ready && !was_ready {
                was_ready = true;
                self.note("ready");
            }
            let status = if is_ready { "204 No Content" } else { "503 Service Unavailable" };
            // Who asked may have gone.
            let _ = write!(stream, "HTTP/1.1 {status}\r\n\r\n");
        }
    }
}

/// Whether somebody listens at each of these addresses.
fn reaches(addresses: &str) -> bool {
    addresses.split(',').filter(|address| !address.is_empty()).all(|address| TcpStream::connect(address).is_ok())
}
