//! A series as one line of blocks.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A block for each figure, or for the mean of neighbours where there are more than `columns`, from the least to the
/// greatest; below it a mark under each of these places.
pub(super) fn plot(figures: &[f64], marks: &[usize], columns: usize) -> [String; 2] {
    let size = figures.len().div_ceil(columns.max(1)).max(1);
    let means: Vec<f64> = figures.chunks(size).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let (least, most) = means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), &f| (l.min(f), m.max(f)));
    let block = |&mean: &f64| {
        let height = if most > least { (mean - least) / (most - least) * 7.0 } else { 3.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7")]
        BLOCKS.get(height.round() as usize).copied().unwrap_or('?')
    };
    let marked = |place: usize| marks.iter().any(|mark| mark / size == place);
    let line = (0..means.len()).map(|place| if marked(place) { '^' } else { ' ' });
    [means.iter().map(block).collect(), line.collect::<String>().trim_end().to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_low_the_greatest_high_and_changes_are_marked() {
        assert_eq!(plot(&[1.0, 1.0, 8.0, 8.0], &[2], 80), ["▁▁██".to_owned(), "  ^".to_owned()]);
        assert_eq!(plot(&[5.0; 3], &[], 80), ["▄▄▄".to_owned(), String::new()]);
        let long: Vec<f64> = (0..200).map(f64::from).collect();
        let [blocks, marks] = plot(&long, &[199], 80);
        assert_eq!((blocks.chars().count(), marks.chars().count()), (67, 67));
        assert_eq!(plot(&[], &[], 80), [String::new(), String::new()]);
    }
}
