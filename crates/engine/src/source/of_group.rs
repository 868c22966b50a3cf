//! The sources of a group: one for each loop, with their schedule at the pacer.

use super::{
    ClosedSettings, ClosedSource, Feed, Filler, OpenSource, OwnUsers, PacedSource, PartlyOpenSource, Sessions,
    Stretches,
};
use crate::{
    clock::RunClock,
    control::Control,
    intervals::{IntervalStarts, Intervals},
    mix::OperationMix,
    pacer::{Alarm, OpenStream, Pace, Returns, Sensor, SensorStream, Stream, Waiting, returns},
    plan::{GroupPlan, Load, Payload, Planned},
    profile::Arrival,
    schedule::{Lengths, OwnBlocks, Pattern, Schedule, SessionStarts, Starts},
};
use std::{
    ops::Range,
    sync::{Arc, atomic::AtomicU32},
};

/// Grants that may wait between the pacer and the loops.
const GRANTS: usize = 4096;
const MAX_GRANTS: usize = 65_536;

/// Makes a loop's source once the clock is known.
pub type MakeSource = Box<dyn FnOnce(RunClock) -> Box<dyn Feed> + Send>;

/// What the sources of a group are made from.
pub struct SourcesRequest<'a> {
    /// The plan and its data.
    pub planned: &'a Planned,
    /// What the control thread says.
    pub control: &'a Arc<Control>,
    /// The group.
    pub group: &'a GroupPlan,
    /// Its operations.
    pub operations: &'a OperationMix,
    /// What the recorder knows the first of them as.
    pub first_kind: usize,
    /// The group's seed.
    pub seed: u64,
}

