//! Which texts a signal has, how often and how long, and the shape of `custom` that is nearest.

use super::reservoir::{Reservoir, quantile, sorted};
use crate::{counter_hash::CounterHash, random_text::push_random_text};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// With so many distinct texts or fewer each has its own weight.
const MAX_STATES: usize = 256;
/// Longer states have none.
const MAX_STATE_BYTES: usize = 1024;
/// So many distinct texts are told apart.
const MAX_DISTINCT: usize = 1 << 16;
/// Lengths that are kept.
const MAX_KEPT: usize = 1 << 14;
const LENGTHS: usize = 33;
/// The dataset `custom` has no longer ones.
const MAX_TEXT_BYTES: f64 = 65_536.0;

/// The texts of a signal.
#[derive(Debug)]
pub struct Texts {
    /// How often each comes; given up when there are too many.
    states: Option<BTreeMap<String, u64>>,
    /// Hashes of those that are told apart.
    distinct: HashSet<u64>,
    lengths: Reservoir<f64>,
    rows: u64,
    steps: u64,
    same: u64,
}

impl Texts {
    /// None yet.
    pub fn new(hash: CounterHash) -> Self {
        let (states, distinct, lengths) = (Some(BTreeMap::new()), HashSet::new(), Reservoir::new(MAX_KEPT, hash));
        Self { states, distinct, lengths, rows: 0, steps: 0, same: 0 }
    }

    /// Takes a text with its hash, and that of the one before it of the same device.
    pub fn take(&mut self, text: &str, hash: u64, before: Option<u64>) {
        self.rows += 1;
        self.steps += u64::from(before.is_some());
        self.same += u64::from(before == Some(hash));
        self.lengths.take(bytes(text));
        if self.distinct.len() < MAX_DISTINCT {
            self.distinct.insert(hash);
        }
        let Some(states) = &mut self.states else { return };
        if let Some(rows) = states.get_mut(text) {
            *rows += 1;
        } else if states.len() == MAX_STATES || text.len() > MAX_STATE_BYTES {
            self.states = None;
        } else {
            states.insert(text.into(), 1);
        }
    }

    /// The lengths that are kept, in order.
    pub fn lengths(&self) -> Vec<f64> {
        sorted(self.lengths.kept())
    }

    /// How many distinct texts there are; none where there are more than are told apart.
    pub fn cardinality(&self) -> Option<usize> {
        (self.distinct.len() < MAX_DISTINCT).then_some(self.distinct.len())
    }

    /// The keys of a signal of the dataset `custom`.
    pub fn shape(&self, name: &str, keep_values: bool, hash: CounterHash) -> Map<String, Value> {
        let mut keys = Map::from_iter([("name".to_owned(), name.into())]);
        let mut set = |key: &str, value: Value| keys.insert(key.into(), value);
        match &self.states {
            Some(states) if !states.is_empty() => {
                set("shape", "state".into());
                let names = if keep_values { states.keys().cloned().collect() } else { replaced(states, hash) };
                set("states", names.into());
                let shares = states.values().map(|&rows| four_digits(ratio(rows, self.rows)));
                set("weights", shares.collect::<Vec<f64>>().into());
                let by_chance: f64 = states.values().map(|&rows| ratio(rows, self.rows).powi(2)).sum();
                set("hold", self.hold(by_chance).into());
            }
            _ => {
                set("shape", "text".into());
                set("lengths", self.length_table().into());
                // Where most are new, all are.
                let few = self.cardinality().filter(|&n| n as u64 * 2 < self.rows);
                set("cardinality", few.unwrap_or(0).into());
                set("hold", self.hold(0.0).into());
            }
        }
        keys
    }

    /// For how many datapoints a text is held, where two are equal by chance this often.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1e6")]
    fn hold(&self, by_chance: f64) -> u64 {
        let changes = (1.0 - ratio(self.same, self.steps)).max(1e-6);
        ((1.0 - by_chance) / changes).round().clamp(1.0, 1e6) as u64
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 65536")]
    fn length_table(&self) -> Vec<u32> {
        let lengths = self.lengths();
        let of =
            |n: usize| quantile(&lengths, n as f64 / (LENGTHS - 1) as f64).round().clamp(1.0, MAX_TEXT_BYTES) as u32;
        let table: Vec<u32> = (0..LENGTHS).map(of).collect();
        if table.first() == table.last() { table.into_iter().take(1).collect() } else { table }
    }
}

/// Random texts as long as these, each another one.
fn replaced(states: &BTreeMap<String, u64>, hash: CounterHash) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (place, state) in (0..).zip(states.keys()) {
        let mut length = u32::try_from(state.chars().count()).unwrap_or(u32::MAX);
        let mut name = String::new();
        for trial in 0.. {
            name.clear();
            push_random_text(hash.derive(place).derive(trial), length, &mut name);
            // There are few that are short, and the recorded ones are no choice.
            if !names.contains(&name) && !states.contains_key(&name) {
                break;
            }
            length += u32::from(trial > 50);
        }
        names.push(name);
    }
    names
}

#[expect(clippy::cast_precision_loss, reason = "lengths of texts")]
fn bytes(text: &str) -> f64 {
    text.len() as f64
}

#[expect(clippy::cast_precision_loss, reason = "shares")]
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// A share to four digits after the point, and never none.
fn four_digits(share: f64) -> f64 {
    ((share * 1e4).round() / 1e4).max(1e-4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_kept_but_their_lengths_are() {
        let mut texts = Texts::new(CounterHash::new(1));
        for (n, text) in ["idle", "run", "fault", "run", "a", "b", ""].iter().enumerate() {
            texts.take(text, n as u64, None);
        }
        let keys = texts.shape("state", false, CounterHash::new(1));
        let names: Vec<&str> = keys["states"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let lengths: Vec<usize> = names.iter().map(|name| name.len()).collect();
        assert_eq!(
            lengths,
            [1, 1, 1, 5, 4, 3],
            "in the order of the recorded ones; an empty one becomes one of a character"
        );
        assert!(!names.iter().any(|name| ["idle", "run", "fault", "a", "b"].contains(name)), "{names:?}");
        let kept = texts.shape("state", true, CounterHash::new(1));
        assert_eq!(kept["states"], serde_json::json!(["", "a", "b", "fault", "idle", "run"]));
    }
}
