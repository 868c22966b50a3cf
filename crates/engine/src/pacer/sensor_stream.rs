//! What the pacer keeps of sensors of the same pace: their schedule, and how full each one's queue is.

use super::grant::Grant;
use crate::schedule::{Schedule, Start};
use async_channel::{Sender, TrySendError};
use iotbench_recorder::Recorder;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// The datapoints of sensors.
#[derive(Debug)]
pub struct SensorStream {
    /// The instants at which every sensor offers a datapoint.
    pub schedule: std::iter::Peekable<Schedule>,
    /// The sensor that is next to offer at the present instant.
    pub next_sensor: usize,
    /// The device of the first of them; the others follow.
    pub first_device: u32,
    /// Every sensor.
    pub sensors: Vec<Sensor>,
    /// What a queue holds.
    pub queue: u32,
}

/// A sensor's queue: how full it is, and the way to its writer.
#[derive(Clone, Debug)]
pub struct Sensor {
    /// Datapoints offered and not taken.
    pub queued: Arc<AtomicU32>,
    /// To its writer.
    pub grants: Sender<Grant>,
}

impl SensorStream {
    pub(super) fn release(&mut self, now_ns: u64, recorder: &mut Recorder) -> bool {
        while let Some(&Start { number, at_ns }) = self.schedule.peek().filter(|s| s.at_ns <= now_ns) {
            while let Some(sensor) = self.sensors.get(self.next_sensor) {
                let device = u32::try_from(self.next_sensor).map_or(u32::MAX, |place| self.first_device + place);
                let grant = Grant { intended_ns: at_ns, number, device, devices: u32::MAX };
                if sensor.queued.load(Ordering::Relaxed) >= self.queue {
                    recorder.generate_points(at_ns, 1, 1);
                } else {
                    sensor.queued.fetch_add(1, Ordering::Relaxed);
                    match sensor.grants.try_send(grant) {
                        Ok(()) => recorder.generate_points(at_ns, 1, 0),
                        Err(TrySendError::Closed(_)) => return true,
                        Err(TrySendError::Full(_)) => {
                            sensor.queued.fetch_sub(1, Ordering::Relaxed);
                            return false;
                        }
                    }
                }
                self.next_sensor += 1;
            }
            self.next_sensor = 0;
            self.schedule.next();
        }
        true
    }
}
