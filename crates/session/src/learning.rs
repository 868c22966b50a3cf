//! A profile of a recording.

use crate::{error::SessionError, rows::dataset_config};
use iotbench_simulator::{LearnOptions, Learned, learn};
use std::path::{Path, PathBuf};

/// The longest name of a profile that is made of a file's.
const MAX_NAME_CHARACTERS: usize = 32;

/// A recording that a profile is wanted of, as on the command line.
#[derive(Clone, Debug)]
pub struct RecordingToLearn {
    /// The file.
    pub file: PathBuf,
    /// How it is read: parameters of the dataset `replay`, each as `key=value`.
    pub parameters: Vec<String>,
    /// The profile's name; `None`: the file's.
    pub name: Option<String>,
    /// Whether texts, names of devices and quantiles stay as they were recorded.
    pub keep_values: bool,
    /// Decides which part of a long recording is looked at closely, and the texts that stand for recorded ones.
    pub seed: u64,
}

impl RecordingToLearn {
    /// Learns it; `progress` is told what part of it has been read, from 0 to 1.
    ///
    /// # Errors
    /// A parameter that is none, or a file that cannot be read.
    pub fn learn(&self, progress: &mut dyn FnMut(f64)) -> Result<Learned, SessionError> {
        let Some(file) = self.file.to_str() else {
            return Err(SessionError::usage(format!("{}: the name is no UTF-8 text", self.file.display())));
        };
        let config = dataset_config("replay", &self.parameters)?.with("file", file);
        let name = self.name.clone().unwrap_or_else(|| name_of(&self.file));
        let options = LearnOptions { name: &name, keep_values: self.keep_values, seed: self.seed };
        learn(&config, Path::new("."), &options, progress).map_err(SessionError::usage)
    }
}

/// A profile's name out of a file's.
fn name_of(file: &Path) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let characters = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    let name: String = characters.take(MAX_NAME_CHARACTERS).collect();
    if name.starts_with(|c: char| c.is_ascii_lowercase()) { name } else { format!("learned_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_called_as_the_file_is() {
        let names = ["/a/Pump-7.csv.gz", "7.lp", "", "ü.csv"].map(|file| name_of(Path::new(file)));
        assert_eq!(names, ["pump_7", "learned_7", "learned_", "learned__"]);
    }
}
