//! What coordinator and agents say to each other, as JSON. The schema's version is in every message, and one of another
//! version is refused before anything else of it is read.

use crate::subject::What;
use iotbench_core::{Settings, Target};
use iotbench_engine::{LedgerHead, Orders, ReadTerms, Told};
use iotbench_sampler::{Method, Sample};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use url::Url;

/// Name and version of the messages. Agents and coordinator have the same, or do not work together.
pub const SCHEMA: &str = "iotbench-cluster/6";

/// The subject on which every agent hears.
pub const FIND: &str = "iotbench.find";

/// The subject on which one agent hears.
#[must_use]
pub fn subject_of(agent: &str) -> String {
    format!("iotbench.agent.{agent}")
}

/// A message as it travels.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    schema: String,
    message: T,
}

/// A message that is not understood.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// It is of another version.
    #[error("its messages are {theirs:?} and ours {SCHEMA:?}: use the same version of iotbench everywhere")]
    OtherVersion {
        /// What it says of itself.
        theirs: String,
    },
    /// It is none.
    #[error("a message cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It could not be signed.
    #[error("a message cannot be signed: {0}")]
    Unsigned(String),
}

/// Of another version's name no more is repeated.
const LONGEST_VERSION: usize = 40;

/// A message as bytes.
///
/// # Errors
/// It cannot be written, which is a fault of the program.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, MessageError> {
    #[derive(Serialize)]
    struct Borrowed<'a, T> {
        schema: &'static str,
        message: &'a T,
    }
    Ok(serde_json::to_vec(&Borrowed { schema: SCHEMA, message })?)
}

/// The message in these bytes.
///
/// # Errors
/// It is of another version, or none.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, MessageError> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
    }
    let Version { schema } = serde_json::from_slice(bytes)?;
    if schema != SCHEMA {
        let theirs = schema.chars().take(LONGEST_VERSION).collect();
        return Err(MessageError::OtherVersion { theirs });
    }
    Ok(serde_json::from_slice::<Envelope<T>>(bytes)?.message)
}

/// What anybody may ask an agent: it answers with an [`Answer`], and does nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Who is there?
    Find,
    /// What is the time?
    Time,
    /// In which session may orders come?
    Greet,
}

/// What a coordinator has an agent do, signed as an [`Order`](crate::signed::Order). It answers with an [`Answer`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Be this run's alone, as long as its coordinator is heard of.
    Hold {
        /// The run's name.
        run: String,
    },
    /// Open the connections of your part.
    Connect(Box<Part>),
    /// Begin the load.
    Start {
        /// The run's name.
        run: String,
        /// When, by the agent's clock, in nanoseconds.
        at_ns: i64,
    },
    /// Do this, and go on being this run's.
    Follow {
        /// The run's name.
        run: String,
        /// What to do.
        orders: Orders,
        /// All reports before this one have come.
        received: u64,
    },
    /// Is there one such subject?
    Resolve {
        /// Which.
        what: What,
    },
    /// Sample these subjects as long as you are this run's.
    Sample {
        /// The run's name.
        run: String,
        /// Which.
        subjects: Vec<What>,
        /// The run's start, by the agent's clock, in nanoseconds.
        at_ns: i64,
        /// The subject for what is seen of them.
        reports: String,
    },
    /// Start a private server, and run it as long as it is wanted.
    Serve {
        /// Who wants it.
        id: String,
        /// Its backend.
        backend: String,
        /// The backend's settings, those of the server among them.
        settings: Settings,
        /// The memory budget of its caches.
        memory_bytes: u64,
    },
    /// The server is still wanted.
    Keep {
        /// By whom.
        id: String,
    },
    /// Stop the server.
    StopServer {
        /// Who wanted it.
        id: String,
    },
    /// The run has ended.
    Release {
        /// The run's name.
        run: String,
    },
}

/// What an agent does for runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// It makes load.
    Load,
    /// It samples what runs beside it.
    Sample,
    /// It starts and stops private servers.
    Serve,
}

/// A private server that runs on an agent's machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Where it is reached.
    pub endpoints: Vec<Url>,
    /// What there is to sample of it: the roots of its processes.
    pub pids: Vec<i32>,
}

/// What an agent sees of the subjects that it samples, in their order. A report that is lost is not repeated: counters go on
/// in the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The run's name.
    pub run: String,
    /// Of each subject.
    pub subjects: Vec<Sight>,
}

