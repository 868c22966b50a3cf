//! How capacity grows with the nodes of a cluster.

use std::collections::BTreeSet;

/// Cluster sizes that a fit needs.
const MIN_SIZES: usize = 3;
/// An exponent of at least this is near linear: doubling the nodes brings at least 1.87 times the capacity.
const NEAR_LINEAR: f64 = 0.9;

/// What a cluster of some size sustained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterSize {
    /// Its nodes.
    pub nodes: u32,
    /// The greatest load that it sustained.
    pub capacity: f64,
    /// Values acknowledged a second at that load.
    pub values_per_s: Option<f64>,
    /// Whether two of its nodes were on one machine.
    pub shares_machine: bool,
}

/// The power law capacity = a · nodesᵇ, fitted by least squares to the logarithms; b = 1 is linear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// b.
    pub exponent: f64,
    /// The fewest nodes.
    pub from: u32,
    /// The most.
    pub to: u32,
}

impl Scaling {
    /// Whether it is near linear.
    #[must_use]
    pub fn is_near_linear(&self) -> bool {
        self.exponent >= NEAR_LINEAR
    }
}

/// Fits the law.
///
/// # Errors
/// Fewer than three sizes, or a cluster whose nodes share a machine, where another node brings no more processor: the
/// reasons, all of them.
pub fn scaling(sizes: &[ClusterSize]) -> Result<Scaling, String> {
    let sizes: Vec<&ClusterSize> = sizes.iter().filter(|size| size.nodes > 0 && size.capacity > 0.0).collect();
    let different: BTreeSet<u32> = sizes.iter().map(|size| size.nodes).collect();
    let mut reasons = Vec::new();
    if different.len() < MIN_SIZES {
        let sizes = if different.len() == 1 { "cluster size was" } else { "cluster sizes were" };
        reasons.push(format!("{} {sizes} measured, and a fit needs {MIN_SIZES}", different.len()));
    }
    let sharing: BTreeSet<u32> = sizes.iter().filter(|s| s.shares_machine).map(|s| s.nodes).collect();
    if !sharing.is_empty() {
        let of = sharing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        reasons.push(format!("the nodes of the cluster of {of} share a machine"));
    }
    let (Some(&from), Some(&to), []) = (different.first(), different.last(), reasons.as_slice()) else {
        return Err(reasons.join("; "));
    };
    let points: Vec<(f64, f64)> = sizes.iter().map(|s| (f64::from(s.nodes).ln(), s.capacity.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in &points {
        xy += (x - x_mean) * (y - y_mean);
        xx += (x - x_mean).powi(2);
    }
    Ok(Scaling { exponent: xy / xx, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(nodes: u32, capacity: f64) -> ClusterSize {
        ClusterSize { nodes, capacity, values_per_s: None, shares_machine: false }
    }

    #[test]
    fn the_studys_own_figures_are_near_linear() {
        let fit = scaling(&[size(12, 200.0), size(24, 420.0), size(36, 598.0)]).unwrap();
        assert!((fit.exponent - 1.0).abs() < 0.02 && fit.is_near_linear(), "{fit:?}");
        assert_eq!((fit.from, fit.to), (12, 36));
    }

    #[test]
    fn a_fit_is_refused_with_too_few_sizes_or_on_one_machine() {
        let few = scaling(&[size(1, 50.0), size(3, 150.0), size(3, 151.0)]).unwrap_err();
        assert_eq!(few, "2 cluster sizes were measured, and a fit needs 3");
        let one = ClusterSize { shares_machine: true, ..size(3, 60.0) };
        let both = scaling(&[one]).unwrap_err();
        assert!(
            both.contains("1 cluster size was measured") && both.contains("cluster of 3 share a machine"),
            "{both}"
        );
        let shared = scaling(&[size(1, 50.0), size(2, 60.0), one]).unwrap_err();
        assert_eq!(shared, "the nodes of the cluster of 3 share a machine");
        assert!(scaling(&[]).is_err());
    }

    proptest! {
        #[test]
        fn a_power_law_is_found_again(exponent in -0.5_f64..1.5, at_one in 1.0_f64..1e6) {
            let sizes = [1, 3, 6, 12].map(|nodes| size(nodes, at_one * f64::from(nodes).powf(exponent)));
            prop_assert!((scaling(&sizes).unwrap().exponent - exponent).abs() < 1e-9);
        }
    }
}
