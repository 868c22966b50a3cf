//! Scores as functions of one weight.

/// What a contender would score as one criterion takes the share v of all weights while the others keep their proportions:
/// rest + slope × v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// The score without the criterion.
    pub(crate) rest: f64,
    /// What its share adds.
    pub(crate) slope: f64,
}

/// Differences below this are rounding.
const EQUAL: f64 = 1e-12;

/// Where the order of some lines changes, on both sides of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crossing {
    /// The share.
    pub(crate) share: f64,
    /// Who is overtaken there.
    pub(crate) overtaken: usize,
    /// By whom.
    pub(crate) by: usize,
}

/// The nearest crossings below and above `share` at which a line of `watched` is overtaken by any other. A share of 1 is no
/// weight: nothing crosses there.
pub(crate) fn crossings(lines: &[Line], share: f64, watched: &[usize]) -> [Option<Crossing>; 2] {
    let mut nearest: [Option<Crossing>; 2] = [None, None];
    for &overtaken in watched {
        for by in (0..lines.len()).filter(|&by| by != overtaken) {
            let (own, other) = (lines[overtaken], lines[by]);
            let slope = own.slope - other.slope;
            let ahead = own.rest - other.rest + slope * share;
            if ahead < -EQUAL || slope.abs() <= EQUAL {
                continue;
            }
            let at = (share - ahead / slope).clamp(0.0, 1.0);
            let crosses = Crossing { share: at, overtaken, by };
            let is_below = slope > 0.0;
            // Rounding may put a crossing at the other end of the scale, where the two are merely equal.
            let is_within = if is_below {
                own.rest - other.rest < -EQUAL
            } else {
                own.rest + own.slope - other.rest - other.slope < -EQUAL
            };
            if !is_within {
                continue;
            }
            let side = &mut nearest[usize::from(!is_below)];
            let is_nearer = side.is_none_or(|known| if is_below { at > known.share } else { at < known.share });
            if is_nearer {
                *side = Some(crosses);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [Line; 3] =
        [Line { rest: 60.0, slope: 20.0 }, Line { rest: 70.0, slope: -10.0 }, Line { rest: 10.0, slope: 100.0 }];

    /// 60 + 20 v = 70 − 10 v at v = 1/3, 60 + 20 v = 10 + 100 v at v = 5/8.
    #[test]
    fn the_first_is_dethroned_where_the_lines_cross() {
        let [below, above] = crossings(&LINES, 0.5, &[0]).map(Option::unwrap);
        assert!((below.share - 1.0 / 3.0).abs() < 1e-12 && (below.overtaken, below.by) == (0, 1));
        assert!((above.share - 0.625).abs() < 1e-12 && (above.overtaken, above.by) == (0, 2));
    }

    #[test]
    fn who_is_always_ahead_is_never_overtaken() {
        let lines = [Line { rest: 9.0, slope: 1.0 }, Line { rest: 8.0, slope: 1.0 }, Line { rest: 1.0, slope: 9.0 }];
        assert_eq!(crossings(&lines, 0.2, &[0]), [None, None]);
    }

    #[test]
    fn equals_part_at_once_in_the_direction_in_which_one_falls_behind() {
        let lines = [Line { rest: 5.0, slope: 2.0 }, Line { rest: 6.0, slope: 0.0 }];
        let [below, above] = crossings(&lines, 0.5, &[0]);
        assert_eq!((below.map(|c| c.share), above), (Some(0.5), None));
    }

    /// A difference of 1e-12 is rounding, and a greater one is none.
    #[test]
    fn lines_that_meet_at_an_end_of_the_scale_do_not_cross_there() {
        let with = |own: (f64, f64), other: (f64, f64), share: f64| {
            let line = |(rest, slope)| Line { rest, slope };
            crossings(&[line(own), line(other)], share, &[0]).map(|found| found.map(|found| found.share))
        };
        assert_eq!(with((5.0, 1.0), (5.0, 0.0), 0.5), [None, None]);
        assert_eq!(with((6.0, -1.0), (5.0, 0.0), 0.5), [None, None]);
        assert_eq!(with((0.0, 1.0), (EQUAL, 0.0), 0.5), [None, None]);
        assert_eq!(with((1.0, -1.0), (EQUAL, 0.0), 0.5), [None, None]);
        // Behind by as much they are equal, and by more they are not.
        assert_eq!(with((0.0, -1.0), (EQUAL, 0.0), 0.0), [None, Some(0.0)]);
        assert_eq!(with((0.0, -1.0), (2.0 * EQUAL, 0.0), 0.0), [None, None]);
    }

    #[test]
    fn of_two_who_overtake_at_one_share_the_first_is_named() {
        let (own, other) = (Line { rest: 6.0, slope: -4.0 }, Line { rest: 5.0, slope: 0.0 });
        let found = crossings(&[own, other, other], 0.0, &[0]);
        assert_eq!(found[1].map(|found| (found.share, found.by)), Some((0.25, 1)));
        let (own, other) = (Line { rest: 4.0, slope: 4.0 }, Line { rest: 5.0, slope: 0.0 });
        let found = crossings(&[own, other, other], 1.0, &[0]);
        assert_eq!(found[0].map(|found| (found.share, found.by)), Some((0.25, 1)));
    }
}
