//! What an agent hears: questions, which anybody may ask, and orders, which it takes from coordinators that it trusts.

use super::{Agent, not_ours, publish, signed};
use crate::{
    ClusterError,
    message::{Answer, MessageError, Offer, Question, Request, decode, encode},
    sampling::Sampling,
    signed::{MAX_BYTES, Refusal, open},
    subject::What,
};
use async_nats::{Message, PublishErrorKind, Subject};
use std::{
    fs::File,
    io::{self, Read},
    time::Duration,
};

/// No question is longer: what anybody may send is not read for long.
const LONGEST_QUESTION: usize = 1024;

/// What an agent was told.
enum Heard {
    Question(Question),
    Order(Request),
}

impl Agent<'_> {
    /// Whatever it is, it does not end the agent: only a broker that is gone does.
    pub(super) async fn hear(&mut self, message: Message) -> Result<(), ClusterError> {
        let came_ns = self.now_ns();
        let answer = match self.understand(&message.payload, came_ns) {
            Ok(Heard::Question(question)) => Some(self.answer(question, came_ns)),
            Ok(Heard::Order(request)) => self.obey(request, came_ns, &message),
            Err(why) => Some(self.refuse(why)),
        };
        match (answer, message.reply) {
            (Some(answer), Some(reply)) => self.send(reply, encode(&answer)?).await,
            _ => Ok(()),
        }
    }

    /// Sends what it has to say to a subject that somebody else chose: that it cannot be said there is his loss.
    pub(super) async fn send(&mut self, subject: Subject, bytes: Vec<u8>) -> Result<(), ClusterError> {
        match publish(&self.client, subject, bytes.into()).await {
            Err(error) if error.kind() == PublishErrorKind::Send => Err(ClusterError::lost(error)),
            Err(error) => {
                self.refuse(format!("an answer cannot be sent: {}", error.kind()));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// A question is JSON and an order begins with a word.
    fn understand(&mut self, payload: &[u8], came_ns: u64) -> Result<Heard, String> {
        if payload.len() > MAX_BYTES {
            return Err(Refusal::TooLong.to_string());
        }
        if payload.starts_with(b"{") && payload.len() <= LONGEST_QUESTION {
            return decode(payload).map(Heard::Question).map_err(|error| match error {
                MessageError::OtherVersion { .. } => error.to_string(),
                // What was sent is not repeated.
                _ => Refusal::Unreadable.to_string(),
            });
        }
        let (key, order) = open(payload, &self.trust).map_err(|refusal| refusal.to_string())?;
        if order.to != self.name {
            return Err(Refusal::ForAnother.to_string());
        }
        self.sessions.take(&order.session, &key, order.number, came_ns).map_err(|refusal| refusal.to_string())?;
        Ok(Heard::Order(order.message))
    }

    fn answer(&mut self, question: Question, came_ns: u64) -> Answer {
        match question {
            Question::Find => Answer::Here {
                name: self.name.clone(),
                held_by: self.hold.run().map(Into::into),
                offers: self.offers.clone(),
            },
            Question::Time => Answer::Time { came_ns: signed(came_ns), answered_ns: signed(self.now_ns()) },
            Question::Greet => match drawn() {
                Ok(name) => match self.sessions.begin(name.clone(), came_ns) {
                    Ok(()) => Answer::Session { name },
                    Err(why) => self.refuse(why.into()),
                },
                Err(error) => Answer::Failed { why: format!("it cannot draw a session's name: {error}") },
            },
        }
    }

    /// Does what a coordinator orders that is trusted; what is answered at once.
    fn obey(&mut self, request: Request, came_ns: u64, message: &Message) -> Option<Answer> {
        match request {
            Request::Hold { run } => Some(match self.hold.take(&run, came_ns) {
                Ok(()) => Answer::Done,
                Err(holder) => Answer::Held { by: holder.run.clone() },
            }),
            Request::Connect(_) if !self.offers.contains(&Offer::Load) => {
                Some(Answer::Failed { why: "it makes no load: see its --offer".into() })
            }
            Request::Connect(part) => self.connect(*part, came_ns, message),
            Request::Resolve { .. } | Request::Sample { .. } if !self.offers.contains(&Offer::Sample) => {
                Some(Answer::Failed { why: "it does not sample: see its --offer".into() })
            }
            Request::Resolve { what } => Some(match self.allowed.check_what(&what) {
                Ok(()) => {
                    what.find().map_or_else(|why| Answer::Failed { why }, |found| Answer::Found { what: found.what })
                }
                Err(why) => self.refuse(why),
            }),
            Request::Serve { .. } if !self.offers.contains(&Offer::Serve) => {
                Some(Answer::Failed { why: "it starts no servers: see its --offer".into() })
            }
            Request::Serve { id, backend, settings, memory_bytes } => {
                self.serve(&id, &backend, settings, memory_bytes, came_ns, message)
            }
            Request::Keep { id } => {
                if let Some(serving) = &mut self.serving {
                    // False: it is another's, who says so himself.
                    let _ = serving.hold.renew(&id, came_ns);
                }
                None
            }
            Request::StopServer { id } => self.stop_server(&id, message),
            Request::Sample { run, .. } if !self.hold.renew(&run, came_ns) => Some(not_ours(&run)),
            Request::Sample { run, subjects, at_ns, reports } => Some(self.sample(run, &subjects, at_ns, reports)),
            Request::Start { run, at_ns } => {
                let part = self.part.as_ref().filter(|part| part.run == run);
                let Some(part) = part else { return Some(not_ours(&run)) };
                part.work.start(self.epoch + Duration::from_nanos(u64::try_from(at_ns).unwrap_or(0)));
                Some(Answer::Done)
            }
            Request::Follow { run, orders, received } => {
                if self.hold.renew(&run, came_ns)
                    && let Some(part) = self.part.as_mut().filter(|part| part.run == run)
                {
                    part.work.follow(orders);
                    part.waiting.retain(|report| report.number >= received);
                }
                None
            }
            Request::Release { run } => {
                self.hold.release(&run);
                self.part = self.part.take().filter(|part| part.run != run);
                self.sampling = self.sampling.take().filter(|sampling| sampling.run != run);
                Some(Answer::Done)
            }
        }
    }

    fn sample(&mut self, run: String, subjects: &[What], at_ns: i64, reports: String) -> Answer {
        if let Err(why) = subjects.iter().try_for_each(|what| self.allowed.check_what(what)) {
            return self.refuse(why);
        }
        let epoch = self.epoch + Duration::from_nanos(u64::try_from(at_ns).unwrap_or(0));
        match Sampling::begin(run, subjects, epoch, reports, self.news.clone()) {
            Ok(sampling) => {
                self.sampling = Some(sampling);
                Answer::Done
            }
            Err(why) => Answer::Failed { why },
        }
    }

    /// What it does not do: counted, and said. However many they are, a log does not grow by more than a few lines.
    pub(super) fn refuse(&mut self, why: String) -> Answer {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            (self.say)(&format!("refused: {why} ({} refused so far)", self.refused));
        }
        Answer::Refused { why }
    }
}

/// A name that nobody foresees.
fn drawn() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
