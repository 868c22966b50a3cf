//! Finished runs with what their systems cost, in every form in which they are reported.

use crate::{
    cost::Cost,
    document::Document,
    folder::FolderError,
    html::{HtmlOptions, render_html},
    iotps::IotPs,
    json::json_of_runs,
    markdown::render_markdown,
    price::{PriceFile, UnfitPrices},
    printable::printable_lines,
    reported_run::ReportedRun,
    score::scored_run,
    tidy::{render_parquet, render_tidy},
};
use iotbench_scoring::{RankError, Ranking, ScoreFile, rank};
use serde_json::json;
use std::path::Path;

/// The version of the document of several runs.
const SCHEMA: &str = "iotbench-report/1.0";

/// Finished runs, each once, with what their systems cost.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    runs: Vec<ReportedRun>,
    prices: Vec<PriceFile>,
    across_durability: bool,
}

impl RunReport {
    /// The runs in these folders, of runs or of sweeps, or with these documents.
    ///
    /// # Errors
    /// One is none, or not of this version.
    pub fn read(paths: &[impl AsRef<Path>]) -> Result<Self, FolderError> {
        let mut report = Self::default();
        for path in paths {
            for run in ReportedRun::read(path.as_ref())? {
                if report.runs.iter().all(|other| other.document.run_id != run.document.run_id) {
                    report.runs.push(run);
                }
            }
        }
        Ok(report)
    }

    /// The same with what their systems cost.
    ///
    /// # Errors
    /// A run would have two prices, or a price is of none of them.
    pub fn with_prices(self, prices: Vec<PriceFile>) -> Result<Self, UnfitPrices> {
        let targets: Vec<String> = self.runs.iter().map(|run| run.document.target.name()).collect();
        for target in &targets {
            if prices.iter().filter(|price| price.is_for(target)).count() > 1 {
                return Err(UnfitPrices::Two(target.clone()));
            }
        }
        let mut named = prices.iter().flat_map(|price| &price.targets);
        match named.find(|name| !targets.contains(name)) {
            Some(name) => Err(UnfitPrices::OfNone { name: printable_lines(name), targets: targets.join(", ") }),
            None => Ok(Self { prices, ..self }),
        }
    }

    /// The same, ranked together although acknowledged writes survive different things.
    #[must_use]
    pub fn across_durability(self, across_durability: bool) -> Self {
        Self { across_durability, ..self }
    }

    /// As a page, with the score by this file.
    #[must_use]
    pub fn page(&self, mut score: ScoreFile) -> String {
        score.across_durability |= self.across_durability;
        let ranking = self.ranking(&score);
        let score = ranking.as_ref().map(|ranking| ranking.as_ref().map_err(ToString::to_string));
        let (prices, across_durability) = (&*self.prices, self.across_durability);
        render_html(&self.runs, &HtmlOptions { prices, across_durability, score, study: None })
    }

    /// The weighted score, or why there is none; neither where it is not about two contenders of these runs.
    fn ranking(&self, score: &ScoreFile) -> Option<Result<Ranking, RankError>> {
        let runs: Vec<_> = self.runs.iter().map(|run| scored_run(&run.document)).collect();
        match rank(score, &runs) {
            Err(RankError::NoRuns(_)) => None,
            Ok(ranking) if ranking.contenders.len() < 2 => None,
            other => Some(other),
        }
    }

    /// As Markdown that fits a comment on a pull request.
    #[must_use]
    pub fn markdown(&self) -> String {
        render_markdown(&self.runs, &self.costs(), self.across_durability)
    }

    /// As CSV, a row for each run and figure.
    ///
    /// # Errors
    /// As [`render_tidy`].
    pub fn csv(&self) -> Result<String, csv::Error> {
        render_tidy(&self.documents(), &self.costs())
    }

    /// The rows of [`csv`](Self::csv) as a Parquet file.
    ///
    /// # Errors
    /// As [`render_parquet`].
    pub fn parquet(&self) -> Result<Vec<u8>, parquet::errors::ParquetError> {
        render_parquet(&self.documents(), &self.costs())
    }

    /// As one JSON document: the runs, what a million datapoints of each cost, and what they come to in the words of TPCx-IoT.
    ///
    /// # Errors
    /// Never for documents of runs; serde reserves the right.
    pub fn json(&self) -> Result<serde_json::Value, serde_json::Error> {
        let runs = json_of_runs(&self.documents())?["runs"].take();
        Ok(json!({ "schema": SCHEMA, "runs": runs, "costs": self.costs(), "iotps": self.iotps() }))
    }

    fn documents(&self) -> Vec<Document> {
        self.runs.iter().map(|run| run.document.clone()).collect()
    }

    fn iotps(&self) -> Vec<IotPs> {
        IotPs::of(&self.documents(), &self.prices)
    }

    fn costs(&self) -> Vec<Cost> {
        let price = |document: &Document| self.prices.iter().find(|price| price.is_for(&document.target.name()));
        self.runs.iter().map(|run| Cost::of(&run.document, price(&run.document))).collect()
    }
}
