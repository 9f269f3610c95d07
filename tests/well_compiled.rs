//! Compares each kernel's compiled main loop with the catalogue's row.
//!
//! The main loop is the innermost loop with the most multiplications. Loops are found by their backward branches in
//! LLVM's disassembly of the embedded code objects.

use std::{cmp::Reverse, collections::BTreeSet, ops::Range, sync::LazyLock};

use ferrowave::embedded;
use ferrowave_code_object::CodeObject;
use ferrowave_gpu::{Family, Gpu, GpuLimits, Occupancy};
use ferrowave_kernel_build::{Disassembled, disassemble};
use ferrowave_shared::{
    CATALOGUE, ElementType, ElementTypes, Kernel, Variant,
    catalogue::{Access, Reduction, Unit},
};

/// A built kernel.
struct Built {
    gpu: Gpu,
    kernel: &'static Kernel,
    /// Its instructions. The halves of a dual instruction are two, at the same address.
    code: Vec<Disassembled>,
}

/// Every row of the catalogue on every built GPU. Disassembled once for all tests.
static ALL_BUILT: LazyLock<Vec<Built>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (gpu, bytes) in embedded::code_objects() {
        let object = CodeObject::parse(bytes).unwrap();
        let lines = disassemble(bytes).unwrap();
        for kernel in CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
        {
            let range = &object.kernel(kernel.symbol).expect(kernel.symbol).code;
            let code: Vec<_> = lines
                .iter()
                .filter(|line| range.contains(&line.address))
                .flat_map(halves)
                .collect();
            all.push(Built { gpu, kernel, code });
        }
    }
    assert!(!all.is_empty());
    all
});

/// The instruction, or both halves of RDNA's dual instruction, whose names begin with `v_dual_`.
fn halves(line: &Disassembled) -> impl Iterator<Item = Disassembled> {
    line.text.split(" :: ").map(|text| Disassembled {
        text: text.trim().replacen("v_dual_", "v_", 1),
        ..line.clone()
    })
}

impl Built {
    fn name(&self) -> String {
        format!("{} on {}", self.kernel.symbol, self.gpu)
    }

    /// Lanes of a wave.
    fn lanes(&self) -> usize {
        GpuLimits::of(self.gpu).wave_size as usize
    }

    /// Multiplications of elements in an iteration of the main loop, of all lanes of a wave together.
    fn multiplications(&self) -> usize {
        let lines = self.main_loop().iter();
        lines.map(|line| multiplications(line, self.lanes())).sum()
    }

    /// Indices of the instructions of each loop: from the target of a backward branch to the branch.
    fn loops(&self) -> Vec<Range<usize>> {
        let mut loops = Vec::new();
        for (end, line) in self.code.iter().enumerate() {
            if let Some(target) = branch_target(line)
                && target <= line.address
            {
                let start = self.code.partition_point(|line| line.address < target);
                loops.push(start..end + 1);
            }
        }
        loops
    }

    /// Multiplications of elements in a range of instructions, of all lanes of a wave together.
    fn multiplications_in(&self, range: &Range<usize>) -> usize {
        let lines = self.code[range.clone()].iter();
        lines.map(|line| multiplications(line, self.lanes())).sum()
    }

    /// The innermost loops that multiply, except those of epilogues.
    fn multiplying_loops(&self) -> Vec<Range<usize>> {
        // Backward branches in the epilogue are not main loops; the epilogue has exponentials.
        let is_finish = |range: &Range<usize>| {
            let mut lines = self.code[range.clone()].iter();
            lines.any(|line| line.text.starts_with("v_exp_f32"))
        };
        let multiplying: Vec<_> = self
            .loops()
            .into_iter()
            .filter(|range| self.multiplications_in(range) > 0 && !is_finish(range))
            .collect();
        let is_innermost = |outer: &Range<usize>| {
            !multiplying
                .iter()
                .any(|inner| inner != outer && outer.start <= inner.start && inner.end <= outer.end)
        };
        let innermost = multiplying.iter().filter(|range| is_innermost(range));
        innermost.cloned().collect()
    }

