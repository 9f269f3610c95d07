//! Limits of launches, and the report of where each wave was when a limit was reached.

use std::{env, fmt, time::Duration};

use super::{LaunchError, error::source};
use crate::program::Kernel;

/// The environment variable for [`Limits::instructions`], for programs that launch through HIP.
pub const INSTRUCTION_LIMIT_VARIABLE: &str = "FERROWAVE_INSTRUCTION_LIMIT";

/// The environment variable for [`Limits::time`], for programs that launch through HIP.
pub const TIMEOUT_VARIABLE: &str = "FERROWAVE_TIMEOUT";

/// How many places a report lists.
const MOST_PLACES: usize = 8;

/// The limits of a launch. When one is exceeded, the launch is aborted at the end of a wave's turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wave-instructions. Each host thread may run some ten thousand more.
    pub instructions: Option<u64>,
    /// Time on the host.
    pub time: Option<Duration>,
}

impl Limits {
    /// No limits.
    pub const NONE: Limits = Limits {
        instructions: None,
        time: None,
    };

    /// The limits set in the environment: [`INSTRUCTION_LIMIT_VARIABLE`] and [`TIMEOUT_VARIABLE`].
    ///
    /// # Errors
    /// If the value of a variable is invalid.
    pub fn from_environment() -> Result<Self, LaunchError> {
        let set =
            |variable| env::var_os(variable).map(|value| value.to_string_lossy().into_owned());
        Ok(Limits {
            instructions: set(INSTRUCTION_LIMIT_VARIABLE)
                .map(|value| setting(INSTRUCTION_LIMIT_VARIABLE, value, parse_instructions))
                .transpose()?,
            time: set(TIMEOUT_VARIABLE)
                .map(|value| setting(TIMEOUT_VARIABLE, value, parse_time))
                .transpose()?,
        })
    }
}

fn setting<T>(
    variable: &'static str,
    value: String,
    parse: fn(&str) -> Result<T, String>,
) -> Result<T, LaunchError> {
    parse(&value).map_err(|reason| LaunchError::Setting {
        variable,
        value,
        reason,
    })
}

/// Parses a number of wave-instructions.
///
/// # Errors
/// What is expected, if the text is invalid.
pub fn parse_instructions(text: &str) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|&limit| limit > 0);
    number.ok_or_else(|| "it must be a whole number of wave-instructions above 0".to_owned())
}

/// Parses a time: seconds, or a number followed by `ms`, `s`, `m` or `h`.
///
/// # Errors
/// What is expected, if the text is invalid.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim_start() {
        "ms" => Some(1e-3),
        "" | "s" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    unit.and_then(|unit| Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| {
            "it must be a time above 0: seconds, or a number and ms, s, m or h, as in 30, 1.5s or 2m".to_owned()
        })
}

/// The limit that ended a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::instructions`].
    Instructions(u64),
    /// [`Limits::time`].
    Time(Duration),
}

/// The state of a wave when a limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// About to run its next instruction.
    Runs,
    /// Waiting at a barrier; the next instruction follows it.
    Waits,
    /// Waiting at a barrier or semaphore of the whole launch; the next instruction follows it.
    Queued,
    /// Ended.
    Ended,
}

/// Waves in the same state at the same instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WavePlace {
    /// Their state.
    pub standing: Standing,
    /// The offset of their next instruction in the code object's image, in bytes.
    pub offset: u64,
    /// The text of that instruction.
    pub instruction: String,
    /// Source file, line and column, if the code object has line tables.
    pub source: Option<String>,
    /// The number of waves.
    pub waves: u64,
    /// The workgroup of the first of them.
    pub workgroup: [u32; 3],
    /// The number of the first of them in its workgroup.
    pub wave: u32,
}

/// A workgroup that has started, with the state and the index of the next instruction of each wave.
pub(super) struct Standings {
    /// Its number in the grid.
    pub(super) number: u64,
    pub(super) workgroup: [u32; 3],
    pub(super) waves: Vec<(Standing, u32)>,
}

/// The report of a launch that exceeded a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitReport {
    /// The kernel.
    pub kernel: String,
    /// The limit.
    pub limit: Limit,
    /// Wave-instructions that were executed.
    pub instructions: u64,
    /// Workgroups of the launch.
    pub workgroups: u64,
    /// Workgroups that had ended.
    pub ended: u64,
    /// Workgroups that had started and not ended.
    pub under_way: u64,
    /// Where their waves were, the most frequent place first.
    pub places: Vec<WavePlace>,
}

