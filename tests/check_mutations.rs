//! How many missing synchronizations the checks find: every wait, barrier and `s_nop` of three kernels is removed, one
//! at a time, and the rest runs with all checks.

use ferrowave::{
    embedded,
    gemm::{Gemm, Operands, Problem, Request, Source, Target, kernel_named},
    hip::{Context, Device, DeviceSelector},
    verify::Inputs,
};
use ferrowave_check::{Check, Finding, Options};
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::Gpu;
use ferrowave_hip::check;
use ferrowave_isa::{Op, decode};
use ferrowave_shared::{ElementTypes, Kernel};

/// `s_nop 0`.
const NOTHING: u32 = 0xbf80_0000;
/// `s_waitcnt` with every counter at its largest value.
const NO_WAIT: u32 = 0xbf8c_cf7f;

/// The effect of removing an instruction from a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// A check found it.
    Found,
    /// No check found it, and the result is bit-identical.
    Harmless,
    /// No check found it, and the result differs.
    Missed,
}

/// The bits of the product, and the findings. No product if the launch failed.
fn run(
    context: &Context,
    object: &[u8],
    kernel: &'static Kernel,
    problem: &Problem,
) -> (Option<Vec<u8>>, Vec<Finding>) {
    let inputs = Inputs::random(problem, 7).expect("inputs");
    let upload = |bytes: &[u8]| context.upload(bytes).expect("room");
    let (a, b) = (upload(inputs.a.bytes()), upload(inputs.b.bytes()));
    let mut c = upload(inputs.c.bytes());
    let gemm = Gemm::new(context, object).expect("it loads");
    let types = problem.types();
    let operands = Operands::new(
        Source::of_bytes(&a, types.a),
        Source::of_bytes(&b, types.b),
        Target::of_bytes(&mut c, types.output),
    );
    let ran = gemm.run_kernel(kernel, problem, operands);
    let product = ran.ok().and_then(|_| c.to_vec().ok());
    (product, check::take_findings())
}

#[test]
#[ignore = "runs three kernels some hundred times; part of `make test-all`"]
fn what_is_taken_out_is_noticed() {
    check::set_checks(Options::from(Check::ALL));
    let gpu = Gpu::Gfx942;
    let device = Device::open(&DeviceSelector::Emulator(gpu)).expect("the emulator");
    let context = Context::new(&device).expect("a context");
    let object = embedded::code_object(gpu.name()).expect("kernels for gfx942");
    let parsed = CodeObject::parse(object).expect("a code object");
    let problem = Request::new(130, 132, 260).check().expect("a product");
    let mut totals = [0; 3];
    for name in ["lds_tiled", "mfma_lds", "mfma_swizzled"] {
        let kernel = kernel_named(name, ElementTypes::F32, "gfx942").expect("the kernel");
        let code = parsed.kernel(kernel.symbol).expect("its code").code.clone();
        let bytes = parsed
            .file_bytes(code.start, code.end - code.start)
            .expect("in the file");
        let start = bytes.as_ptr().addr() - parsed.bytes().as_ptr().addr();
        let words: Vec<u32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        let (expected, findings) = run(&context, object, kernel, &problem);
        assert!(findings.is_empty(), "{name}: {}", findings[0]);
        let mut counts = [0; 3];
        let mut at = 0;
        while at < words.len() {
            let instruction = decode(gpu, &words[at..], 4 * at as u64);
            let size = instruction.as_ref().map_or(1, |i| usize::from(i.size) / 4);
            let instead = match instruction.map(|i| i.op) {
                Ok(Op::s_waitcnt) if words[at] != NO_WAIT => Some(NO_WAIT),
                Ok(Op::s_barrier) => Some(NOTHING),
                Ok(Op::s_nop) if words[at] != NOTHING => Some(NOTHING),
                _ => None,
            };
            if let Some(instead) = instead {
                let mut mutated = object.to_vec();
                mutated[start + 4 * at..][..4].copy_from_slice(&instead.to_le_bytes());
                let (product, findings) = run(&context, &mutated, kernel, &problem);
                let outcome = match (findings.is_empty(), product == expected) {
                    (false, _) => Outcome::Found,
                    (true, true) => Outcome::Harmless,
                    (true, false) => Outcome::Missed,
                };
                assert_ne!(
                    outcome,
                    Outcome::Missed,
                    "{name}: word {at}, {:#x}",
                    words[at]
                );
                if outcome == Outcome::Harmless {
                    let text = decode(gpu, &words[at..], 0).map(|i| i.text(gpu).to_string());
                    println!("{name}: nothing found without word {at}, {text:?}");
                }
                counts[outcome as usize] += 1;
            }
            at += size.max(1);
        }
        let [found, harmless, missed] = counts;
        println!("{name}: {found} found, {harmless} harmless here, {missed} missed");
        for (total, count) in totals.iter_mut().zip(counts) {
            *total += count;
        }
    }
    let [found, harmless, missed] = totals;
    println!("in all: {found} found, {harmless} harmless here, {missed} missed");
    // Harmless ones are on paths that this product does not take, or wait for what has already completed.
    assert!(found > harmless, "{found} of {}", found + harmless);
}
