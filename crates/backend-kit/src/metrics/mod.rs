//! What databases need alike that store values metric by metric and know no datapoints: each signal has a metric of its own,
//! the device is a tag, and a datapoint is put together again from the values of one device and time.

mod counts;
mod datapoint;
mod json;
mod names;
mod newest;
mod points;
mod queued;
mod rows;

pub use crate::cell::Cell;
pub use crate::millis::{Millis, NS_PER_MS, ns};
pub use counts::counts;
pub use datapoint::{Datapoint, number};
pub use json::push_value;
pub use names::PREFIX;
pub use names::{DEVICE, metric, name_of, prefix};
pub use newest::Newest;
pub use points::Take;
pub use points::{Series, device_number, points};
pub use queued::Queued;
pub use rows::{Found, one_point, push};
