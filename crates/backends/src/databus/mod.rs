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
    Acknowledgement, Backend, Capabilities, Database, Domain, Duplicates, Layout, OpenRequest, Setting, SettingError,
    TimeUnit, ValueType,
};
use std::sync::Arc;

/// NREL's Databus.
pub struct Databus;

/// All times that we write: from 1970, because a question about the first values of a stream takes no time before it, to the
/// end of 2199.
const ALL: Millis = Millis { first: 0, last: 7_258_118_399_999 };

static CAPABILITIES: Capabilities = Capabilities {
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
    most_writers: None,
    blocking: false,
    embedded: false,
    stores: true,
    empties: false,
};

impl Backend for Databus {
    fn name(&self) -> &'static str {
        "databus"
    }

    fn summary(&self) -> &'static str {
        "NREL Databus: JSON over HTTP; the original does not run any more: never measured"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn default_port(&self) -> Option<u16> {
        Some(config::KNOWN.port)
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let config = Config::new(&request.settings, &request.target, |name| std::env::var(name).ok())?;
        Ok(Arc::new(DatabusDatabase::new(config, request.table)))
    }
}