impl SourcesRequest<'_> {
    /// A source for each of so many loops; what the pacer has to do for them is added to `paced`.
    pub fn sources(&self, loops: u32, paced: &mut Pace) -> Vec<MakeSource> {
        match self.group.load {
            Load::Closed { users, think_ns } => self.closed(loops, paced, users, think_ns),
            Load::Open { arrival, rate, drop_above } => {
                let schedule = Schedule::new(arrival, rate, self.seed).shaped(&self.group.shape);
                self.open(loops, paced, Pattern::Rate(schedule), drop_above)
            }
            Load::PartlyOpen { arrival, rate, mean_operations, think_ns, most_sessions } => {
                let schedule = Schedule::new(arrival, rate, self.seed).shaped(&self.group.shape);
                let lengths = Lengths::new(mean_operations, self.seed);
                let (go_on, returns) = returns(most_sessions, Arc::clone(&paced.sleep));
                let pattern = Pattern::Sessions(SessionStarts::new(schedule, lengths));
                let source = self.granted(paced, pattern, Some(most_sessions), Some(returns));
                let sessions = Sessions { lengths, think_ns, go_on };
                let make = |_| -> MakeSource {
                    let source = PartlyOpenSource::new(source(), sessions.clone());
                    Box::new(move |_| Box::new(source))
                };
                (0..loops).map(make).collect()
            }
            Load::Interval { devices, interval_ns, window_ns } => {
                let (devices_of_request, most_devices) = (self.operations.devices(), self.devices());
                let intervals = Intervals { interval_ns, window_ns, devices_of_request, most_devices };
                self.open(loops, paced, Pattern::Intervals(IntervalStarts::new(intervals, devices)), None)
            }
            Load::Paced { rate, queue } => {
                let schedule = Schedule::new(Arrival::Constant, rate, self.seed);
                self.sensors(loops, paced, schedule, queue)
            }
        }
    }

    fn filler(&self) -> Filler {
        let filler = Filler::new(Arc::clone(&self.planned.dataset), self.planned.plan.phases.preload);
        filler.of_devices_from(self.planned.plan.devices_of(self.group).start).of_load()
    }

    /// How many devices the group has, in all parts of the run. Its sources number them from 0.
    fn devices(&self) -> u32 {
        let Range { start, end } = self.planned.plan.devices_of(self.group);
        end.saturating_sub(start)
    }

    /// Those of the group's devices that this part of the run writes.
    fn own_devices(&self) -> Range<u32> {
        if self.group.undivided {
            return 0..self.devices();
        }
        let (own, of_group) = (&self.planned.plan.devices, self.planned.plan.devices_of(self.group));
        let place = |device: u32| device.clamp(of_group.start, of_group.end) - of_group.start;
        place(own.start)..place(own.end)
    }

    /// The blocks of devices that this part of the run writes; what it reads is about any.
    fn own_blocks(&self) -> OwnBlocks {
        let stretches = Stretches::new(self.devices(), self.operations);
        OwnBlocks { blocks: stretches.blocks(&self.own_devices()), of: stretches.count() }
    }

    fn closed(&self, loops: u32, paced: &mut Pace, users: u32, think_ns: u64) -> Vec<MakeSource> {
        let part = self.group.part;
        let ramp = self.planned.plan.ramp.as_ref().filter(|_| part.ramped);
        let most_users = ramp.map_or(users, |ramp| part.of_users(ramp.most())).max(1);
        let own = self.own_users(most_users);
        let users = ramp.is_none().then_some(users);
        let make = |first: u32| -> MakeSource {
            let (control, filler) = (Arc::clone(self.control), self.filler());
            let alarm = Arc::new(Alarm::new(Arc::clone(&paced.sleep)));
            paced.alarms.push(Arc::clone(&alarm));
            let (operations, devices, seed) = (self.operations.clone(), self.devices(), self.seed);
            let (own, shape) = (own.clone(), self.group.shape.clone());
            let settings = ClosedSettings {
                operations,
                users,
                shape,
                own,
                part,
                think_ns,
                first,
                stride: loops,
                most_users,
                devices,
                seed,
            };
            Box::new(move |clock| Box::new(ClosedSource::new(clock, control, alarm, filler, settings)))
        };
        (0..loops).map(make).collect()
    }

    /// Those of so many users whose devices this part of the run is for; `None`: all.
    fn own_users(&self, users: u32) -> Option<OwnUsers> {
        let (own, all) = (self.own_devices(), self.devices());
        if own == (0..all) {
            return None;
        }
        let stretches = Stretches::new(all, self.operations);
        let gathers = self.operations.gathers();
        let first_device =
            |user: u32| if gathers { user % all } else { stretches.of_user(user, users, 0).devices.start };
        Some(OwnUsers::new(users, &own, first_device))
    }

    fn open(&self, loops: u32, paced: &mut Pace, pattern: Pattern, drop_above: Option<u32>) -> Vec<MakeSource> {
        let source = self.granted(paced, pattern, drop_above, None);
        let make = |_| -> MakeSource {
            let source = source();
            Box::new(move |_| Box::new(source))
        };
        (0..loops).map(make).collect()
    }

    /// Has the pacer keep a schedule; returns what makes a loop's source of it. Any loop may take any operation.
    fn granted(
        &self,
        paced: &mut Pace,
        pattern: Pattern,
        drop_above: Option<u32>,
        returns: Option<Returns>,
    ) -> impl Fn() -> OpenSource {
        let starts = Starts::new(pattern, self.own_blocks());
        let (grants, taken) = async_channel::bounded(returns.as_ref().map_or(GRANTS, Returns::sessions));
        let outstanding = Arc::new(AtomicU32::new(0));
        let ramped = self.planned.plan.ramp.is_some() && self.group.part.ramped;
        paced.streams.push(Stream::Open(Box::new(OpenStream {
            operations: self.operations.clone(),
            first_kind: self.first_kind,
            schedule: starts.clone().peekable(),
            // Until the first step nothing starts.
            ramped: ramped.then_some(0),
            window: starts.watch().filter(|_| !ramped),
            waiting: Waiting::default(),
            pace: starts,
            grants,
            leftover: taken.clone(),
            outstanding: Arc::clone(&outstanding),
            drop_above,
            returns,
        })));
        move || {
            let (taken, outstanding) = (taken.clone(), Arc::clone(&outstanding));
            OpenSource::new(taken, outstanding, self.filler(), self.devices(), self.operations.clone())
        }
    }

    fn sensors(&self, loops: u32, paced: &mut Pace, schedule: Schedule, queue: u32) -> Vec<MakeSource> {
        let own = self.own_devices();
        let devices = own.end.saturating_sub(own.start);
        let operation = &self.group.operation;
        // An operation is whole when all its requests are.
        let payload = match operation.payload {
            Payload::Count(_) => Payload::Count(operation.points_per_device()),
            other => other,
        };
        let mut sensors: Vec<Option<Sensor>> = (0..devices).map(|_| None).collect();
        let mut make = |first: u32| -> MakeSource {
            let sensors_of_loop = (devices - first.min(devices)).div_ceil(loops) as usize;
            let (grants, taken) = async_channel::bounded((sensors_of_loop * queue as usize).clamp(1, MAX_GRANTS));
            let queued: Vec<Arc<AtomicU32>> = (0..sensors_of_loop).map(|_| Arc::default()).collect();
            let places = sensors.iter_mut().skip(first as usize).step_by(loops as usize);
            for (place, queued) in places.zip(&queued) {
                *place = Some(Sensor { queued: Arc::clone(queued), grants: grants.clone() });
            }
            let source = PacedSource::new(taken, payload, own.start + first, loops, queued, self.filler());
            Box::new(move |_| Box::new(source))
        };
        let sources = (0..loops).map(&mut make).collect();
        let (schedule, sensors) = (schedule.peekable(), sensors.into_iter().flatten().collect());
        let first_device = own.start;
        paced.streams.push(Stream::Sensors(SensorStream { schedule, next_sensor: 0, first_device, sensors, queue }));
        sources
    }
}
