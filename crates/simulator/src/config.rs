//! A dataset as written in a profile, and how it is opened.

use crate::{
    Dataset,
    clock::ClockError,
    datasets::{DATASETS, ShapeInfo, nanoseconds, shapes},
    dirty::{CLOCK_OFFSET, COMMON_PARAMETERS, DirtyData},
    recording::RecordingError,
    tags::{TAGS, tags_of, written, wrong_tag},
};
use iotbench_core::{Schema, SchemaError, Setting, SettingError, Settings, Tag, closest};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The default origin of every dataset: 2026-01-01T00:00:00Z, in ns since the Unix epoch.
pub const DEFAULT_ORIGIN_NS: i64 = 1_767_225_600_000_000_000;

/// The one parameter that names a file, of whichever dataset.
const FILE: &str = "file";

/// A dataset as written in a profile's table `[dataset]`: its name and the parameters that differ from the defaults.
///
/// The parameters are checked by [`DatasetConfig::open`], which knows what each dataset takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct DatasetConfig {
    name: String,
    parameters: Settings,
}

/// What a dataset needs besides its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Decides all random numbers.
    pub seed: u64,
    /// Timestamp of index 0, ns since the Unix epoch.
    pub origin_ns: i64,
    /// How many devices there will be.
    pub devices: u32,
    /// The folder to which file names in the parameters are relative.
    pub base: &'a Path,
    /// By how much a device's clock may be off, in nanoseconds, where that is no parameter of the dataset's own.
    pub clock_offset_ns: i64,
}

/// How a dataset is opened.
pub type Open = fn(&Settings, Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError>;

/// A built-in dataset: for help, documentation, checks and tests.
#[derive(Clone, Copy, Debug)]
pub struct DatasetInfo {
    /// The name in a profile.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Its parameters with their defaults.
    pub parameters: &'static [Setting],
    /// The origin unless a profile says otherwise, ns since the Unix epoch.
    pub origin_ns: i64,
    /// The tags of its devices unless a profile gives them others.
    pub(crate) tags: fn() -> Vec<Tag>,
    /// Whether its datapoints are made here, and so can be dirty.
    pub(crate) is_simulated: bool,
    pub(crate) open: Open,
}

/// Why a dataset cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The table has no name.
    #[error("a dataset needs a name, as in name = \"pmu\"; known: {known}")]
    NoName {
        /// What there is.
        known: String,
    },
    /// There is no such dataset.
    #[error("there is no dataset {name:?}{}; known: {known}", did_you_mean(suggestion.as_ref()))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        suggestion: Option<String>,
        /// What there is.
        known: String,
    },
    /// A parameter does not fit.
    #[error("dataset {dataset}: {error}")]
    Parameter {
        /// Whose parameter.
        dataset: &'static str,
        /// What is wrong with which.
        error: ParameterError,
    },
}

impl DatasetError {
    /// The key in the table `[dataset]` that is at fault, where it is one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::NoName { .. } | Self::Unknown { .. } => Some("name"),
            Self::Parameter { error: ParameterError::Key(e), .. } => Some(&e.key),
            Self::Parameter { error: ParameterError::Recording(_), .. } => Some("file"),
        }
    }

    /// What was probably meant.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        match self {
            Self::Unknown { suggestion, .. } => suggestion.as_deref(),
            Self::Parameter { error: ParameterError::Key(e), .. } => e.suggestion.as_deref(),
            Self::NoName { .. } | Self::Parameter { .. } => None,
        }
    }
}

