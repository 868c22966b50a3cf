//! Reading: which questions are asked, how they are asked on a connection, and what is kept of the answers.

mod asker;
mod history;
mod inquiry;
mod kept;
mod spread;
mod tag_groups;

pub use asker::{Asker, Draw};
pub use history::History;
pub use inquiry::{Answered, Ask, Inquiry};
pub use kept::{FoundCycle, Kept, KeptAnswer, KeptCycle, row_hash};
pub use tag_groups::TagGroups;
