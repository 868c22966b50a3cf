//! A change of what is ours in a database: from when that is ready for it until it is done. Only here is waited for that; the
//! deadline is the caller's.

use iotbench_core::{Database, Error, LOOK_PAUSE, RENEWAL, Settled};

/// A change that takes long says meanwhile who makes it.
#[expect(clippy::cast_possible_truncation, reason = "some dozen")]
const LOOKS_UNTIL_RENEWED: u32 = (RENEWAL.as_millis() / LOOK_PAUSE.as_millis()) as u32;

/// Changes something by `call`, one of [`Database::create`], [`Database::adopt`], [`Database::drop_created`] and
/// [`Database::drop_owned`], once the database is ready, and waits until it is done.
///
/// # Errors
/// The database's own.
pub async fn changed<T>(database: &dyn Database, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    settled(database).await?;
    let done = call.await?;
    settled(database).await?;
    Ok(done)
}

async fn settled(database: &dyn Database) -> Result<(), Error> {
    let mut looks = 0;
    while database.proceed().await? == Settled::NotYet {
        tokio::time::sleep(LOOK_PAUSE).await;
        looks += 1;
        if looks % LOOKS_UNTIL_RENEWED == 0 {
            database.renew().await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Cause, Counts, ServerFacts, Writer};
    use std::sync::Mutex;
    use tokio::time::Instant;

    /// Writes down what it is asked, and answers looks with these, the last one first.
    struct Slow {
        asked: Mutex<Vec<&'static str>>,
        looks: Mutex<Vec<Settled>>,
    }

    fn never<T>() -> Result<T, Error> {
        Err(Error::new(Cause::Client, "nobody asks this"))
    }

    #[async_trait::async_trait]
    impl Database for Slow {
        async fn ping(&self) -> Result<ServerFacts, Error> {
            never()
        }
        async fn create(&self) -> Result<(), Error> {
            self.asked.lock().unwrap().push("create");
            Ok(())
        }
        async fn proceed(&self) -> Result<Settled, Error> {
            self.asked.lock().unwrap().push("look");
            Ok(self.looks.lock().unwrap().pop().unwrap_or(Settled::Yes))
        }
        async fn renew(&self) -> Result<(), Error> {
            self.asked.lock().unwrap().push("renew");
            Ok(())
        }
        async fn count(&self) -> Result<Counts, Error> {
            never()
        }
        async fn drop_created(&self) -> Result<(), Error> {
            never()
        }
        async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
            never()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_waits_before_a_change_and_after_it_with_a_pause_between_looks() {
        let looks = vec![Settled::Yes, Settled::NotYet, Settled::Yes, Settled::NotYet];
        let slow = Slow { asked: Mutex::default(), looks: Mutex::new(looks) };
        let began = Instant::now();
        changed(&slow, slow.create()).await.unwrap();
        assert_eq!(began.elapsed(), 2 * LOOK_PAUSE);
        assert_eq!(slow.asked.lock().unwrap().as_slice(), ["look", "look", "create", "look", "look"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_that_takes_long_says_that_it_goes_on() {
        let looks = vec![Settled::NotYet; 2 * LOOKS_UNTIL_RENEWED as usize];
        let slow = Slow { asked: Mutex::default(), looks: Mutex::new(looks) };
        changed(&slow, slow.create()).await.unwrap();
        assert_eq!(slow.asked.lock().unwrap().iter().filter(|asked| **asked == "renew").count(), 2);
    }

    #[tokio::test]
    async fn a_database_that_cannot_tell_is_not_waited_for() {
        let slow = Slow { asked: Mutex::default(), looks: Mutex::new(vec![Settled::CannotTell]) };
        changed(&slow, slow.create()).await.unwrap();
        assert_eq!(slow.asked.lock().unwrap().as_slice(), ["look", "create", "look"]);
    }
}
