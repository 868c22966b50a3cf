//! What a ranking rests on, as text for people. Pure.

use crate::{
    ranking::letter,
    terminal::{
        figure::{count, or_none},
        finished,
        table::{paragraph, table},
        usable,
    },
};
use comfy_table::CellAlignment::{Left, Right};
use iotbench_scoring::{HalfRobustness, Overtaking, Ranking, Robustness, WeightRange};

/// For each half of the score its intervals, its ranks under random weights and how far each weight can move; for the total
/// the nearest such weight. For a terminal of `columns` columns, of which at most 100 are used.
#[must_use]
pub fn render_robustness(ranking: &Ranking, robustness: &Robustness, columns: u16) -> String {
    let columns = usable(columns);
    let mut sections = Vec::new();
    for (name, half) in [("Writing", &robustness.write), ("Reading", &robustness.read)] {
        sections.extend(half.iter().map(|half| half_section(name, half, ranking, columns)));
    }
    let totals = [("write", &robustness.total_by_write), ("read", &robustness.total_by_read)];
    let totals = totals.iter().filter(|(_, ranges)| !ranges.is_empty());
    let lines: Vec<String> = totals
        .map(|(half, ranges)| nearest(&format!("Total, by the weights of [{half}]"), ranges, ranking))
        .chain([format!(
            "Random weights: 10,000 draws of Dirichlet(1, …, 1), seed {}. Intervals: delta method over the repetitions.",
            robustness.seed
        )])
        .map(|line| paragraph(&crate::printable(&line), columns))
        .collect();
    sections.push(lines.join("\n"));
    finished(&sections.join("\n\n"))
}

fn half_section(name: &str, half: &HalfRobustness, ranking: &Ranking, columns: u16) -> String {
    let letter = |contender: &str| letter(&ranking.contenders, contender);
    let percent = |figure: f64| format!("{figure:.2}");
    let scores = half.uncertainty.scores.iter().zip(&half.ranks).map(|(score, ranks)| {
        vec![
            letter(&score.contender),
            percent(score.score_pct.max(0.0)),
            or_none(score.low_pct, percent),
            or_none(score.high_pct, percent),
            format!("{:.1}", ranks.first_pct),
            format!("{:.2}", ranks.mean_rank),
            format!("{} to {}", ranks.best, ranks.worst),
            if half.pareto_front.contains(&score.contender) { "yes" } else { "no" }.into(),
        ]
    });
    let heads = ["score %", "95 % from", "to", "first in % of random weights", "mean rank", "ranks", "Pareto front"];
    let scores = table(&format!("{name}: how sure"), &heads, scores.collect(), Right, columns);
    let weight = |overtaking: &Option<Overtaking>| {
        or_none(overtaking.as_ref(), |o| format!("{} ({})", crate::ranking::digits(o.weight), letter(&o.by)))
    };
    let rows = half.weights.iter().map(|range| {
        let ends = [&range.first[0], &range.first[1], &range.order[0], &range.order[1]].map(weight);
        [vec![range.criterion.name().to_owned(), range.weight.to_string()], ends.into()].concat()
    });
    let heads = ["weight", "first changes below", "above", "any order changes below", "above"];
    let weights = table("How far can it move?", &heads, rows.collect(), Left, columns);
    let lines = lines(name, half, ranking);
    let lines: Vec<String> = lines.iter().map(|line| paragraph(&crate::printable(line), columns)).collect();
    [scores, weights, lines.join("\n")].join("\n\n")
}

fn lines(name: &str, half: &HalfRobustness, ranking: &Ranking) -> Vec<String> {
    let letter = |contender: &str| letter(&ranking.contenders, contender);
    let letters: Vec<String> = half.reference.iter().map(|contender| letter(contender)).collect();
    let mut lines = vec![
        nearest(name, &half.weights, ranking),
        format!(
            "max L is that of these {}: {}. One more or one less changes every score.",
            count(half.reference.len() as u64),
            letters.join(", ")
        ),
    ];
    for tie in &half.uncertainty.ties {
        let (higher, lower) = (letter(&tie.higher), letter(&tie.lower));
        lines.push(tie.p_holm.map_or_else(
            || format!("warning: single runs do not tell whether {higher} and {lower} differ by more than chance"),
            |p| {
                format!("warning: {higher} and {lower} cannot be told apart: such a distance is chance with p = {p:.2}")
            },
        ));
    }
    lines
}

/// The weight that has to change least for another to be first.
fn nearest(name: &str, ranges: &[WeightRange], ranking: &Ranking) -> String {
    let overtakings =
        ranges.iter().flat_map(|range| range.first.iter().flatten().map(move |overtaking| (range, overtaking)));
    let change = |(range, overtaking): &(&WeightRange, &Overtaking)| (overtaking.weight / range.weight - 1.0) * 100.0;
    match overtakings.min_by(|a, b| change(a).abs().total_cmp(&change(b).abs())) {
        None => format!("{name}: no single weight dethrones the first, however it is changed."),
        Some(nearest) => {
            let (range, overtaking) = nearest;
            format!(
                "{name}: {} {} is dethroned by {} {} when {} goes from {} to {} ({:+.0} %); every other weight would have to \
                 change by more.",
                letter(&ranking.contenders, &overtaking.overtaken),
                overtaking.overtaken,
                letter(&ranking.contenders, &overtaking.by),
                overtaking.by,
                range.criterion.name(),
                range.weight,
                crate::ranking::digits(overtaking.weight),
                change(&nearest)
            )
        }
    }
}
