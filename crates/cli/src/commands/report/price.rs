//! Price files.

use crate::console;
use iotbench_report::{PriceFile, ReportedRun};
use iotbench_session::{SessionError, parse_toml_file, read_toml_file};
use std::path::{Path, PathBuf};

/// Reads them.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<PriceFile>, SessionError> {
    paths.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<PriceFile, SessionError> {
    let name = console::printable_lines(&path.display().to_string());
    parse_toml_file(&name, &read_toml_file(path, "price file")?, PriceFile::from_toml)
}

/// Checks that no run has two prices, and no price is of nothing.
pub(super) fn check(prices: &[PriceFile], runs: &[ReportedRun]) -> Result<(), SessionError> {
    let targets: Vec<String> = runs.iter().map(|run| run.document.target.name()).collect();
    for target in &targets {
        if prices.iter().filter(|price| price.is_for(target)).count() > 1 {
            return Err(SessionError::usage(format!(
                "two price files are for {target}: name in each, by `targets = [\"{target}\"]`, what it is for"
            )));
        }
    }
    let named = prices.iter().flat_map(|price| &price.targets);
    let strange = named.filter(|name| !targets.contains(name)).map(|name| console::printable_lines(name)).next();
    strange.map_or(Ok(()), |name| {
        let among = targets.join(", ");
        Err(SessionError::usage(format!("a price is for {name}, and no run is of it: they are of {among}")))
    })
}
