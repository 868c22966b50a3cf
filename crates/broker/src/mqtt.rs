//! An MQTT broker as a carrier.

use crate::{
    address::{QosLevel, Via},
    connection::{connect, shown},
    publisher::MqttPublisher,
    subscriber::MqttSubscriber,
    system_topics,
};
use async_trait::async_trait;
use iotbench_core::{Carrier, CarrierFacts, Error, Publisher, Subscriber, Way};

/// An MQTT broker, see [`Via`].
#[derive(Debug)]
pub struct Mqtt {
    via: Via,
}

impl Mqtt {
    /// The broker at the place that `via` says; a private one has to be started before, and its place be said by
    /// [`Via::at`].
    #[must_use]
    pub fn new(via: Via) -> Self {
        Self { via }
    }
}

#[async_trait]
impl Carrier for Mqtt {
    fn facts(&self) -> CarrierFacts {
        let Via { qos, payload, server, .. } = &self.via;
        let asked = [("qos", qos.number().to_string()), ("payload", payload.name().to_owned())];
        let private = server.iter().map(|(key, value)| (format!("server.{key}"), value.clone()));
        CarrierFacts {
            name: "mqtt".into(),
            address: shown(&self.via),
            port: self.via.place().map(|(_, port, _)| port),
            version: None,
            settings: asked.map(|(key, value)| (key.to_owned(), value)).into_iter().chain(private).collect(),
            promises_delivery: *qos != QosLevel::AtMostOnce,
        }
    }

    async fn ping(&self) -> Result<CarrierFacts, Error> {
        let _ = connect(&self.via).await?;
        Ok(CarrierFacts { version: system_topics::version(&self.via).await, ..self.facts() })
    }

    async fn publisher(&self, way: &Way) -> Result<Box<dyn Publisher>, Error> {
        Ok(Box::new(MqttPublisher::open(&self.via, way).await?))
    }

    async fn subscriber(&self, way: &Way) -> Result<Box<dyn Subscriber>, Error> {
        Ok(Box::new(MqttSubscriber::open(&self.via, way).await?))
    }

    async fn dropped(&self) -> Option<u64> {
        system_topics::dropped(&self.via).await
    }
}