    /// The instructions of the main loop.
    fn main_loop(&self) -> &[Disassembled] {
        let loops = self.multiplying_loops();
        let loads = |range: &Range<usize>| {
            let lines = self.code[range.clone()].iter();
            lines.filter(|line| is_wide_load(&line.text)).count()
        };
        // The loop may exist twice, once for edges, which loads element by element or is longer.
        let main = loops.iter().max_by_key(|range| {
            let multiplications = self.multiplications_in(range);
            (multiplications, loads(range), Reverse(range.len()))
        });
        &self.code[main
            .unwrap_or_else(|| panic!("{}: no loop multiplies", self.name()))
            .clone()]
    }
}

/// The target of a branch.
fn branch_target(line: &Disassembled) -> Option<u64> {
    // SOPP: a signed count of dwords from the next instruction, in the lower half of its only dword.
    let branches = ["s_branch", "s_cbranch"];
    branches.iter().find(|name| line.text.starts_with(**name))?;
    let dwords = i64::from(*line.words.first()? as u16 as i16);
    line.address.checked_add(4)?.checked_add_signed(4 * dwords)
}

/// Multiplications of elements that an instruction of a wave of `lanes` does in all of them together.
fn multiplications(line: &Disassembled, lanes: usize) -> usize {
    let mnemonic = line.text.split(' ').next().unwrap_or_default();
    if let Some(shape) = MatrixShape::of(mnemonic) {
        return shape.m * shape.n * shape.k * shape.blocks;
    }
    let vector = |name: &str| mnemonic.starts_with(name);
    if vector("v_pk_fma_f32") {
        return 2 * lanes;
    }
    let scalar = ["v_fma_f32", "v_fmac_f32", "v_fma_f64", "v_fmac_f64"];
    if scalar.iter().any(|name| vector(name)) {
        lanes
    } else {
        0
    }
}

/// The shape of a matrix instruction.
#[derive(Debug, PartialEq, Eq)]
struct MatrixShape {
    m: usize,
    n: usize,
    k: usize,
    blocks: usize,
}

impl MatrixShape {
    /// The shape in the name of a matrix instruction, such as `v_mfma_f32_16x16x1_4b_f32`, or `v_mfma_f32_16x16x1f32`
    /// on older GPUs. The older names do not have the number of blocks, but the operands do: each lane holds as many
    /// elements of A as fit its registers, and all lanes together m · k of each block.
    fn of(mnemonic: &str) -> Option<Self> {
        let mut prefixes = ["v_mfma_", "v_wmma_", "v_smfmac_"].into_iter();
        let rest = prefixes.find_map(|prefix| mnemonic.strip_prefix(prefix))?;
        let rest = rest.strip_prefix("scale_").unwrap_or(rest);
        let (_, shape) = rest.split_once('_')?;
        let mut parts = shape.splitn(3, 'x');
        let [m, n, last] = [parts.next()?, parts.next()?, parts.next()?];
        let digits = last
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(last.len());
        let (k, kind) = last.split_at(digits);
        let [m, n, k] = [m, n, k].map(|number| number.parse::<usize>().ok());
        let (m, n, k) = (m?, n?, k?);
        let blocks = match kind.strip_prefix('_') {
            Some(kind) => match kind.split_once("b_") {
                Some((blocks, _)) => blocks.parse().unwrap_or(1),
                None => 1,
            },
            None => {
                let in_a_lane = match kind {
                    "f32" | "f64" => 1,
                    "bf16" => 2,
                    "f16" | "bf16_1k" | "i8" => 4,
                    _ => return None,
                };
                // GPUs with these instructions have waves of 64 lanes.
                in_a_lane * 64 / (m * k)
            }
        };
        Some(Self { m, n, k, blocks })
    }
}

fn is_wide_load(text: &str) -> bool {
    let wide = [
        "global_load_dwordx4",
        "global_load_lds_dwordx4",
        "buffer_load_dwordx4",
        "global_load_b128",
        "buffer_load_b128",
    ];
    wide.iter().any(|name| text.starts_with(name))
}

/// The vector registers of an operand, such as `v3`, `v[4:7]` or `a[0:15]`, with the register file.
fn registers(operand: &str) -> BTreeSet<(char, u32)> {
    let operand = operand.trim();
    let Some(file @ ('v' | 'a')) = operand.chars().next() else {
        return BTreeSet::new();
    };
    let numbers = operand[1..].trim_matches(|c| c == '[' || c == ']');
    let (first, last) = numbers.split_once(':').unwrap_or((numbers, numbers));
    match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(first), Ok(last)) => (first..=last).map(|number| (file, number)).collect(),
        _ => BTreeSet::new(),
    }
}

