//! Another client of the broker: says what it likes, hears what is said to others, and says it again.

use super::broker::Broker;
use base64::{Engine, engine::general_purpose::STANDARD};
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        mpsc::{SyncSender, sync_channel},
    },
    time::Duration,
};

const SCHEMA: &str = "iotbench-cluster/6";
/// Answers to it.
const INBOX: &str = "_INBOX.attacker";

/// A message as it was sent: to whom, and what.
pub type Message = (String, Vec<u8>);

/// A connection to the broker.
pub struct Attacker {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    asked: u32,
}

impl Attacker {
    pub fn at(broker: &Broker) -> Self {
        let stream = broker.connection();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        let mut attacker = Self { stream, reader, asked: 0 };
        attacker.write(format!("CONNECT {{\"verbose\":false}}\r\nSUB {INBOX}.* 1\r\nPING\r\n").as_bytes());
        while attacker.line() != "PONG" {}
        attacker
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.reader.read_line(&mut line).unwrap() > 0, "the broker has ended the connection");
        line.trim_end().to_owned()
    }

    /// Says something, and has the answer sent there.
    pub fn say(&mut self, subject: &str, reply: &str, payload: &[u8]) {
        self.write(format!("PUB {subject} {reply} {}\r\n", payload.len()).as_bytes());
        self.write(payload);
        self.write(b"\r\n");
    }

    /// What an agent answers, without schema.
    pub fn ask(&mut self, agent: &str, payload: &[u8]) -> Value {
        self.asked += 1;
        let inbox = format!("{INBOX}.{}", self.asked);
        self.say(&format!("iotbench.agent.{agent}"), &inbox, payload);
        loop {
            let line = self.line();
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["MSG", subject, _, length] => {
                    let mut answer = vec![0; length.parse::<usize>().unwrap() + 2];
                    self.reader.read_exact(&mut answer).unwrap();
                    if *subject == inbox {
                        let answer: Value = serde_json::from_slice(&answer).unwrap();
                        return answer["message"].clone();
                    }
                }
                ["PING"] => self.write(b"PONG\r\n"),
                _ => {}
            }
        }
    }

    /// Why an agent refuses.
    pub fn refused(&mut self, agent: &str, payload: &[u8]) -> String {
        let answer = self.ask(agent, payload);
        answer["refused"]["why"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Who holds an agent: it answers at all.
    pub fn holder(&mut self, agent: &str) -> Value {
        self.ask(agent, &question("find"))["here"]["held_by"].clone()
    }

    /// A session for orders.
    pub fn session(&mut self, agent: &str) -> String {
        self.ask(agent, &question("greet"))["session"]["name"].as_str().unwrap().to_owned()
    }
}

/// What anybody may ask.
pub fn question(word: &str) -> Vec<u8> {
    json!({ "schema": SCHEMA, "message": word }).to_string().into_bytes()
}

/// An order that this key signs.
pub fn order(key: &KeyPair, to: &str, session: &str, number: u64, message: &Value) -> Vec<u8> {
    let body = json!({ "to": to, "session": session, "number": number, "message": message }).to_string();
    let signature = STANDARD.encode(key.sign(format!("{SCHEMA}\n{body}").as_bytes()).unwrap());
    format!("{SCHEMA} {} {signature}\n{body}", key.public_key()).into_bytes()
}

/// Has all that is said to agents written down.
pub fn listen(broker: &Broker) -> Arc<Mutex<Vec<Message>>> {
    let mut attacker = Attacker::at(broker);
    attacker.write(b"SUB iotbench.agent.* 2\r\nPING\r\n");
    while attacker.line() != "PONG" {}
    attacker.stream.set_read_timeout(None).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&heard);
    std::thread::spawn(move || {
        let mut line = String::new();
        while attacker.reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            let words: Vec<_> = line.split_whitespace().collect();
            if let ["MSG", subject, .., length] = words.as_slice() {
                let mut payload = vec![0; length.parse::<usize>().unwrap() + 2];
                if attacker.reader.read_exact(&mut payload).is_err() {
                    return;
                }
                payload.truncate(payload.len() - 2);
                written.lock().unwrap().push(((*subject).to_owned(), payload));
            } else if words == ["PING"] && attacker.stream.write_all(b"PONG\r\n").is_err() {
                return;
            }
            line.clear();
        }
    });
    heard
}

/// A broker for one agent, by its address: told to, it asks much and hears nothing any more, as one that was cut off.
pub fn deaf_broker(agent: &str) -> (String, SyncSender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    let (subject, (tell, told)) = (format!("iotbench.agent.{agent}"), sync_channel(1));
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.write_all(b"INFO {\"max_payload\":1048576}\r\n").unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let (mut reader, mut line, mut sid) =
            (BufReader::new(stream.try_clone().unwrap()), String::new(), String::new());
        while told.try_recv().is_err() {
            // A line that has come in part stays there until the rest comes.
            if reader.read_line(&mut line).is_err() {
                continue;
            }
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["PING"] => stream.write_all(b"PONG\r\n").unwrap(),
                ["SUB", to, number] if to == subject => sid = number.to_owned(),
                _ => {}
            }
            line.clear();
        }
        // Answers show it, each byte as six.
        let question = format!("{{\"schema\":\"{}\",\"message\":1}}", "\u{7f}".repeat(40));
        let message = format!("MSG {subject} {sid} _INBOX.x {}\r\n{question}\r\n", question.len());
        // It ends with the agent.
        let _ = stream.write_all(message.repeat(60_000).as_bytes());
        let _ = told.recv();
    });
    (url, tell)
}
