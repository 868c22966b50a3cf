//! A closed loop: a user starts again some time after its answer.

use super::{CorrectedRow, Feed, Filler, OwnUsers, Taken, stretch::Stretches};
use crate::{
    clock::RunClock,
    control::Control,
    mix::OperationMix,
    pacer::Alarm,
    plan::{Part, Payload},
    read::Draw,
    schedule::mix,
    shape::Shape,
    slice::UserTime,
};
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
    stretches: Stretches,
    settings: ClosedSettings,
    /// The operation that was given last.
    taken: Taken,
    users: Vec<User>,
    /// Users that are not under way, by their next start, with the joining that it belongs to.
    waiting: BinaryHeap<Reverse<Start>>,
    active: u32,
    /// When their number may be another one, where no ramp says it.
    look_at_ns: u64,
    /// When the present generation began, and the one before.
    began_ns: [u64; 2],
    /// What users did beside operations and thinking, in the generation before and in the present one.
    user_times: [UserTime; 2],
}

/// What is the same for all users of a loop.
#[derive(Clone, Debug)]
pub struct ClosedSettings {
    /// What users do.
    pub operations: OperationMix,
    /// How many there are in all parts of a run, at the peak of `shape`; `None`: as many as belong to `part` of what a ramp says.
    pub users: Option<u32>,
    /// How their number changes with time.
    pub shape: Shape,
    /// Their numbers among the users of the whole run, of which this may be a part; `None`: it is not, and they are
    /// numbered from 0.
    pub own: Option<OwnUsers>,
    /// Which part of the ramp's users they are.
    pub part: Part,
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

/// When a user starts next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Start {
    intended_ns: u64,
    local: u32,
    /// The user's joining; a start of an earlier one is void.
    joining: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct User {
    /// Operations started.
    operations: u64,
    /// With `since_last`, the first position not yet sent.
    position: u64,
    /// How often it has joined.
    joining: u32,
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
        let stretches = Stretches::new(settings.devices, &settings.operations);
        let changed = control.subscribe();
        Self {
            clock,
            control,
            changed,
            alarm,
            filler,
            stretches,
            settings,
            taken: Taken::default(),
            users: Vec::new(),
            waiting: BinaryHeap::new(),
            active: 0,
            look_at_ns: 0,
            began_ns: [0; 2],
            user_times: Default::default(),
        }
    }

    fn user_number(&self, local: u32) -> u32 {
        let place = self.settings.first + local * self.settings.stride;
        self.settings.own.as_ref().and_then(|own| own.number(place)).unwrap_or(place)
    }

    fn users_wanted(&self, now_ns: u64) -> u32 {
        let ClosedSettings { users, part, operations, shape, own, .. } = &self.settings;
        let users = match users {
            Some(most) => shape.users(*most, now_ns),
            None => self.control.users_of(*part, operations.reads()),
        };
        own.as_ref().map_or(users, |own| own.share(users))
    }

    fn follow_users(&mut self, now_ns: u64) {
        if now_ns < self.look_at_ns {
            return;
        }
        if self.settings.users.is_some() {
            self.look_at_ns = self.settings.shape.next_look(now_ns).unwrap_or(u64::MAX);
        }
        let wanted = self.users_wanted(now_ns);
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
        user.joining += 1;
        let mut start_ns = now_ns + spread_ns;
        if self.settings.operations.gathers() {
            // A device measures from its joining on; it has something to send one period later.
            user.position = self.filler.positions_by(number % self.settings.devices, now_ns);
            start_ns += period_ns;
        }
        self.wait(local, start_ns);
    }

    fn wait(&mut self, local: u32, intended_ns: u64) {
        let Some(user) = self.users.get(local as usize) else { return };
        self.waiting.push(Reverse(Start { intended_ns, local, joining: user.joining }));
    }

    fn is_valid(&self, start: Start) -> bool {
        self.users.get(start.local as usize).is_some_and(|u| u.active && u.joining == start.joining)
    }

    fn period_ns(&self) -> u64 {
        u64::try_from(self.filler.dataset().period_ns()).unwrap_or(1).max(1)
    }

    /// A user whose device has nothing to send looks again a period later; one whose recording has ended is done.
    fn wait_for_data(&mut self, local: u32, since_ns: u64, now_ns: u64) {
        let device = self.user_number(local) % self.settings.devices;
        if self.settings.operations.gathers() && !self.filler.has_ended(device, now_ns) {
            let next_ns = now_ns + self.period_ns();
            let [before, present] = &mut self.user_times;
            let [_, began_ns] = self.began_ns;
            // Like an operation, a wait is that of the generation in which it began.
            let of = if since_ns < began_ns { before } else { present };
            of.elsewhere_ns += next_ns.saturating_sub(since_ns);
            self.note_next(since_ns, next_ns);
            self.wait(local, next_ns);
        }
    }

    /// A user that was due at `intended_ns` starts next at `next_ns`: when that was in the generation before, its end cuts off
    /// what lies after it. Of what was due earlier still the loop tells.
    fn note_next(&mut self, intended_ns: u64, next_ns: u64) {
        let ([earlier_ns, began_ns], [before, _]) = (self.began_ns, &mut self.user_times);
        if (earlier_ns..began_ns).contains(&intended_ns) {
            before.until_next_ns += next_ns.saturating_sub(began_ns);
        }
    }