/// The operands of an instruction, destination first.
fn operands(text: &str) -> impl Iterator<Item = &str> {
    text.split_once(' ')
        .map_or("", |(_, operands)| operands)
        .split(',')
}

/// The vector registers that an instruction writes.
fn results(text: &str) -> BTreeSet<(char, u32)> {
    let without = [
        "ds_write",
        "ds_store",
        "global_store",
        "buffer_store",
        "global_load_lds",
        "s_",
    ];
    if without.iter().any(|name| text.starts_with(name)) {
        return BTreeSet::new();
    }
    operands(text).next().map(registers).unwrap_or_default()
}

/// The first instruction of a loop that copies the sum of a multiplication.
fn moved_sum(main_loop: &[Disassembled]) -> Option<&str> {
    let moves = |index: usize, text: &str| {
        // Copies of other values in AGPRs are allowed.
        if !text.starts_with("v_mov_b") && !text.starts_with("v_accvgpr_") {
            return false;
        }
        // The last instruction that wrote the register, in this iteration or the one before.
        let source = operands(text).nth(1).map(registers).unwrap_or_default();
        let (before, after) = main_loop.split_at(index);
        let definition = before
            .iter()
            .rev()
            .chain(after.iter().rev())
            .find(|line| !results(&line.text).is_disjoint(&source));
        definition.is_some_and(|line| multiplications(line, 1) > 0)
    };
    let mut lines = main_loop.iter().enumerate();
    let (_, line) = lines.find(|(index, line)| moves(*index, &line.text))?;
    Some(&line.text)
}

/// Whether it is step 16 by multiply-adds of the vector unit.
fn is_step_16_on_vector_unit(variant: Variant) -> bool {
    matches!(variant, Variant::FmaSplitK64x64 | Variant::FmaSplitK32x32)
}

/// Kernels that load and store C in each step by design, so that their sums do move.
const fn keeps_sums_in_memory(variant: Variant) -> bool {
    matches!(
        variant,
        Variant::MfmaUncached
            | Variant::MfmaLds
            | Variant::MfmaDoubleBuffered
            | Variant::MfmaBlockOrder
            | Variant::MfmaPassOrder
    )
}

#[test]
fn no_kernel_spills_or_leaves_its_address_space() {
    for built in ALL_BUILT.iter() {
        for line in &built.code {
            let text = &line.text;
            let bad = ["flat_", "scratch_"]
                .iter()
                .any(|name| text.starts_with(name));
            assert!(!bad, "{}: {text}", built.name());
        }
    }
    for (gpu, bytes) in embedded::code_objects() {
        for kernel in CodeObject::parse(bytes).unwrap().kernels() {
            let metadata = &kernel.metadata;
            assert_eq!(
                metadata.private_segment_fixed_size, 0,
                "{} on {gpu}",
                metadata.name
            );
            let [vectors, scalars] = [metadata.vgpr_spill_count, metadata.sgpr_spill_count]
                .map(Option::unwrap_or_default);
            assert_eq!(vectors, 0, "{} on {gpu}", metadata.name);
            let keeps_scalars_in_lanes = Kernel::by_symbol(&metadata.name).is_some_and(|kernel| {
                let mut outputs = kernel.outputs().iter();
                kernel.reduction != Reduction::None || outputs.any(|output| output.is_float8())
            });
            assert!(
                scalars == 0 || keeps_scalars_in_lanes,
                "{} on {gpu}",
                metadata.name
            );
        }
    }
}

/// Assembly in `kernels/src/arch` overwrites m0 without the compiler's knowledge, right before the instruction that
/// reads it. So no other instruction may use m0.
#[test]
fn only_loads_to_lds_use_m0() {
    for built in ALL_BUILT.iter() {
        for (index, line) in built.code.iter().enumerate() {
            if !operands(&line.text).any(|operand| operand.trim() == "m0") {
                continue;
            }
            let next: Vec<_> = built.code[index..].iter().take(3).collect();
            assert!(
                line.text.starts_with("s_mov_b32 m0,")
                    && next[1].text.starts_with("s_nop")
                    && next[2].text.starts_with("global_load_lds_"),
                "{}: {}",
                built.name(),
                line.text
            );
        }
    }
}

