//! The flags of several who want one table, on a server in memory whose time is the tests'.

use super::*;
use std::{
    collections::BTreeMap,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

/// A server that carries out each request when it is let to.
#[derive(Clone, Default)]
struct Server {
    flags: Arc<Mutex<BTreeMap<String, Flag>>>,
    now_s: Arc<Mutex<Option<u64>>>,
}

/// Lets another go first, once.
async fn others_first() {
    let mut is_next = false;
    std::future::poll_fn(|_| if std::mem::replace(&mut is_next, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

impl Flags for Server {
    async fn flags(&mut self, _: &Name) -> Result<Seen, Error> {
        others_first().await;
        let flags = self.flags.lock().unwrap().values().cloned().collect();
        Ok(Seen { flags, now_s: *self.now_s.lock().unwrap() })
    }

    async fn put_up(&mut self, _: &Name, flag: &Flag, _: bool) -> Result<(), Error> {
        others_first().await;
        self.flags.lock().unwrap().insert(flag.owner.clone(), flag.clone());
        Ok(())
    }

    async fn take_down(&mut self, _: &Name, owner: &str) -> Result<(), Error> {
        others_first().await;
        self.flags.lock().unwrap().remove(owner);
        Ok(())
    }
}

impl Server {
    fn at(now_s: Option<u64>) -> Self {
        let server = Self::default();
        *server.now_s.lock().unwrap() = now_s;
        server
    }

    fn renew_in_a_second(&self, claims: &Claims) {
        if let Some(now_s) = &mut *self.now_s.lock().unwrap() {
            *now_s += 1;
        }
        renewed(claims, self).unwrap();
    }

    fn owners(&self) -> Vec<String> {
        self.flags.lock().unwrap().keys().cloned().collect()
    }
}

const NOW_S: u64 = 1_700_000_000;

fn table() -> Name {
    Name::new("t").unwrap()
}

fn named(owner: &str) -> Claims {
    Claims { owner: owner.into(), ..Claims::default() }
}

/// The call's result, however often it looks; what happens with each of its steps is the test's.
fn driven<T>(call: impl Future<Output = T>, mut step: impl FnMut(u32)) -> (T, u32) {
    let mut call = pin!(call);
    for steps in 0..100_000 {
        match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => return (done, steps),
            Poll::Pending => step(steps),
        }
    }
    panic!("it never ends")
}

fn taken(claims: &Claims, server: &Server) -> Result<(), Error> {
    driven(claims.take(&mut server.clone(), &table(), claims.owner.as_str(), &Looks::default()), |_| {}).0
}

fn renewed(claims: &Claims, server: &Server) -> Result<(), Error> {
    driven(claims.renew(&mut server.clone()), |_| {}).0
}

#[test]
fn who_puts_his_flag_up_again_keeps_the_table_and_who_asks_is_told_whose_it_is_and_for_how_long() {
    for now_s in [Some(NOW_S), None] {
        let (server, first, second) = (Server::at(now_s), named("first"), named("second"));
        taken(&first, &server).unwrap();
        let (name, looks) = (table(), Looks::default());
        let (refused, _) = driven(second.take(&mut server.clone(), &name, "second", &looks), |step| {
            if step == 50 {
                *server.now_s.lock().unwrap() = now_s.map(|now_s| now_s + 4);
                renewed(&first, &server).unwrap();
            }
        });
        let error = refused.unwrap_err();
        assert_eq!(error.cause, Cause::NotOurs);
        let until = if now_s.is_some() { "for another 20 s by the server's clock" } else { "is heard of it for 20 s" };
        assert!(error.message.contains("t is in use by another run, first"), "{error}");
        assert!(error.message.contains(until), "{error}");
        assert_eq!(server.owners(), ["first"], "nothing of the other is left");
        taken(&first, &server).unwrap();
    }
}

#[test]
fn what_nobody_puts_up_again_ends_after_its_lease_by_the_servers_clock_or_by_looks() {
    let (server, first, second) = (Server::at(Some(NOW_S)), named("first"), named("second"));
    taken(&first, &server).unwrap();
    let (looks, name) = (Looks::default(), table());
    let (got, _) = driven(second.take(&mut server.clone(), &name, "second", &looks), |step| {
        // Its flag says 20 s, and so it has ended a second later.
        *server.now_s.lock().unwrap() = Some(NOW_S + u64::from(step) / 5);
    });
    got.unwrap();
    assert!(server.now_s.lock().unwrap().unwrap() > NOW_S + LEASE_S);
    assert_eq!(server.owners(), ["second"]);
    assert_eq!(renewed(&first, &server).unwrap_err().cause, Cause::NotOurs, "who wakes up later is told");
    assert_eq!(taken(&first, &server).unwrap_err().cause, Cause::NotOurs);
    assert_eq!(server.owners(), ["second"]);

    for now_s in [None, Some(NOW_S)] {
        let (server, first, second) = (Server::at(now_s), named("first"), named("second"));
        taken(&first, &server).unwrap();
        let (got, steps) = driven(second.take(&mut server.clone(), &name, "second", &looks), |_| {});
        got.unwrap();
        assert!(steps >= LEASE_LOOKS, "{steps}: a clock that stands still keeps nobody out for ever");
    }
}

#[test]
fn what_has_ended_by_the_servers_clock_is_not_waited_for() {
    let (server, first, second) = (Server::at(Some(NOW_S)), named("first"), named("second"));
    taken(&first, &server).unwrap();
    *server.now_s.lock().unwrap() = Some(NOW_S + LEASE_S + 1);
    let (got, steps) = driven(second.take(&mut server.clone(), &table(), "second", &Looks::default()), |_| {});
    got.unwrap();
    assert!(steps < 10, "{steps}");
}

#[test]
fn who_lets_go_is_not_waited_for_and_puts_no_flag_up_again() {
    let (server, first, second) = (Server::at(None), named("first"), named("second"));
    taken(&first, &server).unwrap();
    driven(first.release(&mut server.clone(), &table()), |_| {}).0.unwrap();
    renewed(&first, &server).unwrap();
    assert_eq!(server.owners(), Vec::<String>::new());
    taken(&second, &server).unwrap();
    assert_eq!(server.owners(), ["second"]);
}

#[test]
fn a_flag_that_the_server_has_forgotten_is_put_up_again() {
    let (server, first, second) = (Server::at(None), named("first"), named("second"));
    taken(&first, &server).unwrap();
    server.flags.lock().unwrap().clear();
    renewed(&first, &server).unwrap();
    assert_eq!(server.owners(), ["first"]);
    server.flags.lock().unwrap().clear();
    taken(&second, &server).unwrap();
    assert_eq!(taken(&first, &server).unwrap_err().cause, Cause::NotOurs, "who came meanwhile has it");
    assert_eq!(server.owners(), ["second"]);
}

type Call<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + 'a>>;

/// The results of calls that are carried out one request of this or that at a time, as the bits of `order` say. Who is done
/// `lives` on from then.
fn interleaved(calls: [Call<'_>; 2], order: u32, lives: impl Fn(usize)) -> [Result<(), Error>; 2] {
    let mut calls = calls.map(|call| (call, None::<Result<(), Error>>));
    for step in 0..100_000 {
        if let [(_, Some(one)), (_, Some(other))] = &calls {
            return [one.clone(), other.clone()];
        }
        let whose = if step < 16 { order >> step & 1 } else { step & 1 } as usize;
        let (call, done) = &mut calls[whose];
        if matches!(done, Some(Ok(()))) {
            lives(whose);
        }
        if done.is_none()
            && let Poll::Ready(result) = call.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            *done = Some(result);
        }
    }
    panic!("they never end")
}

#[test]
fn of_two_who_come_at_the_same_time_one_has_it_at_most_whatever_comes_first() {
    let mut had = 0;
    for order in 0..1 << 16 {
        let (server, one, other) = (Server::at(Some(NOW_S)), named("one"), named("other"));
        let (looks, name) = ([Looks::default(), Looks::default()], table());
        let (mut here, mut there) = (server.clone(), server.clone());
        let calls: [Call<'_>; 2] = [
            Box::pin(one.take(&mut here, &name, "one", &looks[0])),
            Box::pin(other.take(&mut there, &name, "other", &looks[1])),
        ];
        let results = interleaved(calls, order, |whose| server.renew_in_a_second([&one, &other][whose]));
        let winners = results.iter().filter(|result| result.is_ok()).count();
        assert!(winners <= 1, "order {order:b}");
        assert!(results.iter().flat_map(|result| result.as_ref().err()).all(|e| e.cause == Cause::NotOurs));
        assert_eq!(server.owners().len(), winners, "order {order:b}: who is refused leaves nothing");
        had += winners;
    }
    assert!(had > 1 << 15, "mostly one of them has it: {had}");
}

/// Who stood still for longer than his lease, and goes on while another takes the table.
#[test]
fn who_was_believed_dead_and_who_took_the_table_never_both_go_on_to_change_it() {
    for order in 0..1 << 16 {
        let (server, slow, other) = (Server::at(Some(NOW_S)), named("slow"), named("other"));
        taken(&slow, &server).unwrap();
        *server.now_s.lock().unwrap() = Some(NOW_S + LEASE_S + 1);
        let (looks, name) = ([Looks::default(), Looks::default()], table());
        let (mut here, mut there) = (server.clone(), server.clone());
        let goes_on = async {
            slow.renew(&mut here).await?;
            slow.take(&mut here, &name, "slow", &looks[0]).await
        };
        let calls: [Call<'_>; 2] = [Box::pin(goes_on), Box::pin(other.take(&mut there, &name, "other", &looks[1]))];
        let [slows, others] = interleaved(calls, order, |_| {});
        // Before it changes anything each looks once more.
        let both = slows.is_ok() && taken(&slow, &server).is_ok() && others.is_ok() && taken(&other, &server).is_ok();
        assert!(!both, "order {order:b}");
    }
}