/// What is wrong with a dataset's parameters.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// A key that does not exist or whose value does not fit.
    #[error("{}{}", .0, did_you_mean(.0.suggestion.as_ref()))]
    Key(#[from] SettingError),
    /// A recording that cannot be replayed.
    #[error(transparent)]
    Recording(#[from] Box<RecordingError>),
}

impl ParameterError {
    /// The value of this key does not fit, for this reason.
    pub(crate) fn key(key: impl Into<String>, message: impl std::fmt::Display) -> Self {
        Self::Key(SettingError { key: key.into(), message: message.to_string(), suggestion: None })
    }
}

impl From<SchemaError> for ParameterError {
    fn from(error: SchemaError) -> Self {
        Self::key("signals", error)
    }
}

impl From<ClockError> for ParameterError {
    fn from(error: ClockError) -> Self {
        let key = match error {
            ClockError::Period => "interval",
            ClockError::Jitter { .. } => "jitter",
            ClockError::Offset => "clock_offset",
            ClockError::Resolution { .. } => "resolution",
        };
        Self::key(key, error)
    }
}

impl DatasetInfo {
    /// The built-in dataset of this name.
    ///
    /// # Errors
    /// There is none; the error says what is near.
    pub fn find(name: &str) -> Result<&'static Self, DatasetError> {
        DATASETS.iter().find(|d| d.name == name).ok_or_else(|| DatasetError::Unknown {
            name: name.into(),
            suggestion: closest(name, DATASETS.iter().map(|d| d.name)).map(Into::into),
            known: known(),
        })
    }
}

impl DatasetInfo {
    /// Its own parameters, and the common ones.
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Setting> + use<> {
        let common = if self.is_simulated { COMMON_PARAMETERS } else { &[] };
        let own = self.parameters;
        own.iter().chain(common.iter().filter(|common| !own.iter().any(|own| own.key == common.key)))
    }

    /// Whether how far its clocks are off is a parameter of its own.
    fn has_clocks(&self) -> bool {
        self.parameters.iter().any(|setting| setting.key == CLOCK_OFFSET.key)
    }

    /// The shapes of the signals that a profile gives it; none where its signals are its own.
    #[must_use]
    pub fn shapes(&self) -> Vec<ShapeInfo> {
        if self.parameters.iter().any(|p| p.key == "signals") { shapes() } else { Vec::new() }
    }
}

impl DatasetConfig {
    /// A built-in dataset with its default parameters.
    ///
    /// # Errors
    /// There is no dataset of this name.
    pub fn named(name: &str) -> Result<Self, DatasetError> {
        DatasetInfo::find(name)?;
        Ok(Self { name: name.into(), parameters: Settings::default() })
    }

    /// The same dataset with one more parameter, which replaces one of the same key. Not checked before
    /// [`DatasetConfig::open`].
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.parameters.0.insert(key.into(), value.into());
        self
    }

    /// The dataset's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that opening it reads, if it reads one.
    #[must_use]
    pub fn file(&self, base: &Path) -> Option<PathBuf> {
        let file = self.parameters.0.get(FILE).and_then(Value::as_str).filter(|file| !file.is_empty());
        file.map(|file| base.join(file))
    }

    /// Its parameters that differ from the defaults.
    pub(crate) fn parameters(&self) -> &Settings {
        &self.parameters
    }

    /// What the dataset is and takes.
    ///
    /// # Errors
    /// There is no dataset of this name.
    pub fn info(&self) -> Result<&'static DatasetInfo, DatasetError> {
        DatasetInfo::find(&self.name)
    }

    /// Opens the dataset: checks every parameter and, for a recording or signals in a file of their own, reads the
    /// file, whose name is relative to `base`.
    ///
    /// # Errors
    /// An unknown name, a parameter that does not exist or does not fit, or a file that cannot be read.
    pub fn open(&self, seed: u64, origin_ns: i64, devices: u32, base: &Path) -> Result<Arc<dyn Dataset>, DatasetError> {
        let info = self.info()?;
        let opened = self.opened(info, Opening { seed, origin_ns, devices, base, clock_offset_ns: 0 });
        opened.map_err(|error| DatasetError::Parameter { dataset: info.name, error })
    }

    /// The schema of this dataset, opened, with the tags of its devices, which the seed gives them.
    ///
    /// # Errors
    /// Tags that cannot be.
    pub fn schema(&self, dataset: &dyn Dataset, seed: u64) -> Result<Schema, DatasetError> {
        let info = self.info()?;
        let recorded = dataset.tags();
        let tags = written(&self.parameters, seed).and_then(|written| match written {
            Some(tags) => Ok(tags),
            None if recorded.is_empty() => tags_of(seed, &(info.tags)()),
            None => tags_of(seed, &recorded),
        });
        let schema = tags.and_then(|tags| {
            let tagged = dataset.schema().clone().with_tags(tags.clone());
            tagged.map_err(|error| match &error {
                SchemaError::Tags(of_tags) => wrong_tag(tags.as_slice(), of_tags),
                _ => ParameterError::key(TAGS.key, error),
            })
        });
        schema.map_err(|error| DatasetError::Parameter { dataset: info.name, error })
    }

    fn opened(&self, info: &DatasetInfo, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
        let mut parameters = self.parameters.clone();
        if info.is_simulated {
            // They are no matter of its datapoints.
            parameters.0.remove(TAGS.key);
        }
        // A dataset that has such keys of its own, as one whose parameters lie in a file, sees to them itself.
        if !info.is_simulated || info.has_clocks() {
            return (info.open)(&parameters, opening);
        }
        let dirt = DirtyData::take(&mut parameters)?;
        let clock_offset_ns = clock_offset_ns(&mut parameters)?;
        dirt.of(opening.seed, |seed| (info.open)(&parameters, Opening { seed, clock_offset_ns, ..opening }))
    }
}

