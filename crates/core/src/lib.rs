//! The seam between iotbench and a database.
//!
//! A [`Backend`] states facts about a database and opens a [`Database`] without touching it. The [`Database`] is the
//! control plane (ping, create, count, drop); its [`Writer`]s and [`Reader`]s are the data plane. What they exchange is a
//! [`Batch`]: columns of values together with the identity of every datapoint in it, so that any datapoint can be
//! recomputed from its device and index alone.
//!
//! ```text
//! Backend ──open──► Database ──► Writer  (write a Batch, get an Acknowledged)
//!                            └─► Reader  (a Query in, Chunks pushed into a Sink)
//! ```
//!
//! # Invariants
//! - Nothing here does I/O, reads a clock, or knows an async runtime, a driver or a particular database.
//! - A batch never holds a value without its identity, nor columns of different lengths.
//! - A missing ability is a [`Misfit`] with a reason, never a panic and never a zero.

mod aggregate;
mod backend;
mod batch;
mod bucket_width;
mod capability;
mod carrier;
mod column;
mod consecutive;
mod counters;
mod durability;
mod error;
mod fill;
mod info;
mod layout;
mod name;
mod opens;
mod percentile;
mod process_action;
mod query;
mod recipe;
mod registry;
mod reply;
mod roles;
mod rollup;
mod schema;
mod settings;
mod source;
mod statement;
mod stored_tags;
mod table;
mod tag;
mod target;

pub use backend::{
    Acknowledged, Backend, Counts, Database, Interrupt, LOOK_PAUSE, OpenRequest, OwnedObject, RENEWAL, Reader,
    ServerFacts, Settled, Writer,
};
pub use batch::{Batch, Run, RunRows};
pub use bucket_width::BucketWidth;
pub use capability::{Acknowledgement, AddedSignals, Capabilities, Domain, Duplicates, Misfit, TimeUnit};
pub use carrier::{Carrier, CarrierFacts, Label, Publisher, Subscriber, Way};
pub use column::{Column, TextColumn, Value};
pub use consecutive::Consecutive;
pub use counters::{Counted, Counter, CounterReader, CounterSource};
pub use durability::{Promise, PromiseLevel, PromiseSource};
pub use error::{Action, Applied, Cause, Error};
pub use fill::Fill;
pub use info::{BackendInfo, TagSupport};
pub use layout::Layout;
pub use name::{Name, NameError};
pub use opens::Opens;
pub use percentile::Percentile;
pub use process_action::ProcessAction;
pub use query::{Aggregate, Devices, Direction, Predicate, Query, Tagged, TimeRange};
pub use recipe::{
    CLUSTER, ConfigFile, Jars, On, Origin, Program, Ready, Recipe, Role, SERVER_SETTINGS, StopBy, Variant, capitals,
};
pub use registry::{Registry, UnknownBackend};
pub use reply::{CHUNK_ROWS, Chunk, ComputedBy, Reply, ReplyColumn, Sink};
pub use roles::{BROKER_ROLE, CLIENT_ROLE, MACHINE_ROLE, SERVER_ROLE, SHARED_ROLE};
pub use rollup::{Items, Rollup};
pub use schema::{Schema, SchemaError, Signal, SignalId, ValueType};
pub use settings::{Setting, SettingError, Settings, closest};
pub use source::{Due, Left, Next, Source};
pub use statement::{Language, Parameter, Piece, Statement, StatementCall, StatementError, parameter_of};
pub use stored_tags::{TagsKept, TakeTags};
pub use table::{Marker, TableSpec};
pub use tag::{MAX_TAGS, Tag, TagError, TagId, TagType, TagValue, TagValues, Tags, TypedTag};
pub use target::{Endpoint, Node, Target};
