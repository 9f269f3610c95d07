//! What limits the speed of a kernel: a unit, or what waves wait for.

use serde::{Deserialize, Serialize};

use super::stall::Stall;

/// A unit whose busy share is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The vector units of the SIMDs.
    Vector,
    /// The matrix cores of the SIMDs.
    Matrix,
    /// The scalar unit.
    Scalar,
    /// LDS.
    Lds,
    /// The vector L1 cache.
    L1,
    /// L2, including the path to it.
    L2,
    /// The Infinity Cache.
    InfinityCache,
    /// Memory.
    Memory,
}

impl Unit {
    /// All units, in the order of reports.
    pub const ALL: [Unit; 8] = [
        Unit::Vector,
        Unit::Matrix,
        Unit::Scalar,
        Unit::Lds,
        Unit::L1,
        Unit::L2,
        Unit::InfinityCache,
        Unit::Memory,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Vector => "vector units",
            Unit::Matrix => "matrix cores",
            Unit::Scalar => "scalar unit",
            Unit::Lds => "LDS",
            Unit::L1 => "L1",
            Unit::L2 => "L2",
            Unit::InfinityCache => "Infinity Cache",
            Unit::Memory => "memory",
        }
    }
}

/// What limits the speed of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", content = "what", rename_all = "kebab-case")]
pub enum Bound {
    /// A unit is busy most of the time: the kernel would be faster with less work for it.
    Unit(Unit),
    /// No unit is: waves wait, mostly for this. More waves, or more work between, would help.
    Latency(Stall),
    /// Nothing ran.
    Nothing,
}

impl Bound {
    /// A unit with at least this busy share is the bound.
    pub const BUSY: f64 = 0.7;

    /// The bound as text.
    pub fn text(&self) -> String {
        match self {
            Bound::Unit(unit) => unit.name().to_owned(),
            Bound::Latency(stall) => format!("latency: {}", stall.name()),
            Bound::Nothing => "nothing".to_owned(),
        }
    }
}
