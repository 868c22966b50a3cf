//! The options of `iotbench run` that change what the profile says.

use clap::{Args, ValueEnum, builder::FalseyValueParser};
use iotbench_engine::{
    Arrival, ArrivalOverride, Count, Datapoints, Overrides, RampState, Rate, ScenarioAction, SearchOverride, Span,
    Strategy,
};
use iotbench_session::SessionError;

#[derive(Clone, Debug, Args)]
pub(super) struct ChangeArguments {
    /// How long to measure, such as 30s or 10m
    #[arg(long, short, env = "IOTBENCH_DURATION", value_name = "TIME")]
    duration: Option<Span>,
    /// End after so many operations
    #[arg(long, env = "IOTBENCH_OPERATIONS", value_name = "N")]
    operations: Option<Count>,
    /// How long to load before measuring
    #[arg(long, env = "IOTBENCH_WARMUP", value_name = "TIME")]
    warmup: Option<Span>,
    /// Operations per second of an open loop, datapoints per second of a sensor
    #[arg(long, short, env = "IOTBENCH_RATE", value_name = "N")]
    rate: Option<Rate>,
    /// So many virtual users instead of a search for the most
    #[arg(long, env = "IOTBENCH_VUS", value_name = "N")]
    vus: Option<Count>,
    /// What starts an operation
    #[arg(long, env = "IOTBENCH_ARRIVAL", value_enum)]
    arrival: Option<ArrivalWord>,
    /// What each step of a search begins with: fresh (an empty database), preloaded (the history of --history, written anew),
    /// preconditioned (an empty database under the step's own load until its rate is steady) or keep (what the steps before it
    /// left); without it fresh where the profile only writes, without a history, and the
    /// database can be emptied under its writers
    #[arg(long, env = "IOTBENCH_STATE", value_name = "fresh|preloaded|preconditioned|keep")]
    state: Option<RampState>,
    /// Connections of the first group
    #[arg(long, short, env = "IOTBENCH_CONNECTIONS", value_name = "N")]
    connections: Option<Count>,
    /// Datapoints of each device in a request: a count, second or since_last. A request is about one device, unless the
    /// profile says devices = N for its operation: then it carries N times as many (--dry-run: expected.requests)
    #[arg(long, env = "IOTBENCH_BATCH", value_name = "N")]
    batch: Option<Datapoints>,
    /// How machine cycles are read: individual, bulk, bulk1; a run for each, all of them by default
    #[arg(long, env = "IOTBENCH_STRATEGY", value_name = "NAME", value_delimiter = ',')]
    pub(super) strategy: Vec<Strategy>,
    /// Which of the profile's variants to run, a run for each; all of them by default
    #[arg(long, env = "IOTBENCH_VARIANT", value_name = "NAME", value_delimiter = ',')]
    pub(super) variant: Vec<String>,
    /// How much of the devices' own time is written before the run, such as 10m
    #[arg(long, env = "IOTBENCH_HISTORY", value_name = "TIME")]
    history: Option<Span>,
    /// Kill, stop, continue, restart or crash (kill and start again) a process of the private server while the load runs,
    /// such as 20s:restart or 20s:kill:cassandra:2 (node 2, counted from 0); crash alone: in the middle of the load;
    /// repeatable
    #[arg(long, env = "IOTBENCH_SCENARIO", value_name = "AT:ACTION[:ROLE[:NODE]]", value_delimiter = ',')]
    scenario: Vec<ScenarioAction>,
    /// Decides all data and schedules
    #[arg(long, env = "IOTBENCH_SEED", value_name = "N")]
    seed: Option<u64>,
    /// Set any field of the profile; the last word of its key suffices where it is unique; repeatable
    #[arg(long, env = "IOTBENCH_SET", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The study's own lengths instead of the short ones
    #[arg(long, env = "IOTBENCH_FULL", value_parser = FalseyValueParser::new())]
    full: bool,
    /// Set by `iotbench capacity`.
    #[arg(skip)]
    search: Option<SearchOverride>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ArrivalWord {
    /// A schedule of equal distances
    Constant,
    /// A schedule of independent exponential distances
    Poisson,
    /// The answer to the user's last operation
    Closed,
}

impl ChangeArguments {
    /// What they change, whatever the layout.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            variant: None,
            full: self.full,
            set: self.set.clone(),
            duration: self.duration,
            operations: self.operations,
            warmup: self.warmup,
            rate: self.rate,
            users: self.vus,
            arrival: self.arrival.map(|word| match word {
                ArrivalWord::Constant => ArrivalOverride::Open(Arrival::Constant),
                ArrivalWord::Poisson => ArrivalOverride::Open(Arrival::Poisson),
                ArrivalWord::Closed => ArrivalOverride::Closed,
            }),
            connections: self.connections,
            batch: self.batch,
            layout: None,
            history: self.history,
            strategy: None,
            scenario: self.scenario.clone(),
            seed: self.seed,
            search: self.search,
            state: self.state,
        }
    }

    /// The same as a search for the highest sustainable load.
    pub(super) fn searching(self, search: SearchOverride) -> Result<Self, SessionError> {
        let fixed = [
            (
                self.duration.is_some(),
                "--duration",
                "a search ends with its answer; --trial says how long a trial counts",
            ),
            (self.operations.is_some(), "--operations", "a search ends with its answer"),
            (self.rate.is_some(), "--rate", "the rate is what is searched; --first says where it begins"),
            (self.vus.is_some(), "--vus", "the number of users is what is searched; --first says where it begins"),
        ];
        match fixed.into_iter().find(|(is_given, ..)| *is_given) {
            Some((_, option, why)) => Err(SessionError::usage(format!("{option} fixes the load: {why}"))),
            None => Ok(Self { search: Some(search), ..self }),
        }
    }
}
