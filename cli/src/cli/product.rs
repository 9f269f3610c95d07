//! One verified product, for `run` and `report`.

use std::time::{Duration, Instant};

use ferrowave::{
    gemm::{Gemm, Operands, Problem, Source, Target},
    hip::DeviceBuffer,
    verify::{Elements, Inputs, Verdict, verify},
};
use ferrowave_launch::ProgressLine;
use ferrowave_shared::{ElementType, Kernel};

use super::{Failure, memory};

/// The result of a verified product.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// Time between HIP events around the launches: the GPU's time, or the emulator's wall clock.
    pub(crate) kernel_time: Duration,
    /// Host time of uploads, launches and download together.
    pub(crate) wall_time: Duration,
}

/// A problem and its random operands on the device.
pub(crate) struct Product<'a> {
    gemm: &'a Gemm,
    problem: &'a Problem,
    inputs: Inputs,
    a: DeviceBuffer<u8>,
    b: DeviceBuffer<u8>,
    bias: DeviceBuffer<u8>,
    c: DeviceBuffer<u8>,
}

impl<'a> Product<'a> {
    /// Makes the operands, including the old C, from a seed.
    pub(crate) fn new(gemm: &'a Gemm, problem: &'a Problem, seed: u64) -> Result<Self, Failure> {
        memory::check(problem, gemm.context().device())?;
        let inputs = Inputs::random(problem, seed).map_err(Failure::failed)?;
        Self::upload(gemm, problem, inputs)
    }

    fn upload(gemm: &'a Gemm, problem: &'a Problem, inputs: Inputs) -> Result<Self, Failure> {
        let upload = |elements: &Elements| -> Result<DeviceBuffer<u8>, Failure> {
            let buffer = gemm.context().upload(elements.bytes());
            buffer.map_err(Failure::failed)
        };
        Ok(Product {
            gemm,
            problem,
            a: upload(&inputs.a)?,
            b: upload(&inputs.b)?,
            bias: upload(&inputs.bias)?,
            c: upload(&inputs.c)?,
            inputs,
        })
    }

    /// Bytes of the matrices on the device.
    pub(crate) fn bytes(&self) -> usize {
        [&self.a, &self.b, &self.c]
            .map(DeviceBuffer::bytes)
            .iter()
            .sum()
    }

    /// Runs a kernel and returns the time between HIP events.
    pub(crate) fn run(&mut self, kernel: &'static Kernel) -> Result<Duration, Failure> {
        let (gemm, problem) = (self.gemm, self.problem);
        let time = gemm.run_kernel(kernel, problem, self.operands());
        time.map_err(Failure::failed)
    }

    /// The matrices.
    pub(crate) fn operands(&mut self) -> Operands<'_> {
        let types = self.problem.types();
        Operands::new(
            Source::of_bytes(&self.a, types.input),
            Source::of_bytes(&self.b, types.input),
            Target::of_bytes(&mut self.c, types.output),
        )
        .with_bias(Source::of_bytes(&self.bias, types.output))
    }

    /// Compares the result with the reference. Only the first run's result is the product: later runs start from its C.
    pub(crate) fn verdict(&self) -> Result<Verdict, Failure> {
        Ok(verify(self.problem, &self.inputs, &self.output()?))
    }

    fn output(&self) -> Result<Elements, Failure> {
        let bytes = self.c.to_vec().map_err(Failure::failed)?;
        Ok(Elements::from_bytes(self.problem.types().output, bytes))
    }
}

/// Launches a kernel on uninitialized matrices, for what does not depend on their elements.
pub(crate) fn launch_unset(
    gemm: &Gemm,
    kernel: &'static Kernel,
    problem: &Problem,
) -> Result<(), Failure> {
    memory::check(problem, gemm.context().device())?;
    let types = problem.types();
    let matrix = |elements: u128, element: ElementType| {
        // Fits: it was checked against the available memory.
        let bytes = elements as usize * element.size_bytes();
        let buffer = gemm.context().allocate::<u8>(bytes);
        buffer.map_err(Failure::failed)
    };
    let a = matrix(problem.a().span(), types.input)?;
    let b = matrix(problem.b().span(), types.input)?;
    let bias = matrix(problem.bias_length().into(), types.output)?;
    let mut c = matrix(problem.c().span(), types.output)?;
    let operands = Operands::new(
        Source::of_bytes(&a, types.input),
        Source::of_bytes(&b, types.input),
        Target::of_bytes(&mut c, types.output),
    )
    .with_bias(Source::of_bytes(&bias, types.output));
    let launched = gemm.run_kernel(kernel, problem, operands);
    launched.map(|_| ()).map_err(Failure::failed)
}

/// Runs a kernel on random inputs from a seed and compares the output with the reference.
pub(crate) fn compute(
    gemm: &Gemm,
    kernel: &'static Kernel,
    problem: &Problem,
    seed: u64,
) -> Result<Outcome, Failure> {
    memory::check(problem, gemm.context().device())?;
    let _line = ProgressLine::start();
    let inputs = Inputs::random(problem, seed).map_err(Failure::failed)?;
    let started = Instant::now();
    let mut product = Product::upload(gemm, problem, inputs)?;
    let kernel_time = product.run(kernel)?;
    let output = product.output()?;
    let wall_time = started.elapsed();
    Ok(Outcome {
        verdict: verify(problem, &product.inputs, &output),
        kernel_time,
        wall_time,
    })
}

/// What is wrong, in words; `None` if the verdict passed.
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
