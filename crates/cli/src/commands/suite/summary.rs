//! What a suite prints at its end: what became of its runs, a table for each profile, the score, and the study's tables and
//! figures with both figures.

use crate::console;
use iotbench_report::{
    Document, Repetitions, render_comparison, render_over_sittings, render_ranking, render_repetitions, render_study,
    render_suite_state, render_sweep, title_of_run, unequal,
};
use iotbench_scoring::Ranking;
use iotbench_session::SuiteResults;
use iotbench_suite::{Record, State};

const COLUMNS: u16 = 100;

/// For the terminal.
pub(super) fn text(results: &SuiteResults<'_>) -> String {
    let documents: Vec<Document> = results.runs.iter().map(|run| run.document.clone()).collect();
    let mut sections = vec![render_suite_state(results.record, results.suite.first_look, COLUMNS)];
    let of_profile = |profile: &String| match &results.record.sittings {
        Some(_) => sittings_section(profile, &documents, results.within_s),
        None => profile_section(profile, &documents, results.suite.seed),
    };
    sections.extend(profiles(&documents).iter().map(of_profile));
    sections.extend(results.ranking.iter().map(|ranking| score_section(ranking, &documents)));
    sections.extend(Some(results.study()).filter(|study| !study.is_empty()).map(|study| render_study(&study, COLUMNS)));
    sections.push(format!("results: {}", console::printable_lines(&results.folder.display().to_string())));
    let sections: Vec<&str> = sections.iter().map(|section| section.trim_end()).collect();
    format!("{}\n", sections.join("\n\n"))
}

/// The profiles in the order of their first run.
fn profiles(documents: &[Document]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for document in documents {
        if !names.contains(&document.profile) {
            names.push(document.profile.clone());
        }
    }
    names.sort_unstable();
    names
}

fn sittings_section(profile: &str, documents: &[Document], within_s: Option<f64>) -> String {
    let own: Vec<Document> = documents.iter().filter(|d| d.profile == profile).cloned().collect();
    format!("── {profile}\n{}", render_over_sittings(&own, within_s, COLUMNS))
}

fn profile_section(profile: &str, documents: &[Document], seed: u64) -> String {
    let mut own: Vec<Document> = documents.iter().filter(|d| d.profile == profile).cloned().collect();
    own.sort_by_key(title_of_run);
    let is_repeated = own.windows(2).any(|pair| title_of_run(&pair[0]) == title_of_run(&pair[1]));
    let table = match () {
        () if is_repeated => render_repetitions(&Repetitions::of(&own, seed), COLUMNS),
        () if own.iter().any(|document| document.sweep.is_some()) => sweeps(&own),
        () => render_comparison(&own, COLUMNS),
    };
    format!("── {profile}\n{table}")
}

/// A table for each sweep: its runs follow each other, and differ in its value alone.
fn sweeps(sorted: &[Document]) -> String {
    let of_sweep = |document: &Document| (document.target.title(), document.variant.clone());
    let of_each = sorted.chunk_by(|a, b| of_sweep(a) == of_sweep(b));
    of_each.map(|documents| render_sweep(documents, COLUMNS)).collect::<Vec<_>>().join("\n")
}

fn score_section(ranking: &Result<Ranking, String>, documents: &[Document]) -> String {
    match ranking {
        Ok(ranking) => render_ranking(ranking, &unequal(documents), COLUMNS),
        Err(why) => format!("there is no score: {}", console::printable_lines(why)),
    }
}

/// The runs in their order, with the command that does each.
pub(super) fn order(record: &Record) -> String {
    let line = |(place, entry): (usize, &iotbench_suite::Entry)| {
        let state = match &entry.state {
            State::NotAvailable { reason } => format!("   # n/a: {}", console::printable_lines(reason)),
            _ => String::new(),
        };
        let words = entry.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
        format!("{:>3}  {} on {}: {words}{state}\n", place + 1, entry.profile, entry.target)
    };
    record.entries.iter().enumerate().map(line).collect()
}

/// A word that a shell reads back as it is.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_change_it() {
        assert_eq!(shell_word("phases.duration=10s"), "phases.duration=10s");
        assert_eq!(shell_word("values=[2,10]"), "'values=[2,10]'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }
}