/// Kernels that divide k, and those that store 8-bit floats, keep scalars in lanes of a vector register: stream_k around its
/// loop over tiles, the others in their epilogues. They must not fetch any in the loop along k.
#[test]
fn main_loops_fetch_no_spilled_scalars() {
    for built in ALL_BUILT.iter() {
        for line in built.main_loop() {
            assert!(
                !line.text.starts_with("v_readlane") && !line.text.starts_with("v_writelane"),
                "{}: {}",
                built.name(),
                line.text
            );
        }
    }
}

#[test]
fn registers_leave_room_for_the_waves_that_the_row_states() {
    for (gpu, bytes) in embedded::code_objects() {
        let object = CodeObject::parse(bytes).unwrap();
        for kernel in CATALOGUE
            .iter()
            .filter(|kernel| kernel.gpus.contains(gpu.name()))
        {
            let built = object.kernel(kernel.symbol).expect(kernel.symbol);
            // One wave without LDS, so that only registers limit the occupancy.
            let lanes = GpuLimits::of(gpu).wave_size;
            let occupancy = Occupancy::of(gpu, built.resources(lanes, 0));
            assert!(
                occupancy.waves_per_simd as usize >= kernel.waves_per_simd,
                "{} on {gpu}: {} waves, not {}",
                kernel.symbol,
                occupancy.waves_per_simd,
                kernel.waves_per_simd
            );
        }
    }
}

/// An iteration of the main loop multiplies a whole number of steps of the tile: nothing twice, and nothing for
/// nothing.
#[test]
fn main_loops_multiply_what_the_tile_implies() {
    for built in ALL_BUILT.iter() {
        let tile = built.kernel.tile;
        let waves = built.kernel.block.threads() / built.lanes();
        let in_a_round = built.multiplications();
        let step = tile.m * tile.n * tile.k;
        // The first of these kernels may iterate once per matrix instruction, the others do for each unit of a row in LDS.
        let variant = built.kernel.variant;
        let part = (keeps_sums_in_memory(variant) || is_step_16_on_vector_unit(variant))
            && step.is_multiple_of(in_a_round * waves);
        assert!(
            part || (in_a_round * waves).is_multiple_of(step),
            "{}: {in_a_round} multiplications of {waves} waves for a step of {step}",
            built.name()
        );
    }
}

/// In step 14, each layout of A and B has a main loop of its own. Two of them in one loop would choose by moves and branches in
/// each iteration.
#[test]
fn each_layout_has_a_main_loop_in_step_14() {
    for built in ALL_BUILT.iter() {
        let Kernel {
            types,
            access,
            variant,
            ..
        } = *built.kernel;
        // Other layouts do not exist with scales or a sparse A.
        let has_one = access != Access::Wide || types.a.is_scaled() || types.is_sparse;
        if !variant.name().starts_with("mfma_pingpong") || has_one {
            continue;
        }
        let loops = built.multiplying_loops();
        let most = built.multiplications();
        let main = (loops.iter()).filter(|range| built.multiplications_in(range) == most);
        assert!(main.count() >= 4, "{}", built.name());
    }
}

#[test]
fn main_loops_do_not_move_their_sums() {
    for built in ALL_BUILT.iter() {
        if keeps_sums_in_memory(built.kernel.variant) {
            continue;
        }
        let moved = moved_sum(built.main_loop());
        assert_eq!(moved, None, "{}", built.name());
    }
}

