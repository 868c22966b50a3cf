//! What the server says of itself: its version, its flags and its disk, all by `/metrics`.

use super::client::Client;
use iotbench_core::{Acknowledgement, Action, Cause, Error, Promise, PromiseLevel, PromiseSource, ServerFacts};
use std::collections::BTreeMap;

/// What is shown of its flags.
const SHOWN: [&str; 6] = [
    "dedup.minScrapeInterval",
    "maxConcurrentInserts",
    "memory.allowedBytes",
    "precisionBits",
    "retentionPeriod",
    "storage.minFreeDiskSpaceBytes",
];
/// What has to be so, for our series to have the names and the values that we look for.
const NEEDED: [(&str, &str); 7] = [
    ("influxMeasurementFieldSeparator", "_"),
    ("influxSkipMeasurement", "false"),
    ("influxSkipSingleField", "false"),
    ("influxDBLabel", "db"),
    ("influxTrimTimestamp", "1ms"),
    ("dedup.minScrapeInterval", "0s"),
    ("precisionBits", "64"),
];
/// The longest time that an acknowledged sample waits in memory before it is in a file.
pub(super) const MAX_SECONDS_IN_MEMORY: f64 = 5.0;

/// What `/metrics` says.
#[derive(Debug, Default)]
struct Metrics {
    version: String,
    flags: BTreeMap<String, String>,
    disk_bytes: Option<u64>,
}

/// The server's facts.
///
/// # Errors
/// Server where it is set so that we would not find, or not find whole, what we write.
pub(crate) async fn facts(client: &mut Client, is_compressed: bool) -> Result<ServerFacts, Error> {
    let metrics = metrics(client).await?;
    if metrics.flags.is_empty() {
        return Err(
            Error::new(Cause::Server, "this is no VictoriaMetrics: its /metrics has no flags").action(Action::Stop)
        );
    }
    for (flag, needed) in NEEDED {
        if let Some(value) = metrics.flags.get(flag).filter(|value| *value != needed) {
            let message = format!("the server runs with -{flag}={value}: iotbench needs {needed:?}");
            return Err(Error::new(Cause::Server, message).action(Action::Stop));
        }
    }
    let version = if metrics.version.is_empty() { "not told by this build".to_owned() } else { metrics.version };
    let settings = metrics.flags.into_iter().filter(|(flag, _)| SHOWN.contains(&flag.as_str())).collect();
    let method = if is_compressed { "line protocol over HTTP, compressed" } else { "line protocol over HTTP" };
    Ok(ServerFacts {
        product: "VictoriaMetrics".into(),
        version,
        driver: "hyper 1, own line protocol".into(),
        method: method.into(),
        acknowledgement: Acknowledgement::Queued,
        promise: promise(),
        settings,
    })
}

/// There is no write-ahead log: samples wait in memory for up to a second before they can be read and for some seconds
/// before they are in a file, and what waits is lost with the process.
fn promise() -> Promise {
    let source = "VictoriaMetrics has no write-ahead log; what came in the last seconds is in memory alone \
                  (https://docs.victoriametrics.com/#storage)";
    Promise {
        level: PromiseLevel::OsCrashWithin { seconds: MAX_SECONDS_IN_MEMORY },
        nodes: 1,
        source: PromiseSource::Declared(source.into()),
    }
}

/// The bytes of all files of data and index, of whoever they are.
pub(crate) async fn disk_bytes(client: &mut Client) -> Result<Option<u64>, Error> {
    Ok(metrics(client).await?.disk_bytes)
}

async fn metrics(client: &mut Client) -> Result<Metrics, Error> {
    Ok(of_text(&String::from_utf8_lossy(&client.form("/metrics", &[]).await?)))
}

fn of_text(text: &str) -> Metrics {
    let mut metrics = Metrics::default();
    for line in text.lines() {
        let Some((series, value)) = line.rsplit_once(' ') else { continue };
        let label = |name: &str| {
            let (_, rest) = series.split_once(&format!("{name}=\""))?;
            rest.split_once('"').map(|(value, _)| value.to_owned())
        };
        if series.starts_with("flag{") {
            metrics.flags.extend(label("name").zip(label("value")));
        } else if series.starts_with("vm_app_version{") {
            metrics.version = label("short_version").filter(|v| !v.is_empty()).or(label("version")).unwrap_or_default();
        } else if series.starts_with("vm_data_size_bytes{")
            && let Ok(bytes) = value.parse::<u64>()
        {
            *metrics.disk_bytes.get_or_insert_default() += bytes;
        }
    }
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read() {
        let metrics = of_text(
            "# c\nflag{name=\"retentionPeriod\", value=\"100y\", is_set=\"true\"} 1\nvm_app_version{version=\"victoria-metrics-1\", \
             short_version=\"v1.79.5\"} 1\nvm_data_size_bytes{type=\"indexdb\"} 30\nvm_data_size_bytes{type=\"storage/small\"} 12\nx\n",
        );
        assert_eq!((metrics.version.as_str(), metrics.disk_bytes), ("v1.79.5", Some(42)));
        assert_eq!(metrics.flags["retentionPeriod"], "100y");
        assert_eq!(of_text("").disk_bytes, None);
    }
}
