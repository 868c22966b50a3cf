//! The newest datapoints of one device or of many.

use super::{FIRST_ROWS, MariaDbReader, pager::Pager, points::Values};
use iotbench_backend_kit::{
    answer::{Answer, types},
    ask::{Ask, Asked},
};
use iotbench_core::{ComputedBy, Error, Reply, Sink};
use std::{cmp::Reverse, collections::BinaryHeap, ops::ControlFlow};

/// Datapoints at hand while several devices are merged, in all; at least one of each.
const MERGED_POINTS: u64 = 4096;

impl MariaDbReader {
    /// The newest datapoints; those of several devices are merged, some of each at a time.
    pub(super) async fn newest(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Ask { signals, limit, .. } = *ask;
        let devices = self.devices(ask.devices).await?;
        let of_one = |device: u32| Ask { devices: Asked::One(device), ..*ask };
        let mut answer = Answer::new(sink, types(&self.place.table.schema, signals));
        let mut bytes = 0;
        if let [device] = devices.as_slice() {
            self.first_points(&of_one(*device), &mut bytes, &mut |device, time, point| {
                answer.row(device, time, |columns| point.values(columns))?;
                Ok(ControlFlow::Continue(()))
            })
            .await?;
            return answer.finish(bytes, self.shape.computed_by());
        }
        let of_each = limit.min(MERGED_POINTS).div_ceil(devices.len().max(1) as u64) + 1;
        let rows = self.shape.rows_of(of_each, signals).unwrap_or(FIRST_ROWS);
        let schema = &self.place.table.schema;
        let mut pagers: Vec<_> = devices.iter().map(|&device| Pager::new(schema, of_one(device), rows)).collect();
        let mut heads = BinaryHeap::with_capacity(pagers.len());
        for (place, pager) in pagers.iter_mut().enumerate().take(if limit == 0 { 0 } else { usize::MAX }) {
            let time = pager.next(&mut self.connection, &*self.shape).await?;
            heads.extend(time.map(|time| (time, Reverse(place))));
        }
        for _ in 0..limit {
            let Some((time, Reverse(place))) = heads.pop() else { break };
            let pager = &mut pagers[place];
            answer.row(pager.device(), time, |columns| pager.values().values(columns))?;
            let time = pager.next(&mut self.connection, &*self.shape).await?;
            heads.extend(time.map(|time| (time, Reverse(place))));
        }
        bytes += pagers.iter().map(Pager::bytes).sum::<u64>();
        answer.finish(bytes, ComputedBy::Client)
    }
}
