//! What is ours: a bucket for each table, whose description says so and names the run and the fingerprint.

use super::{
    api::{Api, escaped, improper},
    config::{Config, PRIVATE_TOKEN},
};
use iotbench_backend_kit::{
    flag::{Flag, Flags, Seen},
    marker::{self, MarkerDocument},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// How many buckets are asked for at once.
const PAGE: usize = 100;

/// A bucket.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Bucket {
    id: String,
    name: String,
    #[serde(default)]
    description: String,
}

impl Bucket {
    /// The marker in its description; `None` where it is not ours.
    fn marker(&self) -> Option<Marker> {
        serde_json::from_str(&self.description)
            .ok()
            .and_then(MarkerDocument::<marker::Nothing>::if_ours)
            .map(|mark| mark.marker)
    }
}

/// A marker as a bucket's description.
fn description(marker: &Marker) -> String {
    json!(MarkerDocument::new(marker, marker::Nothing {})).to_string()
}

/// The buckets of ours in an organisation.
pub(crate) struct Buckets {
    pub(crate) api: Api,
    pub(crate) config: Arc<Config>,
    pub(crate) bucket: Name,
    pub(crate) marker: Marker,
}

impl Ownership for Buckets {
    type Handle = Bucket;

    fn own(&self) -> (&Name, &Marker) {
        (&self.bucket, &self.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found<Bucket>, Error> {
        let Some(bucket) = find(&mut self.api, &self.config, name.as_str()).await? else { return Ok(Found::Nothing) };
        Ok(match bucket.marker() {
            Some(marker) => Found::Ours(Owned { marker, exists: true, handle: bucket }),
            None => Found::Foreign(not_ours(name)),
        })
    }

    async fn make(&mut self, earlier: Option<Owned<Bucket>>) -> Result<(), Error> {
        if let Some(earlier) = earlier {
            remove(&mut self.api, &earlier.handle).await?;
        }
        self.post(self.bucket.as_str().to_owned(), description(&self.marker)).await
    }

    async fn take_over(&mut self, earlier: Owned<Bucket>) -> Result<bool, Error> {
        self.patch(&earlier.handle, description(&self.marker)).await.map(|()| true)
    }

    async fn remove(&mut self, _: &Name, object: Owned<Bucket>) -> Result<(), Error> {
        remove(&mut self.api, &object.handle).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let objects = self.all().await?.into_iter().filter_map(|bucket| {
            let run_id = bucket.marker()?.run_id;
            Some(OwnedObject { name: Name::new(&bucket.name).ok()?, run_id })
        });
        Ok(objects.collect())
    }
}

impl Buckets {
    /// All buckets of the organisation.
    async fn all(&mut self) -> Result<Vec<Bucket>, Error> {
        let mut all = Vec::new();
        for offset in (0..).step_by(PAGE) {
            let org = escaped(&self.config.org);
            let page = buckets(&mut self.api, &format!("org={org}&limit={PAGE}&offset={offset}")).await?;
            let is_last = page.len() < PAGE;
            all.extend(page);
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    async fn post(&mut self, name: String, description: String) -> Result<(), Error> {
        let org = organisation(&mut self.api, &self.config).await?;
        let body = json!({ "orgID": org, "name": name, "description": description, "retentionRules": [] });
        self.api.post("/api/v2/buckets", &body).await.map(drop)
    }

    async fn patch(&mut self, bucket: &Bucket, description: String) -> Result<(), Error> {
        let path = format!("/api/v2/buckets/{}", escaped(&bucket.id));
        self.api.patch(&path, &json!({ "description": description })).await.map(drop)
    }
}

/// A flag is an empty bucket of its owner's, whose description says so: who may make buckets may make it.
impl Flags for Buckets {
    async fn flags(&mut self, name: &Name) -> Result<Seen, Error> {
        let beginning = flag_of(name, "");
        let buckets = self.all().await?.into_iter().filter(|bucket| bucket.name.starts_with(&beginning));
        let flags = buckets.filter_map(|bucket| Flag::of_text(&bucket.description)).collect();
        Ok(Seen { flags, now_s: self.api.now_s() })
    }

    async fn put_up(&mut self, name: &Name, flag: &Flag, is_new: bool) -> Result<(), Error> {
        let bucket = flag_of(name, &flag.owner);
        match find(&mut self.api, &self.config, &bucket).await? {
            Some(bucket) => self.patch(&bucket, flag.text()).await,
            None if is_new => self.post(bucket, flag.text()).await,
            None => Err(Error::new(Cause::Server, format!("bucket {bucket} is gone"))),
        }
    }

    async fn take_down(&mut self, name: &Name, owner: &str) -> Result<(), Error> {
        match find(&mut self.api, &self.config, &flag_of(name, owner)).await? {
            Some(bucket) => remove(&mut self.api, &bucket).await,
            None => Ok(()),
        }
    }
}

/// The bucket that is an owner's flag at another, which has no point in its name.
fn flag_of(bucket: &Name, owner: &str) -> String {
    format!("{bucket}.flag.{owner}")
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
pub(crate) async fn set_up(api: &mut Api, config: &Config) -> Result<(), Error> {
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
pub(crate) async fn check_access(api: &mut Api, config: &Config) -> Result<(), Error> {
    organisation(api, config).await.map(drop)
}

/// Refuses a bucket that is not there, or not ours.
///
/// # Errors
/// [`Cause::Server`].
pub(crate) async fn check_exists(api: &mut Api, config: &Config, bucket: &Name) -> Result<(), Error> {
    let found = find(api, config, bucket.as_str()).await?;
    if found.is_some_and(|found| found.marker().is_some()) {
        return Ok(());
    }
    Err(Error::new(Cause::Server, format!("bucket {bucket} is not there, or not ours any more: somebody dropped it")))
}

fn not_ours(bucket: &Name) -> Error {
    let message = format!("bucket {bucket} exists and does not carry our mark: choose another with the setting bucket");
    Error::new(Cause::NotOurs, message)
}

async fn remove(api: &mut Api, bucket: &Bucket) -> Result<(), Error> {
    api.delete(&format!("/api/v2/buckets/{}", escaped(&bucket.id))).await.map(drop)
}

async fn find(api: &mut Api, config: &Config, name: &str) -> Result<Option<Bucket>, Error> {
    let query = format!("org={}&name={}", escaped(&config.org), escaped(name));
    match buckets(api, &query).await {
        Ok(found) => Ok(found.into_iter().find(|bucket| bucket.name == name)),
        // Some versions answer a name that they do not know with 404.
        Err(e) if e.message.contains("bucket") && e.message.starts_with("404") => Ok(None),
        Err(e) => Err(e),
    }
}

async fn buckets(api: &mut Api, query: &str) -> Result<Vec<Bucket>, Error> {
    let mut answer = api.get(&format!("/api/v2/buckets?{query}")).await?;
    // What is no object has none: to write into it by its name would panic.
    let buckets = answer.get_mut("buckets").map(Value::take).unwrap_or_default();
    serde_json::from_value(buckets).map_err(|e| improper(&e))
}

async fn organisation(api: &mut Api, config: &Config) -> Result<String, Error> {
    let answer = api.get(&format!("/api/v2/orgs?org={}", escaped(&config.org))).await?;
    let id = answer["orgs"][0]["id"].as_str();
    id.map(Into::into).ok_or_else(|| improper(&format!("there is no organisation {:?}", config.org)))
}
