//! VictoriaMetrics: line protocol in, exported samples and MetricsQL out. README.md beside this file says what it
//! creates, what it promises and which values it keeps.

mod client;
mod config;
mod counters;
mod database;
mod error;
mod facts;
mod marker;
mod read;
mod recipe;
mod series;
mod write;

use config::{Config, SETTINGS};
use database::VictoriaDatabase;
use facts::MAX_SECONDS_IN_MEMORY;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Language, Layout,
    OpenRequest, PromiseLevel, SettingError, TagSupport, TimeUnit, ValueType,
};
use marker::{FLAG, MARKER};
use std::sync::Arc;

/// VictoriaMetrics, single node.
pub struct VictoriaMetrics;

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow],
    time_unit: TimeUnit::Ms,
    duplicates: Duplicates::Keep,
    domain,
    acknowledgement: Acknowledgement::Queued,
    transactions: false,
    buckets: &[Layout::Wide, Layout::Narrow],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: true,
};

/// The greatest integer up to which a 64-bit float holds every one.
const GREATEST_INTEGER: i64 = 1 << 53;

/// Every value becomes a decimal of twelve digits or more; those of one series share their exponent, block by block.
fn domain(value_type: ValueType) -> Domain {
    match value_type {
        ValueType::F32 | ValueType::F64 => Domain::RoundedTogether { relative: 1e-12, of_greatest: 1e-17 },
        ValueType::I64 => Domain::Integers { min: -GREATEST_INTEGER, max: GREATEST_INTEGER },
        ValueType::U16 => Domain::Full,
        ValueType::Text => Domain::Unsupported,
    }
}

/// How many labels a series keeps: of more, the server drops some and says nothing but in its log (its
/// `-maxLabelsPerTimeseries`, by default).
const MOST_LABELS: usize = 30;
/// Database, marker, device and, in layout narrow, signal.
const OWN_LABELS: usize = 4;

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(config::KNOWN.port),
    counters: counters::SOURCES,
    promise: PromiseLevel::OsCrashWithin { seconds: MAX_SECONDS_IN_MEMORY },
    recipe: Some(&recipe::RECIPE),
    tags: TagSupport { most: MOST_LABELS - OWN_LABELS, ..TagSupport::NONE },
    keeps_together: false,
    statements: Some(Language::MetricsQl),
    met: &["1.79.5"],
    writes_by: "line protocol over HTTP",
    added_signals: |_| AddedSignals::Nothing,
    ..BackendInfo::new(
        "victoriametrics",
        "VictoriaMetrics: line protocol over HTTP, read by export and MetricsQL",
        CAPABILITIES,
    )
};

impl Backend for VictoriaMetrics {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        if [MARKER, FLAG].contains(&request.table.name.as_str()) {
            let message = format!("{MARKER} and {FLAG} are the names of the series that mark ours: choose another");
            return Err(SettingError { key: "table".into(), message, suggestion: None });
        }
        Ok(Arc::new(VictoriaDatabase::new(config, request.table)))
    }
}
