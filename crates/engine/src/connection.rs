//! A connection to a database: it writes or it reads.

use iotbench_core::{Cause, Database, Error, Interrupt, Reader, Writer};
use std::sync::Arc;

/// What the connections of a loop do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// They write.
    Writes,
    /// They read.
    Reads,
    /// They send users' statements that may change what is stored.
    Changes,
}

/// A connection of one of the two kinds.
pub enum Connection {
    /// It writes.
    Writer(Box<dyn Writer>),
    /// It reads.
    Reader(Box<dyn Reader>),
}

impl Connection {
    /// Opens a connection.
    pub async fn open(database: &dyn Database, role: Role) -> Result<Self, Error> {
        match role {
            Role::Writes => database.writer().await.map(Self::Writer),
            Role::Reads => database.reader().await.map(Self::Reader),
            Role::Changes => database.changing_reader().await.map(Self::Reader),
        }
    }

    /// How to end a call that blocks.
    pub fn interrupt(&self) -> Option<Arc<dyn Interrupt>> {
        match self {
            Self::Writer(writer) => writer.interrupt(),
            Self::Reader(reader) => reader.interrupt(),
        }
    }

    /// The writer that it is.
    pub fn writer(&mut self) -> Result<&mut dyn Writer, Error> {
        match self {
            Self::Writer(writer) => Ok(&mut **writer),
            Self::Reader(_) => Err(Error::new(Cause::Client, "a connection that reads was given datapoints")),
        }
    }

    /// The reader that it is.
    pub fn reader(&mut self) -> Result<&mut dyn Reader, Error> {
        match self {
            Self::Reader(reader) => Ok(&mut **reader),
            Self::Writer(_) => Err(Error::new(Cause::Client, "a connection that writes was asked a question")),
        }
    }
}
