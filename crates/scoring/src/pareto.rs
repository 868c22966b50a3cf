//! Who cannot be beaten in everything at once.

use crate::ranking::{Row, Table};

/// The contenders of the Pareto front: none of the others loses at most as much of every criterion and less of one. Whatever
/// the weights are, somebody of the front is first. What nobody can be scored by, and a criterion whose losses do not count,
/// is left out.
#[must_use]
pub fn pareto_front(table: &Table) -> Vec<String> {
    let losses = |row: &Row| -> Vec<f64> {
        let columns = table.columns.iter().zip(&row.normalised).filter(|(column, _)| column.counts);
        columns.filter_map(|(_, loss)| *loss).collect()
    };
    let beats = |a: &Row, b: &Row| {
        let (a, b) = (losses(a), losses(b));
        a.iter().zip(&b).all(|(a, b)| a <= b) && a.iter().zip(&b).any(|(a, b)| a < b)
    };
    let front = table.rows.iter().filter(|row| !table.rows.iter().any(|other| beats(other, row)));
    front.map(|row| row.contender.clone()).collect()
}
