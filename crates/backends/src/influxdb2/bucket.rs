//! What is ours: a bucket for each table, whose description says so and names the run and the fingerprint.

use super::{
    api::{Api, escaped, improper},
    config::{Config, PRIVATE_TOKEN},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, TableSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many buckets are asked for at once.
const PAGE: usize = 100;

/// What stands in the description of a bucket of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    created_by: String,
    run_id: String,
    fingerprint: String,
}

impl Mark {
    fn of(marker: &Marker) -> String {
        let created_by = concat!("iotbench ", env!("CARGO_PKG_VERSION")).into();
        let mark = Self { created_by, run_id: marker.run_id.clone(), fingerprint: marker.fingerprint.clone() };
        json!(mark).to_string()
    }

    /// The mark in a description; `None` where it is not ours.
    fn read(description: &str) -> Option<Self> {
        serde_json::from_str(description).ok().filter(|mark: &Self| mark.created_by.starts_with("iotbench "))
    }
}

/// A bucket.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Bucket {
    id: String,
    name: String,
    #[serde(default)]
    description: String,
}

/// The bucket of a table. Its name is that of the database in InfluxQL too.
///
/// # Errors
/// A name that is too long.
pub(crate) fn name_of(config: &Config, table: &Name) -> Result<Name, iotbench_core::SettingError> {
    let name = Name::new(&format!("{}_{table}", config.bucket));
    name.map_err(|e| iotbench_backend_kit::http::address::refuse("bucket", e))
}

/// Sets up a private server that nobody has set up yet: organisation, user and token.
pub(crate) async fn set_up(api: &mut Api<'_>, config: &Config) -> Result<(), Error> {
    if !config.is_private {
        return Ok(());
    }
    let state = api.get("/api/v2/setup").await?;
    if state["allowed"] != Value::Bool(true) {
        return Ok(());
    }
    let body = json!({
        "username": "iotbench", "password": PRIVATE_TOKEN, "token": PRIVATE_TOKEN,
        "org": config.org, "bucket": "unused", "retentionPeriodSeconds": 0,
    });
    api.post("/api/v2/setup", &body).await.map(drop)
}

/// Refuses a token or an organisation that the server does not know, before anything is made.
///
/// # Errors
/// Auth, or Server.
pub(crate) async fn check_access(api: &mut Api<'_>, config: &Config) -> Result<(), Error> {
    organisation(api, config).await.map(drop)
}

/// Creates and marks a bucket in the place of an earlier one of ours.
///
/// # Errors
/// [`Cause::NotOurs`] where a bucket of that name does not carry our mark.
pub(crate) async fn create(api: &mut Api<'_>, config: &Config, bucket: &Name, table: &TableSpec) -> Result<(), Error> {
    if let Some(found) = find(api, config, bucket.as_str()).await? {
        if Mark::read(&found.description).is_none() {
            return Err(not_ours(bucket));
        }
        remove(api, &found).await?;
    }
    let org = organisation(api, config).await?;
    let body = json!({
        "orgID": org, "name": bucket.as_str(), "description": Mark::of(&table.marker), "retentionRules": [],
    });
    api.post("/api/v2/buckets", &body).await.map(drop)
}

/// Makes this run the owner of a bucket that an earlier run left, if it is there with the same fingerprint; else
/// changes nothing.
pub(crate) async fn adopt(api: &mut Api<'_>, config: &Config, bucket: &Name, table: &TableSpec) -> Result<bool, Error> {
    let Some(found) = find(api, config, bucket.as_str()).await? else { return Ok(false) };
    let is_same = Mark::read(&found.description).is_some_and(|mark| mark.fingerprint == table.marker.fingerprint);
    if is_same {
        let body = json!({ "description": Mark::of(&table.marker) });
        api.patch(&format!("/api/v2/buckets/{}", escaped(&found.id)), &body).await?;
    }
    Ok(is_same)
}

/// Refuses a bucket that is not there, or not ours.
///
/// # Errors
/// [`Cause::Server`].
pub(crate) async fn check_exists(api: &mut Api<'_>, config: &Config, bucket: &Name) -> Result<(), Error> {
    let found = find(api, config, bucket.as_str()).await?;
    if found.is_some_and(|found| Mark::read(&found.description).is_some()) {
        return Ok(());
    }
    Err(Error::new(Cause::Server, format!("bucket {bucket} is not there, or not ours any more: somebody dropped it")))
}

