//! What an acknowledged write promises. KairosDB tells nothing of it: all is declared.

use super::config::{Store, Transport};
use iotbench_core::{Acknowledgement, Promise, PromiseLevel, PromiseSource};

/// What an acknowledgement means over this transport, with this store.
///
/// With H2 the request itself inserts and commits each value (`H2Datastore.putDataPoint`); with Cassandra a 204 says that
/// the values are queued (`queue_processor` in KairosDB's reference configuration). A line is not answered at all.
pub(crate) fn acknowledgement(transport: Transport, store: Option<Store>) -> Acknowledgement {
    match (transport, store) {
        (Transport::Telnet, _) => Acknowledgement::None,
        (Transport::Http { .. }, Some(Store::H2)) => Acknowledgement::Applied,
        (Transport::Http { .. }, Some(Store::Cassandra) | None) => Acknowledgement::Queued,
    }
}

/// The promise. One KairosDB process has the values when it answers, however many nodes of Cassandra will.
///
/// Source: <https://github.com/kairosdb/kairosdb/blob/master/src/main/resources/kairosdb.conf>, `queue_processor`: "Data is
/// placed in both memory and in the file queue before a client response is sent … In the case of a crash the file backed
/// queue is read from the last checkpoint." The file is mapped into memory and not flushed. H2 1.x writes what is committed
/// up to half a second later (<http://www.h2database.com/html/advanced.html#durability_problems>).
pub(crate) fn promise(transport: Transport, store: Option<Store>) -> Promise {
    let (level, why) = match (transport, store) {
        (Transport::Telnet, _) => (PromiseLevel::Buffered, "a line is not answered"),
        (Transport::Http { .. }, Some(Store::H2)) => {
            (PromiseLevel::Buffered, "H2 writes what is committed up to half a second later (its documentation)")
        }
        (Transport::Http { .. }, Some(Store::Cassandra)) => (
            PromiseLevel::ProcessCrash,
            "queued in a file that is mapped into memory and read again after a crash (queue_processor in KairosDB's \
             reference configuration)",
        ),
        (Transport::Http { .. }, None) => {
            (PromiseLevel::Buffered, "KairosDB does not tell what it keeps its data in: name it by the setting store")
        }
    };
    Promise { level, nodes: 1, source: PromiseSource::Declared(why.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_writing_promises_what_it_keeps() {
        let http = Transport::Http { gzip: true };
        for (transport, store, acknowledged, level) in [
            (http, Some(Store::H2), Acknowledgement::Applied, PromiseLevel::Buffered),
            (http, Some(Store::Cassandra), Acknowledgement::Queued, PromiseLevel::ProcessCrash),
            (http, None, Acknowledgement::Queued, PromiseLevel::Buffered),
            (Transport::Telnet, Some(Store::H2), Acknowledgement::None, PromiseLevel::Buffered),
        ] {
            assert_eq!(acknowledgement(transport, store), acknowledged, "{transport:?} {store:?}");
            assert_eq!(promise(transport, store).level, level, "{transport:?} {store:?}");
        }
    }
}
