//! A document as text for people: the verdict, the answer in a sentence, then the figures. Pure.

mod agents;
pub(crate) mod answer;
mod audit;
pub mod figure;
mod latency;
pub(crate) mod load;
pub(crate) mod machine;
mod ramp;
mod reads;
pub(crate) mod scenario;
mod search;
mod steady;
pub(crate) mod table;
mod usl;
pub(crate) mod via;
mod writes_alone;

pub use answer::sentence as answer_in_a_sentence;
pub use audit::render_audit;

use crate::{
    document::{Document, Status},
    iotps::render_iotps,
    printable::printable,
};
use std::path::Path;
use table::paragraph;

/// Lines are never longer than this, however wide the terminal is.
pub(crate) const MAX_COLUMNS: u16 = 100;
/// Below this width tables cannot be read; the terminal then breaks lines itself.
const MIN_COLUMNS: u16 = 60;

/// The document as plain text for a terminal of `columns` columns, of which at most 100 are used. `folder` is named at
/// the end.
///
/// The text ends with a line break. Whatever the document holds, it has no other control character.
#[must_use]
pub fn render(document: &Document, folder: Option<&Path>, columns: u16) -> String {
    let columns = usable(columns);
    // A document always makes a printable one; should it not, the last line of this function still holds the promise.
    let document = &document.printable().unwrap_or_else(|_| document.clone());
    let mut sections = vec![headline(document, columns), answer::answer(document, columns)];
    let probes = document.capacity.as_ref().and_then(|capacity| capacity.storage_probes.as_ref()?.said());
    sections.extend(probes.map(|probes| paragraph(&probes, columns)));
    sections.extend(render_iotps(std::slice::from_ref(document), columns));
    sections.extend(load::sections(document, columns));
    sections.extend(latency::section(document, columns));
    sections.extend(agents::section(document, columns));
    sections.extend(via::section(document, columns));
    sections.extend(steady::section(document, columns));
    sections.extend(scenario::section(document, columns));
    sections.extend(search::section(document, columns));
    sections.extend(document.audit.as_ref().map(|audit| audit::section(audit, &load::all_steps(document), columns)));
    sections.extend(ramp::section(document, columns));
    sections.extend(usl::section(document, columns));
    sections.extend(writes_alone::section(document, columns));
    sections.extend(machine::sections(document, columns));
    sections.extend(folder.map(|path| format!("Results: {}", printable(&path.to_string_lossy()))));
    finished(&sections.join("\n\n"))
}

pub(crate) fn usable(columns: u16) -> u16 {
    columns.clamp(MIN_COLUMNS, MAX_COLUMNS)
}

/// The text with a line break at its end, no other control character than line breaks, and plain blanks: those between a
/// number and its unit have kept the two on one line.
pub(crate) fn finished(text: &str) -> String {
    let mut text: String = text.replace(figure::TIE, " ").chars().filter(|c| *c == '\n' || !c.is_control()).collect();
    text.push('\n');
    text
}

fn headline(document: &Document, columns: u16) -> String {
    let verdict = &document.verdict;
    let via = document.target.via.as_ref().map(|via| format!(" via {via}"));
    let mut lines = vec![format!(
        "{}  {} on {}{}",
        document.verdict_words().to_uppercase(),
        document.profile_title(),
        document.target.name(),
        via.unwrap_or_default()
    )];
    if verdict.status == Status::Running {
        lines.push(paragraph("This run has not ended, or was killed: these are its figures so far.", columns));
    }
    let disturbed = document.others.iter().filter_map(|others| others.disturbed.as_ref());
    lines.extend(disturbed.map(|disturbed| paragraph(&format!("- {disturbed}"), columns)));
    lines.extend(verdict.reasons.iter().map(|reason| paragraph(&format!("- {reason}"), columns)));
    lines.join("\n")
}
