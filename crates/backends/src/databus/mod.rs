//! NREL's Databus: datapoints as JSON over HTTP, questions as paths of stacked modules. README.md beside this file says what
//! it creates and promises, and that none of it ever met the original, which does not run any more.

mod client;
mod config;
mod database;
mod document;
mod error;
mod marker;
mod names;
mod read;
mod write;

use config::{Config, SETTINGS};
use database::DatabusDatabase;
use iotbench_backend_kit::millis::Millis;
use iotbench_core::{
    Acknowledgement, Backend, BackendInfo, Capabilities, Database, Domain, Duplicates, Layout, OpenRequest,
    SettingError, TimeUnit, ValueType,
};
use std::sync::Arc;

/// NREL's Databus.
pub struct Databus;

/// All times that we write: from 1970, because a question about the first values of a stream takes no time before it, to the
/// end of 2199.
const ALL: Millis = Millis { first: 0, last: 7_258_118_399_999 };

const CAPABILITIES: Capabilities = Capabilities {
    layouts: &[Layout::Wide],
    time_unit: TimeUnit::Ms,
    duplicates: Duplicates::Overwrite,
    domain: |value_type| match value_type {
        // A stream holds decimal numbers of any size, among which there is no negative zero.
        ValueType::F32 | ValueType::F64 => Domain::Rounded { relative: 0.0 },
        ValueType::I64 | ValueType::U16 => Domain::Full,
        ValueType::Text => Domain::Unsupported,
    },
    acknowledgement: Acknowledgement::Applied,
    transactions: false,
    buckets: &[],
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: false,
};

static INFO: BackendInfo = BackendInfo {
    settings: SETTINGS,
    default_port: Some(config::KNOWN.port),
    writes_by: "JSON over HTTP",
    ..BackendInfo::new(
        "databus",
        "NREL Databus: JSON over HTTP; the original does not run any more: never measured",
        CAPABILITIES,
    )
};

impl Backend for Databus {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        Ok(Arc::new(DatabusDatabase::new(config, request.table)))
    }
}
