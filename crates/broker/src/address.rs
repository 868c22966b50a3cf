//! What `--via` says: which broker, and what is asked of it.

use iotbench_core::closest;
use std::{fmt, net::IpAddr, str::FromStr};
use url::{Host, Url};

/// Where brokers listen.
const MQTT_PORT: u16 = 1883;
const QOS: &str = "qos";
const PAYLOAD: &str = "payload";
/// What stands before a setting of a private broker.
const SERVER: &str = "server.";

/// What a broker promises of a message (MQTT 3.1.1, section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QosLevel {
    /// At most once.
    AtMostOnce,
    /// At least once.
    AtLeastOnce,
    /// Exactly once.
    ExactlyOnce,
}

impl QosLevel {
    /// As the protocol numbers it.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::AtMostOnce => 0,
            Self::AtLeastOnce => 1,
            Self::ExactlyOnce => 2,
        }
    }
}

/// How a message holds its datapoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// JSON in Base64, as the compressor study has it (Gkamas, Karaiskos, Kontogiannis 2022).
    Json64,
    /// The line protocol of InfluxDB.
    Line,
}

impl Payload {
    /// As on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json64 => "json64",
            Self::Line => "line",
        }
    }
}

/// What `--via` says.
#[derive(Clone, PartialEq, Eq)]
pub struct Via {
    /// Where the broker is; `None`: a private one is to be started.
    pub(crate) broker: Option<Broker>,
    /// What it promises of a message.
    pub qos: QosLevel,
    /// How messages hold datapoints.
    pub payload: Payload,
    /// Settings of a private broker, such as `max_queued_messages`.
    pub server: Vec<(String, String)>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Broker {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) credentials: Option<(String, String)>,
    is_loopback: bool,
}

/// Why a text is no `--via`. Never repeats an address: it may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViaError {
    /// No address.
    #[error("--via cannot be read: write mqtt, or mqtt://HOST:PORT")]
    NoAddress,
    /// Another protocol.
    #[error("--via knows mqtt alone, not {0:?}: write mqtt, or mqtt://HOST:PORT")]
    Scheme(String),
    /// MQTT over TLS.
    #[error(
        "--via mqtts is not built in: reach the broker by mqtt:// in a network that is trusted, or through a tunnel"
    )]
    Tls,
    /// A parameter that there is not.
    #[error("--via has no parameter {0:?}{1}: there are qos, payload and, for a private broker, server.KEY")]
    Unknown(String, String),
    /// A parameter with another value.
    #[error("--via: {key} is {allowed}, not {value:?}")]
    Value {
        /// The parameter.
        key: &'static str,
        /// What it can be.
        allowed: &'static str,
        /// What was written.
        value: String,
    },
    /// A path.
    #[error("--via takes no path after the host: topics are the run's own")]
    Path,
}

impl FromStr for Via {
    type Err = ViaError;

    fn from_str(text: &str) -> Result<Self, ViaError> {
        let (word, query) = text.split_once('?').unwrap_or((text, ""));
        let is_private = word == "mqtt";
        let url = Url::parse(&if is_private { format!("mqtt:?{query}") } else { text.to_owned() });
        let url = url.map_err(|_| ViaError::NoAddress)?;
        match url.scheme() {
            "mqtt" => {}
            "mqtts" => return Err(ViaError::Tls),
            other => return Err(ViaError::Scheme(other.to_owned())),
        }
        let broker = if is_private { None } else { Some(broker(&url)?) };
        let mut via = Self { broker, qos: QosLevel::AtLeastOnce, payload: Payload::Json64, server: Vec::new() };
        for (key, value) in url.query_pairs() {
            via.set(&key, value.into_owned())?;
        }
        Ok(via)
    }
}

fn broker(url: &Url) -> Result<Broker, ViaError> {
    if !matches!(url.path(), "" | "/") {
        return Err(ViaError::Path);
    }
    let host = url.host().ok_or(ViaError::NoAddress)?;
    let (host, is_loopback) = match host {
        // Of a scheme that it does not know, the parser leaves addresses as names.
        Host::Domain(name) => {
            let ip = name.parse::<IpAddr>().ok();
            (name.to_owned(), name == "localhost" || ip.is_some_and(|ip| ip.is_loopback()))
        }
        Host::Ipv4(ip) => (ip.to_string(), ip.is_loopback()),
        Host::Ipv6(ip) => (ip.to_string(), ip.is_loopback()),
    };
    let credentials = Some(decoded(url.username())).filter(|user| !user.is_empty());
    let credentials = credentials.map(|user| (user, decoded(url.password().unwrap_or_default())));
    Ok(Broker { host, port: url.port().unwrap_or(MQTT_PORT), credentials, is_loopback })
}