/// If the row says so, A and B are loaded in units of 16 bytes, and read from LDS in units as large as the instructions
/// take.
#[test]
fn main_loops_load_as_wide_as_the_row_says() {
    for built in ALL_BUILT.iter() {
        let Kernel {
            variant,
            tile,
            types,
            access,
            block,
            ..
        } = *built.kernel;
        let wide = matches!(
            variant,
            Variant::Vectorized | Variant::DoubleBuffered | Variant::DoubleBuffered16x8
        );
        // The loops of `direct_to_vgpr` share their ends: none is in one piece.
        if access == Access::Elements && !wide || variant == Variant::DirectToVgpr {
            continue;
        }
        let main_loop = built.main_loop();
        let in_a_round = built.multiplications();
        let waves = block.threads() / built.lanes();
        let rounds = in_a_round * waves / (tile.m * tile.n * tile.k);
        let stored = tile.m / types.compression() as usize + tile.n;
        let needed = stored * tile.k * types.a.bits() / 8 * rounds;
        let wide = main_loop
            .iter()
            .filter(|line| is_wide_load(&line.text))
            .count();
        assert!(
            wide * 16 * block.threads() >= needed,
            "{}: {wide} loads of 16 bytes for {needed} bytes",
            built.name()
        );
        for line in main_loop {
            // The scales.
            let of_scales: &[_] = match types.a {
                ElementType::Mxfp6 | ElementType::Mxbf6 => {
                    &["ds_read_b32", "ds_read2_b32", "ds_read2st64_b32"]
                }
                input if input.is_scaled() => &["ds_read_u8"],
                _ => &[],
            };
            if of_scales.iter().any(|name| line.text.starts_with(name)) {
                continue;
            }
            let narrow = [
                "ds_read_b32",
                "ds_read2_b32",
                "ds_read_u",
                "ds_read_i",
                "ds_read2st64_b32",
                "ds_load_b32",
                "ds_load_2addr_b32",
                "ds_load_u",
                "ds_load_i",
                "ds_load_2addr_stride64_b32",
            ];
            let narrow = narrow.iter().any(|name| line.text.starts_with(name));
            assert!(!narrow, "{}: {}", built.name(), line.text);
        }
    }
}

#[test]
fn names_of_matrix_instructions_are_taken_apart() {
    let shape = |name| MatrixShape::of(name).map(|s| [s.m, s.n, s.k, s.blocks]);
    assert_eq!(shape("v_mfma_f32_16x16x4_f32"), Some([16, 16, 4, 1]));
    assert_eq!(shape("v_mfma_f32_16x16x4f32"), Some([16, 16, 4, 1]));
    assert_eq!(shape("v_mfma_f32_16x16x1_4b_f32"), Some([16, 16, 1, 4]));
    assert_eq!(shape("v_mfma_f32_16x16x1f32"), Some([16, 16, 1, 4]));
    assert_eq!(shape("v_mfma_f32_32x32x1f32"), Some([32, 32, 1, 2]));
    assert_eq!(shape("v_mfma_f32_32x32x8f16"), Some([32, 32, 8, 1]));
    assert_eq!(shape("v_mfma_f32_32x32x4bf16_1k"), Some([32, 32, 4, 2]));
    assert_eq!(shape("v_mfma_f32_16x16x8bf16"), Some([16, 16, 8, 1]));
    assert_eq!(shape("v_mfma_i32_16x16x16i8"), Some([16, 16, 16, 1]));
    assert_eq!(shape("v_mfma_i32_32x32x16_i8"), Some([32, 32, 16, 1]));
    assert_eq!(shape("v_mfma_f32_16x16x32_fp8_fp8"), Some([16, 16, 32, 1]));
    assert_eq!(
        shape("v_mfma_scale_f32_32x32x64_f8f6f4"),
        Some([32, 32, 64, 1])
    );
    assert_eq!(shape("v_mfma_f64_16x16x4_f64"), Some([16, 16, 4, 1]));
    assert_eq!(shape("v_smfmac_f32_32x32x16_f16"), Some([32, 32, 16, 1]));
    assert_eq!(shape("v_wmma_f32_16x16x16_bf16"), Some([16, 16, 16, 1]));
    assert_eq!(shape("v_wmma_i32_16x16x16_iu8"), Some([16, 16, 16, 1]));
    assert_eq!(shape("v_wmma_f32_16x16x16_bf8_bf8"), Some([16, 16, 16, 1]));
    assert_eq!(shape("v_fma_f32"), None);
}

/// Instructions of one dword each.
fn code(texts: &[(&str, u32)]) -> Vec<Disassembled> {
    (0..)
        .zip(texts)
        .map(|(index, &(text, word))| Disassembled {
            address: 0x100 + 4 * index,
            symbol: String::new(),
            text: text.to_owned(),
            words: vec![word],
        })
        .collect()
}

#[test]
fn the_innermost_loop_that_multiplies_most_is_the_main_one() {
    let built = Built {
        gpu: Gpu::Gfx942,
        kernel: &CATALOGUE[0],
        code: code(&[
            ("s_mov_b32 s0, 0", 0),
            // Start of the outer loop.
            ("v_fma_f32 v0, v1, v2, v0", 0),
            ("v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]", 0),
            ("s_cbranch_scc0 65534", 0xbf84_fffe),
            ("v_fma_f32 v0, v1, v2, v0", 0),
            ("s_cbranch_scc0 65534", 0xbf84_fffe),
            ("s_branch 65530", 0xbf82_fffa),
            ("s_branch 1", 0xbf82_0001),
            ("s_endpgm", 0),
        ]),
    };
    assert_eq!(built.loops(), [2..4, 4..6, 1..7]);
    assert_eq!(built.main_loop()[0].text, built.code[2].text);
    assert_eq!(built.main_loop().len(), 2);
}

