//! What an acknowledged write promises.

use super::config::Transport;
use iotbench_core::{Acknowledgement, Promise, PromiseLevel, PromiseSource};

/// What an acknowledgement means over this transport.
pub(crate) fn acknowledgement(transport: &Transport) -> Acknowledgement {
    match transport {
        Transport::Http { .. } => Acknowledgement::Durable,
        Transport::Udp { .. } => Acknowledgement::None,
    }
}

/// The promise, given the server's `wal-fsync-delay` as far as it could be read.
///
/// InfluxDB 1.x answers `/write` after the flush of its write-ahead log. `wal-fsync-delay` lets several writes share one
/// flush; each of them still waits for it: with 1.5 s a single write took 1.5 s. So the promise is that of a flush
/// whatever the delay. A datagram is not answered at all.
/// Source: <https://docs.influxdata.com/influxdb/v1/administration/config/#wal-fsync-delay>.
pub(crate) fn promise(transport: &Transport, wal_fsync_delay: Option<&str>) -> Promise {
    let (level, source) = match (transport, wal_fsync_delay) {
        (Transport::Http { .. }, Some(_)) => (PromiseLevel::OsCrash, PromiseSource::ReadBack),
        (Transport::Http { .. }, None) => (
            PromiseLevel::OsCrash,
            PromiseSource::Declared(
                "InfluxDB 1.x flushes its log before it answers a write (its documentation)".into(),
            ),
        ),
        (Transport::Udp { .. }, _) => {
            (PromiseLevel::Buffered, PromiseSource::Declared("a datagram is not answered".into()))
        }
    };
    Promise { level, nodes: 1, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::influxdb::config::Datagram;

    #[test]
    fn each_transport_promises_what_it_keeps() {
        let http = Transport::Http { gzip: false };
        let udp = Transport::Udp { datagram: Datagram::Line, host: "h".into(), port: 1 };
        for (transport, delay, level, is_read_back) in [
            (&http, Some("0s"), PromiseLevel::OsCrash, true),
            (&http, Some("1.5s"), PromiseLevel::OsCrash, true),
            (&http, None, PromiseLevel::OsCrash, false),
            (&udp, Some("0s"), PromiseLevel::Buffered, false),
            (&udp, None, PromiseLevel::Buffered, false),
        ] {
            let promise = promise(transport, delay);
            assert_eq!(promise.level, level, "{transport:?} {delay:?}");
            assert_eq!(promise.source == PromiseSource::ReadBack, is_read_back, "{transport:?} {delay:?}");
        }
        assert_eq!(acknowledgement(&udp), Acknowledgement::None);
        assert_eq!(acknowledgement(&http), Acknowledgement::Durable);
    }
}
