//! A connection to a broker: its options, and what its errors mean.

use crate::address::Via;
use iotbench_core::{Action, Cause, Error};
use rumqttc::{AsyncClient, ConnectReturnCode, ConnectionError, Event, EventLoop, Incoming, MqttOptions};
use std::{
    io,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

/// A message of more is neither sent nor taken: a broker could else have us keep 256 MiB for each, the most that MQTT carries.
const MAX_BYTES: usize = 32 << 20;
/// Messages that wait for the connection, besides those that wait for the broker's acknowledgement.
const WAITING: usize = 100;
/// Messages of QoS 1 and 2 that wait for the broker's acknowledgement.
const IN_FLIGHT: u16 = 100;
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// A broker that takes nothing for so long is gone. Until then it holds us back.
const STALLED_S: u64 = 60;

/// Numbers the clients of this process, because a broker closes the older one of two with one name.
static CLIENTS: AtomicU32 = AtomicU32::new(0);

/// Connects, and waits until the broker has taken us.
pub(crate) async fn connect(via: &Via) -> Result<(AsyncClient, EventLoop), Error> {
    let Some(broker) = &via.broker else {
        return Err(Error::new(Cause::Client, "the private broker is not started"));
    };
    let number = CLIENTS.fetch_add(1, Ordering::Relaxed);
    let name = format!("iotbench-{}-{number}", std::process::id());
    let mut options = MqttOptions::new(name, &broker.host, broker.port);
    options.set_keep_alive(KEEP_ALIVE).set_max_packet_size(MAX_BYTES, MAX_BYTES).set_inflight(IN_FLIGHT);
    if let Some((user, password)) = &broker.credentials {
        options.set_credentials(user, password);
    }
    let (client, mut events) = AsyncClient::new(options, WAITING);
    events.network_options.set_tcp_nodelay(true);
    events.network_options.set_connection_timeout(STALLED_S);
    loop {
        match events.poll().await {
            Ok(Event::Incoming(Incoming::ConnAck(_))) => return Ok((client, events)),
            Ok(_) => {}
            Err(error) => return Err(refused(via, &error)),
        }
    }
}

/// Why there is no connection.
fn refused(via: &Via, error: &ConnectionError) -> Error {
    Error::new(cause(error), format!("the broker at {} is not reached: {}", shown(via), words(error)))
        .action(Action::Stop)
}

/// Why a connection has ended.
pub(crate) fn lost(via: &Via, error: &ConnectionError) -> Error {
    Error::new(cause(error), format!("the connection to the broker at {} is lost: {}", shown(via), words(error)))
        .action(Action::Stop)
}

/// Where the broker is, without user and password.
pub(crate) fn shown(via: &Via) -> String {
    let Some((host, port, _)) = via.place() else { return "mqtt".into() };
    if host.contains(':') { format!("mqtt://[{host}]:{port}") } else { format!("mqtt://{host}:{port}") }
}

fn cause(error: &ConnectionError) -> Cause {
    match error {
        ConnectionError::ConnectionRefused(
            ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized,
        ) => Cause::Auth,
        ConnectionError::ConnectionRefused(ConnectReturnCode::RefusedProtocolVersion) => Cause::Protocol,
        ConnectionError::NetworkTimeout | ConnectionError::FlushTimeout => Cause::TimedOut,
        // The library that resolves names has no kind of its own for names that there are not.
        ConnectionError::Io(error) if error.to_string().contains("failed to lookup address") => Cause::Dns,
        _ => Cause::Connect,
    }
}

fn words(error: &ConnectionError) -> String {
    match error {
        ConnectionError::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "nothing listens there".into()
        }
        ConnectionError::Io(error) => error.to_string(),
        ConnectionError::ConnectionRefused(ConnectReturnCode::BadUserNamePassword) => {
            "it does not take this user and password".into()
        }
        ConnectionError::ConnectionRefused(ConnectReturnCode::NotAuthorized) => {
            "it lets nobody in without a user and a password: write mqtt://USER:PASSWORD@HOST, best as IOTBENCH_VIA"
                .into()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };

    #[test]
    fn errors_are_told_apart() {
        let io = |text: &str| ConnectionError::Io(io::Error::other(text.to_owned()));
        for (error, expected) in [
            (ConnectionError::ConnectionRefused(ConnectReturnCode::NotAuthorized), Cause::Auth),
            (ConnectionError::ConnectionRefused(ConnectReturnCode::BadUserNamePassword), Cause::Auth),
            (ConnectionError::ConnectionRefused(ConnectReturnCode::ServiceUnavailable), Cause::Connect),
            (ConnectionError::ConnectionRefused(ConnectReturnCode::RefusedProtocolVersion), Cause::Protocol),
            (ConnectionError::NetworkTimeout, Cause::TimedOut),
            (ConnectionError::FlushTimeout, Cause::TimedOut),
            (io("failed to lookup address information: Name or service not known"), Cause::Dns),
            (io("broken pipe"), Cause::Connect),
        ] {
            assert_eq!(cause(&error), expected, "{error}");
        }
    }

    #[test]
    fn an_error_does_not_tell_a_password() {
        let via: Via = "mqtt://me:s3cret@h".parse().unwrap();
        let error = refused(&via, &ConnectionError::ConnectionRefused(ConnectReturnCode::BadUserNamePassword));
        assert!(!error.message.contains("s3cret") && error.message.contains("mqtt://h:1883"), "{error}");
    }

    /// A broker that takes a client and then begins a message of so many bytes, which never comes.
    fn begins_a_message_of(length: [u8; 4]) -> Via {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let via = format!("mqtt://{}", listener.local_addr().unwrap()).parse().unwrap();
        std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let _ = client.read(&mut [0; 1024]).unwrap();
            client.write_all(&[0x20, 2, 0, 0]).unwrap();
            client.write_all(&[0x30, length[0], length[1], length[2], length[3], 0, 1, b't']).unwrap();
            // Until the client goes.
            let _ = client.read_to_end(&mut Vec::new());
        });
        via
    }

    #[tokio::test]
    async fn a_message_of_more_than_we_take_ends_the_connection_as_soon_as_its_length_is_known() {
        // 268,435,455 bytes: the most that the protocol's four bytes of seven bits can say.
        let via = begins_a_message_of([0xff, 0xff, 0xff, 0x7f]);
        let (_client, mut events) = connect(&via).await.unwrap();
        let error = loop {
            match events.poll().await {
                Ok(_) => {}
                Err(error) => break lost(&via, &error),
            }
        };
        assert!(error.message.contains("268435455"), "{error}");
    }
}
