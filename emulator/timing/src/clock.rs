//! The clock that a GPU sustains under the power of its matrix cores.
//!
//! Under load, the power limit lowers the clock. AMD published clocks of large products («Measuring Max-Achievable FLOPs
//! – Part 2», February 2025, ROCm 6.3, random data, warm, table 1). The share of the matrix cores follows from rate and
//! clock:
//!
//! | machine, limit | f16 | bf16 | fp8 |
//! |---|---|---|---|
//! | MI300X, 750 W | 1115 MHz, 654 TFLOP/s: 94 % | 1207 MHz, 708 TFLOP/s: 94 % | 1230 MHz, 1273 TFLOP/s: 83 % |
//! | MI325X, 1000 W | 1354 MHz, 794 TFLOP/s: 94 % | 1447 MHz, 843 TFLOP/s: 94 % | 1464 MHz, 1519 TFLOP/s: 83 % |
//!
//! The two machines have the same compute units, so that the ratios of their clocks say how the clock grows with power:
//! power to the 0.637 on average ([`EXPONENT`]). With the clocks of MI300X, this gives those of MI325X to 1.1 %, 0.2 % and
//! 0.9 %. A kernel of which the matrix cores work less uses less power in a cycle in proportion, and its clock rises by
//! the same law, to the highest clock.
//!
//! For MI355X, AMD published the rate of kernels and, by thread traces, the share of the matrix cores in their loops
//! (ROCm/gfx950-gluon-tutorials, 2026: `a16w16/report.md`, `a8w8/README.md`, `a4w4/v1_sliceMN/README.md`; 256 workgroups of 256×256,
//! k = 8192, 16384 and 32768). The clock follows from both; cycles before and behind the loop would raise it. The table has the
//! kernel of each type whose matrix cores work most, of those whose stores overlap with the loop's end:
//!
//! | machine | f16 | fp8 (bf8) | fp4 |
//! |---|---|---|---|
//! | MI355X | 1423 TFLOP/s, 93.65 %: 1449 MHz | 3232 TFLOP/s, 99.52 %: 1549 MHz | 5843 TFLOP/s, 93.7 %: 1487 MHz |
//!
//! Ten other kernels there confirm the law: with the exponent of the two other machines it gives their clocks to 1.8 %, where
//! matrix cores work between 61 % and 98 % (`the_law_holds_on_mi355x`).
//!
//! **These figures cannot say what bytes moved cost**: all are of large products, in which they grow with the work of
//! the matrix cores. So bytes are no term here: they are part of each type's figure, and a kernel that moves more has a
//! lower clock than this. Kernels whose matrix cores work less than a quarter of all cycles, of all compute units, have no
//! figure: other units decide their power. AMD notes that data with few toggling bits has clocks up to 50 % higher. Other
//! machines and types have no published clocks that we know.

use ferrowave_gpu::Product;
use ferrowave_isa::{DataType, Instruction};
use serde::{Deserialize, Serialize};

/// How a clock grows with the power that it may use.
const EXPONENT: f64 = 0.637;

/// The type of the elements that a matrix instruction multiplies, as far as clocks were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatrixType {
    /// f16.
    F16,
    /// bf16.
    Bf16,
    /// fp8 and bf8, also with a factor of a narrower type, which takes as long.
    Fp8,
    /// fp4.
    Fp4,
    /// All others.
    Other,
}

impl MatrixType {
    /// All of them.
    pub const ALL: [MatrixType; 5] = [
        MatrixType::F16,
        MatrixType::Bf16,
        MatrixType::Fp8,
        MatrixType::Fp4,
        MatrixType::Other,
    ];

    /// The type of a matrix instruction's first source, or of both if the instruction names their formats.
    pub(super) fn of(instruction: &Instruction) -> Self {
        match instruction.formats() {
            Some([4, 4]) => return MatrixType::Fp4,
            // Without a factor of 8 bits.
            Some([a, b]) if a.min(b) >= 2 => return MatrixType::Other,
            _ => {}
        }
        let [on_floats, _] = instruction.operations();
        match instruction.src[0].ty {
            DataType::PackedF16 => MatrixType::F16,
            DataType::PackedBf16 => MatrixType::Bf16,
            // Only the floats that are narrower than 16 bits have no type in the table.
            DataType::B if on_floats > 0 => MatrixType::Fp8,
            _ => MatrixType::Other,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            MatrixType::F16 => "f16",
            MatrixType::Bf16 => "bf16",
            MatrixType::Fp8 => "fp8",
            MatrixType::Fp4 => "fp4",
            MatrixType::Other => "the type of its matrix instructions",
        }
    }

