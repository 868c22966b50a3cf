//! What a broker says of itself, on topics that begin with `$SYS`: Mosquitto does, others may.

use crate::{address::Via, connection::connect};
use rumqttc::{Event, Incoming, QoS};
use std::time::Duration;

const VERSION: &str = "$SYS/broker/version";
/// Messages dropped "due to inflight/queuing limits" (mosquitto(8)).
const DROPPED: &str = "$SYS/broker/publish/messages/dropped";
/// What a broker retains it sends at once, and a private one that was just started within a second; a busy machine may take
/// longer, and one that has nothing to say is not waited for any more.
const PATIENCE: Duration = Duration::from_secs(3);

/// Its product and version.
pub(crate) async fn version(via: &Via) -> Option<String> {
    retained(via, VERSION).await
}

/// How many messages it has dropped since its start. It brings this up to date every `sys_interval`, by default 10 s.
pub(crate) async fn dropped(via: &Via) -> Option<u64> {
    retained(via, DROPPED).await.and_then(|text| text.parse().ok())
}

async fn retained(via: &Via, topic: &str) -> Option<String> {
    let read = async {
        let (client, mut events) = connect(via).await.ok()?;
        client.subscribe(topic, QoS::AtMostOnce).await.ok()?;
        loop {
            if let Event::Incoming(Incoming::Publish(message)) = events.poll().await.ok()? {
                return String::from_utf8(message.payload.to_vec()).ok();
            }
        }
    };
    tokio::time::timeout(PATIENCE, read).await.ok().flatten()
}