#[test]
fn copies_of_sums_are_found_and_copies_of_factors_are_not() {
    let sum = ("v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]", 0);
    let moved = |texts: &[(&str, u32)]| moved_sum(&code(texts)).map(str::to_owned);
    let factor = ("v_mov_b32_e32 v5, v9", 0);
    assert_eq!(moved(&[("ds_read_b32 v9, v8", 0), factor, sum]), None);
    let copy = ("v_mov_b32_e32 v7, v2", 0);
    assert_eq!(moved(&[sum, copy]), Some(copy.0.to_owned()));
    // The sum of the iteration before.
    assert_eq!(moved(&[copy, sum]), Some(copy.0.to_owned()));
    assert_eq!(moved(&[sum, ("ds_read_b32 v2, v8", 0), copy]), None);
    let read = ("v_accvgpr_read_b32 v7, a0", 0);
    let accumulated = ("v_mfma_f32_16x16x4_f32 a[0:3], v4, v5, a[0:3]", 0);
    assert_eq!(moved(&[accumulated, read]), Some(read.0.to_owned()));
    assert_eq!(moved(&[sum, read]), None);
    let write = ("v_accvgpr_write_b32 a9, v3", 0);
    assert_eq!(moved(&[sum, write]), Some(write.0.to_owned()));
}

#[test]
fn registers_of_operands_are_counted() {
    assert_eq!(
        registers(" v[4:6]"),
        BTreeSet::from([('v', 4), ('v', 5), ('v', 6)])
    );
    assert_eq!(registers("a7"), BTreeSet::from([('a', 7)]));
    assert_eq!(results("v_mov_b32_e32 v0, v1"), BTreeSet::from([('v', 0)]));
    assert!(results("ds_write_b32 v0, v1").is_empty());
    for other in ["s3", "vcc", "0", "off", "v", ""] {
        assert!(registers(other).is_empty(), "{other}");
    }
    assert_eq!(
        operands("v_mov_b32_e32 v0, v1")
            .map(str::trim)
            .collect::<Vec<_>>(),
        ["v0", "v1"]
    );
}

/// Main loops have matrix instructions of the kernel's kind, or none if it is for the vector unit. From gfx90a on, CDNA's
/// tiled ones for the vector unit use packed FMAs.
#[test]
fn kernels_use_the_unit_that_they_are_named_for() {
    for built in ALL_BUILT.iter() {
        let main_loop = built.main_loop();
        let has = |name| main_loop.iter().any(|line| line.text.starts_with(name));
        let used = [has("v_mfma_"), has("v_smfmac_"), has("v_wmma_")];
        let unit = built.kernel.variant.unit();
        let sparse = built.kernel.types.is_sparse;
        let by_mfma = unit == Unit::Mfma;
        assert_eq!(
            used,
            [by_mfma && !sparse, by_mfma && sparse, unit == Unit::Wmma],
            "{}",
            built.name()
        );
        let vector = unit == Unit::Vector;
        let has_packed = built.gpu.family() == Family::Cdna && built.gpu != Gpu::Gfx908;
        if vector && built.kernel.types == ElementTypes::F32 && has_packed {
            let tiled = !matches!(built.kernel.variant, Variant::Naive | Variant::LdsTiled);
            assert_eq!(has("v_pk_fma_f32"), tiled, "{}", built.name());
        }
    }
}

