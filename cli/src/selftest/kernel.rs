//! Tests one kernel in this process.

use std::time::Instant;

use ferrowave::{
    gemm::{Gemm, Problem},
    verify::{
        Elements, Inputs, Verdict,
        cases::{self, Case, CaseError, Computed},
        elements::nearest,
        verify,
    },
};
use ferrowave_gpu::Gpu;
use ferrowave_shared::{Kernel, catalogue::Reduction};

use super::results::{CaseFailure, Element, KernelResult};
use crate::cli::product::complaint;

/// The failures that are kept; the others are counted.
const KEPT_FAILURES: usize = 5;

/// A device, and how much is tested on it.
pub(crate) struct Bench<'a> {
    pub(crate) gemm: &'a Gemm,
    /// The emulator of the same GPU, if its bits are the device's.
    pub(crate) emulator: Option<&'a Gemm>,
    pub(crate) quick: bool,
    /// Runs of one product, if they are given.
    pub(crate) runs: Option<u32>,
}

/// What the result of a case showed.
struct Checked {
    failure: Option<(String, Option<Element>)>,
    compared_with_emulator: bool,
}

/// Whether the emulator's bits are those of a GPU, by `docs/matrix.md`.
pub(crate) fn is_bit_exact(gpu: Gpu) -> bool {
    matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a | Gpu::Gfx942)
}

impl Bench<'_> {
    /// Tests a kernel. `say` gets a line before each case, so that a crash tells which one it was.
    pub(crate) fn test(&self, kernel: &'static Kernel, say: impl Fn(&str)) -> KernelResult {
        let started = Instant::now();
        let mut result = KernelResult {
            kernel: kernel.variant.name().to_owned(),
            symbol: kernel.symbol.to_owned(),
            input: kernel.types.name().to_owned(),
            output: kernel.types.output.name().to_owned(),
            ..KernelResult::default()
        };
        // After an error of the device, nothing more can be said.
        if let Err(failed) = self.cases(kernel, &mut result, &say) {
            let (case, special, error) = *failed;
            add_failure(&mut result, &case, special, error.to_string(), None);
        }
        result.passed = result.failed_cases == 0;
        result.seconds = started.elapsed().as_secs_f64();
        result
    }

    fn cases(
        &self,
        kernel: &'static Kernel,
        result: &mut KernelResult,
        say: &impl Fn(&str),
    ) -> Result<(), Box<(Case, bool, CaseError)>> {
        let standard = match self.quick {
            true => cases::quick(kernel),
            false => cases::standard(kernel),
        };
        let random = standard.into_iter().map(|case| (case, false));
        let special = cases::special(kernel).into_iter().map(|case| (case, true));
        for (case, special) in random.chain(special) {
            say(&format!("case {}", text(&case, special)));
            let checked = self
                .check(kernel, &case, special)
                .map_err(|error| Box::new((case, special, error)))?;
            result.cases += 1;
            result.compared_with_emulator += u32::from(checked.compared_with_emulator);
            if let Some((what, element)) = checked.failure {
                add_failure(result, &case, special, what, element);
            }
        }
        let case = self.repeated(kernel);
        say(&format!("runs {}", text(&case, false)));
        let failure = self
            .repeat(kernel, &case, result)
            .map_err(|error| Box::new((case, false, error)))?;
        if let Some((what, element)) = failure {
            add_failure(result, &case, false, what, element);
        }
        Ok(())
    }

    /// The product that runs repeatedly: several tiles for each compute unit of a GPU, few on the emulator.
    fn repeated(&self, kernel: &Kernel) -> Case {
        let tiles = match self.gemm.context().device().is_emulated() {
            true => [2, 1, 3],
            false => [24, 20, 12],
        };
        cases::repeated(kernel, tiles)
    }

    fn runs(&self, kernel: &Kernel) -> u32 {
        let divided = kernel.reduction != Reduction::None;
        let emulated = self.gemm.context().device().is_emulated();
        self.runs.unwrap_or(match (emulated, self.quick, divided) {
            (false, false, false) => 100,
            (false, false, true) => 1000,
            (false, true, false) => 20,
            (false, true, true) => 200,
            (true, false, _) => 5,
            (true, true, _) => 2,
        })
    }

    /// Runs a case once and judges the result.
    fn check(
        &self,
        kernel: &'static Kernel,
        case: &Case,
        special: bool,
    ) -> Result<Checked, CaseError> {
        let (problem, inputs) = made(case, special)?;
        let computed = case.load(self.gemm, kernel, &problem, &inputs)?.run()?;
        if let Some(failure) = judge(&problem, &inputs, &computed) {
            return Ok(Checked {
                failure: Some(failure),
                compared_with_emulator: false,
            });
        }
        // The instructions for exp and 1/x of activation functions are exact only within their stated errors.
        let emulator = self
            .emulator
            .filter(|_| !problem.epilogue().is_activation());
        let Some(emulator) = emulator else {
            return Ok(Checked {
                failure: None,
                compared_with_emulator: false,
            });
        };
        let emulated = case.load(emulator, kernel, &problem, &inputs)?.run()?;
        let difference = difference(&problem, &computed.output, &emulated.output);
        Ok(Checked {
            failure: difference.map(|element| {
                let what = "correct within its bounds, but other bits than the emulator's";
                (what.to_owned(), Some(element))
            }),
            compared_with_emulator: true,
        })
    }

    /// Runs a case many times and compares the bits.
    fn repeat(
        &self,
        kernel: &'static Kernel,
        case: &Case,
        result: &mut KernelResult,
    ) -> Result<Option<(String, Option<Element>)>, CaseError> {
        let (problem, inputs) = made(case, false)?;
        let mut loaded = case.load(self.gemm, kernel, &problem, &inputs)?;
        let first = loaded.run()?;
        result.cases += 1;
        result.runs = 1;
        if let Some(failure) = judge(&problem, &inputs, &first) {
            return Ok(Some(failure));
        }
        let runs = self.runs(kernel);
        for run in 2..=runs {
            let again = loaded.run()?;
            result.runs = run;
            if again != first {
                let what = format!("run {run} of {runs} has other bits than the first");
                let element = difference(&problem, &again.output, &first.output);
                return Ok(Some((what, element)));
            }
        }
        Ok(None)
    }
}

