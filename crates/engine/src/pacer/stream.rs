//! What the pacer keeps the schedule of: open loops and sensors.

use super::{open_stream::OpenStream, sensor_stream::SensorStream};
use crate::{control::Control, intervals::WindowWatch};
use iotbench_recorder::Recorder;
use std::sync::atomic::Ordering;

/// Something the pacer keeps the schedule of.
#[derive(Debug)]
pub enum Stream {
    /// An open loop.
    Open(Box<OpenStream>),
    /// Sensors that all have the same pace.
    Sensors(SensorStream),
}

impl Stream {
    /// Whether everything that was released has been taken.
    pub(super) fn is_taken(&self) -> bool {
        match self {
            Self::Open(stream) => stream.is_taken(),
            Self::Sensors(stream) => stream.sensors.iter().all(|s| s.grants.is_empty()),
        }
    }

    /// Whether nothing is left of an open loop whose load a ramp has set to 0; what has no such load never waits.
    pub(super) fn is_settled(&self) -> bool {
        match self {
            Self::Open(stream) => {
                stream.ramped.is_none_or(|load| load == 0 && stream.outstanding.load(Ordering::Relaxed) == 0)
            }
            Self::Sensors(_) => true,
        }
    }

    /// Operations that were due before a time and are not offered yet.
    pub(super) fn unoffered(&self, end_ns: u64) -> u64 {
        match self {
            Self::Open(stream) => stream.unoffered(end_ns),
            Self::Sensors(_) => 0,
        }
    }

    /// Takes the load of the present step; returns how many operations of the step before will never be taken.
    pub(super) fn follow_load(
        &mut self,
        load: (u32, u64),
        now_ns: u64,
        control: &Control,
        recorder: &mut Recorder,
    ) -> u64 {
        match self {
            Self::Open(stream) => stream.follow_load(load, now_ns, control, recorder),
            Self::Sensors(_) => 0,
        }
    }

    /// Counts what is late when a window ends.
    pub(super) fn watch_window(&mut self, now_ns: u64, control: &Control) {
        if let Self::Open(stream) = self {
            stream.watch_window(now_ns, control);
        }
    }

    pub(super) fn next_ns(&mut self) -> Option<u64> {
        match self {
            Self::Open(stream) => {
                let window_ns = stream.window.as_ref().map(WindowWatch::ends_ns);
                let return_ns = stream.next_return_ns();
                stream.next_start().map(|s| s.at_ns).into_iter().chain(window_ns).chain(return_ns).min()
            }
            Self::Sensors(stream) => stream.schedule.peek().map(|s| s.at_ns),
        }
    }

    /// When the next operation of a session that is here already is due.
    pub(super) fn next_return_ns(&mut self) -> Option<u64> {
        match self {
            Self::Open(stream) => stream.next_return_ns(),
            Self::Sensors(_) => None,
        }
    }

    /// Releases what is due by `now_ns`; false when a channel is full.
    pub fn release(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) -> bool {
        match self {
            Self::Open(stream) => stream.release(now_ns, control, recorder),
            Self::Sensors(stream) => stream.release(now_ns, recorder),
        }
    }

    /// Ends the stream; returns how many operations were due and never taken.
    pub(super) fn close(self, stop_ns: u64, control: &Control, recorder: &mut Recorder) -> u64 {
        match self {
            Self::Open(stream) => stream.close(stop_ns, control, recorder),
            Self::Sensors(stream) => {
                // What sensors queued is still written; the writers tell what remains of it.
                stream.sensors.iter().for_each(|s| {
                    s.grants.close();
                });
                0
            }
        }
    }
}
