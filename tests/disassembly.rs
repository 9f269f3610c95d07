//! Compares the emulator's decoder and disassembler with LLVM's on every built code object.

use ferrowave::embedded;
use ferrowave_isa::decode;
use ferrowave_kernel_build::disassemble;

#[test]
fn every_instruction_reads_as_llvm_reads_it() {
    for &(gpu, code_object) in embedded::CODE_OBJECTS {
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
    for &(gpu, code_object) in embedded::CODE_OBJECTS {
        let memory = Arc::new(DeviceMemory::new(1 << 30));
        let program = Program::load(code_object, gpu, &memory, SimdLevel::detect()).unwrap();
        assert_eq!(program.unsupported(), [], "{gpu}");
    }
}
