//! Writes findings as SARIF 2.1.0 (OASIS): editors and code hosts show these at their source lines.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{Finding, Kind, WavePart};

pub(super) fn write(findings: &[Finding]) -> String {
    let rules: Vec<_> = Kind::ALL
        .iter()
        .map(|kind| {
            json!({
                "id": kind.id(),
                "shortDescription": { "text": kind.explanation() },
                "defaultConfiguration": { "level": "error" },
            })
        })
        .collect();
    let results: Vec<_> = findings.iter().map(result).collect();
    let value = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "ferrowave check",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                },
            },
            "results": results,
        }],
    });
    format!("{value:#}\n")
}

fn result(finding: &Finding) -> Value {
    let rule = Kind::ALL.iter().position(|kind| *kind == finding.kind);
    let mut value = json!({
        "ruleId": finding.kind.id(),
        "ruleIndex": rule,
        "level": "error",
        "message": { "text": finding.to_string() },
        "locations": [location(&finding.wave, &finding.kernel)],
        "occurrenceCount": finding.count,
    });
    if let Some(other) = &finding.other {
        value["relatedLocations"] = json!([location(other, &finding.kernel)]);
    }
    value
}

/// The source line, if known, and the kernel with the instruction's offset.
fn location(part: &WavePart, kernel: &str) -> Value {
    let mut value = json!({
        "message": { "text": part.what },
        "logicalLocations": [{ "name": kernel, "kind": "function" }],
    });
    let Some(place) = &part.instruction else {
        return value;
    };
    let mut physical = json!({
        "address": { "relativeAddress": place.offset, "kind": "instruction" },
    });
    if let Some(line) = place.own_source().first() {
        physical["artifactLocation"] = json!({ "uri": uri(&line.file) });
        physical["region"] = match line.column {
            Some(column) => json!({ "startLine": line.line, "startColumn": column }),
            None => json!({ "startLine": line.line }),
        };
    }
    value["physicalLocation"] = physical;
    value
}

/// The characters that are not escaped in the path of a URI.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", utf8_percent_encode(path, KEPT))
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("src/a b.rs"), "src/a%20b.rs");
        assert_eq!(uri("/x/ü.rs"), "file:///x/%C3%BC.rs");
    }
}