    fn fill(&mut self, local: u32, now_ns: u64, batch: &mut Batch) -> (u64, u64) {
        let number = self.user_number(local);
        let period_ns = self.period_ns();
        let Some(user) = self.users.get_mut(local as usize) else { return (0, 0) };
        let place = self.settings.operations.pick(number, user.operations);
        self.taken = Taken { place, draw: Draw { user: number, number: user.operations, request: 0 }, again: 0 };
        let operation = self.settings.operations.at(place);
        if operation.question().is_some() {
            user.operations += 1;
            return (0, 0);
        }
        let counts = match operation.payload {
            Payload::Count(count) => {
                let stretch = self.stretches.of_user(number, self.settings.most_users, user.operations);
                user.operations += 1;
                self.filler.fill_stretch(&stretch, operation.requests, count, batch);
                (batch.len() as u64, 0)
            }
            Payload::SinceLast { window_ns } => {
                let device = number % self.settings.devices;
                let due = self.filler.positions_by(device, now_ns);
                let gathered = due.saturating_sub(user.position);
                let kept = gathered.min((window_ns / period_ns).max(1));
                user.position = user.position.max(due);
                user.operations += u64::from(kept > 0);
                let first = user.position - kept;
                self.filler.fill(device, first, u32::try_from(kept).unwrap_or(u32::MAX), batch);
                (batch.len() as u64 + gathered - kept, gathered - kept)
            }
            Payload::Second => (0, 0),
        };
        self.taken.again = self.filler.take_again();
        counts
    }
}

impl Feed for ClosedSource {
    fn taken(&self) -> Taken {
        self.taken
    }

    fn take_corrected(&mut self, rows: &mut Vec<CorrectedRow>) {
        self.filler.take_corrected(rows);
    }

    fn has_ended(&self, now_ns: u64) -> bool {
        let stop_ns = self.control.stops_at_ns();
        // Who waits for a connection still starts: a figure rests on all operations that began.
        let waits =
            || !self.control.leaves_queue() && self.waiting.peek().is_some_and(|Reverse(s)| s.intended_ns < stop_ns);
        self.control.is_spent() || (now_ns >= stop_ns && !waits())
    }

    fn left_with_place(&mut self, now_ns: u64, tell: &mut dyn FnMut(usize, Left)) {
        for &Reverse(start) in &self.waiting {
            let is_due = start.intended_ns < now_ns && self.is_valid(start);
            if is_due && self.control.spend_operation(start.intended_ns) {
                let done = self.users.get(start.local as usize).map_or(0, |user| user.operations);
                let place = self.settings.operations.pick(self.user_number(start.local), done);
                tell(place, Left::Operation { intended_ns: start.intended_ns });
            }
        }
    }

    fn begin_generation(&mut self, start_ns: u64, now_ns: u64) {
        self.follow_users(now_ns);
        self.began_ns = [self.began_ns[1], start_ns];
        let starts = self.waiting.iter().filter(|Reverse(start)| self.is_valid(*start));
        let cut_ns: u64 = starts.map(|Reverse(start)| start.intended_ns.saturating_sub(start_ns)).sum();
        let [before, present] = self.user_times;
        self.user_times = [before.plus(present), UserTime::default()];
        self.user_times[0].until_next_ns += cut_ns;
    }

    fn take_user_times(&mut self) -> [UserTime; 2] {
        std::mem::take(&mut self.user_times)
    }
}

#[async_trait]
impl Source for ClosedSource {
    fn take(&mut self, now_ns: u64, batch: &mut Batch) -> Next {
        self.follow_users(now_ns);
        while let Some(&Reverse(start)) = self.waiting.peek() {
            if self.has_ended(now_ns) {
                return Next::Finished;
            }
            let Start { intended_ns, local, .. } = start;
            if intended_ns > now_ns {
                return Next::Wait;
            }
            let valid = self.is_valid(start);
            if valid && !self.control.spend_operation(intended_ns) {
                return Next::Finished;
            }
            self.waiting.pop();
            if !valid {
                continue;
            }
            let (generated, lost) = self.fill(local, now_ns, batch);
            let asks = self.settings.operations.at(self.taken.place).question().is_some();
            if batch.is_empty() && !asks {
                self.control.refund_operation(intended_ns);
                self.wait_for_data(local, intended_ns, now_ns);
                continue;
            }
            if let Some(user) = self.users.get_mut(local as usize) {
                user.busy = true;
            }
            return Next::Due(Due { intended_ns, user: local, free_since_ns: 0, generated, lost });
        }
        if self.has_ended(now_ns) { Next::Finished } else { Next::Wait }
    }

    async fn ready(&mut self) {
        let next_ns = self.waiting.peek().map(|Reverse(start)| start.intended_ns);
        let look_ns = Some(self.look_at_ns).filter(|ns| (1..u64::MAX).contains(ns));
        let next_ns = next_ns.into_iter().chain(look_ns).min();
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
        let next_ns = ended_ns + self.settings.think_ns;
        self.note_next(due.intended_ns, next_ns);
        self.wait(due.user, next_ns);
    }

    fn left(&mut self, now_ns: u64, tell: &mut dyn FnMut(Left)) {
        self.left_with_place(now_ns, &mut |_, left| tell(left));
    }
}

#[cfg(test)]
mod tests;
