//! What is ours: a bucket for each table, whose description says so and names the run and the fingerprint.

use super::{
    api::{Api, escaped, improper},
    config::{Config, PRIVATE_TOKEN},
};
use iotbench_backend_kit::{
    marker::{self, MarkerDocument},
    ownership::{Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject};
use serde::Deserialize;
use serde_json::{Value, json};

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
pub(crate) struct Buckets<'a> {
    pub(crate) api: Api<'a>,
    pub(crate) config: &'a Config,
    pub(crate) bucket: &'a Name,
    pub(crate) marker: &'a Marker,
}

impl Ownership for Buckets<'_> {
    type Handle = Bucket;

    fn own(&self) -> (&Name, &Marker) {
        (self.bucket, self.marker)
    }

    async fn find(&mut self, name: &Name) -> Result<Found<Bucket>, Error> {
        let Some(bucket) = find(&mut self.api, self.config, name.as_str()).await? else { return Ok(Found::Nothing) };
        Ok(match bucket.marker() {
            Some(marker) => Found::Ours(Owned { marker, exists: true, handle: bucket }),
            None => Found::Foreign(not_ours(name)),
        })
    }

    async fn make(&mut self, earlier: Option<Owned<Bucket>>) -> Result<(), Error> {
        if let Some(earlier) = earlier {
            remove(&mut self.api, &earlier.handle).await?;
        }
        let org = organisation(&mut self.api, self.config).await?;
        let body = json!({
            "orgID": org, "name": self.bucket.as_str(), "description": description(self.marker), "retentionRules": [],
        });
        self.api.post("/api/v2/buckets", &body).await.map(drop)
    }

    async fn take_over(&mut self, earlier: Owned<Bucket>) -> Result<bool, Error> {
        let body = json!({ "description": description(self.marker) });
        let path = format!("/api/v2/buckets/{}", escaped(&earlier.handle.id));
        self.api.patch(&path, &body).await.map(|_| true)
    }

    async fn remove(&mut self, _: &Name, object: Owned<Bucket>) -> Result<(), Error> {
        remove(&mut self.api, &object.handle).await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        let mut objects = Vec::new();
        for offset in (0..).step_by(PAGE) {
            let org = escaped(&self.config.org);
            let page = buckets(&mut self.api, &format!("org={org}&limit={PAGE}&offset={offset}")).await?;
            objects.extend(page.iter().filter_map(|bucket| {
                let run_id = bucket.marker()?.run_id;
                Some(OwnedObject { name: Name::new(&bucket.name).ok()?, run_id })
            }));
            if page.len() < PAGE {
                break;
            }
        }
        Ok(objects)
    }
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

/// Refuses a bucket that is not there, or not ours.
///
/// # Errors
/// [`Cause::Server`].
pub(crate) async fn check_exists(api: &mut Api<'_>, config: &Config, bucket: &Name) -> Result<(), Error> {
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