    /// A published clock of a machine in Hz, and the share of the matrix cores at it.
    const fn published(self, machine: Product) -> Option<(f64, f64)> {
        Some(match (machine, self) {
            (Product::Mi300x, MatrixType::F16) => (1115e6, 654e12 / (304.0 * 2048.0 * 1115e6)),
            (Product::Mi300x, MatrixType::Bf16) => (1207e6, 708e12 / (304.0 * 2048.0 * 1207e6)),
            (Product::Mi300x, MatrixType::Fp8) => (1230e6, 1273e12 / (304.0 * 4096.0 * 1230e6)),
            (Product::Mi355x, MatrixType::F16) => (1423e12 / (256.0 * 4096.0 * 0.9365), 0.9365),
            (Product::Mi355x, MatrixType::Fp8) => (3232e12 / (256.0 * 8192.0 * 0.9952), 0.9952),
            (Product::Mi355x, MatrixType::Fp4) => (5843e12 / (256.0 * 16384.0 * 0.937), 0.937),
            _ => return None,
        })
    }

    /// Whether there are clocks of a machine for any type.
    fn any_published(machine: Product) -> bool {
        Self::ALL.iter().any(|of| of.published(machine).is_some())
    }
}

/// The shares of the cycles in which the matrix cores of all compute units work, by [`MatrixType::ALL`].
pub(super) type MatrixShares = [f64; MatrixType::ALL.len()];

/// The clock that a machine sustains in a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "known", rename_all = "kebab-case")]
pub enum SustainedClock {
    /// Fitted to AMD's figures.
    Fitted {
        /// In Hz.
        clock_hz: f64,
        /// The kernel's time at this clock. Latencies beyond L2 have clocks of their own, which do not fall, so that it
        /// is an upper bound for kernels that wait for memory.
        seconds: f64,
    },
    /// There are no figures.
    Unknown {
        /// Of what.
        missing: String,
    },
}

/// A share of a type below which its power does not matter.
const LEAST_SHARE: f64 = 0.005;

/// The share of the matrix cores, of all compute units, below which other units decide the power.
const LEAST_WORK: f64 = 0.25;

impl SustainedClock {
    /// The clock and where it comes from, or of what there are no figures.
    pub fn note(&self) -> String {
        match self {
            SustainedClock::Fitted { clock_hz, .. } => format!(
                "{:.2} GHz, fitted to AMD's figures of large products",
                clock_hz / 1e9
            ),
            SustainedClock::Unknown { missing } => format!("we know no figures of {missing}"),
        }
    }

    /// The time at it, if it is known.
    pub const fn seconds(&self) -> Option<f64> {
        match self {
            SustainedClock::Fitted { seconds, .. } => Some(*seconds),
            SustainedClock::Unknown { .. } => None,
        }
    }

    pub(super) fn of(machine: Product, shares: &MatrixShares, cycles: u64) -> Self {
        let highest = machine.specifications().clock_hz();
        // The power in a cycle, where 1 is what the limit allows at 1 Hz.
        let mut power = 0.0;
        for (&share, of) in shares.iter().zip(MatrixType::ALL) {
            match of.published(machine) {
                Some((clock, at)) => power += share / at * clock.powf(-1.0 / EXPONENT),
                None if share < LEAST_SHARE && MatrixType::any_published(machine) => {}
                None => {
                    let what = match MatrixType::any_published(machine) {
                        true => format!("{machine} in {}", of.name()),
                        false => machine.to_string(),
                    };
                    return SustainedClock::Unknown { missing: what };
                }
            }
        }
        if shares.iter().sum::<f64>() < LEAST_WORK {
            let least = 100.0 * LEAST_WORK;
            let missing = format!(
                "{machine} with matrix cores that work less than {least:.0} % of all cycles"
            );
            return SustainedClock::Unknown { missing };
        }
        let clock_hz = power.powf(-EXPONENT).min(highest);
        SustainedClock::Fitted {
            clock_hz,
            seconds: cycles as f64 / clock_hz,
        }
    }
}

#[cfg(test)]
mod tests {
    use ferrowave_gpu::Gpu;
    use ferrowave_isa::{Category, decode};

    use super::*;

    fn clock(machine: Product, shares: MatrixShares) -> Option<f64> {
        match SustainedClock::of(machine, &shares, 1) {
            SustainedClock::Fitted { clock_hz, .. } => Some(clock_hz / 1e6),
            SustainedClock::Unknown { .. } => None,
        }
    }

    #[test]
    fn published_clocks_are_given_back() {
        let f16 = clock(Product::Mi300x, [0.942, 0.0, 0.0, 0.0, 0.0]).expect("published");
        assert!((f16 - 1115.0).abs() < 1.0, "{f16}");
        let bf16 = clock(Product::Mi300x, [0.0, 0.942, 0.0, 0.0, 0.0]).expect("published");
        assert!((bf16 - 1207.0).abs() < 1.0, "{bf16}");
        let fp8 = clock(Product::Mi300x, [0.0, 0.0, 0.831, 0.0, 0.0]).expect("published");
        assert!((fp8 - 1230.0).abs() < 1.0, "{fp8}");
    }