/// Main loops by WMMA, and of step 16 on the vector unit, read LDS in 16 bytes only. Those of steps 15 and 16 by WMMA have loads
/// from global memory in flight all the time: they wait for the oldest, never for all.
#[test]
fn main_loops_of_rdna_read_wide_and_load_ahead() {
    for built in ALL_BUILT.iter() {
        let variant = built.kernel.variant;
        if variant.unit() != Unit::Wmma && !is_step_16_on_vector_unit(variant) {
            continue;
        }
        let texts = || built.main_loop().iter().map(|line| line.text.as_str());
        let mut reads = texts()
            .filter(|text| text.starts_with("ds_load"))
            .peekable();
        assert!(reads.peek().is_some(), "{}", built.name());
        for text in reads {
            assert!(text.starts_with("ds_load_b128"), "{}: {text}", built.name());
        }
        // The loop over the units of a row has no loads from global memory.
        if !matches!(variant, Variant::WmmaWide | Variant::WmmaSwizzled)
            && variant.unit() == Unit::Wmma
        {
            let mut waits = texts()
                .filter_map(|text| Some((text, loads_left(text)?)))
                .peekable();
            assert!(waits.peek().is_some(), "{}", built.name());
            for (text, left) in waits {
                assert!(left > 0, "{}: {text}", built.name());
            }
        }
    }
}

/// On gfx908, LLVM would wait for all loads at each barrier by default. Main loops with stages in flight must not.
#[test]
fn main_loops_by_mfma_load_ahead_on_gfx908() {
    for built in ALL_BUILT.iter() {
        let loads_ahead = matches!(
            built.kernel.variant,
            Variant::MfmaPingpong
                | Variant::MfmaPingpongSmall
                | Variant::MfmaInterleaved
                | Variant::SplitK
                | Variant::StreamK
                | Variant::SplitK64x64
                | Variant::SplitK32x64
                | Variant::SplitK32x32
        );
        if built.gpu != Gpu::Gfx908 || !loads_ahead {
            continue;
        }
        let texts = built.main_loop().iter().map(|line| line.text.as_str());
        let mut waits = texts
            .filter_map(|text| Some((text, loads_left(text)?)))
            .peekable();
        assert!(waits.peek().is_some(), "{}", built.name());
        for (text, left) in waits {
            assert!(left > 0, "{}: {text}", built.name());
        }
    }
}

/// How many loads from global memory may be in flight after an instruction, if it waits for them.
fn loads_left(text: &str) -> Option<u32> {
    if let Some((_, rest)) = text.split_once("vmcnt(") {
        return rest.split(')').next()?.parse().ok();
    }
    let (name, operand) = text.strip_prefix("s_wait_loadcnt")?.split_once(" 0x")?;
    let count = u32::from_str_radix(operand.trim(), 16).ok()?;
    // RDNA 4 can wait for LDS, too: the lower byte is the counter of LDS then.
    Some(if name == "_dscnt" { count >> 8 } else { count })
}

#[test]
fn waits_for_loads_are_read() {
    assert_eq!(loads_left("s_waitcnt vmcnt(3) lgkmcnt(0)"), Some(3));
    assert_eq!(loads_left("s_waitcnt lgkmcnt(0)"), None);
    assert_eq!(loads_left("s_wait_loadcnt 0x1f"), Some(31));
    assert_eq!(loads_left("s_wait_loadcnt_dscnt 0x301"), Some(3));
    assert_eq!(loads_left("s_wait_loadcnt_dscnt 0x2"), Some(0));
    assert_eq!(loads_left("s_wait_dscnt 0x0"), None);
}

/// RDNA's dual instructions do two multiply-adds at once if their registers are in other banks. Steps 4, 5 and 16 keep their sums
/// in registers that pair all of them, with tiles of 32 × 32 but for one pair. Step 3 pairs at least half, with 4 × 4 elements on
/// RDNA 3 slightly less.
#[test]
fn main_loops_of_tiled_kernels_pair_their_multiplications_on_rdna() {
    for built in ALL_BUILT.iter() {
        let least = match built.kernel.variant {
            Variant::Vectorized
            | Variant::DoubleBuffered
            | Variant::DoubleBuffered16x8
            | Variant::FmaSplitK64x64 => 1.0,
            // A wait is between two.
            Variant::FmaSplitK32x32 => 0.96,
            Variant::RegisterTiled if !built.gpu.is_rdna4() => 0.47,
            Variant::RegisterTiled | Variant::RegisterTiled8x8 => 0.5,
            _ => continue,
        };
        if built.gpu.family() != Family::Rdna {
            continue;
        }
        let pairs = built.main_loop().windows(2).filter(|pair| {
            pair[0].address == pair[1].address
                && pair.iter().all(|line| multiplications(line, 1) == 1)
        });
        let paired = 2 * built.lanes() * pairs.count();
        let all = built.multiplications();
        assert!(
            paired as f64 >= least * all as f64,
            "{}: {paired} of {all} multiplications",
            built.name()
        );
    }
}
