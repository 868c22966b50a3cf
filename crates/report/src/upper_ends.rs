//! Figures of response times that stand for a range where one number is needed: its upper end, and said so. Pure.

use crate::document::Document;

/// Names of such figures, and what they are among those of a distribution.
const FIGURES: [(&str, &str); 3] =
    [("response_mean_us", "mean"), ("response_p50_us", "p50"), ("response_p99_us", "p99")];

/// Whether the figure of this name is the upper end of a range: the client's own delay is a part of it.
pub(crate) fn is_upper_end(document: &Document, figure: &str) -> bool {
    let Some((_, name)) = FIGURES.into_iter().find(|(known, _)| *known == figure) else { return false };
    document.latency.as_ref().is_some_and(|latency| latency.by_operation.response.range(name).is_some())
}

/// A remark for each of these figures that is an upper end in some of the runs.
pub(crate) fn remarks_of_upper_ends<'a>(
    runs: &(impl Iterator<Item = &'a Document> + Clone),
    figures: impl Iterator<Item = &'static str>,
) -> Vec<String> {
    let remark = |figure| {
        let ends = runs.clone().filter(|run| is_upper_end(run, figure)).count();
        let all = runs.clone().count();
        (ends > 0).then(|| {
            format!(
                "{figure} is the upper end of a range in {ends} of {all} runs: the client's own delay is a part of it"
            )
        })
    };
    figures.filter_map(remark).collect()
}
