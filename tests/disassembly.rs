//! Compares the emulator's decoder and disassembler with LLVM's on every built code object, and the instructions for
//! caches with LLVM's memory model.

use ferrowave::embedded;
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::decode;
use ferrowave_kernel_build::{Disassembled, disassemble};
use ferrowave_shared::{CATALOGUE, catalogue::Reduction};

#[test]
fn every_instruction_reads_as_llvm_reads_it() {
    for (gpu, code_object) in embedded::code_objects() {
        let lines = disassemble(code_object).unwrap();
        assert!(lines.len() > 500, "{gpu}: {} instructions", lines.len());
        for line in lines {
            let instruction = decode(gpu, &line.words, line.address)
                .unwrap_or_else(|error| panic!("{gpu}, {}: {error}", line.text));
            assert_eq!(
                usize::from(instruction.size),
                4 * line.words.len(),
                "{gpu}, {}",
                line.text
            );
            assert_eq!(instruction.text(gpu).to_string(), line.text, "{gpu}");
        }
    }
}

/// No kernel of ours has an instruction that the emulator refuses, whether or not a test reaches it.
#[test]
fn the_emulator_runs_all_of_it() {
    use ferrowave_emulator::exec::SimdLevel;
    use ferrowave_emulator::memory::DeviceMemory;
    use ferrowave_emulator::program::Program;
    use std::sync::Arc;
    for (gpu, code_object) in embedded::code_objects() {
        let memory = Arc::new(DeviceMemory::new(1 << 30));
        let program = Program::load(code_object, gpu, &memory, SimdLevel::detect()).unwrap();
        let object = CodeObject::parse(code_object).unwrap();
        let text = object.text_ranges().iter().map(|range| range.start).min();
        // What pads the code between kernels is `v_illegal` on RDNA.
        let mut refused = program.unsupported();
        refused.retain(|refused| {
            let address = text.unwrap() + refused.offset;
            object
                .kernels()
                .iter()
                .any(|kernel| kernel.code.contains(&address))
        });
        assert_eq!(refused, [], "{gpu}");
    }
}

/// ROCm 6.0 loads version 5, whose ELF ABI version is 3 (byte 8 of the header). ROCm 6.2 does not know gfx950 yet, and 6.3 not
/// RDNA 4.
#[test]
fn code_objects_have_a_version_that_rocm_6_0_loads() {
    for (gpu, bytes) in embedded::code_objects() {
        let is_newer = gpu == Gpu::Gfx950 || gpu.is_rdna4();
        assert_eq!(bytes[8], if is_newer { 4 } else { 3 }, "{gpu}");
        let object = CodeObject::parse(bytes).unwrap();
        assert_eq!(object.metadata().version, (1, 2), "{gpu}");
    }
}

/// The instructions that write caches back or invalidate them.
fn is_for_caches(line: &&Disassembled) -> bool {
    let names = [
        "buffer_wbl2",
        "buffer_wbinvl1",
        "buffer_inv",
        "buffer_gl",
        "s_dcache",
        "global_wb",
        "global_inv",
    ];
    names.iter().any(|name| line.text.starts_with(name))
}

