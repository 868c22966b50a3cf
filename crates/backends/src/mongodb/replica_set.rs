//! Makes a replica set of private servers that were just started: no command does that without a shell of MongoDB's.

use super::{
    address::Address,
    config::Config,
    error::classify,
    ownership::run,
};
use iotbench_core::{Action, Cause, Error, Settings, Target};
use mongodb::{
    Client,
    bson::{Document, doc},
    options::ClientOptions,
};
use std::time::Duration;

/// A new set has a primary by then.
const ELECTION: Duration = Duration::from_secs(60);

/// Forms the set that these servers were started as, unless it is formed already, and waits for its primary. A server that was
/// started alone stays as it is.
pub(crate) async fn form(target: &Target) -> Result<(), Error> {
    let refuse = |e: iotbench_core::SettingError| Error::new(Cause::Client, e).action(Action::Stop);
    let config = Config::new(&Settings::default()).map_err(refuse)?;
    let mut options = Address::of(target, &config, &|_| None).map_err(refuse)?.options()?;
    options.server_selection_timeout = Some(ELECTION);
    let admin = direct(&options)?.database("admin");
    let hello = run(&admin, doc! { "hello": 1 }).await?;
    let is_waiting = hello.get_bool("isreplicaset").unwrap_or(false);
    if !is_waiting && hello.get_str("setName").is_err() {
        return Ok(());
    }
    if is_waiting {
        let command = run(&admin, doc! { "getCmdLineOpts": 1 }).await?;
        let name = command.get_document("parsed").and_then(|p| p.get_document("replication"));
        let name = name.and_then(|r| r.get_str("replSet")).map_err(|e| Error::new(Cause::Protocol, e))?;
        let members: Vec<Document> =
            options.hosts.iter().zip(0_i32..).map(|(host, id)| doc! { "_id": id, "host": host.to_string() }).collect();
        run(&admin, doc! { "replSetInitiate": { "_id": name, "members": members } }).await?;
    }
    // A client of the set looks for its primary until there is one.
    let client = Client::with_options(options).map_err(|e| classify(&e))?;
    run(&client.database("admin"), doc! { "ping": 1 }).await?;
    Ok(())
}

/// A client of the first server alone, whatever it is a member of.
fn direct(options: &ClientOptions) -> Result<Client, Error> {
    let mut options = options.clone();
    options.hosts.truncate(1);
    options.direct_connection = Some(true);
    Client::with_options(options).map_err(|e| classify(&e))
}
