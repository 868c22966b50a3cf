//! What databases need alike that store values metric by metric and know no datapoints: each signal has a metric of its own,
//! the device is a tag, and a datapoint is put together again from the values of one device and time.

mod counts;
mod datapoint;
mod figures;
mod json;
mod names;
mod points;
mod queued;
mod rows;
mod span;

pub(crate) use counts::counts;
pub(crate) use datapoint::{Cell, Datapoint, number};
pub(crate) use figures::{Figures, name_of};
pub(crate) use json::push_value;
#[cfg(feature = "kairosdb")]
pub(crate) use names::PREFIX;
pub(crate) use names::{DEVICE, metric, prefix};
#[cfg(feature = "kairosdb")]
pub(crate) use points::Take;
pub(crate) use points::{Series, device_number, points};
pub(crate) use queued::Queued;
pub(crate) use rows::{Found, NOTHING, counts_row, one_point, push, types};
pub(crate) use span::{NS_PER_MS, Span, ns};
