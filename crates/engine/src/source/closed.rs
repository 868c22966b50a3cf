//! A closed loop: a user starts again some time after its answer.

use super::Filler;
use crate::{clock::RunClock, control::Control, pacer::Alarm, plan::Payload, schedule::mix};
use async_trait::async_trait;
use iotbench_core::{Batch, Due, Left, Next, Source};
use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};
use tokio::sync::watch;

/// The virtual users of one loop: every `stride`-th user from `first` on.
///
/// A user is a record of its next start and its place in its data, not a connection nor a task. Users that join start
/// spread over their think time; users that leave end with their present operation.
#[derive(Debug)]
pub struct ClosedSource {
    clock: RunClock,
    control: Arc<Control>,
    changed: watch::Receiver<()>,
    alarm: Arc<Alarm>,
    filler: Filler,
    shares: Shares,
    settings: ClosedSettings,
    users: Vec<User>,
    /// Active users that are not under way, by their next start.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    active: u32,
}

/// What is the same for all users of a loop.
#[derive(Clone, Copy, Debug)]
pub struct ClosedSettings {
    /// What a request carries.
    pub payload: Payload,
    /// From an answer to the next start.
    pub think_ns: u64,
    /// This loop's first user.
    pub first: u32,
    /// From one of its users to the next.
    pub stride: u32,
    /// The most users that the run may have.
    pub most_users: u32,
    /// How many devices there are.
    pub devices: u32,
    /// Spreads the first starts.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct User {
    /// Operations started, or with `since_last` the first position not yet sent.
    position: u64,
    active: bool,
    busy: bool,
}

impl ClosedSource {
    /// The users of one loop; they join as [`Control::users`] says.
    pub fn new(
        clock: RunClock,
        control: Arc<Control>,
        alarm: Arc<Alarm>,
        filler: Filler,
        settings: ClosedSettings,
    ) -> Self {
        let shares = Shares { users: settings.most_users, devices: settings.devices };
        let changed = control.subscribe();
        Self {
            clock,
            control,
            changed,
            alarm,
            filler,
            shares,
            settings,
            users: Vec::new(),
            waiting: BinaryHeap::new(),
            active: 0,
        }
    }

    fn user_number(&self, local: u32) -> u32 {
        self.settings.first + local * self.settings.stride
    }

    fn follow_users(&mut self, now_ns: u64) {
        let wanted = self.control.users();
        if wanted == self.active {
            return;
        }
        self.active = wanted;
        let local = wanted.saturating_sub(self.settings.first).div_ceil(self.settings.stride);
        for i in 0..u32::try_from(self.users.len()).unwrap_or(u32::MAX).max(local) {
            if i as usize >= self.users.len() {
                self.users.push(User::default());
            }
            self.set_active(i, i < local, now_ns);
        }
    }

    fn set_active(&mut self, local: u32, active: bool, now_ns: u64) {
        let number = self.user_number(local);
        let spread_ns = match self.settings.think_ns {
            0 => 0,
            think_ns => mix(self.settings.seed, u64::from(number)) % think_ns,
        };
        let period_ns = self.period_ns();
        let Some(user) = self.users.get_mut(local as usize) else { return };
        let joins = active && !user.active;
        user.active = active;
        if !joins || user.busy {
            return;
        }
        let mut start_ns = now_ns + spread_ns;
        if let Payload::SinceLast { .. } = self.settings.payload {
            // A device measures from its joining on; it has something to send one period later.
            user.position = self.filler.positions_by(number % self.settings.devices, now_ns);
            start_ns = start_ns.max(now_ns + period_ns);
        }
        self.waiting.push(Reverse((start_ns, local)));
    }

    fn period_ns(&self) -> u64 {
        u64::try_from(self.filler.dataset().period_ns()).unwrap_or(1).max(1)
    }

    /// A user whose device has nothing to send looks again a period later; one whose recording has ended is done.
    fn wait_for_data(&mut self, local: u32, now_ns: u64) {
        let device = self.user_number(local) % self.settings.devices;
        if let Payload::SinceLast { .. } = self.settings.payload
            && !self.filler.has_ended(device, now_ns)
        {
            self.waiting.push(Reverse((now_ns + self.period_ns(), local)));
        }
    }

