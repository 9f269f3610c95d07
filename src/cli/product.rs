//! One verified product: what `run` and `report` do.

use std::time::{Duration, Instant};

use ferrowave::{
    gemm::{Gemm, Operands, Problem, Source, Target},
    hip::DeviceBuffer,
    verify::{Elements, Inputs, Verdict, verify},
};
use ferrowave_shared::Kernel;

use super::Failure;

/// A product, verified.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// Between HIP events around the launches: a GPU's own time, or on the emulator the emulator's wall clock.
    pub(crate) kernel_time: Duration,
    /// Uploads, launches and download together, on the host's clock.
    pub(crate) wall_time: Duration,
}

/// Runs a kernel on random inputs from a seed and compares the output with the reference.
pub(crate) fn compute(
    gemm: &Gemm,
    kernel: &'static Kernel,
    problem: &Problem,
    seed: u64,
) -> Result<Outcome, Failure> {
    let inputs = Inputs::random(problem, seed).map_err(Failure::failed)?;
    let started = Instant::now();
    let upload = |elements: &Elements| -> Result<DeviceBuffer<u8>, Failure> {
        gemm.context()
            .upload(elements.bytes())
            .map_err(Failure::failed)
    };
    let [a, b, bias] = [
        upload(&inputs.a)?,
        upload(&inputs.b)?,
        upload(&inputs.bias)?,
    ];
    let mut c = upload(&inputs.c)?;
    let types = problem.types();
    let operands = Operands::new(
        Source::of_bytes(&a, types.input),
        Source::of_bytes(&b, types.input),
        Target::of_bytes(&mut c, types.output),
    )
    .with_bias(Source::of_bytes(&bias, types.output));
    let kernel_time = gemm
        .run_kernel(kernel, problem, operands)
        .map_err(Failure::failed)?;
    let output = Elements::from_bytes(types.output, c.to_vec().map_err(Failure::failed)?);
    let wall_time = started.elapsed();
    Ok(Outcome {
        verdict: verify(problem, &inputs, &output),
        kernel_time,
        wall_time,
    })
}

/// What is wrong with a verdict, in words; nothing if it passed.
pub(crate) fn complaint(verdict: &Verdict) -> Option<String> {
    if verdict.passed() {
        return None;
    }
    let mut complaints = Vec::new();
    if let (count @ 1.., Some(worst)) = (verdict.wrong_elements, &verdict.worst) {
        complaints.push(format!(
            "{count} elements are wrong; the worst, C[{}][{}] of product {}, is {:e} and should be {:e}",
            worst.row, worst.column, worst.batch, worst.value, worst.reference
        ));
    }
    if let (count @ 1.., Some(damage)) = (verdict.damaged_canaries, &verdict.damage) {
        complaints.push(format!(
            "{count} elements outside of C were written, the first at row {}, column {} of product {}",
            damage.row, damage.column, damage.batch
        ));
    }
    Some(complaints.join("; "))
}