/// Kernels that divide k make a tile's sums visible to the other workgroups of the GPU, and no further: the sequences of
/// scope «agent» in LLVM's `AMDGPUUsage`, «Memory Model GFX90A», «GFX942», «GFX10-GFX11» and «GFX12». Other kernels leave
/// caches alone.
#[test]
fn sums_are_released_and_acquired_at_agent_scope() {
    for (gpu, bytes) in embedded::code_objects() {
        let (write_back, invalidate, returns) = match (gpu, gpu.family()) {
            _ if gpu.is_rdna4() => (
                None,
                &["global_inv scope:SCOPE_DEV"][..],
                "th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
            ),
            (_, Family::Rdna) => (None, &["buffer_gl1_inv", "buffer_gl0_inv"][..], "glc"),
            (Gpu::Gfx908 | Gpu::Gfx90a, _) => (None, &["buffer_wbinvl1_vol"][..], "glc"),
            _ => (Some("buffer_wbl2 sc1"), &["buffer_inv sc1"][..], "sc0"),
        };
        // RDNA counts stores apart from loads, and its names have the size in bits.
        let (counted, barrier_starts, barrier_ends) = if gpu.is_rdna4() {
            (
                "s_wait_loadcnt 0x0",
                "s_barrier_signal -1",
                "s_barrier_wait 0xffff",
            )
        } else {
            ("s_waitcnt vmcnt(0)", "s_barrier", "s_barrier")
        };
        let (stored, add, store_16, load_16) = match gpu.family() {
            Family::Cdna => (
                "s_waitcnt vmcnt(0)",
                "global_atomic_add v",
                "global_store_dwordx4",
                "global_load_dwordx4",
            ),
            Family::Rdna => (
                if gpu.is_rdna4() {
                    "s_wait_storecnt 0x0"
                } else {
                    "s_waitcnt_vscnt null, 0x0"
                },
                "global_atomic_add_u32 v",
                "global_store_b128",
                "global_load_b128",
            ),
        };
        let object = CodeObject::parse(bytes).unwrap();
        let lines = disassemble(bytes).unwrap();
        let built = |kernel: &&ferrowave_shared::Kernel| kernel.gpus.contains(gpu.name());
        for kernel in CATALOGUE.iter().filter(built) {
            let name = format!("{} on {gpu}", kernel.symbol);
            let range = &object.kernel(kernel.symbol).unwrap().code;
            let code: Vec<&Disassembled> = lines
                .iter()
                .filter(|line| range.contains(&line.address))
                .collect();
            let texts = |from: &[&Disassembled]| -> Vec<String> {
                from.iter().map(|line| line.text.clone()).collect()
            };
            let caches: Vec<_> = code.iter().copied().filter(is_for_caches).collect();
            if kernel.reduction == Reduction::None {
                assert!(caches.is_empty(), "{name}: {:?}", texts(&caches));
                continue;
            }
            let mut expected = Vec::from_iter(write_back);
            expected.extend(invalidate);
            assert_eq!(texts(&caches), expected, "{name}");

            let find = |from: usize, names: &[&str]| {
                let starts = |line: &&Disassembled| names.iter().any(|n| line.text.starts_with(n));
                from + code[from..].iter().position(starts).expect(&name)
            };
            let find_back = |from: usize, names: &[&str]| {
                let starts = |line: &&Disassembled| names.iter().any(|n| line.text.starts_with(n));
                code[..from].iter().rposition(starts).expect(&name)
            };
            // The ticket: once, returning the old value, and waited for.
            let ticket = find(0, &[add]);
            let text = &code[ticket].text;
            assert!(
                text.ends_with(&format!(", off {returns}")),
                "{name}: {text}"
            );
            assert_eq!(code[ticket + 1].text, counted, "{name}");
            let atomics = code.iter().filter(|line| line.text.contains("_atomic_"));
            // And the largest magnitude of results, which returns nothing.
            let stores_float8 = kernel.outputs().iter().any(|output| output.is_float8());
            let (largest, others): (Vec<&Disassembled>, _) =
                atomics.partition(|line| line.text.contains("max"));
            assert_eq!(
                (largest.len(), others.len()),
                (stores_float8.into(), 1),
                "{name}"
            );
            assert!(
                !largest.iter().any(|line| line.text.contains(returns)),
                "{name}"
            );
            // Before it, the write-back, a barrier, and in each wave a wait for its stores.
            let mut release = ticket;
            if let Some(write_back) = write_back {
                assert_eq!(code[ticket - 1].text, "s_waitcnt vmcnt(0)", "{name}");
                assert_eq!(code[ticket - 2].text, write_back, "{name}");
                release = ticket - 2;
            }
            let barrier = find_back(release, &["s_barrier", "global_store"]);
            assert_eq!(code[barrier].text, barrier_ends, "{name}");
            let barrier = find_back(barrier + 1, &[barrier_starts, "global_store"]);
            assert_eq!(code[barrier].text, barrier_starts, "{name}");
            let wait = find_back(barrier, &[stored, "global_store"]);
            assert_eq!(code[wait].text, stored, "{name}");
            let store = find_back(wait, &["global_store", "s_barrier"]);
            assert!(code[store].text.starts_with(store_16), "{name}");
            // After it, a barrier, and the invalidation in each wave before it loads.
            let barrier = find(ticket, &["s_barrier", "global_load"]);
            assert_eq!(code[barrier].text, barrier_starts, "{name}");
            let barrier = find(barrier, &[barrier_ends, "global_load"]);
            assert_eq!(code[barrier].text, barrier_ends, "{name}");
            let acquire = find(barrier, &[invalidate[0], "global_load"]);
            let acquired = &code[acquire..acquire + invalidate.len()];
            assert_eq!(texts(acquired), invalidate, "{name}");
            let load = find(acquire, &["global_load"]);
            assert!(code[load].text.starts_with(load_16), "{name}");
            let exec = code[barrier..acquire]
                .iter()
                .find(|line| line.text.contains("exec"));
            assert!(exec.is_none(), "{name}: not in all waves: {exec:?}");
        }
    }
}
