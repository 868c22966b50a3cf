//! A suite in words at its end: what became of its runs, a table for each profile, the score, and the study's tables and
//! figures with both figures.

use super::results::SuiteResults;
use iotbench_report::{
    Document, Repetitions, printable_lines, render_comparison, render_iotps, render_over_sittings, render_ranking,
    render_repetitions, render_study, render_suite_state, render_sweep, title_of_run, unequal,
};
use std::collections::BTreeSet;

impl SuiteResults<'_> {
    /// What became of its runs, a table for each profile, the score, and the study's tables and figures with both figures, for a
    /// terminal of so many columns.
    #[must_use]
    pub fn text(&self, columns: u16) -> String {
        let documents: Vec<Document> = self.runs.iter().map(|run| run.document.clone()).collect();
        let mut sections = vec![render_suite_state(self.record, self.suite.first_look, columns)];
        let profiles: BTreeSet<&str> = documents.iter().map(|document| document.profile.as_str()).collect();
        sections.extend(profiles.into_iter().map(|profile| {
            let own: Vec<Document> = documents.iter().filter(|d| d.profile == profile).cloned().collect();
            let table = match &self.record.sittings {
                Some(_) => render_over_sittings(&own, self.within_s, columns),
                None => table_of_profile(own, self.suite.seed, columns),
            };
            format!("── {profile}\n{table}")
        }));
        sections.extend(render_iotps(&documents, columns));
        sections.extend(self.ranking.iter().map(|ranking| match ranking {
            Ok(ranking) => render_ranking(ranking, &unequal(&documents), columns),
            Err(why) => format!("there is no score: {}", printable_lines(why)),
        }));
        let study = Some(self.study()).filter(|study| !study.is_empty());
        sections.extend(study.map(|study| render_study(&study, columns)));
        sections.push(format!("results: {}", printable_lines(&self.folder.display().to_string())));
        let sections: Vec<&str> = sections.iter().map(|section| section.trim_end()).collect();
        format!("{}\n", sections.join("\n\n"))
    }
}

fn table_of_profile(mut own: Vec<Document>, seed: u64, columns: u16) -> String {
    own.sort_by_key(title_of_run);
    let is_repeated = own.windows(2).any(|pair| title_of_run(&pair[0]) == title_of_run(&pair[1]));
    match () {
        () if is_repeated => render_repetitions(&Repetitions::of(&own, seed), columns),
        () if own.iter().any(|document| document.sweep.is_some()) => sweeps(&own, columns),
        () => render_comparison(&own, columns),
    }
}

/// A table for each sweep: its runs follow each other, and differ in its value alone.
fn sweeps(sorted: &[Document], columns: u16) -> String {
    let of_sweep = |document: &Document| (document.target.title(), document.variant.clone());
    let of_each = sorted.chunk_by(|a, b| of_sweep(a) == of_sweep(b));
    of_each.map(|documents| render_sweep(documents, columns)).collect::<Vec<_>>().join("\n")
}
