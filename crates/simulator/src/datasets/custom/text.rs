//! Shapes that give text.

use super::{choice::Choice, signal::ShapeContext};
use crate::{ParameterError, config::typed, counter_hash::CounterHash, random_text::push_random_text};
use iotbench_core::{Setting, Settings};
use serde::Deserialize;

const MAX_TEXT_BYTES: u32 = 1 << 16;
const MAX_LENGTHS: usize = 4096;
const MAX_STATES: u32 = 1 << 20;
const NUMBERED: &str = "state-";

type Build = fn(&Settings, &[Setting], ShapeContext) -> Result<TextShape, ParameterError>;

/// How a text follows from a device and an index.
#[derive(Debug)]
pub enum TextShape {
    /// One of several states, held for a while.
    State {
        /// Which.
        choice: Choice,
        /// Their names; empty: `state-0`, `state-1`, …
        names: Vec<String>,
        /// For how many datapoints.
        hold: u64,
        /// Longest name.
        max_bytes: u32,
    },
    /// Random characters.
    Random {
        /// Which of a limited number of texts; `None`: each is new.
        choice: Option<Choice>,
        /// Lengths at equal steps of probability; of one length there is one.
        lengths: Vec<u32>,
        /// For how many datapoints a text is held.
        hold: u64,
        /// The signal's random numbers, shared by all devices.
        hash: CounterHash,
    },
}

impl TextShape {
    /// Name, keys and how each is made.
    pub const ALL: [(&'static str, &'static [Setting], Build); 2] = [("state", STATE, state), ("text", TEXT, text)];

    /// Appends the text of a device, given its random numbers, at an index.
    pub fn push(&self, hash: CounterHash, index: u64, out: &mut String) {
        match self {
            Self::State { choice, names, hold, .. } => {
                let state = choice.at(hash, index / hold);
                match names.get(state as usize) {
                    Some(name) => out.push_str(name),
                    None => {
                        out.push_str(NUMBERED);
                        out.push_str(itoa::Buffer::new().format(state));
                    }
                }
            }
            Self::Random { choice, lengths, hold, hash: shared } => {
                let text = match choice {
                    Some(choice) => shared.derive(choice.at(hash, index / hold).into()),
                    None => hash.derive(index / hold),
                };
                push_random_text(text, length(lengths, text), out);
            }
        }
    }

    /// The number of the state; 0 for random text.
    #[must_use]
    pub fn number(&self, hash: CounterHash, index: u64) -> f64 {
        match self {
            Self::State { choice, hold, .. } => choice.at(hash, index / hold).into(),
            Self::Random { .. } => 0.0,
        }
    }

