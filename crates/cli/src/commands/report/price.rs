//! Price files.

use crate::{console, error::CliError};
use iotbench_report::{PriceFile, ReportedRun};
use iotbench_session::{parse_toml_file, read_toml_file};
use std::path::{Path, PathBuf};

/// Reads them.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<PriceFile>, CliError> {
    paths.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<PriceFile, CliError> {
    let name = console::printable_lines(&path.display().to_string());
    Ok(parse_toml_file(&name, &read_toml_file(path, "price file")?, PriceFile::from_toml)?)
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
    let strange = named.filter(|name| !targets.contains(name)).map(|name| console::printable_lines(name)).next();
    strange.map_or(Ok(()), |name| {
        let among = targets.join(", ");
        Err(CliError::usage(format!("a price is for {name}, and no run is of it: they are of {among}")))
    })
}
