//! The oracle: datapoints in a vector, and every query answered by plain code. What it says is what other backends
//! are held to. The layout makes no difference to it, but that a wide table is altered for signals that are added.

mod database;
mod figures;
mod point;
mod rollup;
mod rows;
mod store;

use database::MemoryDatabase;
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Layout, MAX_TAGS,
    OpenRequest, Setting, SettingError, TagSupport, TimeUnit,
};
use std::sync::Arc;

/// Datapoints in memory, as long as their [`Database`] is held.
pub struct Memory;

const SETTINGS: &[Setting] = &[];

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    time_unit: TimeUnit::Ns,
    duplicates: Duplicates::Keep,
    domain: |_| Domain::Full,
    acknowledgement: Acknowledgement::Applied,
    transactions: true,
    buckets: &[Layout::Wide, Layout::Narrow, Layout::Document, Layout::Bulk],
    most_writers: None,
    blocking: false,
    embedded: true,
    stores: true,
    empties: true,
};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    tags: TagSupport { most: MAX_TAGS, changing: true, ..TagSupport::NONE },
    added_signals: |layout| if layout == Layout::Wide { AddedSignals::Altered } else { AddedSignals::Nothing },
    ..BackendInfo::new("memory", "a vector in memory, read by plain code: the oracle of the tests", CAPABILITIES)
};

impl Backend for Memory {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let Config {} = request.settings.typed(SETTINGS)?;
        Ok(Arc::new(MemoryDatabase::new(request.table)))
    }
}
