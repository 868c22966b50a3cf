//! Sine waves without the platform's `sin`, whose last bit differs from machine to machine.

/// A full turn has 2^64 units of phase, so that a phase wraps around by itself and never loses precision.
const UNITS_PER_TURN: f64 = 18_446_744_073_709_551_616.0;

/// A wave that advances by the same phase from index to index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oscillator {
    phase: u64,
    step: u64,
}

impl Oscillator {
    /// A wave of so many turns per index (0 to 1), with its phase at index 0 in units of 1/2^64 turn.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the fraction of a turn is in 0..2^64")]
    pub fn new(turns_per_index: f64, phase: u64) -> Self {
        Self { phase, step: (turns_per_index * UNITS_PER_TURN) as u64 }
    }

    /// The phase at an index, in units of 1/2^64 turn.
    #[must_use]
    #[inline]
    pub fn phase(self, index: u64) -> u64 {
        self.phase.wrapping_add(self.step.wrapping_mul(index))
    }

    /// The sine at an index.
    #[must_use]
    #[inline]
    pub fn sine(self, index: u64) -> f64 {
        sine(self.phase(index))
    }
}

/// The sine of a phase in units of 1/2^64 turn, of which the highest 32 bits count; off by less than 2e-9.
///
/// The Taylor series up to the 15th power on a quarter turn: additions and multiplications alone, which IEEE 754
/// rounds alike everywhere.
#[must_use]
#[inline]
pub fn sine(phase: u64) -> f64 {
    const QUARTER: i32 = 1 << 30;
    const PER_UNIT: f64 = 1.0 / 1_073_741_824.0;
    let turn = (phase >> 32) as i32;
    let folded = if (-QUARTER..=QUARTER).contains(&turn) { turn } else { i32::MIN.wrapping_sub(turn) };
    let x = f64::from(folded) * PER_UNIT;
    let square = x * x;
    TAYLOR.iter().rev().fold(0.0, |sum, coefficient| sum * square + coefficient) * x
}

/// `(-1)^n (π/2)^(2n+1) / (2n+1)!` for n = 0 to 7.
const TAYLOR: [f64; 8] = [
    std::f64::consts::FRAC_PI_2,
    -0.645_964_097_506_246_3,
    0.079_692_626_246_167_05,
    -0.004_681_754_135_318_688,
    0.000_160_441_184_787_359_82,
    -3.598_843_235_212_085e-6,
    5.692_172_921_967_926e-8,
    -6.688_035_109_811_467e-10,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn it_is_the_sine() {
        for i in 0..100_000_u64 {
            let phase = i.wrapping_mul(0x1234_5678_9abc_def1);
            let expected = (f64::from(u32::try_from(phase >> 32).unwrap()) / 4_294_967_296.0 * TAU).sin();
            assert!((sine(phase) - expected).abs() < 2e-9, "phase {phase}: {} against {expected}", sine(phase));
        }
    }

    #[test]
    fn the_quarters_meet() {
        let quarter = 1_u64 << 62;
        let at: Vec<f64> = (0..4).map(|n| sine(quarter.wrapping_mul(n))).collect();
        assert!(
            at[0] == 0.0 && (at[1] - 1.0).abs() < 1e-9 && at[2].abs() < 1e-9 && (at[3] + 1.0).abs() < 1e-9,
            "{at:?}"
        );
    }

    #[test]
    fn a_wave_keeps_its_phase_at_huge_indices() {
        let wave = Oscillator::new(0.25, 0);
        let huge = 1_u64 << 40;
        for i in 0..8 {
            assert_eq!(wave.sine(huge + i).to_bits(), wave.sine(i).to_bits());
        }
    }
}
