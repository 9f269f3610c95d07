//! The JSON file of a self-test, to attach to a report of a failure.

use serde::{Deserialize, Serialize};

use crate::report::results::Device;

/// The version of the schema. It increases when a field is removed or changes its meaning, not when one is added.
pub(crate) const SCHEMA: u32 = 1;

/// A self-test.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    /// [`SCHEMA`].
    pub(crate) schema: u32,
    /// False if the run was interrupted: kernels at the end are missing.
    pub(crate) complete: bool,
    /// The command line.
    pub(crate) command: Vec<String>,
    /// Ferrowave's version.
    pub(crate) version: String,
    /// The commit of the build, with `-dirty` if files were changed; null if it was not built in a repository.
    pub(crate) commit: Option<String>,
    /// The compiler of the embedded kernels.
    pub(crate) toolchain: String,
    /// The host's time at the start, in RFC 3339.
    pub(crate) date: String,
    /// The device, with the version of the HIP runtime.
    pub(crate) device: Device,
    pub(crate) code_object: CodeObjectIdentity,
    pub(crate) kernels: Vec<KernelResult>,
}

/// Which code object was tested.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeObjectIdentity {
    /// The file; null for the embedded kernels.
    pub(crate) file: Option<String>,
    pub(crate) bytes: usize,
    /// The 64-bit FNV-1a hash of its bytes, in hexadecimal.
    pub(crate) fnv1a64: String,
}

impl CodeObjectIdentity {
    pub(crate) fn of(file: Option<String>, bytes: &[u8]) -> Self {
        // Offset basis and prime: draft-eastlake-fnv, section 5.
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        CodeObjectIdentity {
            file,
            bytes: bytes.len(),
            fnv1a64: format!("{hash:016x}"),
        }
    }
}

/// What was found in a kernel.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct KernelResult {
    /// Its name in `ferrowave list`.
    pub(crate) kernel: String,
    /// Its name in the code object.
    pub(crate) symbol: String,
    /// Type of the elements of A and B.
    pub(crate) input: String,
    /// Type of the elements of C.
    pub(crate) output: String,
    pub(crate) passed: bool,
    /// Products that were computed and verified.
    pub(crate) cases: u32,
    /// Of them, those whose bits were compared with the emulator's.
    pub(crate) compared_with_emulator: u32,
    /// Runs of one product that were compared bit by bit.
    pub(crate) runs: u32,
    pub(crate) seconds: f64,
    /// Products that failed.
    pub(crate) failed_cases: u32,
    /// The first of them.
    pub(crate) failures: Vec<CaseFailure>,
    /// How the process of the kernel ended, if it ended before the kernel was tested.
    pub(crate) process: Option<String>,
    /// The last lines that such a process wrote to standard error.
    pub(crate) said: Vec<String>,
}

/// A product that failed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CaseFailure {
    /// The product: extents, layouts, factors, operations, seed.
    pub(crate) case: String,
    /// Whether its matrices have denormals, zeros of both signs and a NaN.
    pub(crate) special_inputs: bool,
    /// What is wrong.
    pub(crate) what: String,
    pub(crate) first_wrong: Option<Element>,
}

/// An element of C. Values are text, because JSON has no NaN.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Element {
    pub(crate) batch: u64,
    pub(crate) row: u64,
    pub(crate) column: u64,
    pub(crate) got: String,
    pub(crate) got_bits: String,
    pub(crate) expected: String,
    pub(crate) expected_bits: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_draft() {
        // Appendix C of draft-eastlake-fnv.
        let hash = |bytes: &[u8]| CodeObjectIdentity::of(None, bytes).fnv1a64;
        assert_eq!(hash(b""), "cbf29ce484222325");
        assert_eq!(hash(b"foobar"), "85944171f73967e8");
    }
}
