//! Verified products, for `run`, `check`, `profile` and `report`.

use std::{
    cell::RefCell,
    rc::Rc,
    time::{Duration, Instant},
};

use ferrowave::{
    gemm::{Gemm, Layout, Operands, Plan, Problem, Source, Target},
    hip::{Device, DeviceBuffer},
    verify::{Elements, Method, Reference, Verdict},
};
use ferrowave_launch::ProgressLine;
use ferrowave_shared::{ElementType, Kernel};

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
    a: DeviceBuffer<u8>,
    b: DeviceBuffer<u8>,
    bias: DeviceBuffer<u8>,
    scales: Option<[DeviceBuffer<u8>; 2]>,
    c: DeviceBuffer<u8>,
    /// For 8-bit floats.
    amax: Option<DeviceBuffer<f32>>,
}

impl<'a> Product<'a> {
    /// Copies the operands to the device.
    pub(crate) fn new(gemm: &'a Gemm, reference: Rc<Reference<'static>>) -> Result<Self, Failure> {
        let upload = |elements: &Elements| -> Result<DeviceBuffer<u8>, Failure> {
            let buffer = gemm.context().upload(elements.bytes());
            buffer.map_err(Failure::failed)
        };
        let inputs = reference.inputs();
        Ok(Product {
            gemm,
            a: upload(&inputs.a)?,
            b: upload(&inputs.b)?,
            bias: upload(&inputs.bias)?,
            scales: match &inputs.scales {
                Some([a, b]) => Some([upload(a)?, upload(b)?]),
                None => None,
            },
            c: upload(&inputs.c)?,
            amax: match reference.problem().types().output.is_float8() {
                true => Some(gemm.context().upload(&[0.0]).map_err(Failure::failed)?),
                false => None,
            },
            reference,
        })
    }

    /// Bytes of the matrices and their scales on the device.
    pub(crate) fn bytes(&self) -> usize {
        let scales = self.scales.iter().flatten();
        let all = [&self.a, &self.b, &self.c].into_iter().chain(scales);
        all.map(DeviceBuffer::bytes).sum()
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
        let operands = Operands::new(
            Source::of_bytes(&self.a, types.input),
            Source::of_bytes(&self.b, types.input),
            Target::of_bytes(&mut self.c, types.output),
        )
        .with_bias(Source::of_bytes(&self.bias, types.bias()));
        let operands = with_scales(operands, self.scales.as_ref());
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

/// The operands with scales, if there are any.
pub(crate) fn with_scales<'a>(
    operands: Operands<'a>,
    scales: Option<&'a [DeviceBuffer<u8>; 2]>,
) -> Operands<'a> {
    match scales {
        Some([a, b]) => operands.with_scales(
            Source::of_bytes(a, ElementType::E8m0),
            Source::of_bytes(b, ElementType::E8m0),
        ),
        None => operands,
    }
}

/// Runs a plan on uninitialized matrices, for what does not depend on their elements.
pub(crate) fn run_unset(gemm: &Gemm, plan: &Plan) -> Result<(), Failure> {
    let problem = plan.problem();
    memory::check(problem, gemm.context().device())?;
    let types = problem.types();
    let matrix = |elements: u128, element: ElementType| {
        // Fits: it was checked against the available memory.
        let bytes = element.bytes(elements) as usize;
        let buffer = gemm.context().allocate::<u8>(bytes);
        buffer.map_err(Failure::failed)
    };
    let scales = match (problem.scales_a(), problem.scales_b()) {
        (Some(a), Some(b)) => {
            let scales = |layout: Layout| matrix(layout.span(), ElementType::E8m0);
            Some([scales(a)?, scales(b)?])
        }
        _ => None,
    };
    let a = matrix(problem.a().span(), types.input)?;
    let b = matrix(problem.b().span(), types.input)?;
    let bias = matrix(problem.bias_length().into(), types.bias())?;
    let mut c = matrix(problem.c().span(), types.output)?;
    let operands = Operands::new(
        Source::of_bytes(&a, types.input),
        Source::of_bytes(&b, types.input),
        Target::of_bytes(&mut c, types.output),
    )
    .with_bias(Source::of_bytes(&bias, types.bias()));
    let ran = gemm.run_plan(plan, with_scales(operands, scales.as_ref()));
    ran.map(|_| ()).map_err(Failure::failed)
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
