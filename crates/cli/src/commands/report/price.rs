//! Price files.

use crate::{console, diagnostics::Source, error::CliError};
use iotbench_engine::ProfileError;
use iotbench_report::{PriceFile, PriceFileError, ReportedRun};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// Larger files are no price files.
const MOST_BYTES: u64 = 1 << 20;

/// Reads them.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<PriceFile>, CliError> {
    paths.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<PriceFile, CliError> {
    let name = console::printable(&path.display().to_string());
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
    read.map_err(|e| CliError::usage(format!("{name} cannot be read: {e}")))?;
    PriceFile::from_toml(&text).map_err(|error| {
        let source = Source { file: name.clone(), text: text.clone() };
        source.error(&match error {
            PriceFileError::Toml(e) => ProfileError::of_toml(&name, &text, &e),
            PriceFileError::Value { key, message } => ProfileError::new(&name, &key, &message),
        })
    })
}

/// Checks that no run has two prices, and no price is of nothing.
pub(super) fn check(prices: &[PriceFile], runs: &[ReportedRun]) -> Result<(), CliError> {
    let targets: Vec<String> = runs.iter().map(|run| run.document.target.name()).collect();
    for target in &targets {
        if prices.iter().filter(|price| price.is_for(target)).count() > 1 {
            return Err(CliError::usage(format!(
                "two price files are for {target}: name in each, by `targets = [\"{target}\"]`, what it is for"
            )));
        }
    }
    let named = prices.iter().flat_map(|price| &price.targets);
    let strange = named.filter(|name| !targets.contains(name)).map(|name| console::printable(name)).next();
    strange.map_or(Ok(()), |name| {
        let among = targets.join(", ");
        Err(CliError::usage(format!("a price is for {name}, and no run is of it: they are of {among}")))
    })
}
