//! Servers that do not take a connection, or not for long.

use crate::faults::{
    place::{Client, assert_harmless, ended, serve},
    products::{CLICKHOUSE, DATABUS, INFLUXDB, INFLUXDB2, KAIROSDB, OPENTSDB, Product, QUESTDB, VICTORIAMETRICS},
};
use iotbench_core::{Action, Applied, Cause, Error};
use iotbench_oracle_server::ClosedPort;
use tokio::net::TcpListener;

const ALL: [Product; 8] = [INFLUXDB, INFLUXDB2, KAIROSDB, OPENTSDB, QUESTDB, VICTORIAMETRICS, CLICKHOUSE, DATABUS];

/// The error of a write from the beginning on.
async fn write(client: &Client) -> Result<(), Error> {
    client.database.writer().await?.write(&client.batch()).await.map(drop)
}

#[tokio::test]
async fn nobody_listens() {
    let port = ClosedPort::take().unwrap();
    for product in &ALL {
        let client = Client::of(product, &port.address());
        let error = ended(product.name, write(&client)).await.expect_err(product.name);
        assert_harmless(product.name, &error);
        let expected = (Cause::Connect, Action::DiscardWriter, Applied::No);
        assert_eq!((error.cause, error.action, error.applied), expected, "{}", product.name);
        assert!(error.message.contains("refused"), "{}: {}", product.name, error.message);
    }
}

#[tokio::test]
async fn connections_are_closed_as_soon_as_they_are_accepted() {
    for product in &ALL {
        let server = serve(product, vec![]);
        server.close_to_new(true);
        let client = Client::of(product, &server.address());
        let error = ended(product.name, write(&client)).await.expect_err(product.name);
        assert_harmless(product.name, &error);
        assert_eq!((error.cause, error.action), (Cause::Connect, Action::DiscardWriter), "{}", product.name);
        assert!(server.ledger().entries.is_empty(), "{}", product.name);
        server.close_to_new(false);
        assert_eq!(ended(product.name, write(&client)).await, Ok(()), "{}: another connection", product.name);
    }
}

/// A name stands for all its addresses, whichever comes first: on many machines `localhost` is `::1` before it is 127.0.0.1,
/// where alone the server listens.
#[tokio::test]
async fn a_name_is_tried_at_each_of_its_addresses() {
    for product in &ALL {
        let server = serve(product, vec![]);
        let client = Client::of(product, &format!("localhost:{}", server.address().port()));
        assert_eq!(ended(product.name, write(&client)).await, Ok(()), "{}", product.name);
    }
}

#[tokio::test]
#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
async fn an_address_of_version_6_is_reached() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        eprintln!("skipped: this machine has no loopback of IPv6");
        return;
    };
    for product in &ALL {
        let client = Client::of(product, &listener.local_addr().unwrap());
        // A connection that was taken and closed: somebody was there.
        let taken = async { drop(listener.accept().await.unwrap()) };
        let (error, ()) = tokio::join!(ended(product.name, write(&client)), ended(product.name, taken));
        let error = error.expect_err(product.name);
        assert!(!error.message.contains("refused"), "{}: {}", product.name, error.message);
    }
}

/// The top-level domain `invalid` never has an address (RFC 6761).
#[tokio::test]
async fn a_name_without_an_address_is_said_to_be_the_trouble() {
    for product in &ALL {
        let client = Client::of(product, &"database.invalid:4711");
        let error = ended(product.name, write(&client)).await.expect_err(product.name);
        assert_harmless(product.name, &error);
        assert_eq!((error.cause, error.applied), (Cause::Dns, Applied::No), "{}: {}", product.name, error.message);
        assert!(error.message.contains("database.invalid"), "{}: {}", product.name, error.message);
    }
}
