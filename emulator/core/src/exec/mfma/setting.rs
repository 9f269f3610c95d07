//! Whether matrix instructions add as the GPU does.

use std::{env, sync::LazyLock};

/// The environment variable that chooses [`MatrixSums`]: `exact` or `fast`.
pub const MATRIX_VARIABLE: &str = "FERROWAVE_MATRIX";

/// How matrix instructions add the products of f16, bf16, xf32 and narrower types (`docs/matrix.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixSums {
    /// As the GPU does, to the bit where that is known.
    #[default]
    Exact,
    /// One fused multiply-add after the other: quicker, and the last bits of results are not a GPU's.
    Fast,
}

/// [`MATRIX_VARIABLE`] is set to something that it cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{MATRIX_VARIABLE} is `{value}`; it can be `exact` (as the GPU adds, the default) or `fast`"
)]
pub struct MatrixSettingError {
    /// What it is set to.
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
    /// What the environment says, as it was when this was first asked.
    ///
    /// # Errors
    /// If it says something else than it can.
    pub fn from_environment() -> Result<Self, MatrixSettingError> {
        CHOSEN.clone()
    }

    /// The same, and [`Self::Exact`] where the environment says something else; loading has refused that.
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
