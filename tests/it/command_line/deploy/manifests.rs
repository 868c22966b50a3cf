//! The manifests as the typed API of Kubernetes has them, to the letter.

use super::folder;
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, StatefulSet},
        batch::v1::Job,
        core::v1::{ConfigMap, PersistentVolumeClaim, PodTemplateSpec, Service},
        networking::v1::NetworkPolicy,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::fs;

/// All of deploy/kubernetes.
#[derive(Default)]
pub struct Manifests {
    pub deployments: Vec<Deployment>,
    pub stateful_sets: Vec<StatefulSet>,
    pub jobs: Vec<Job>,
    pub services: Vec<Service>,
    pub config_maps: Vec<ConfigMap>,
    pub policies: Vec<NetworkPolicy>,
    pub claims: Vec<PersistentVolumeClaim>,
}

impl Manifests {
    pub fn read() -> Self {
        let mut manifests = Self::default();
        for document in documents() {
            manifests.add(&document).unwrap_or_else(|why| panic!("{why}: {document:#}"));
        }
        manifests
    }

    fn add(&mut self, document: &Value) -> Result<(), String> {
        match document["kind"].as_str() {
            Some("Deployment") => self.deployments.push(typed(document)?),
            Some("StatefulSet") => self.stateful_sets.push(typed(document)?),
            Some("Job") => self.jobs.push(typed(document)?),
            Some("ConfigMap") => self.config_maps.push(typed(document)?),
            Some("Service") => self.services.push(typed(document)?),
            Some("NetworkPolicy") => self.policies.push(typed(document)?),
            Some("PersistentVolumeClaim") => self.claims.push(typed(document)?),
            other => return Err(format!("nothing is tested of {other:?}")),
        }
        Ok(())
    }

    /// What the broker is started with.
    pub fn broker_configuration(&self) -> &str {
        let [map] = &self.config_maps[..] else { panic!("{:?}", self.config_maps) };
        &map.data.as_ref().unwrap()["nats.conf"]
    }

    /// The pods that they make.
    pub fn pods(&self) -> Vec<&PodTemplateSpec> {
        let deployed = self.deployments.iter().map(|deployment| &deployment.spec.template);
        let stateful = self.stateful_sets.iter().map(|set| &set.spec.template);
        let jobs = self.jobs.iter().filter_map(|job| Some(&job.spec.as_ref()?.template));
        let pods: Vec<_> = deployed.chain(stateful).chain(jobs).collect();
        assert_eq!(pods.len(), self.deployments.len() + self.stateful_sets.len() + self.jobs.len());
        pods
    }
}

pub fn name(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap()
}

fn documents() -> Vec<Value> {
    let files = fs::read_dir(folder().join("kubernetes")).unwrap().map(|entry| entry.unwrap().path());
    let read = |file| serde_saphyr::from_multiple::<Value>(&fs::read_to_string(file).unwrap()).unwrap();
    files.flat_map(read).collect()
}

/// A document as its type, which has all that stands there: the API leaves out what it does not know.
fn typed<T: Serialize + DeserializeOwned>(document: &Value) -> Result<T, String> {
    let object: T = serde_json::from_value(document.clone()).map_err(|e| e.to_string())?;
    let known = serde_json::to_value(&object).map_err(|e| e.to_string())?;
    if known == *document { Ok(object) } else { Err(format!("only this is known of it: {known:#}")) }
}

#[test]
fn every_manifest_is_of_the_typed_api_and_what_is_misspelt_is_seen() {
    let all = documents();
    assert_eq!(all.len(), 9);
    for document in &all {
        Manifests::default().add(document).unwrap();
        for wrong in with_one_key_misspelt(document) {
            assert!(Manifests::default().add(&wrong).is_err(), "{wrong:#}");
        }
    }
}

/// The document as often as its objects have keys, each time with another one wrong. Labels and the like have any.
fn with_one_key_misspelt(document: &Value) -> Vec<Value> {
    const OF_THE_USER: [&str; 7] = ["annotations", "data", "labels", "matchLabels", "selector", "requests", "limits"];
    let Value::Object(object) = document else {
        let Value::Array(list) = document else { return Vec::new() };
        let at = |(place, item): (usize, &Value)| {
            let put = move |wrong| {
                let mut list = list.clone();
                list[place] = wrong;
                Value::Array(list)
            };
            with_one_key_misspelt(item).into_iter().map(put).collect::<Vec<_>>()
        };
        return list.iter().enumerate().flat_map(at).collect();
    };
    let mut wrongs = Vec::new();
    for (key, value) in object {
        let without = || object.iter().filter(|(other, _)| *other != key).map(|(k, v)| (k.clone(), v.clone()));
        wrongs.push(Value::Object(without().chain([(format!("{key}s"), value.clone())]).collect()));
        if !OF_THE_USER.contains(&key.as_str()) {
            let inner = with_one_key_misspelt(value).into_iter();
            wrongs.extend(inner.map(|wrong| Value::Object(without().chain([(key.clone(), wrong)]).collect())));
        }
    }
    wrongs
}
