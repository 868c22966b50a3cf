//! Writes in datagrams: nothing is acknowledged.

use super::DIALECT;
use crate::influxdb::{config::Datagram, error, settle::Datagrams};
use async_trait::async_trait;
use iotbench_backend_kit::{
    http::{error::of_connect, server::resolve},
    line_protocol::Encoder,
};
use iotbench_core::{Acknowledged, Batch, Cause, Error, TableSpec, Writer};
use std::{net::Ipv4Addr, net::Ipv6Addr, net::SocketAddr, ops::Range, sync::Arc};
use tokio::net::UdpSocket;

/// An Ethernet frame of 1500 bytes without the headers of IPv6 and UDP, and 20 bytes to spare for tunnels.
const MTU_BYTES: usize = 1432;
/// The most that a datagram over IPv4 carries.
const LARGEST_BYTES: usize = 65_507;

/// A socket that sends batches.
pub(crate) struct UdpWriter {
    socket: UdpSocket,
    host: String,
    port: u16,
    encoder: Encoder,
    datagram: Datagram,
    datagrams: Arc<Datagrams>,
}

impl UdpWriter {
    pub(crate) async fn connect(
        host: &str,
        port: u16,
        table: Arc<TableSpec>,
        datagram: Datagram,
        datagrams: Arc<Datagrams>,
    ) -> Result<Self, Error> {
        let failed = |e| of_connect(&e, host, port);
        let addresses = resolve(host, port).await?;
        let any: SocketAddr = match addresses[0] {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any).await.map_err(failed)?;
        socket.connect(addresses[0]).await.map_err(failed)?;
        Ok(Self { socket, host: host.to_owned(), port, encoder: Encoder::new(DIALECT, table)?, datagram, datagrams })
    }
}

#[async_trait]
impl Writer for UdpWriter {
    /// Hands a batch to the network: that is all that success says.
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let lines = self.encoder.encode(batch)?;
        refuse_long_lines(&lines.ends)?;
        self.datagrams.sent(lines.ends.len() as u64);
        let mut bytes = 0;
        for range in Packed::new(&lines.ends, self.datagram) {
            let datagram = &lines.bytes[range];
            let sent = self.socket.send(datagram).await.map_err(|e| error::of_datagram(&e, &self.host, self.port))?;
            bytes += sent as u64;
        }
        Ok(Acknowledged { points: batch.len() as u64, bytes })
    }
}

fn refuse_long_lines(ends: &[usize]) -> Result<(), Error> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    match starts.zip(ends).map(|(start, end)| end - start).find(|&bytes| bytes > LARGEST_BYTES) {
        Some(bytes) => {
            Err(Error::new(Cause::Data, format!("a line of {bytes} bytes: a datagram takes {LARGEST_BYTES}")))
        }
        None => Ok(()),
    }
}

/// The bytes of one datagram after the other. A line is never divided; one that is too long for a frame goes alone.
struct Packed<'a> {
    ends: &'a [usize],
    start: usize,
    most_bytes: usize,
}

impl<'a> Packed<'a> {
    fn new(ends: &'a [usize], datagram: Datagram) -> Self {
        let most_bytes = match datagram {
            Datagram::Line => 0,
            Datagram::Mtu => MTU_BYTES,
            Datagram::Largest => LARGEST_BYTES,
        };
        Self { ends, start: 0, most_bytes }
    }
}

impl Iterator for Packed<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let fitting = self.ends.iter().take_while(|&&end| end - self.start <= self.most_bytes).count();
        let (datagram, rest) = self.ends.split_at_checked(fitting.max(1))?;
        let range = self.start..*datagram.last()?;
        (self.start, self.ends) = (range.end, rest);
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_packed_as_asked() {
        let ends = [700, 1400, 1432, 2000, 70_000, 70_001];
        let packed = |datagram| Packed::new(&ends, datagram).collect::<Vec<_>>();
        assert_eq!(packed(Datagram::Line).len(), 6);
        assert_eq!(packed(Datagram::Mtu), [0..1432, 1432..2000, 2000..70_000, 70_000..70_001]);
        assert_eq!(packed(Datagram::Largest), [0..2000, 2000..70_000, 70_000..70_001]);
        assert!(refuse_long_lines(&ends).is_err() && refuse_long_lines(&ends[..4]).is_ok());
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_and_no_line_divided(
            lengths in prop::collection::vec(1..3000_usize, 0..200),
            datagram in prop::sample::select(vec![Datagram::Line, Datagram::Mtu, Datagram::Largest]),
        ) {
            let ends: Vec<usize> = lengths.iter().scan(0, |end, length| { *end += length; Some(*end) }).collect();
            let mut at = 0;
            for range in Packed::new(&ends, datagram) {
                prop_assert_eq!(range.start, at);
                prop_assert!(ends.contains(&range.end));
                let lines = ends.iter().filter(|&&end| range.start < end && end <= range.end).count();
                let most_bytes = if datagram == Datagram::Mtu { MTU_BYTES } else { LARGEST_BYTES };
                prop_assert!(lines == 1 || datagram != Datagram::Line && range.len() <= most_bytes);
                at = range.end;
            }
            prop_assert_eq!(at, ends.last().copied().unwrap_or(0));
        }
    }
}
