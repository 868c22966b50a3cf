//! A linear fit of three coefficients.

/// The coefficients that leave the least sum of squares of `target − row · coefficients`, by the normal equations; `None`
/// where the rows do not determine them.
pub(crate) fn least_squares(rows: &[[f64; 3]], targets: &[f64]) -> Option<[f64; 3]> {
    // Columns of very different size are brought to one.
    let scale: [f64; 3] = std::array::from_fn(|i| rows.iter().map(|row| row[i] * row[i]).sum::<f64>().sqrt());
    if scale.iter().any(|&size| size <= 0.0 || !size.is_finite()) {
        return None;
    }
    let mut matrix = [[0.0; 4]; 3];
    for (row, target) in rows.iter().zip(targets) {
        let row: [f64; 3] = std::array::from_fn(|i| row[i] / scale[i]);
        for (line, factor) in matrix.iter_mut().zip(row) {
            line.iter_mut().zip(row.iter().chain([target])).for_each(|(cell, value)| *cell += factor * value);
        }
    }
    let solved = eliminate(matrix)?;
    Some(std::array::from_fn(|i| solved[i] / scale[i]))
}

/// Gauss–Jordan elimination with the greatest pivot.
fn eliminate(mut matrix: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    const SINGULAR: f64 = 1e-12;
    for column in 0..3 {
        let pivot = (column..3).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        matrix.swap(column, pivot);
        let divisor = matrix[column][column];
        if divisor.abs() < SINGULAR {
            return None;
        }
        matrix[column].iter_mut().for_each(|cell| *cell /= divisor);
        let line = matrix[column];
        for (_, row) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != column) {
            let factor = row[column];
            row.iter_mut().zip(line).for_each(|(cell, value)| *cell -= factor * value);
        }
    }
    Some(matrix.map(|row| row[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_is_found_exactly() {
        let rows: Vec<[f64; 3]> = (0..6).map(f64::from).map(|x| [1.0, x, x * x]).collect();
        let targets: Vec<f64> = rows.iter().map(|row| 3.0 - 2.0 * row[1] + 0.5 * row[2]).collect();
        let found = least_squares(&rows, &targets).unwrap();
        assert!(found.iter().zip([3.0, -2.0, 0.5]).all(|(f, e)| (f - e).abs() < 1e-9), "{found:?}");
        assert_eq!(least_squares(&rows[..2], &targets[..2]), None);
        assert_eq!(least_squares(&[[1.0, 0.0, 0.0]; 4], &[1.0; 4]), None);
    }
}
