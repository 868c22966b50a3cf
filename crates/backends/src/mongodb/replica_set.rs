//! Makes a replica set of private servers that were just started: no command does that without a shell of MongoDB's.

use super::{address::Address, config::Config, error::classify, ownership::run};
use iotbench_core::{Action, CLUSTER, Cause, Error, SettingError, Settings, Target};
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
    let options = options(target)?;
    let keeps_others_out = options.credential.is_some();
    let admin = direct(&options)?.database("admin");
    let hello = run(&admin, doc! { "hello": 1 }).await?;
    let is_waiting = hello.get_bool("isreplicaset").unwrap_or(false);
    if !is_waiting && hello.get_str("setName").is_err() {
        return Ok(());
    }
    if is_waiting {
        // Of one that keeps others out nobody may ask the command line before there is a user, and no user can be made before.
        let command = match keeps_others_out {
            true => doc! { "parsed": { "replication": { "replSet": CLUSTER } } },
            false => run(&admin, doc! { "getCmdLineOpts": 1 }).await?,
        };
        run(&admin, doc! { "replSetInitiate": configuration(&command, &options)? }).await?;
    }
    // A client of the set looks for its primary until there is one.
    let client = Client::with_options(without_user(&options)).map_err(|e| classify(&e))?;
    run(&client.database("admin"), doc! { "ping": 1 }).await?;
    Ok(())
}

/// The driver's options for servers that were just started.
pub(crate) fn options(target: &Target) -> Result<ClientOptions, Error> {
    let refuse = |e: SettingError| Error::new(Cause::Client, e).action(Action::Stop);
    let config = Config::new(&Settings::default()).map_err(refuse)?;
    let mut options = Address::of(target, &config, &|_| None).map_err(refuse)?.options()?;
    options.server_selection_timeout = Some(ELECTION);
    Ok(options)
}

/// The set that a server was started as a member of, by the options of its command line.
fn configuration(command: &Document, options: &ClientOptions) -> Result<Document, Error> {
    let part = |name: &str| command.get_document("parsed").and_then(|parsed| parsed.get_document(name));
    let name = part("replication").and_then(|replication| replication.get_str("replSet"));
    let name = name.map_err(|e| Error::new(Cause::Protocol, e))?;
    let members: Vec<Document> =
        options.hosts.iter().zip(0_i32..).map(|(host, id)| doc! { "_id": id, "host": host.to_string() }).collect();
    let mut configuration = doc! { "_id": name, "members": members };
    let role = part("sharding").and_then(|sharding| sharding.get_str("clusterRole"));
    if role.is_ok_and(|role| role == "configsvr") {
        configuration.insert("configsvr", true);
    }
    Ok(configuration)
}

/// Of a server that was just started, which has no user yet.
pub(super) fn without_user(options: &ClientOptions) -> ClientOptions {
    let mut options = options.clone();
    options.credential = None;
    options
}

/// A client of the first server alone, whatever it is a member of.
fn direct(options: &ClientOptions) -> Result<Client, Error> {
    let mut options = without_user(options);
    options.hosts.truncate(1);
    options.direct_connection = Some(true);
    Client::with_options(options).map_err(|e| classify(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::options::ServerAddress;

    #[test]
    fn a_set_is_what_its_servers_were_started_as() {
        let host = |port| ServerAddress::Tcp { host: "127.0.0.1".into(), port: Some(port) };
        let options = ClientOptions::builder().hosts(vec![host(1), host(2)]).build();
        let members = vec![doc! { "_id": 0, "host": "127.0.0.1:1" }, doc! { "_id": 1, "host": "127.0.0.1:2" }];
        let command = doc! { "parsed": { "replication": { "replSet": "r" } } };
        assert_eq!(configuration(&command, &options).unwrap(), doc! { "_id": "r", "members": members.clone() });
        let command =
            doc! { "parsed": { "replication": { "replSet": "c" }, "sharding": { "clusterRole": "configsvr" } } };
        let expected = doc! { "_id": "c", "members": members, "configsvr": true };
        assert_eq!(configuration(&command, &options).unwrap(), expected);
        assert!(configuration(&doc! { "parsed": {} }, &options).is_err());
    }
}
