//! The registers that instructions read and write where their operands do not show all of them.

use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::{Register, Registers, decode, decode_for_wave};

/// Checks the registers that an instruction reads and writes, and whether it keeps old bits of its results.
#[track_caller]
fn check(words: &[u32], text: &str, reads: &[&str], writes: &[&str], partial: bool) {
    let instruction = decode(Gpu::Gfx942, words, 0).expect("an instruction");
    assert_eq!(instruction.text(Gpu::Gfx942).to_string(), text);
    let uses = instruction.uses();
    let read = uses.reads.iter().flat_map(|read| read.registers.iter());
    let written = uses.writes.iter().flat_map(|written| written.iter());
    let names = |registers: Vec<Register>| -> Vec<_> {
        let mut names: Vec<_> = registers
            .iter()
            .map(|register| register.name(Family::Cdna).to_string())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(read.collect()), reads, "{text}");
    assert_eq!(names(written.collect()), writes, "{text}");
    assert_eq!(uses.partial, partial, "{text}");
}

#[test]
fn scalar_results_that_may_stay() {
    check(&[0xbe83_0004], "s_mov_b32 s3, s4", &["s4"], &["s3"], false);
    let reads = &["s3", "s4", "scc"];
    check(&[0xbe83_0204], "s_cmov_b32 s3, s4", reads, &["s3"], true);
    check(
        &[0xb083_0005],
        "s_cmovk_i32 s3, 0x5",
        &["s3", "scc"],
        &["s3"],
        true,
    );
    check(
        &[0xbe82_0304],
        "s_cmov_b64 s[2:3], s[4:5]",
        &["s2", "s3", "s4", "s5", "scc"],
        &["s2", "s3"],
        true,
    );
    check(
        &[0xbe83_1a04],
        "s_bitset1_b32 s3, s4",
        &["s3", "s4"],
        &["s3"],
        true,
    );
}

/// A D16 load writes the whole register on GPUs with SRAM ECC, so that it does not read the old value.
#[test]
fn loads_of_halves_keep_nothing() {
    check(
        &[0xd8b6_0000, 0x0300_0002],
        "ds_read_u16_d16_hi v3, v2",
        &["exec_hi", "exec_lo", "v2"],
        &["v3"],
        false,
    );
}

/// From gfx942 on, the hardware knows where private memory is (LLVM's `FeatureArchitectedFlatScratch`).
#[test]
fn private_memory_is_found_by_flat_scratch_up_to_gfx90a() {
    for (words, text, reads) in [
        (
            [0xdc50_0000, 0x0100_0002],
            "flat_load_dword v1, v[2:3]",
            true,
        ),
        (
            [0xdc50_4000, 0x017f_0002],
            "scratch_load_dword v1, v2, off",
            true,
        ),
        (
            [0xdc50_8000, 0x017f_0002],
            "global_load_dword v1, v[2:3], off",
            false,
        ),
    ] {
        for &gpu in Family::Cdna.gpus() {
            let mut words = words;
            if gpu.number_in_family() >= Gpu::Gfx942.number_in_family() && text.starts_with('s') {
                // The bit that says that there is a vector address.
                words[0] |= 1 << 13;
            }
            let instruction = decode(gpu, &words, 0).expect("an instruction");
            assert_eq!(instruction.text(gpu).to_string(), text);
            let uses = instruction.uses();
            let mut all = uses.reads.iter();
            let found = all.any(|read| read.registers.contains(Register::FLAT_SCRATCH));
            let expected = reads && matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a);
            assert_eq!(found, expected, "{text} on {gpu}");
        }
    }
}

#[test]
fn waves_of_32_lanes_have_half_a_mask() {
    let [vcc, exec] = [Register::VCC, Register::EXEC];
    for (word, lanes, first, count) in [
        // s_cbranch_vccz 3
        (0xbfa3_0003, 32, vcc, 1),
        (0xbfa3_0003, 64, vcc, 2),
        // v_mov_b32_e32 v1, v2
        (0x7e02_0302, 32, exec, 1),
        (0x7e02_0302, 64, exec, 2),
        // s_and_saveexec_b32 s2, s4, and s_and_saveexec_b64 s[2:3], s[4:5]
        (0xbe82_2004, 32, exec, 1),
        (0xbe82_2104, 32, exec, 2),
    ] {
        let instruction = decode_for_wave(Gpu::Gfx1100, lanes, &[word], 0).expect("decodes");
        let uses = instruction.uses();
        let reads = uses.reads.iter().map(|read| read.registers);
        let found: Vec<_> = reads.filter(|read| read.first == first).collect();
        assert_eq!(found, [Registers { first, count }], "{word:#x}, {lanes}");
    }
}