impl TryFrom<Map<String, Value>> for DatasetConfig {
    type Error = DatasetError;
    fn try_from(mut table: Map<String, Value>) -> Result<Self, DatasetError> {
        match table.remove("name") {
            Some(Value::String(name)) => {
                DatasetInfo::find(&name)?;
                Ok(Self { name, parameters: Settings(table) })
            }
            _ => Err(DatasetError::NoName { known: known() }),
        }
    }
}

impl From<DatasetConfig> for Map<String, Value> {
    fn from(config: DatasetConfig) -> Self {
        let mut table = config.parameters.0;
        table.insert("name".into(), config.name.into());
        table
    }
}

/// How far clocks are off, taken out of a dataset's parameters.
fn clock_offset_ns(parameters: &mut Settings) -> Result<i64, ParameterError> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Off {
        clock_offset: SignedDuration,
    }
    let Some(offset) = parameters.0.remove(CLOCK_OFFSET.key) else { return Ok(0) };
    let settings = Settings(Map::from_iter([(CLOCK_OFFSET.key.to_owned(), offset)]));
    let Off { clock_offset } = typed(&settings, &[CLOCK_OFFSET])?;
    nanoseconds(CLOCK_OFFSET.key, clock_offset)
}

/// The parameters as the dataset's own type.
pub(crate) fn typed<T: DeserializeOwned>(parameters: &Settings, known: &[Setting]) -> Result<T, ParameterError> {
    // NaN and infinity become null on their way here, which must not pass for "not given".
    if let Some(path) = path_to_null("", &Value::Object(parameters.0.clone())) {
        return Err(ParameterError::key(path, "is not a finite number"));
    }
    Ok(parameters.typed(known)?)
}

fn path_to_null(path: &str, value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(path.into()),
        Value::Array(values) => (0..).zip(values).find_map(|(n, v): (u64, _)| path_to_null(&format!("{path}[{n}]"), v)),
        Value::Object(table) => table.iter().find_map(|(key, v)| match path {
            "" => path_to_null(key, v),
            _ => path_to_null(&format!("{path}.{key}"), v),
        }),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn known() -> String {
    DATASETS.iter().map(|d| d.name).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(suggestion: Option<&String>) -> String {
    suggestion.map(|s| format!(" (did you mean {s}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_a_dataset_reads_is_known_and_no_other_parameter_names_one() {
        let replay = DatasetConfig::named("replay").unwrap();
        assert_eq!(replay.file(Path::new("/base")), None);
        assert_eq!(replay.clone().with("file", "a.csv").file(Path::new("/base")), Some("/base/a.csv".into()));
        assert_eq!(replay.with("file", "/etc/shadow").file(Path::new("/base")), Some("/etc/shadow".into()));
        for parameter in DATASETS.iter().flat_map(|info| info.parameters) {
            let names_one = parameter.help.to_lowercase().contains("file");
            assert_eq!(names_one, parameter.key == FILE, "{}: {}", parameter.key, parameter.help);
        }
    }
}