/// A part of an address as its user meant it.
fn decoded(text: &str) -> String {
    // What form encoding adds to percent encoding is that a plus is a space.
    let pairs = format!("x={}", text.replace('+', "%2B"));
    url::form_urlencoded::parse(pairs.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

impl Via {
    fn set(&mut self, key: &str, value: String) -> Result<(), ViaError> {
        match key {
            QOS => {
                self.qos = match value.as_str() {
                    "0" => QosLevel::AtMostOnce,
                    "1" => QosLevel::AtLeastOnce,
                    "2" => QosLevel::ExactlyOnce,
                    _ => return Err(ViaError::Value { key: QOS, allowed: "0, 1 or 2", value }),
                }
            }
            PAYLOAD => {
                self.payload = match value.as_str() {
                    "json64" => Payload::Json64,
                    "line" => Payload::Line,
                    _ => return Err(ViaError::Value { key: PAYLOAD, allowed: "json64 or line", value }),
                }
            }
            _ => match key.strip_prefix(SERVER).filter(|setting| !setting.is_empty()) {
                Some(setting) => self.server.push((setting.to_owned(), value)),
                None => {
                    let meant = closest(key, [QOS, PAYLOAD]).map(|meant| format!(" (did you mean {meant}?)"));
                    return Err(ViaError::Unknown(key.to_owned(), meant.unwrap_or_default()));
                }
            },
        }
        Ok(())
    }

    /// Where the broker is, if the user says so: host, port, and whether that is this machine's loopback.
    #[must_use]
    pub fn place(&self) -> Option<(&str, u16, bool)> {
        self.broker.as_ref().map(|broker| (broker.host.as_str(), broker.port, broker.is_loopback))
    }

    /// Whether the address holds a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.broker.as_ref().is_some_and(|broker| broker.credentials.is_some())
    }

    /// The same with the private broker that was started at this address, with the login that it asks for.
    ///
    /// # Errors
    /// It is the address of no broker.
    pub fn at(&self, url: &Url) -> Result<Self, ViaError> {
        Ok(Self { broker: Some(broker(url)?), ..self.clone() })
    }
}

impl fmt::Debug for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Via({self})")
    }
}

/// Without user, password and place: what makes two results comparable.
impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mqtt qos {} {}", self.qos.number(), self.payload.name())?;
        self.server.iter().try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Via {
        text.parse().unwrap()
    }

    #[test]
    fn a_word_alone_asks_for_a_private_broker() {
        let via = read("mqtt");
        assert_eq!((via.place(), via.qos, via.payload), (None, QosLevel::AtLeastOnce, Payload::Json64));
        let via = read("mqtt?qos=0&payload=line&server.max_queued_messages=5");
        assert_eq!((via.place(), via.qos, via.payload), (None, QosLevel::AtMostOnce, Payload::Line));
        assert_eq!(via.server, [("max_queued_messages".to_owned(), "5".to_owned())]);
        assert_eq!(via.to_string(), "mqtt qos 0 line max_queued_messages=5");
    }

    #[test]
    fn an_address_says_where_it_is() {
        for (text, host, port, is_loopback) in [
            ("mqtt://127.0.0.1", "127.0.0.1", 1883, true),
            ("mqtt://localhost:1884?qos=2", "localhost", 1884, true),
            ("mqtt://[::1]", "::1", 1883, true),
            ("mqtt://broker.example:1/", "broker.example", 1, false),
            ("mqtt://10.0.0.1", "10.0.0.1", 1883, false),
        ] {
            assert_eq!(read(text).place(), Some((host, port, is_loopback)), "{text}");
        }
    }

    #[test]
    fn a_private_broker_is_reached_with_the_login_that_it_asks_for() {
        let at = read("mqtt?qos=0").at(&Url::parse("mqtt://iotbench:s3cret@127.0.0.1:7001").unwrap()).unwrap();
        assert_eq!(
            (at.place(), at.has_password(), at.qos),
            (Some(("127.0.0.1", 7001, true)), true, QosLevel::AtMostOnce)
        );
        assert!(!format!("{at:?}{at}").contains("s3cret"));
    }

    #[test]
    fn a_password_is_read_and_never_shown() {
        let via = read("mqtt://me:s3%2Bcr+et@h");
        assert_eq!(via.broker.as_ref().unwrap().credentials, Some(("me".into(), "s3+cr+et".into())));
        assert!(via.has_password() && !format!("{via:?}{via}").contains("cr"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, says) in [
            ("", "write mqtt"),
            ("mosquitto", "write mqtt"),
            ("amqp://h", "not \"amqp\""),
            ("mqtts://h", "tunnel"),
            ("mqtt://", "write mqtt"),
            ("mqtt://h/topic", "no path"),
            ("mqtt?qos=3", "0, 1 or 2, not \"3\""),
            ("mqtt?payload=xml", "json64 or line"),
            ("mqtt?qso=1", "did you mean qos?"),
            ("mqtt?server.=1", "no parameter"),
        ] {
            let error = text.parse::<Via>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
