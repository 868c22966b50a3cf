//! What backends share: a database's own folder says only what is its own.
//!
//! | question | answer | feature |
//! |---|---|---|
//! | what is refused before anything is sent? | [`refuse`] | |
//! | what is ours, and what may be replaced or dropped? | [`ownership`] | |
//! | who may change a table, and how is he kept from others who would? | [`lease`], [`flag`], [`claims`], [`changes`] | `lease` |
//! | how does work go on that waits for what becomes visible later? | [`looks`] | |
//! | how is a marker written and read? | [`marker`] | |
//! | what does a query ask of a database? | [`ask`] | |
//! | how do rows become an answer in bounded chunks? | [`answer`] | |
//! | how do rows that are no datapoint each become one? | [`assemble`], of JSON [`gather`] | |
//! | how is a cell of a JSON answer a value of the schema? | [`cell`] | |
//! | which times does a range hold, which second or millisecond has a time? | [`span`], [`second`], [`millis`] | |
//! | what are the figures of values that come one after the other? | [`series`] | |
//! | how are figures of signals answered, device by device? | [`figures`] | |
//! | what if the client looks which datapoints meet a condition? | [`filter`] | |
//! | what if the client works out figures, and figures of time buckets? | [`fold`] | |
//! | what if the client fills time buckets that hold no point? | [`filled`] | |
//! | what if the client finds percentiles? | [`percentile`] | |
//! | what if the client chooses the devices with the greatest figure? | [`top`] | |
//! | what if the client puts figures of devices together, or looks which meet a condition? | [`by_client`]: [`total`], [`having`] | |
//! | what if the client works out figures over the points that meet a condition, or turns points round? | [`condition`], [`descending`] | |
//! | what if the client finds what figures of devices come to together? | [`rollup`] | |
//! | what if the client looks what lies between consecutive values? | [`consecutive`] | |
//! | how does SQL work out figures of groups of rows, and how do rows of cells become an answer? | [`sql`] | |
//! | where does SQL keep the tags of devices? | [`devices`] | |
//! | how does a store answer that can only be read whole? | [`scan`] | |
//! | what if a database has no question for the newest of each device? | [`each`] | |
//! | what can be done where encryption was refused? | [`handshake`] | |
//! | how is an HTTP server reached and talked to? | [`http`] | `http` |
//! | how are datapoints written in the line protocol? | [`line_protocol`] | `line_protocol` |
//! | how are datapoints written as JSON text, and read? | [`json`] | `json` |
//! | what if values are stored metric by metric? | [`metrics`] | `metrics` |
//!
//! # Invariants
//! - It never knows a database by name.
//! - It never times, retries, sleeps, spawns, counts operations, logs or prints, as no backend does.
//! - It never holds what a server sends without a limit.

pub mod answer;
pub mod ask;
pub mod assemble;
pub mod by_client;
pub mod cell;
#[cfg(feature = "lease")]
pub mod changes;
#[cfg(feature = "lease")]
pub mod claims;
pub mod condition;
pub mod consecutive;
pub mod descending;
pub mod devices;
pub mod each;
pub mod figures;
pub mod filled;
pub mod filter;
#[cfg(feature = "lease")]
pub mod flag;
pub mod fold;
pub mod gather;
pub mod grouped_by;
pub mod handshake;
pub mod having;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "json")]
pub mod json;
#[cfg(feature = "lease")]
pub mod lease;
#[cfg(feature = "line_protocol")]
pub mod line_protocol;
pub mod looks;
pub mod marker;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod millis;
pub mod ownership;
pub mod percentile;
pub mod refuse;
pub mod rollup;
pub mod scan;
pub mod second;
pub mod series;
pub mod span;
pub mod sql;
pub mod statement;
pub mod top;
pub mod total;
