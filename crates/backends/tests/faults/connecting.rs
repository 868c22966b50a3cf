//! Servers that do not take a connection, or not for long.

use crate::{
    place::{Client, assert_harmless, ended, serve},
    products::{DATABUS, INFLUXDB, INFLUXDB2, KAIROSDB, OPENTSDB, Product, QUESTDB, VICTORIAMETRICS},
};
use iotbench_core::{Action, Applied, Cause, Error};
use iotbench_oracle_server::ClosedPort;

const ALL: [Product; 7] = [INFLUXDB, INFLUXDB2, KAIROSDB, OPENTSDB, QUESTDB, VICTORIAMETRICS, DATABUS];

/// The error of a write from the beginning on.
async fn write(client: &Client) -> Result<(), Error> {
    client.database.writer().await?.write(&client.batch()).await.map(drop)
}

#[tokio::test]
async fn nobody_listens() {
    let port = ClosedPort::take().unwrap();
    for product in &ALL {
        let client = Client::of(product, port.address());
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
        let client = Client::of(product, server.address());
        let error = ended(product.name, write(&client)).await.expect_err(product.name);
        assert_harmless(product.name, &error);
        assert_eq!((error.cause, error.action), (Cause::Connect, Action::DiscardWriter), "{}", product.name);
        assert!(server.ledger().entries.is_empty(), "{}", product.name);
        server.close_to_new(false);
        assert_eq!(ended(product.name, write(&client)).await, Ok(()), "{}: another connection", product.name);
    }
}