fn add_failure(
    result: &mut KernelResult,
    case: &Case,
    special_inputs: bool,
    what: String,
    first_wrong: Option<Element>,
) {
    result.failed_cases += 1;
    if result.failures.len() < KEPT_FAILURES {
        result.failures.push(CaseFailure {
            case: format!("{case:?}"),
            special_inputs,
            what,
            first_wrong,
        });
    }
}

/// A case in a line.
fn text(case: &Case, special: bool) -> String {
    let request = &case.request;
    let special = if special { ", special elements" } else { "" };
    format!(
        "{}×{}×{}, seed {}{special}",
        request.m, request.n, request.k, case.seed
    )
}

fn made(case: &Case, special: bool) -> Result<(Problem, Inputs), CaseError> {
    let problem = case.request.check()?;
    let inputs = match special {
        true => Inputs::special(&problem, case.seed),
        false => Inputs::random(&problem, case.seed),
    };
    Ok((problem, inputs?))
}

/// What is wrong with a result, and the first wrong element.
fn judge(
    problem: &Problem,
    inputs: &Inputs,
    computed: &Computed,
) -> Option<(String, Option<Element>)> {
    let verdict = verify(problem, inputs, &computed.output);
    if let Some(what) = complaint(&verdict) {
        let element = first_wrong(problem, &computed.output, &verdict);
        return Some((what, element));
    }
    if computed.is_lead_damaged {
        return Some(("elements before C were written".to_owned(), None));
    }
    let what = "the counters of the workspace are not 0 after the product";
    (!computed.are_counters_clean).then(|| (what.to_owned(), None))
}

fn first_wrong(problem: &Problem, output: &Elements, verdict: &Verdict) -> Option<Element> {
    let wrong = verdict.first_wrong?;
    let offset = problem.c().offset(wrong.batch, wrong.row, wrong.column);
    let expected_bits = nearest(output.element(), wrong.reference);
    Some(Element {
        batch: wrong.batch.into(),
        row: wrong.row.into(),
        column: wrong.column.into(),
        got: format!("{:e}", wrong.value),
        // Offsets of elements are below the length of C.
        got_bits: bits(output, output.bits(offset as usize)),
        expected: format!("{:e}", wrong.reference),
        expected_bits: bits(output, expected_bits),
    })
}

/// The first element of two results with different bits. All NaN are alike: which one an operation gives is unspecified.
fn difference(problem: &Problem, got: &Elements, expected: &Elements) -> Option<Element> {
    let offset = (0..got.len()).find(|&offset| {
        let are_nan = got.value(offset).is_nan() && expected.value(offset).is_nan();
        got.bits(offset) != expected.bits(offset) && !are_nan
    })?;
    let place = problem.c().place(offset as u64);
    Some(Element {
        batch: place.batch,
        row: place.row,
        column: place.column,
        got: format!("{:e}", got.value(offset)),
        got_bits: bits(got, got.bits(offset)),
        expected: format!("{:e}", expected.value(offset)),
        expected_bits: bits(expected, expected.bits(offset)),
    })
}

/// Bits in hexadecimal, with all digits of the type.
fn bits(elements: &Elements, bits: u64) -> String {
    let digits = 2 * elements.element().size_bytes();
    format!("0x{bits:0digits$x}")
}
