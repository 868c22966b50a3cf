//! A ranking as text for people, with all that it takes to work it out again by hand. Pure.

use crate::terminal::{
    figure::or_none,
    finished,
    table::{paragraph, table},
    usable,
};
use comfy_table::CellAlignment::{Left, Right};
use iotbench_scoring::{Column, Contender, Criterion, Formula, Ranking, Table};

/// Criteria, normalised losses, scores and ranks, then all ranks side by side with what an acknowledged write survives.
/// For a terminal of `columns` columns, of which at most 100 are used. `remarks` come last.
#[must_use]
pub fn render_ranking(ranking: &Ranking, remarks: &[String], columns: u16) -> String {
    let columns = usable(columns);
    let mut sections = vec![headline(ranking, columns)];
    for (name, half) in [("Writing", &ranking.write), ("Reading", &ranking.read)] {
        sections.extend(half.iter().map(|half| half_section(name, half, &ranking.contenders, columns)));
    }
    sections.push(places(ranking, columns));
    let left_out = ranking.left_out.iter().map(|run| format!("left out: {} ({})", run.run, run.reason));
    let runs = ranking.contenders.iter().filter(|c| c.write_runs.len().max(c.read_runs.len()) > 1).map(|c| {
        format!("{}: the mean of {} runs that write and {} that read", c.name, c.write_runs.len(), c.read_runs.len())
    });
    let alone =
        (ranking.contenders.len() == 1).then(|| "a contender alone is its own greatest loss: it scores 0".into());
    let lines: Vec<String> = left_out
        .chain(runs)
        .chain(alone)
        .chain(remarks.iter().map(|remark| format!("remark: {remark}")))
        .map(|line| paragraph(&crate::printable(&line), columns))
        .collect();
    if !lines.is_empty() {
        sections.push(lines.join("\n"));
    }
    finished(&sections.join("\n\n"))
}

fn headline(ranking: &Ranking, columns: u16) -> String {
    let formula = "score = [1 − Σ(L / max L × weight) / Σ weight] × 100 %, where L is a loss: lower is better";
    let mut lines = vec![format!("SCORE  {}", ranking.score), formula.into()];
    if ranking.formula == Formula::Erratum {
        let erratum =
            "the erratum's variant: the difficulty of reading is left out of Σ(L / max L × weight), its weight stays";
        lines.push(erratum.into());
    }
    lines.push("a letter stands for a contender: the last table names it".into());
    lines.iter().map(|line| paragraph(&crate::printable(line), columns)).collect::<Vec<_>>().join("\n")
}

fn half_section(name: &str, half: &Table, contenders: &[Contender], columns: u16) -> String {
    let heads: Vec<String> =
        half.columns.iter().map(|c| format!("{} {}", c.criterion.title(), unit(c.criterion))).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let figure = |column: &Column, figure: Option<f64>| or_none(figure, |f| digits(in_unit(column.criterion, f)));
    let line = |head: String, cells: Vec<String>| [vec![head], cells].concat();
    let mut losses: Vec<Vec<String>> = half
        .rows
        .iter()
        .map(|row| {
            line(
                letter(contenders, &row.contender),
                half.columns.iter().zip(&row.losses).map(|(c, l)| figure(c, *l)).collect(),
            )
        })
        .collect();
    losses.push(line("max L".into(), half.columns.iter().map(|c| figure(c, c.max)).collect()));
    losses.push(line("weight".into(), half.columns.iter().map(|c| c.weight.to_string()).collect()));
    let short: Vec<&str> = half.columns.iter().map(|c| c.criterion.title()).chain(["Σ", "score %", "rank"]).collect();
    let normalised = half.rows.iter().map(|row| {
        let shares = row.normalised.iter().map(|share| or_none(*share, |share| format!("{share:.3}")));
        let ends = [format!("{:.3}", row.weighted), percent(row.score_pct), row.rank.to_string()];
        line(letter(contenders, &row.contender), shares.chain(ends).collect())
    });
    let mut parts = vec![
        format!("{name}: {}, Σ weight = {}", crate::printable(&half.profile), half.weights),
        table("L", &heads, losses, Right, columns),
        table("L/max", &short, normalised.collect(), Right, columns),
    ];
    for column in half.columns.iter().filter(|c| c.max.is_none()) {
        let lacking = column.lacking.join(", ");
        let text = format!("{} counts for nobody: {lacking} lack it", column.criterion.title());
        parts.push(paragraph(&crate::printable(&text), columns));
    }
    parts.join("\n")
}

/// All ranks side by side, the best first.
fn places(ranking: &Ranking, columns: u16) -> String {
    let of = |half: &Option<Table>, name: &str| {
        half.as_ref().and_then(|half| half.rows.iter().find(|row| row.contender == name)).map(|r| (r.score_pct, r.rank))
    };
    let mut rows: Vec<_> = ranking
        .contenders
        .iter()
        .map(|contender| {
            let total = ranking.total.iter().find(|t| t.contender == contender.name).map(|t| (t.total_pct, t.rank));
            let ranks = [total, of(&ranking.read, &contender.name), of(&ranking.write, &contender.name)];
            (ranks.map(|r| r.map_or(usize::MAX, |(_, rank)| rank)), contender, ranks)
        })
        .collect();
    rows.sort_by_key(|(order, ..)| *order);
    let cells = rows.into_iter().map(|(_, contender, [total, read, write])| {
        let places = [write, read, total].into_iter().flat_map(|place| {
            [or_none(place, |(score, _)| percent(score)), or_none(place, |(_, rank)| rank.to_string())]
        });
        let survives = crate::printable(&contender.promises.join(" / "));
        let name = format!("{} {}", letter(&ranking.contenders, &contender.name), crate::printable(&contender.name));
        std::iter::once(name).chain(places).chain([survives]).collect()
    });
    let heads = ["write %", "rank", "read %", "rank", "total %", "rank", "a write survives"];
    table("Ranking", &heads, cells.collect(), Left, columns)
}

/// What stands for a contender in tables that have no room for its name: A to Z, then A2 and so on.
pub(crate) fn letter(contenders: &[Contender], name: &str) -> String {
    let place = contenders.iter().position(|c| c.name == name).unwrap_or_default();
    let letter = ('A'..='Z').nth(place % 26).unwrap_or('A');
    if place < 26 { letter.to_string() } else { format!("{letter}{}", place / 26 + 1) }
}

fn percent(score: f64) -> String {
    // No score is below 0 but by rounding.
    format!("{:.2}", score.max(0.0))
}

/// Bytes are shown in millions.
fn unit(criterion: Criterion) -> &'static str {
    match criterion.unit() {
        "bytes" => "MB",
        other => other,
    }
}

fn in_unit(criterion: Criterion, figure: f64) -> f64 {
    if criterion.unit() == "bytes" { figure / 1e6 } else { figure }
}

/// Five significant digits: enough to work a score out again to a hundredth of a percent.
pub(crate) fn digits(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent of a finite number is at most 308")]
    let before_point = number.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(5 - before_point).unwrap_or_default().min(9);
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_five_digits_and_no_idle_zeros() {
        for (number, text) in [
            (0.0, "0"),
            (5.0, "5"),
            (46.9, "46.9"),
            (123_456.7, "123457"),
            (0.012_345_678, "0.012346"),
            (99_999.96, "100000"),
        ] {
            assert_eq!(digits(number), text);
        }
    }
}
