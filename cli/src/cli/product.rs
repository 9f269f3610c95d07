//! Verified products, for `run`, `check`, `profile` and `report`.

use std::{
    cell::RefCell,
    rc::Rc,
    time::{Duration, Instant},
};

use ferrowave::{
    gemm::{Gemm, InputBuffers, Operands, Plan, Problem, Target},
    hip::{Device, DeviceBuffer},
    verify::{Elements, Method, Reference, Verdict},
};
use ferrowave_launch::ProgressLine;
use ferrowave_shared::Kernel;

use super::{Failure, memory};

/// The result of a verified product.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// Time between HIP events around the launches: the GPU's time, or the emulator's wall clock.
    pub(crate) kernel_time: Duration,
    /// The largest magnitude of the results before they were scaled, for 8-bit floats.
    pub(crate) amax: Option<f32>,
    /// Host time of uploads, launches and download together.
    pub(crate) wall_time: Duration,
}

/// The random operands of the last problem, and the reference of its product: all kernels of a problem share them.
pub(crate) struct References {
    seed: u64,
    last: RefCell<Option<Rc<Reference<'static>>>>,
}

impl References {
    /// Operands will be made from this seed.
    pub(crate) fn new(seed: u64) -> Self {
        References {
            seed,
            last: RefCell::default(),
        }
    }

    /// The operands of a problem, including the old C, and its reference.
    pub(crate) fn of(
        &self,
        problem: &Problem,
        device: &Device,
    ) -> Result<Rc<Reference<'static>>, Failure> {
        let mut last = self.last.borrow_mut();
        if let Some(last) = last.as_ref().filter(|last| last.problem() == problem) {
            return Ok(Rc::clone(last));
        }
        // The memory of the last problem is free for this one.
        *last = None;
        memory::check(problem, device)?;
        let reference = Reference::random(problem, self.seed).map_err(Failure::failed)?;
        Ok(Rc::clone(last.insert(Rc::new(reference))))
    }
}

/// A problem and its random operands on the device.
pub(crate) struct Product<'a> {
    gemm: &'a Gemm,
    reference: Rc<Reference<'static>>,
    inputs: InputBuffers,
    c: DeviceBuffer<u8>,
    /// For 8-bit floats.
    amax: Option<DeviceBuffer<f32>>,
}

impl<'a> Product<'a> {
    /// Copies the operands to the device.
    pub(crate) fn new(gemm: &'a Gemm, reference: Rc<Reference<'static>>) -> Result<Self, Failure> {
        let (context, inputs) = (gemm.context(), reference.inputs());
        Ok(Product {
            gemm,
            inputs: inputs.upload(context, 0).map_err(Failure::failed)?,
            c: context.upload(inputs.c.bytes()).map_err(Failure::failed)?,
            amax: match reference.problem().types().output.is_float8() {
                true => Some(gemm.context().upload(&[0.0]).map_err(Failure::failed)?),
                false => None,
            },
            reference,
        })
    }

    /// Bytes of the matrices on the device, with scales, indices and the bias.
    pub(crate) fn bytes(&self) -> usize {
        let inputs = self.inputs.all().map(DeviceBuffer::bytes);
        inputs.sum::<usize>() + self.c.bytes()
    }

    /// Runs a kernel and returns the time between HIP events.
    pub(crate) fn run(&mut self, kernel: &'static Kernel) -> Result<Duration, Failure> {
        let machine = self.gemm.machine();
        let plan = Plan::new(kernel, self.reference.problem(), machine);
        self.run_plan(&plan.map_err(Failure::failed)?)
    }

    /// The same with a plan.
    pub(crate) fn run_plan(&mut self, plan: &Plan) -> Result<Duration, Failure> {
        let time = self.gemm.run_plan(plan, self.operands());
        time.map_err(Failure::failed)
    }

    /// The matrices.
    pub(crate) fn operands(&mut self) -> Operands<'_> {
        let types = self.reference.problem().types();
        let c = Target::of_bytes(&mut self.c, types.output);
        let operands = self.inputs.operands(types, c);
        match &mut self.amax {
            Some(amax) => operands.with_amax(amax),
            None => operands,
        }
    }

    /// Compares the result with the reference. Only the first run's result is the product: later runs start from its C.
    pub(crate) fn verdict(&self) -> Result<Verdict, Failure> {
        Ok(self.reference.verify(&self.output()?))
    }

    fn output(&self) -> Result<Elements, Failure> {
        let bytes = self.c.to_vec().map_err(Failure::failed)?;
        let output = self.reference.problem().types().output;
        Ok(Elements::from_bytes(output, bytes))
    }
}

/// Runs a plan on uninitialized matrices, for what does not depend on their elements.
pub(crate) fn run_unset(gemm: &Gemm, plan: &Plan) -> Result<(), Failure> {
    let ran = with_unset(gemm, plan.problem(), |operands| {
        gemm.run_plan(plan, operands).map_err(Failure::failed)
    });
    ran.map(drop)
}

/// Calls a function with uninitialized matrices of a problem.
pub(crate) fn with_unset<R>(
    gemm: &Gemm,
    problem: &Problem,
    run: impl FnOnce(Operands<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    memory::check(problem, gemm.context().device())?;
    let types = problem.types();
    // The bytes fit: they were checked against the available memory.
    let allocate = |bytes: usize| {
        let buffer = gemm.context().allocate::<u8>(bytes);
        buffer.map_err(Failure::failed)
    };
    let inputs = InputBuffers::of_problem(problem, allocate)?;
    let mut c = allocate(types.output.bytes(problem.c().span()) as usize)?;
    let c = Target::of_bytes(&mut c, types.output);
    run(inputs.operands(types, c))
}

/// Runs a plan on random inputs and compares the output with the reference.
pub(crate) fn compute(
    gemm: &Gemm,
    plan: &Plan,
    references: &References,
) -> Result<Outcome, Failure> {
    let _line = ProgressLine::start();
    let reference = references.of(plan.problem(), gemm.context().device())?;
    let started = Instant::now();
    let mut product = Product::new(gemm, reference)?;
    let kernel_time = product.run_plan(plan)?;
    let output = product.output()?;
    let amax = product.amax.as_ref().map(DeviceBuffer::to_vec).transpose();
    let amax = amax.map_err(Failure::failed)?;
    let wall_time = started.elapsed();
    Ok(Outcome {
        verdict: product.reference.verify(&output),
        kernel_time,
        amax: amax.map(|element| element[0]),
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
        let at_least = match verdict.method {
            Method::Exact => "",
            Method::Projected { .. } => "at least ",
        };
        complaints.push(format!(
            "{at_least}{count} elements are wrong; the worst, C[{}][{}] of product {}, is {:e} and should be {:e}",
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
