//! The setting for kernels that were measured on a device.
//!
//! It is apart from the products that read it, so that command lines can refuse an invalid value before they start.

use std::env;

/// The environment variable that says whether measured winners are used, and measured: [`Mode`].
pub const TUNING_VARIABLE: &str = "FERROWAVE_TUNING";

/// What is done with measured winners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are not used.
    Off,
    /// Those in the cache are used.
    #[default]
    Read,
    /// The same, and a problem without one is measured before it is computed the first time.
    On,
}

impl Mode {
    /// The mode in the environment.
    ///
    /// # Errors
    /// What is allowed, if it names no mode.
    pub fn from_environment() -> Result<Self, String> {
        match env::var_os(TUNING_VARIABLE) {
            None => Ok(Self::default()),
            Some(name) => Self::parse(&name.to_string_lossy()),
        }
    }

    fn parse(name: &str) -> Result<Self, String> {
        match name {
            "" | "read" => Ok(Self::Read),
            "off" => Ok(Self::Off),
            "on" => Ok(Self::On),
            other => Err(format!(
                "{TUNING_VARIABLE} is `{other}`; expected off, read or on"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_named() {
        assert_eq!(Mode::parse("off"), Ok(Mode::Off));
        assert_eq!(Mode::parse(""), Ok(Mode::Read));
        assert_eq!(Mode::parse("on"), Ok(Mode::On));
        assert_eq!(
            Mode::parse("yes"),
            Err("FERROWAVE_TUNING is `yes`; expected off, read or on".to_owned())
        );
    }
}
