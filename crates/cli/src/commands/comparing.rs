//! What `compare`, `run --baseline` and `history` ask for alike.

use clap::{
    Args,
    builder::{FalseyValueParser, PossibleValuesParser, TypedValueParser},
};
use iotbench_engine::Share;
use iotbench_report::{Across, CompareOptions, METRICS, Metric, find_metric};

/// When a difference matters, of what, and between which runs.
#[derive(Clone, Debug, Args)]
pub(crate) struct ComparisonArguments {
    /// A smaller change does not matter [default: 3%]
    #[arg(long, env = "IOTBENCH_THRESHOLD", value_name = "SHARE")]
    threshold: Option<Share>,
    /// Compare and gate these only; repeatable. Without it everything is compared, and capacity, operations_per_s,
    /// response_mean_us and response_p99_us are gated
    #[arg(long, env = "IOTBENCH_METRIC", value_name = "NAME", value_delimiter = ',', value_parser = metrics())]
    metric: Vec<&'static Metric>,
    /// Compare although profile, seed or load differ
    #[arg(long, env = "IOTBENCH_ACROSS_PLANS", value_parser = FalseyValueParser::new())]
    across_plans: bool,
    /// Compare although an acknowledged write survives different things
    #[arg(long, env = "IOTBENCH_ACROSS_DURABILITY", value_parser = FalseyValueParser::new())]
    across_durability: bool,
    /// Compare although the machines differ
    #[arg(long, env = "IOTBENCH_ACROSS_MACHINES", value_parser = FalseyValueParser::new())]
    across_machines: bool,
    /// Leave runs out that are not valid, instead of refusing
    #[arg(long, env = "IOTBENCH_LEAVE_OUT_INVALID", value_parser = FalseyValueParser::new())]
    leave_out_invalid: bool,
}

/// The names of all metrics, and what they stand for.
pub(super) fn metrics() -> impl TypedValueParser<Value = &'static Metric> {
    let names = PossibleValuesParser::new(METRICS.iter().map(|metric| metric.name));
    names.try_map(|name| find_metric(&name).ok_or_else(|| format!("there is no metric {name}")))
}

impl ComparisonArguments {
    /// The first option that was written although nothing is compared. What stands in the environment may be meant for another
    /// command.
    pub(crate) fn without_use(&self) -> Option<&'static str> {
        let options = [
            ("--threshold", "IOTBENCH_THRESHOLD", self.threshold.is_some()),
            ("--metric", "IOTBENCH_METRIC", !self.metric.is_empty()),
            ("--across-plans", "IOTBENCH_ACROSS_PLANS", self.across_plans),
            ("--across-durability", "IOTBENCH_ACROSS_DURABILITY", self.across_durability),
            ("--across-machines", "IOTBENCH_ACROSS_MACHINES", self.across_machines),
            ("--leave-out-invalid", "IOTBENCH_LEAVE_OUT_INVALID", self.leave_out_invalid),
        ];
        let written = |(_, variable, is_set): &(_, &str, bool)| *is_set && std::env::var_os(variable).is_none();
        options.iter().find(|option| written(option)).map(|(name, ..)| *name)
    }

    pub(crate) fn options(&self, noise_floor: Option<u64>) -> CompareOptions {
        CompareOptions {
            threshold: self.threshold.map_or(CompareOptions::default().threshold, |share| share.0),
            metrics: self.metric.clone(),
            across: Across {
                plans: self.across_plans,
                durability: self.across_durability,
                machines: self.across_machines,
                invalid: self.leave_out_invalid,
            },
            noise_floor,
        }
    }
}