impl LimitReport {
    /// Groups the waves of these workgroups by place.
    pub(super) fn places(kernel: &Kernel, mut standings: Vec<Standings>) -> Vec<WavePlace> {
        standings.sort_unstable_by_key(|group| group.number);
        let mut places: Vec<(u32, WavePlace)> = Vec::new();
        for group in &standings {
            for (wave, &(standing, index)) in group.waves.iter().enumerate() {
                // Ended waves have no place and form one group.
                let is_same = |(other, place): &&mut (u32, WavePlace)| {
                    place.standing == standing && (*other == index || standing == Standing::Ended)
                };
                match places.iter_mut().find(is_same) {
                    Some((_, place)) => place.waves += 1,
                    None => places.push((
                        index,
                        WavePlace {
                            standing,
                            offset: kernel.offset_of(index),
                            instruction: match kernel.code().instruction(index) {
                                Some(instruction) => instruction.text(kernel.gpu()).to_string(),
                                None => "no instruction".to_owned(),
                            },
                            source: source(kernel, kernel.offset_of(index)),
                            waves: 1,
                            workgroup: group.workgroup,
                            wave: wave as u32,
                        },
                    )),
                }
            }
        }
        // The sort is stable: among equals, the first remains first.
        places.sort_by_key(|(_, place)| std::cmp::Reverse(place.waves));
        places.into_iter().map(|(_, place)| place).collect()
    }
}

impl std::error::Error for LimitReport {}

impl fmt::Display for LimitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kernel, instructions) = (&self.kernel, self.instructions);
        match self.limit {
            Limit::Instructions(limit) => write!(
                f,
                "kernel `{kernel}` was ended after {limit} wave-instructions, the limit"
            )?,
            Limit::Time(time) => write!(
                f,
                "kernel `{kernel}` was ended after {time:?}, the timeout; it ran {instructions} wave-instructions"
            )?,
        }
        write!(
            f,
            "\n  of {} workgroups {} had ended and {} were under way; their waves:",
            self.workgroups, self.ended, self.under_way
        )?;
        for place in self.places.iter().take(MOST_PLACES) {
            write!(f, "\n  {place}")?;
        }
        let others = self.places.iter().skip(MOST_PLACES);
        match others.clone().map(|place| place.waves).sum::<u64>() {
            0 => Ok(()),
            waves => write!(
                f,
                "\n  {} at {} other places",
                counted(waves),
                others.count()
            ),
        }
    }
}

fn counted(waves: u64) -> String {
    match waves {
        1 => "1 wave".to_owned(),
        waves => format!("{waves} waves"),
    }
}

impl fmt::Display for WavePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waves = counted(self.waves);
        match self.standing {
            Standing::Runs => write!(f, "{waves} at")?,
            Standing::Waits => write!(f, "{waves} at a barrier before")?,
            Standing::Queued => write!(f, "{waves} waiting for other workgroups before")?,
            Standing::Ended => return write!(f, "{waves} ended"),
        }
        write!(f, " `{}` (offset {:#x})", self.instruction, self.offset)?;
        if let Some(source) = &self.source {
            write!(f, " from {source}")?;
        }
        let [x, y, z] = self.workgroup;
        let first = match self.waves {
            1 => "",
            _ => "first ",
        };
        write!(
            f,
            ": {first}wave {} of workgroup ({x}, {y}, {z})",
            self.wave
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_numbers_above_0() {
        assert_eq!(parse_instructions(" 1000000 "), Ok(1_000_000));
        for value in ["", "0", "-1", "many", "1e6", "99999999999999999999"] {
            assert!(parse_instructions(value).is_err(), "{value}");
        }
        let error = setting(
            INSTRUCTION_LIMIT_VARIABLE,
            "0".to_owned(),
            parse_instructions,
        );
        assert_eq!(
            error.expect_err("no limit").to_string(),
            "FERROWAVE_INSTRUCTION_LIMIT is `0`: it must be a whole number of wave-instructions above 0"
        );
    }

    #[test]
    fn times_have_units() {
        for (text, milliseconds) in [
            ("2", 2000),
            ("1.5", 1500),
            ("250ms", 250),
            (" 3 s ", 3000),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(
                parse_time(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
        for text in [
            "",
            "0",
            "0s",
            "-1",
            "s",
            "1.2.3",
            "1e3",
            "5 d",
            "inf",
            "nan",
            "1e400",
            &"9".repeat(400),
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
