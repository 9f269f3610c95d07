//! Writes findings as JSON.

use serde_json::json;

use super::{Check, Finding};

/// The version of the JSON format. It increases when something is removed or changes its meaning.
pub const JSON_VERSION: u32 = 1;

pub(super) fn write(checks: &[Check], findings: &[Finding]) -> String {
    let names: Vec<_> = checks.iter().map(|check| check.name()).collect();
    let value = json!({
        "version": JSON_VERSION,
        "checks": names,
        "findings": findings,
    });
    format!("{value:#}\n")
}