    fn fill(&mut self, local: u32, now_ns: u64, batch: &mut Batch) -> (u64, u64) {
        let number = self.user_number(local);
        let period_ns = self.period_ns();
        let Some(user) = self.users.get_mut(local as usize) else { return (0, 0) };
        match self.settings.payload {
            Payload::Count(count) => {
                let (device, position) = self.shares.place(number, user.position, count);
                user.position += 1;
                self.filler.fill(device, position, count, batch);
                (batch.len() as u64, 0)
            }
            Payload::SinceLast { window_ns } => {
                let device = number % self.settings.devices;
                let due = self.filler.positions_by(device, now_ns);
                let gathered = due.saturating_sub(user.position);
                let kept = gathered.min((window_ns / period_ns).max(1));
                user.position = user.position.max(due);
                let first = user.position - kept;
                self.filler.fill(device, first, u32::try_from(kept).unwrap_or(u32::MAX), batch);
                (batch.len() as u64 + gathered - kept, gathered - kept)
            }
            Payload::Second => (0, 0),
        }
    }
}

#[async_trait]
impl Source for ClosedSource {
    fn take(&mut self, now_ns: u64, batch: &mut Batch) -> Next {
        self.follow_users(now_ns);
        if now_ns >= self.control.stops_at_ns() || self.control.is_spent() {
            return Next::Finished;
        }
        while let Some(&Reverse((intended_ns, local))) = self.waiting.peek() {
            if intended_ns > now_ns {
                return Next::Wait;
            }
            let active = self.users.get(local as usize).is_some_and(|u| u.active);
            if active && !self.control.spend_operation(intended_ns) {
                return Next::Finished;
            }
            self.waiting.pop();
            if !active {
                continue;
            }
            let (generated, lost) = self.fill(local, now_ns, batch);
            if batch.is_empty() {
                self.control.refund_operation(intended_ns);
                self.wait_for_data(local, now_ns);
                continue;
            }
            if let Some(user) = self.users.get_mut(local as usize) {
                user.busy = true;
            }
            return Next::Due(Due { intended_ns, user: local, generated, lost });
        }
        Next::Wait
    }

    async fn ready(&mut self) {
        let next_ns = self.waiting.peek().map(|Reverse((ns, _))| *ns);
        if next_ns.is_some_and(|ns| ns <= self.clock.now_ns()) {
            return;
        }
        tokio::select! {
            () = self.alarm.wait_until(next_ns) => {}
            _ = self.changed.changed() => {}
        }
    }

    fn complete(&mut self, due: Due, ended_ns: u64) {
        let Some(user) = self.users.get_mut(due.user as usize) else { return };
        user.busy = false;
        if !user.active {
            return;
        }
        self.waiting.push(Reverse((ended_ns + self.settings.think_ns, due.user)));
    }

    fn left(&mut self, now_ns: u64, tell: &mut dyn FnMut(Left)) {
        for &Reverse((intended_ns, local)) in &self.waiting {
            if intended_ns < now_ns && self.users.get(local as usize).is_some_and(|u| u.active) {
                tell(Left::Operation { intended_ns });
            }
        }
    }
}

/// Which device a user's operation is about: users divide the devices among themselves, or devices are divided among
/// users, so that no datapoint is sent twice.
#[derive(Clone, Copy, Debug)]
struct Shares {
    users: u32,
    devices: u32,
}

impl Shares {
    /// The device and first position of the `k`-th operation of a user, with `count` datapoints.
    fn place(self, user: u32, k: u64, count: u32) -> (u32, u64) {
        let count = u64::from(count);
        if self.devices >= self.users {
            let owned = u64::from((self.devices - user).div_ceil(self.users));
            let device = user + u32::try_from(k % owned).unwrap_or(0) * self.users;
            (device, k / owned * count)
        } else {
            let device = user % self.devices;
            let slots = u64::from((self.users - device).div_ceil(self.devices));
            (device, (k * slots + u64::from(user / self.devices)) * count)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn no_datapoint_belongs_to_two_operations(users in 1_u32..20, devices in 1_u32..20, count in 1_u32..4) {
            let shares = Shares { users, devices };
            let mut seen = HashSet::new();
            for user in 0..users {
                for k in 0..20 {
                    let (device, first) = shares.place(user, k, count);
                    prop_assert!(device < devices);
                    for position in first..first + u64::from(count) {
                        prop_assert!(seen.insert((device, position)), "user {user} sends {device}/{position} again");
                    }
                }
            }
        }
    }
}