/// A subject at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "nearly all are samples, and few are there at a time")]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// It could be read, at this time since the run's start.
    Sampled(Sample, Method),
    /// It has ended.
    Gone,
    /// It could not be read.
    Unreadable,
}

/// An agent's part of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The run's name.
    pub run: String,
    /// What it does, of which data.
    pub head: LedgerHead,
    /// Where the database is, with what is needed to enter it.
    pub endpoints: Vec<String>,
    /// Whether certificates are not checked.
    pub insecure: bool,
    /// The subject for its reports.
    pub reports: String,
    /// The subject on which its coordinator hears as long as it lives, whatever is said there.
    pub alive: String,
    /// How it judges what it reads.
    pub reading: ReadTerms,
    /// Whether the agent drops what the run created, should its coordinator be gone.
    pub drops: bool,
}

impl Part {
    /// The database that is to be loaded.
    pub(crate) fn target(&self) -> Result<Target, String> {
        let endpoint = |text: &String| text.parse().map_err(|_| "an address of the plan is no URL".to_owned());
        let endpoints = self.endpoints.iter().map(endpoint).collect::<Result<_, _>>()?;
        Ok(Target { endpoints, insecure: self.insecure, ..Target::default() })
    }
}

/// From an agent to its coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is there.
    Here {
        /// Its name.
        name: String,
        /// The run that holds it.
        held_by: Option<String>,
        /// What it does for runs.
        offers: Vec<Offer>,
    },
    /// The session for a coordinator's orders.
    Session {
        /// Its name.
        name: String,
    },
    /// What is to be sampled, as it was found.
    Found {
        /// In words, such as `process 4711 (postgres)`.
        what: String,
    },
    /// The server runs.
    Serving(Served),
    /// It is done.
    Done,
    /// It is another run's.
    Held {
        /// Whose.
        by: String,
    },
    /// It cannot be done.
    Failed {
        /// Why.
        why: String,
    },
    /// It may not be done.
    Refused {
        /// Why.
        why: String,
    },
    /// The agent's time in nanoseconds, when it was asked and when it answers.
    Time {
        /// When the question came in.
        came_ns: i64,
        /// When the answer went out.
        answered_ns: i64,
    },
}

/// What an agent reports of its part, by itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The run's name.
    pub run: String,
    /// What it says.
    pub news: PartNews,
}

/// What there is to say of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PartNews {
    /// What was done.
    Told {
        /// Its number among those that tell of this run, from 0.
        number: u64,
        /// What it says.
        told: Told,
    },
    /// It has ended, and what was not told never will be.
    GivenUp {
        /// Why, in words.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_what_is_heard() {
        let bytes = encode(&Answer::Time { came_ns: -5, answered_ns: i64::MAX }).unwrap();
        assert_eq!(decode::<Answer>(&bytes).unwrap(), Answer::Time { came_ns: -5, answered_ns: i64::MAX });
        let said = Told { reached: 9, ..Told::default() };
        let report = Report { run: "r".into(), news: PartNews::Told { number: 7, told: said.clone() } };
        let heard: Report = decode(&encode(&report).unwrap()).unwrap();
        let PartNews::Told { number, told } = heard.news else { panic!("{heard:?}") };
        assert_eq!((&*heard.run, number, told), ("r", 7, said));
    }

    #[test]
    fn another_version_is_refused_whatever_it_says() {
        let theirs = br#"{ "schema": "iotbench-cluster/99", "message": { "something": "new" }, "more": 1 }"#;
        let error = decode::<Answer>(theirs).unwrap_err();
        assert!(matches!(&error, MessageError::OtherVersion { theirs } if theirs == "iotbench-cluster/99"), "{error}");
        assert!(error.to_string().contains("use the same version of iotbench everywhere"));
        let long = format!(r#"{{"schema":"{}","message":1}}"#, "\\u0007".repeat(100_000));
        let error = decode::<Answer>(long.as_bytes()).unwrap_err().to_string();
        assert!(error.len() < 500 && !error.contains('\u{7}'), "{error}");
        assert!(matches!(decode::<Answer>(b"{}"), Err(MessageError::Unreadable(_))));
        assert!(matches!(decode::<Answer>(b"\xff"), Err(MessageError::Unreadable(_))));
    }
}