    /// The residual that the documentation states: clocks of MI325X from those of MI300X and the ratio of their limits.
    #[test]
    fn clocks_of_mi325x_follow_from_its_power() {
        let mut errors = Vec::new();
        for (of, published) in [
            (MatrixType::F16, 1354e6),
            (MatrixType::Bf16, 1447e6),
            (MatrixType::Fp8, 1464e6),
        ] {
            let (clock, _) = of.published(Product::Mi300x).expect("published");
            let predicted = clock * (1000.0_f64 / 750.0).powf(EXPONENT);
            errors.push((predicted / published - 1.0_f64).abs());
        }
        let expected = [0.011, 0.002, 0.009];
        for (error, expected) in errors.iter().zip(expected) {
            assert!((error - expected).abs() < 0.0006, "{errors:?}");
        }
    }

    /// The other kernels of the documents whose figures of MI355X are used: rate in TFLOP/s and share.
    #[test]
    fn the_law_holds_on_mi355x() {
        let kernels = [
            (MatrixType::F16, 1363.0, 0.8475),
            (MatrixType::F16, 1251.0, 0.6892),
            (MatrixType::F16, 1427.0, 0.9614),
            (MatrixType::F16, 1375.0, 0.8832),
            (MatrixType::F16, 1226.0, 0.6499),
            (MatrixType::Fp8, 3231.0, 0.9806),
            (MatrixType::Fp8, 3177.0, 0.9375),
            (MatrixType::Fp8, 2723.0, 0.6111),
            (MatrixType::Fp4, 5737.0, 0.885),
            (MatrixType::Fp4, 5131.0, 0.644),
        ];
        for (of, rate, share) in kernels {
            let operations = match of {
                MatrixType::F16 => 4096.0,
                MatrixType::Fp8 => 8192.0,
                _ => 16384.0,
            };
            let published = rate * 1e6 / (256.0 * operations * share);
            let mut shares = [0.0; 5];
            shares[of as usize] = share;
            let fitted = clock(Product::Mi355x, shares).expect("published");
            let error = fitted / published - 1.0;
            assert!(error.abs() < 0.018, "{of:?} {share}: {error}");
        }
    }

    #[test]
    fn less_work_means_a_higher_clock_up_to_the_highest() {
        let at = |share| clock(Product::Mi300x, [share, 0.0, 0.0, 0.0, 0.0]).expect("published");
        assert!(at(0.9) < at(0.7) && at(0.7) < at(0.5));
        assert_eq!(at(0.3), 2100.0);
        // Two types in one kernel are between the two.
        let both = clock(Product::Mi300x, [0.471, 0.471, 0.0, 0.0, 0.0]).expect("published");
        assert!((1116.0..1206.0).contains(&both), "{both}");
    }

    #[test]
    fn what_was_not_published_is_unknown() {
        let none = [0.0; 5];
        assert_eq!(clock(Product::Mi300x, [0.0, 0.0, 0.0, 0.0, 0.5]), None);
        assert!(clock(Product::Mi300x, [0.5, 0.0, 0.0, 0.0, 0.001]).is_some());
        // A vector kernel, or one that fills few compute units.
        assert_eq!(clock(Product::Mi300x, [0.1, 0.1, 0.0, 0.0, 0.0]), None);
        assert_eq!(clock(Product::Mi355x, [0.0, 0.5, 0.0, 0.0, 0.0]), None);
        for machine in [Product::Mi100, Product::Mi210, Product::Mi250x] {
            assert_eq!(clock(machine, none), None);
            assert_eq!(clock(machine, [0.5, 0.0, 0.0, 0.0, 0.0]), None);
        }
    }

    /// All matrix instructions of MI300X, whose names end in the types that they multiply.
    #[test]
    fn the_first_source_has_the_type() {
        let mut found = [0; MatrixType::ALL.len()];
        for opcode in 0..128 {
            let words = [0xd380_0000 | opcode << 16, 0x0422_0902];
            let Ok(instruction) = decode(Gpu::Gfx942, &words, 0) else {
                continue;
            };
            if instruction.category() != Category::Matrix {
                continue;
            }
            let name = instruction.op.name();
            let expected = match name {
                _ if name.ends_with("bf16") => MatrixType::Bf16,
                _ if name.ends_with("_f16") => MatrixType::F16,
                _ if name.ends_with("fp8") || name.ends_with("bf8") => MatrixType::Fp8,
                _ => MatrixType::Other,
            };
            assert_eq!(MatrixType::of(&instruction), expected, "{name}");
            found[expected as usize] += 1;
        }
        assert_eq!(found, [7, 7, 16, 0, 16]);
    }
}
