//! The profile that is written.

use super::likeness::Likeness;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Keys of the dataset in the order in which they are read.
const ORDER: [&str; 9] =
    ["interval", "jitter", "clock_offset", "resolution", "device_prefix", "gaps", "late", "out_of_order", "signals"];

/// What a profile is written of.
pub struct Written<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many devices there are.
    pub devices: u32,
    /// The dataset's parameters.
    pub parameters: &'a Map<String, Value>,
    /// Datapoints of a device in one operation, where the recording tells.
    pub batch: Option<u64>,
    /// Operations a second.
    pub rate: f64,
    /// Datapoints of the recording.
    pub rows: u64,
    /// How alike generated data are.
    pub likeness: &'a Likeness,
    /// What the profile does not tell.
    pub untold: &'a [String],
    /// Whether recorded values stand in it.
    pub keep_values: bool,
}

impl Written<'_> {
    /// The profile in TOML.
    ///
    /// # Errors
    /// A value that TOML has not: none of those that are learned.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let mut text = String::new();
        self.head(&mut text);
        let batch = self.batch.unwrap_or(1);
        line(&mut text, "name", &self.name.into())?;
        line(&mut text, "summary", &"data as they were recorded, learned by iotbench".into())?;
        line(&mut text, "devices", &self.devices.into())?;
        text.push_str("\n[dataset]\nname = \"custom\"\n");
        let signals = Value::Array(Vec::new());
        let signals = self.parameters.get("signals").unwrap_or(&signals);
        for key in ORDER.into_iter().filter(|key| *key != "signals") {
            if let Some(value) = self.parameters.get(key) {
                line(&mut text, key, value)?;
            }
        }
        for signal in signals.as_array().into_iter().flatten().filter_map(Value::as_object) {
            text.push_str("\n[[dataset.signals]]\n");
            let first = ["name", "shape"].into_iter().filter_map(|key| signal.get_key_value(key));
            let others = signal.iter().filter(|(key, _)| *key != "name" && *key != "shape");
            let mut keys = first.map(|(key, value)| (key.as_str(), value)).chain(others.map(|(k, v)| (k.as_str(), v)));
            keys.try_for_each(|(key, value)| line(&mut text, key, value))?;
        }
        let remark = if self.batch.is_some() { "" } else { " # the recording does not tell" };
        let _ = write!(
            text,
            "\n[[groups]]\nname = \"senders\"\n\n[groups.load]\nmodel = \"open\"\nrate = {} # as recorded\n\
             \n[[groups.operations]]\nkind = \"write\"\ndatapoints = {batch}{remark}\n\
             \n[phases]\nwarmup = \"5s\"\nduration = \"60s\"\n",
            self.rate
        );
        Ok(text)
    }

    fn head(&self, text: &mut String) {
        let kept =
            if self.keep_values { "recorded values stand in it" } else { "no text and no name of it stands here" };
        let _ = writeln!(text, "# Learned from a recording of {} datapoints; {kept}.", self.rows);
        let signals = self.likeness.signals.iter().map(|(name, distance)| format!("{name} {distance:.3}"));
        let _ = writeln!(text, "# KS distance of generated data: {}", signals.collect::<Vec<_>>().join(", "));
        let (between, compressed) = (self.likeness.between_datapoints, self.likeness.compressed);
        let _ = writeln!(
            text,
            "# times between datapoints {between:.3}; compressed size, recorded : generated = {compressed:.3}"
        );
        for untold in self.untold {
            let untold: String = untold.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let _ = writeln!(text, "# not alike: {untold}");
        }
    }
}

fn line(text: &mut String, key: &str, value: &Value) -> Result<(), toml::ser::Error> {
    let value = toml::Value::try_from(value)?;
    let _ = writeln!(text, "{key} = {value}");
    Ok(())
}
