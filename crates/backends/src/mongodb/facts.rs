//! What a server is and how it is set, read back from it.

use super::{
    config::{Config, Journaled, Members, Precision},
    error::classify,
    layout::Table,
    ownership::run,
    promise::{Durability, promise},
    shards,
};
use iotbench_core::{Acknowledgement, Error, Layout, PromiseLevel, ServerFacts};
use mongodb::{
    Database,
    bson::{Bson, Document, doc},
};
use std::collections::BTreeMap;

/// The facts as a connection like those that write sees them.
pub(crate) async fn facts(
    database: &Database,
    table: &Table,
    config: &Config,
    encryption: &str,
) -> Result<ServerFacts, Error> {
    let admin = database.client().database("admin");
    let build = run(&admin, doc! { "buildInfo": 1 }).await?;
    let hello = run(&admin, doc! { "hello": 1 }).await?;
    let mut settings = BTreeMap::new();
    let shards = if shards::is_router(&hello) { ask(&admin, doc! { "listShards": 1 }).await? } else { None };
    let shards = shards.as_ref().and_then(shards::count);
    shards::refuse_others(config.shards, shards::is_router(&hello), shards)?;
    let topology = topology(&hello, shards);
    let durability = durability(&admin, config, &hello, &mut settings).await?;
    let promise = promise(&durability);
    settings.insert("topology".into(), topology);
    settings.insert("w".into(), shown_members(&durability.w));
    settings.insert("j".into(), format!("{:?}", durability.j).to_lowercase());
    settings.insert("indexes".into(), format!("{:?}", config.indexes).to_lowercase());
    settings.insert("tls".into(), encryption.into());
    if table.spec.layout != Layout::Narrow {
        let precision = match config.precision {
            Precision::Ns => "ns: dates, and the nanoseconds of their millisecond beside them",
            Precision::Ms => "ms: dates alone, the nanoseconds of their millisecond are cut off",
        };
        settings.insert("precision".into(), precision.into());
    }
    let is_durable = promise.level == PromiseLevel::OsCrash;
    Ok(ServerFacts {
        product: "MongoDB".into(),
        version: build.get_str("version").unwrap_or("unknown").into(),
        driver: "mongodb 3.9.1".into(),
        method: "insert: unordered, raw BSON".into(),
        settings,
        acknowledgement: if is_durable { Acknowledgement::Durable } else { Acknowledgement::Applied },
        promise,
    })
}

fn topology(hello: &Document, shards: Option<usize>) -> String {
    if shards::is_router(hello) {
        return shards.map_or_else(|| "shards".into(), |count| format!("{count} shards"));
    }
    match (hello.get_str("setName"), hello.get_array("hosts")) {
        (Ok(name), Ok(hosts)) => format!("replica set {name} of {}", hosts.len()),
        _ => "single server".into(),
    }
}

fn shown_members(members: &Members) -> String {
    match members {
        Members::Server => "server".into(),
        Members::Majority => "majority".into(),
        Members::Number(number) => number.to_string(),
    }
}

async fn durability(
    admin: &Database,
    config: &Config,
    hello: &Document,
    settings: &mut BTreeMap<String, String>,
) -> Result<Durability, Error> {
    // What only an administrator may ask is left out where we are none.
    let default = ask(admin, doc! { "getDefaultRWConcern": 1 }).await?.unwrap_or_default();
    let concern = default.get_document("defaultWriteConcern").cloned().unwrap_or_default();
    let default_w = match concern.get("w") {
        Some(Bson::String(word)) if word == "majority" => Members::Majority,
        Some(Bson::Int32(number)) => Members::Number(u32::try_from(*number).unwrap_or(1)),
        Some(Bson::Int64(number)) => Members::Number(u32::try_from(*number).unwrap_or(1)),
        _ => Members::Number(1),
    };
    let default_j = match concern.get_bool("j") {
        Ok(true) => Journaled::Yes,
        Ok(false) => Journaled::No,
        Err(_) => Journaled::Server,
    };
    let mut durability = Durability::new(config, default_w, default_j);
    if let Some(options) = ask(admin, doc! { "getCmdLineOpts": 1 }).await? {
        let journal = options.get_document("parsed").and_then(|p| p.get_document("storage"));
        let enabled = journal.and_then(|s| s.get_document("journal")).and_then(|j| j.get_bool("enabled"));
        let enabled = enabled.unwrap_or(true);
        durability.has_journal = Some(enabled);
        settings.insert("journal".into(), if enabled { "on" } else { "off" }.into());
    }
    for (parameter, name) in [
        ("journalCommitInterval", "commitIntervalMs"),
        ("wiredTigerEngineRuntimeConfig", "wiredTigerEngineRuntimeConfig"),
    ] {
        if let Some(reply) = ask(admin, doc! { "getParameter": 1, parameter: 1 }).await?
            && let Some(value) = reply.get(parameter).map(shown).filter(|value| !value.is_empty())
        {
            settings.insert(name.into(), value);
        }
    }
    if let Some(bytes) = cache_bytes(admin).await? {
        settings.insert("cache_bytes".into(), bytes);
    }
    if hello.get_str("setName").is_ok() {
        if let Some(status) = ask(admin, doc! { "replSetGetStatus": 1 }).await? {
            let majority = status.get_i32("writeMajorityCount").or_else(|_| status.get_i32("majorityVoteCount"));
            durability.majority = majority.ok().and_then(|n| u32::try_from(n).ok());
        }
        if let Some(reply) = ask(admin, doc! { "replSetGetConfig": 1 }).await? {
            let of_set = reply.get_document("config").and_then(|c| c.get_bool("writeConcernMajorityJournalDefault"));
            durability.majority_is_journaled = of_set.unwrap_or(true);
        }
    }
    Ok(durability)
}

async fn cache_bytes(admin: &Database) -> Result<Option<String>, Error> {
    let Some(status) = ask(admin, doc! { "serverStatus": 1 }).await? else { return Ok(None) };
    let cache = status.get_document("wiredTiger").and_then(|engine| engine.get_document("cache"));
    Ok(cache.ok().and_then(|cache| cache.get("maximum bytes configured")).map(shown))
}

fn shown(value: &Bson) -> String {
    match value {
        Bson::String(text) => text.clone(),
        Bson::Double(number) => format!("{number:.0}"),
        other => other.to_string(),
    }
}

/// The reply to a question that the server may refuse; `None` where it does.
async fn ask(admin: &Database, question: Document) -> Result<Option<Document>, Error> {
    match admin.run_command(question).await {
        Ok(reply) => Ok(Some(reply)),
        Err(error) if matches!(*error.kind, mongodb::error::ErrorKind::Command(_)) => Ok(None),
        Err(error) => Err(classify(&error)),
    }
}
