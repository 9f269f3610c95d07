//! What checks, counters and the timing model found: as text, as dictionaries, and as HTML in a notebook.

use ferrowave_check::{Check, Finding, Format as CheckFormat};
use ferrowave_profile::{Format as ProfileFormat, Profile as Counters};
use ferrowave_timing::{Format as TimingFormat, Timing as Modelled, duration};
use pyo3::prelude::*;

/// The findings of a checked launch. It is false if there are none.
#[pyclass(frozen, module = "ferrowave")]
pub(crate) struct Findings {
    checks: Vec<Check>,
    findings: Vec<Finding>,
}

impl Findings {
    pub(crate) fn new(checks: Vec<Check>, findings: Vec<Finding>) -> Self {
        Findings { checks, findings }
    }

    fn write(&self, format: CheckFormat) -> String {
        format.write(&self.checks, &self.findings)
    }
}

#[pymethods]
impl Findings {
    fn __len__(&self) -> usize {
        self.findings.len()
    }

    /// As a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parsed(py, &self.write(CheckFormat::Json))
    }

    /// As SARIF 2.1.0, for editors and code hosts.
    fn to_sarif(&self) -> String {
        self.write(CheckFormat::Sarif)
    }

    fn __str__(&self) -> String {
        self.write(CheckFormat::Text)
    }

    fn __repr__(&self) -> String {
        format!("<ferrowave.Findings: {}>", self.findings.len())
    }

    fn _repr_html_(&self) -> String {
        preformatted(&self.write(CheckFormat::Text))
    }
}

/// The counters of a launch.
#[pyclass(frozen, module = "ferrowave")]
pub(crate) struct Profile {
    profiles: Vec<Counters>,
}

impl Profile {
    pub(crate) fn new(profiles: Vec<Counters>) -> Self {
        Profile { profiles }
    }
}

#[pymethods]
impl Profile {
    /// As a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parsed(py, &ProfileFormat::Json.write(&self.profiles))
    }

    /// Every instruction with its counters, under its source line.
    fn listing(&self) -> String {
        ProfileFormat::Listing.write(&self.profiles)
    }

    /// A page with all counters.
    fn to_html(&self) -> String {
        ProfileFormat::Html.write(&self.profiles)
    }

    fn __str__(&self) -> String {
        ProfileFormat::Summary.write(&self.profiles)
    }

    fn _repr_html_(&self) -> String {
        framed(&self.to_html())
    }
}

/// The modelled time of a launch. It was not measured.
#[pyclass(frozen, module = "ferrowave")]
pub(crate) struct Timing {
    timing: Vec<Modelled>,
    profiles: Vec<Counters>,
}

impl Timing {
    pub(crate) fn new(timing: Modelled, profiles: Vec<Counters>) -> Self {
        Timing {
            timing: vec![timing],
            profiles,
        }
    }

    fn first<R>(&self, of: impl FnOnce(&Modelled) -> R) -> R {
        of(&self.timing[0])
    }
}

#[pymethods]
impl Timing {
    /// The modelled time in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.first(|timing| timing.seconds)
    }

    /// The same time in cycles.
    #[getter]
    fn cycles(&self) -> u64 {
        self.first(|timing| timing.cycles)
    }

    /// The machine.
    #[getter]
    fn machine(&self) -> String {
        self.first(|timing| timing.machine.to_string())
    }

    /// What bounds the kernel.
    #[getter]
    fn bound_by(&self) -> String {
        self.first(|timing| timing.bound_by.text())
    }

    /// As a dictionary, with each instruction's waits.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parsed(py, &TimingFormat::Json.write(&self.timing))?
            .get_item("timings")?
            .get_item(0)
    }

    /// Every instruction with its waits.
    fn listing(&self) -> String {
        TimingFormat::Listing.write(&self.timing)
    }

    /// A page with the counters and the waits of each instruction.
    fn to_html(&self) -> String {
        ProfileFormat::Html.write_with(&self.profiles, &self.timing)
    }

    fn __str__(&self) -> String {
        TimingFormat::Summary.write(&self.timing)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ferrowave.Timing: {} on {}, modelled>",
            duration(self.seconds()),
            self.machine()
        )
    }

    fn _repr_html_(&self) -> String {
        framed(&self.to_html())
    }
}

fn parsed<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json,))
}

/// A text whose characters mean nothing in HTML.
fn escaped(text: &str) -> String {
    let mut html = String::new();
    for character in text.chars() {
        match character {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            other => html.push(other),
        }
    }
    html
}

fn preformatted(text: &str) -> String {
    format!("<pre>{}</pre>", escaped(text))
}

/// A page within another: its style sheet does not reach the notebook.
fn framed(page: &str) -> String {
    format!(
        "<iframe srcdoc=\"{}\" style=\"width:100%;height:40em;border:0\"></iframe>",
        escaped(page)
    )
}
