//! The end of launches that do not end: where each wave of a workgroup stood when the instructions ran out.

use std::{env, fmt};

use super::LaunchError;
use crate::program::Kernel;

/// The variable that sets [`LaunchConfig::instruction_limit`](super::LaunchConfig::instruction_limit) for
/// programs that launch through HIP.
pub const INSTRUCTION_LIMIT_VARIABLE: &str = "FERROWAVE_INSTRUCTION_LIMIT";

/// The limit that the environment sets: a number of wave-instructions, or nothing.
///
/// # Errors
/// If the variable is set to something else.
pub fn instruction_limit_from_environment() -> Result<Option<u64>, LaunchError> {
    match env::var_os(INSTRUCTION_LIMIT_VARIABLE) {
        None => Ok(None),
        Some(value) => parse(&value.to_string_lossy()).map(Some),
    }
}

fn parse(value: &str) -> Result<u64, LaunchError> {
    let number = value.trim().parse().ok().filter(|&limit| limit > 0);
    number.ok_or_else(|| LaunchError::InstructionLimitSetting {
        value: value.to_owned(),
    })
}

/// What a wave was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was about to run the instruction.
    Runs,
    /// It waited at a barrier, with the instruction to follow.
    Waits,
    /// It waited at a barrier or semaphore of the whole launch, with the instruction to follow.
    Queued,
    /// It had ended.
    Ended,
}

/// Where a wave stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WavePlace {
    /// What it was doing.
    pub standing: Standing,
    /// Offset of its next instruction in the code object's image, in bytes.
    pub offset: u64,
    /// That instruction's text.
    pub instruction: String,
}

/// A launch that used up its instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitReport {
    /// The kernel.
    pub kernel: String,
    /// The limit, in wave-instructions.
    pub limit: u64,
    /// A workgroup that had not ended.
    pub workgroup: [u32; 3],
    /// Its waves, by number.
    pub waves: Vec<WavePlace>,
}

impl LimitReport {
    /// From the waves' standing and the numbers of their next instructions.
    pub(super) fn new(
        kernel: &Kernel,
        limit: u64,
        workgroup: [u32; 3],
        waves: &[(Standing, u32)],
    ) -> Self {
        let code = kernel.code();
        let place = |&(standing, index): &(Standing, u32)| WavePlace {
            standing,
            offset: kernel.offset_of(index),
            instruction: match code.instruction(index) {
                Some(instruction) => instruction.text(kernel.gpu()).to_string(),
                None => "no instruction".to_owned(),
            },
        };
        LimitReport {
            kernel: kernel.name().to_owned(),
            limit,
            workgroup,
            waves: waves.iter().map(place).collect(),
        }
    }
}

impl std::error::Error for LimitReport {}

impl fmt::Display for LimitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        write!(
            f,
            "kernel `{}` ran {} wave-instructions, the limit, and has not ended\n  in workgroup ({x}, {y}, {z}):",
            self.kernel, self.limit
        )?;
        for (number, wave) in self.waves.iter().enumerate() {
            let place = format_args!("`{}` (offset {:#x})", wave.instruction, wave.offset);
            match wave.standing {
                Standing::Runs => write!(f, "\n  wave {number} is at {place}")?,
                Standing::Waits => {
                    write!(f, "\n  wave {number} waits at a barrier before {place}")?;
                }
                Standing::Queued => {
                    write!(
                        f,
                        "\n  wave {number} waits for other workgroups before {place}"
                    )?;
                }
                Standing::Ended => write!(f, "\n  wave {number} has ended")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_numbers_above_0() {
        assert!(matches!(parse(" 1000000 "), Ok(1_000_000)));
        for value in ["", "0", "-1", "many", "1e6", "99999999999999999999"] {
            let message = parse(value).map_err(|error| error.to_string());
            let expected = format!(
                "FERROWAVE_INSTRUCTION_LIMIT is `{value}`, which is no number of wave-instructions above 0"
            );
            assert_eq!(message.unwrap_err(), expected);
        }
    }
}