/// Drops the bucket that this run made, if it is there; everything else is left alone.
pub(crate) async fn drop_own(api: &mut Api<'_>, config: &Config, bucket: &Name, run_id: &str) -> Result<(), Error> {
    let Some(found) = find(api, config, bucket.as_str()).await? else { return Ok(()) };
    let is_own = Mark::read(&found.description).is_some_and(|mark| mark.run_id == run_id);
    if is_own { remove(api, &found).await } else { Ok(()) }
}

/// Our buckets of all runs, by name.
pub(crate) async fn owned(api: &mut Api<'_>, config: &Config) -> Result<Vec<OwnedObject>, Error> {
    let mut objects = Vec::new();
    for offset in (0..).step_by(PAGE) {
        let org = escaped(&config.org);
        let page = buckets(api, &format!("org={org}&limit={PAGE}&offset={offset}")).await?;
        objects.extend(page.iter().filter_map(|bucket| {
            let mark = Mark::read(&bucket.description)?;
            Some(OwnedObject { name: Name::new(&bucket.name).ok()?, run_id: mark.run_id })
        }));
        if page.len() < PAGE {
            break;
        }
    }
    objects.sort_unstable_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    Ok(objects)
}

/// Drops a bucket if it still carries the mark of that run.
///
/// # Errors
/// [`Cause::NotOurs`] where it does not.
pub(crate) async fn drop_owned(api: &mut Api<'_>, config: &Config, object: &OwnedObject) -> Result<(), Error> {
    let found = find(api, config, object.name.as_str()).await?;
    let is_theirs = |bucket: &Bucket| Mark::read(&bucket.description).is_some_and(|mark| mark.run_id == object.run_id);
    match found.filter(is_theirs) {
        Some(bucket) => remove(api, &bucket).await,
        None => {
            let message = format!("{} does not carry the mark of run {}", object.name, object.run_id);
            Err(Error::new(Cause::NotOurs, message))
        }
    }
}

fn not_ours(bucket: &Name) -> Error {
    let message = format!("bucket {bucket} exists and does not carry our mark: choose another with the setting bucket");
    Error::new(Cause::NotOurs, message)
}

async fn remove(api: &mut Api<'_>, bucket: &Bucket) -> Result<(), Error> {
    api.delete(&format!("/api/v2/buckets/{}", escaped(&bucket.id))).await.map(drop)
}

async fn find(api: &mut Api<'_>, config: &Config, name: &str) -> Result<Option<Bucket>, Error> {
    let query = format!("org={}&name={}", escaped(&config.org), escaped(name));
    match buckets(api, &query).await {
        Ok(found) => Ok(found.into_iter().find(|bucket| bucket.name == name)),
        // Some versions answer a name that they do not know with 404.
        Err(e) if e.message.contains("bucket") && e.message.starts_with("404") => Ok(None),
        Err(e) => Err(e),
    }
}

async fn buckets(api: &mut Api<'_>, query: &str) -> Result<Vec<Bucket>, Error> {
    let mut answer = api.get(&format!("/api/v2/buckets?{query}")).await?;
    serde_json::from_value(answer["buckets"].take()).map_err(|e| improper(&e))
}

async fn organisation(api: &mut Api<'_>, config: &Config) -> Result<String, Error> {
    let answer = api.get(&format!("/api/v2/orgs?org={}", escaped(&config.org))).await?;
    let id = answer["orgs"][0]["id"].as_str();
    id.map(Into::into).ok_or_else(|| improper(&format!("there is no organisation {:?}", config.org)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_description_of_our_make_is_ours() {
        let marker = Marker { run_id: "r\"1".into(), fingerprint: "f".into() };
        let mark = Mark::read(&Mark::of(&marker)).unwrap();
        assert_eq!((mark.run_id.as_str(), mark.fingerprint.as_str()), ("r\"1", "f"));
        for theirs in ["", "my bucket", "{}", r#"{"created_by":"me","run_id":"r","fingerprint":"f"}"#] {
            assert_eq!(Mark::read(theirs), None, "{theirs}");
        }
    }
}