    /// Whether its values have numbers, so that a type other than text makes sense.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        matches!(self, Self::State { .. })
    }

    /// The longest text in bytes.
    #[must_use]
    pub fn max_bytes(&self) -> u32 {
        match self {
            Self::State { max_bytes, .. } => *max_bytes,
            Self::Random { lengths, .. } => lengths.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The length of the text with these random numbers: one of the lengths, or one between two neighbours.
fn length(lengths: &[u32], text: CounterHash) -> u32 {
    let Some(steps @ 1..) = lengths.len().checked_sub(1) else { return lengths.first().copied().unwrap_or(0) };
    let (step, within) = (text.below(u64::MAX, steps as u64), text.derive(0));
    let Some(&[shorter, longer]) = usize::try_from(step).ok().and_then(|step| lengths.get(step..step + 2)) else {
        return 0;
    };
    shorter + u32::try_from(within.below(0, u64::from(longer - shorter) + 1)).unwrap_or(0)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct State {
    states: Vec<String>,
    weights: Vec<f64>,
    cardinality: u32,
    skew: u32,
    hold: u64,
}

impl Default for State {
    fn default() -> Self {
        Self { states: Vec::new(), weights: Vec::new(), cardinality: 0, skew: 0, hold: 10 }
    }
}

const SKEW: Setting =
    Setting { key: "skew", default: "0", help: "the n-th value comes up in proportion to 1/n^skew; 0 to 4" };
const STATE: &[Setting] = &[
    Setting { key: "states", default: "[]", help: "names of the states" },
    Setting { key: "weights", default: "[]", help: "how often each comes up; as many as states; empty: equally often" },
    Setting { key: "cardinality", default: "0", help: "instead of states: how many, named state-0, state-1, …" },
    SKEW,
    Setting { key: "hold", default: "10", help: "datapoints for which a state is held" },
];

fn state(settings: &Settings, known: &[Setting], _: ShapeContext) -> Result<TextShape, ParameterError> {
    let keys: State = typed(settings, known)?;
    if keys.states.is_empty() == (keys.cardinality == 0) {
        return Err(ParameterError::key("states", "give either states or their cardinality"));
    }
    let count = if keys.cardinality == 0 { u32::try_from(keys.states.len()).unwrap_or(0) } else { keys.cardinality };
    if !(1..=MAX_STATES).contains(&count) {
        return Err(ParameterError::key("cardinality", format!("must be at most {MAX_STATES}")));
    }
    if keys.hold == 0 {
        return Err(ParameterError::key("hold", "must be at least 1"));
    }
    let choice = match (keys.weights.len(), keys.skew) {
        (0, skew) => Choice::skewed(count, skew)?,
        (n, 0) if n == count as usize => Choice::weighted(&keys.weights)?,
        (_, 0) => return Err(ParameterError::key("weights", format!("there must be {count}, one for each state"))),
        _ => return Err(ParameterError::key("weights", "give either weights or skew")),
    };
    let numbered = NUMBERED.len() + itoa::Buffer::new().format(count - 1).len();
    let longest = keys.states.iter().map(String::len).max().unwrap_or(numbered);
    match u32::try_from(longest) {
        Ok(max_bytes @ 0..=MAX_TEXT_BYTES) => {
            Ok(TextShape::State { choice, names: keys.states, hold: keys.hold, max_bytes })
        }
        _ => Err(ParameterError::key("states", format!("a name has at most {MAX_TEXT_BYTES} bytes"))),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Text {
    bytes: u32,
    lengths: Vec<u32>,
    cardinality: u32,
    skew: u32,
    hold: u64,
}

impl Default for Text {
    fn default() -> Self {
        Self { bytes: 32, lengths: Vec::new(), cardinality: 0, skew: 0, hold: 1 }
    }
}

const TEXT: &[Setting] = &[
    Setting { key: "bytes", default: "32", help: "length of a text" },
    Setting {
        key: "lengths",
        default: "[]",
        help: "instead of bytes: the shortest length, the quantiles at equal steps of probability, the longest",
    },
    Setting { key: "cardinality", default: "0", help: "how many distinct texts there are; 0: each is new" },
    SKEW,
    Setting { key: "hold", default: "1", help: "datapoints for which a text is held" },
];

fn text(settings: &Settings, known: &[Setting], context: ShapeContext) -> Result<TextShape, ParameterError> {
    let keys: Text = typed(settings, known)?;
    let (key, lengths) = if keys.lengths.is_empty() { ("bytes", vec![keys.bytes]) } else { ("lengths", keys.lengths) };
    if !lengths.iter().all(|length| (1..=MAX_TEXT_BYTES).contains(length)) {
        return Err(ParameterError::key(key, format!("must be from 1 to {MAX_TEXT_BYTES}")));
    }
    if lengths.len() > MAX_LENGTHS || !lengths.is_sorted() {
        return Err(ParameterError::key(key, format!("must not fall, and there are at most {MAX_LENGTHS}")));
    }
    if keys.hold == 0 {
        return Err(ParameterError::key("hold", "must be at least 1"));
    }
    let choice = match (keys.cardinality, keys.skew) {
        (0, 0) => None,
        (0, _) => return Err(ParameterError::key("skew", "needs a cardinality")),
        (count, skew) => Some(Choice::skewed(count, skew)?),
    };
    // Apart from the devices' numbers, which are derived from the same stream.
    Ok(TextShape::Random { choice, lengths, hold: keys.hold, hash: context.hash.derive(u64::MAX) })
}
