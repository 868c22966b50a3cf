//! What a million datapoints cost. Pure.

use crate::{
    document::{Document, Resources},
    price::{PRICED_YEARS, PriceFile},
};
use serde::Serialize;
use std::collections::BTreeMap;

const MILLION: f64 = 1e6;
const SECONDS_A_YEAR: f64 = 365.0 * 86_400.0;
/// TPCx-IoT has it for a thousand operations: here they are datapoints.
const FORMULA: &str = "1000 P / (datapoints/s), P = Σ count × (once + 3 × a year)";

/// What a million acknowledged datapoints cost. Null: not known, for the reason in `unknown`; never 0 for that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The run.
    pub run_id: String,
    /// Database and layout.
    pub target: String,
    /// Datapoints acknowledged in the measured part.
    pub datapoints: Option<f64>,
    /// CPU seconds of one core, of the database's processes over the measured part; an embedded database's with the client.
    pub cpu_s_per_million: Option<f64>,
    /// Bytes that these processes had storage devices write over the measured part, at once or later.
    pub bytes_written_per_million: Option<f64>,
    /// Bytes on disk, over the whole run.
    pub bytes_stored_per_million: Option<f64>,
    /// Joules of the whole machine, the load's own and other programs' included.
    pub energy_j_per_million: Option<f64>,
    /// Money, where a price is given.
    pub price: Option<Price>,
    /// Why figures are null.
    pub unknown: BTreeMap<&'static str, &'static str>,
}

/// Price and performance (TPCx-IoT: $/kIoTps = 1000 P / IoTps).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Price {
    /// How it is worked out.
    pub formula: &'static str,
    /// The inputs.
    pub system: PriceFile,
    /// P: what the system costs over three years.
    pub total: f64,
    /// The rate that is divided by, in datapoints/s.
    pub datapoints_per_s: f64,
    /// Money for a thousand datapoints/s.
    pub per_thousand_datapoints_per_s: f64,
    /// Money for a million datapoints, of all that such a rate makes in three years.
    pub per_million_datapoints: f64,
}

impl Cost {
    /// Of a run, with the price of the system where there is one.
    #[must_use]
    pub fn of(document: &Document, system: Option<&PriceFile>) -> Self {
        let rate = document.throughput.as_ref().and_then(|t| t.points_per_s).filter(|rate| *rate > 0.0);
        let length_s = document.measured.as_ref().and_then(|measured| measured.length_s);
        let datapoints = rate.zip(length_s).map(|(rate, length_s)| rate * length_s).filter(|points| *points > 0.0);
        let database: Vec<&Resources> = document.resources.iter().filter(|r| r.is_of_database()).collect();
        let total = |figure: &dyn Fn(&Resources) -> Option<f64>| {
            let known: Option<Vec<f64>> = database.iter().map(|resources| figure(resources)).collect();
            known.filter(|known| !known.is_empty()).map(|known| known.iter().sum::<f64>())
        };
        let for_a_million = |amount: Option<f64>| Some(amount? / datapoints? * MILLION);
        let machine = document.resources.iter().find(|r| r.is_of_machine());
        let energy_j = machine.and_then(|machine| machine.energy_j);
        let mut cost = Self {
            run_id: document.run_id.clone(),
            target: document.target.name(),
            datapoints,
            cpu_s_per_million: for_a_million(total(&|r| r.cpu_s)),
            bytes_written_per_million: for_a_million(total(&|r| r.disk_written_bytes.map(|bytes| bytes as f64))),
            bytes_stored_per_million: document.storage.bytes_per_point.map(|bytes| bytes * MILLION),
            energy_j_per_million: for_a_million(energy_j),
            price: rate.zip(system).map(|(rate, system)| Price::of(system, rate)),
            unknown: BTreeMap::new(),
        };
        cost.unknown = cost.reasons(system.is_some());
        cost
    }

    fn reasons(&self, has_price: bool) -> BTreeMap<&'static str, &'static str> {
        let of_points = |otherwise| if self.datapoints.is_none() { "no datapoint was written" } else { otherwise };
        let figures = [
            ("cpu_s_per_million", self.cpu_s_per_million.is_none(), of_points("the CPU time is not known")),
            (
                "bytes_written_per_million",
                self.bytes_written_per_million.is_none(),
                of_points("it is known by bounds only"),
            ),
            ("bytes_stored_per_million", self.bytes_stored_per_million.is_none(), "the database does not tell"),
            ("energy_j_per_million", self.energy_j_per_million.is_none(), of_points("the machine does not tell")),
            ("price", self.price.is_none(), if has_price { of_points("") } else { "no price was given" }),
        ];
        figures.into_iter().filter(|(_, is_missing, _)| *is_missing).map(|(name, _, reason)| (name, reason)).collect()
    }
}

impl Price {
    fn of(system: &PriceFile, datapoints_per_s: f64) -> Self {
        let total = system.total();
        let datapoints = datapoints_per_s * f64::from(PRICED_YEARS) * SECONDS_A_YEAR;
        Self {
            formula: FORMULA,
            system: system.clone(),
            total,
            datapoints_per_s,
            per_thousand_datapoints_per_s: 1_000.0 * total / datapoints_per_s,
            per_million_datapoints: total / datapoints * MILLION,
        }
    }
}
