//! The setting for how matrix instructions add.

use std::{env, sync::LazyLock};

/// The environment variable that chooses [`MatrixSums`]: `exact` or `fast`.
pub const MATRIX_VARIABLE: &str = "FERROWAVE_MATRIX";

/// How matrix instructions add the products of f16, bf16, xf32 and narrower types (`docs/matrix.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixSums {
    /// As the GPU does, to the bit where that is known.
    #[default]
    Exact,
    /// A chain of fused multiply-adds: faster, but the last bits of results differ from a GPU's.
    Fast,
}

/// [`MATRIX_VARIABLE`] has an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{MATRIX_VARIABLE} is `{value}`; it can be `exact` (as the GPU adds, the default) or `fast`"
)]
pub struct MatrixSettingError {
    /// Its value.
    pub value: String,
}

static CHOSEN: LazyLock<Result<MatrixSums, MatrixSettingError>> =
    LazyLock::new(|| match env::var_os(MATRIX_VARIABLE) {
        None => Ok(MatrixSums::default()),
        Some(value) => parse(&value.to_string_lossy()),
    });

fn parse(value: &str) -> Result<MatrixSums, MatrixSettingError> {
    match value.trim() {
        "" | "exact" => Ok(MatrixSums::Exact),
        "fast" => Ok(MatrixSums::Fast),
        _ => Err(MatrixSettingError {
            value: value.to_owned(),
        }),
    }
}

impl MatrixSums {
    /// The environment's setting when it was first asked for.
    ///
    /// # Errors
    /// If the value is invalid.
    pub fn from_environment() -> Result<Self, MatrixSettingError> {
        CHOSEN.clone()
    }

    /// The same, or [`Self::Exact`] where the value is invalid; loading has already refused that.
    pub(crate) fn chosen() -> Self {
        CHOSEN.clone().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        assert_eq!(parse(""), Ok(MatrixSums::Exact));
        assert_eq!(parse("exact"), Ok(MatrixSums::Exact));
        assert_eq!(parse(" fast"), Ok(MatrixSums::Fast));
        let message = parse("quick").map_err(|error| error.to_string());
        let expected = "FERROWAVE_MATRIX is `quick`; it can be `exact` (as the GPU adds, the default) or `fast`";
        assert_eq!(message.unwrap_err(), expected);
    }
}
