//! Compares the decoder and disassembler with LLVM's: every opcode of every encoding, on each GPU, in many forms. Text
//! and length must be equal, and words that LLVM refuses must be refused.

mod words;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::{decode, decode_for_wave};
use ferrowave_kernel_build::{Assembly, Toolchain};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use words::Words;

/// Forms of each instruction; enough to see each bit of a field both set and clear.
const FORMS: usize = 32;
/// How many places LLVM disassembles at a time.
const PIECE: usize = 4000;
/// Words per place: an instruction and the words after it.
const STRIDE: usize = 5;

/// Where LLVM 23 is deliberately not followed, by its text, and the reason.
fn not_followed(gpu: Gpu, text: &str) -> Option<&'static str> {
    match gpu.family() {
        Family::Cdna => not_followed_on_cdna(gpu, text),
        Family::Rdna => not_followed_on_rdna(gpu, text),
    }
}

fn not_followed_on_rdna(gpu: Gpu, text: &str) -> Option<&'static str> {
    let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
    let starts = |names: &[&str]| names.iter().any(|n| name.starts_with(n));
    let extension = [" row_", " quad_perm", " dpp8"];
    let at = extension
        .iter()
        .filter_map(|word| operands.find(word))
        .min();
    // The operands with their modifiers, without what follows the last one.
    let list = &operands[..at.unwrap_or(operands.len())];
    let list: Vec<&str> = list
        .split(" op_sel")
        .next()
        .unwrap_or("")
        .split(", ")
        .map(|operand| operand.split(' ').next().unwrap_or(""))
        .collect();
    let is_vector = |operand: &str| {
        let plain = operand.trim_matches(['|', '-']).trim_start_matches("neg(");
        plain.starts_with('v') && !plain.starts_with("vcc")
    };
    let last = list.last().copied().unwrap_or("");
    let masks = ["v_cndmask", "v_add_co_ci", "v_sub_co_ci", "v_subrev_co_ci"];
    let registers_only = [
        "v_readlane",
        "v_writelane",
        "v_readfirstlane",
        "v_permlane",
        "v_movrel",
        "v_swap",
        "v_mqsad",
        "v_wmma",
        "v_swmmac",
    ];
    let halves = ["f16", "i16", "u16", "b16"]
        .iter()
        .any(|t| name.contains(t));
    let whole =
        |operand: &&str| is_vector(operand) && !operand.contains(".l") && !operand.contains(".h");
    let removed = ["src_vccz", "src_execz", "src_pops", "src_lds_direct"];
    let large = text
        .rsplit_once("offset:")
        .and_then(|(_, offset)| offset.split(' ').next()?.parse::<u32>().ok())
        .is_some_and(|offset| offset >= 1 << 12);
    Some(match () {
        () if removed.iter().any(|n| text.contains(n)) => "sources that RDNA 3 no longer has",
        () if text.contains("src_flat_scratch_base") => "operand codes of later GPUs",
        () if text.contains("scale_offset") => "offsets that later GPUs scale",
        () if name.starts_with("v_cndmask") && text.contains(", vcc_lo|") => {
            "LLVM prints a modifier after the mask"
        }
        () if at.is_some()
            && name.starts_with("v_cvt_pk_")
            && text.contains("f8_f32")
            && !is_vector(last) =>
        {
            "LLVM prints a wrong permutation"
        }
        () if name.starts_with("v_cvt_sr") && at.is_some() => "op_sel bits that no operand has",
        () if text.contains(" [s") => "tuples of scalar registers that run into vcc",
        () if starts(&masks) && (is_vector(last) || last.starts_with("src_")) => {
            "lane masks are scalar registers"
        }
        () if starts(&registers_only) && (text.contains("src_") || text.contains("null")) => {
            "special scalars are no vector registers"
        }
        () if starts(&["v_wmma"]) && (last.starts_with("0x") || last.starts_with("0.159")) => {
            "a matrix product has no literal, and an integer no 1/2π"
        }
        () if starts(&["v_cmp"]) && list[0].starts_with("src_") => {
            "special scalar sources are no destinations"
        }
        () if at.is_some() && list.iter().any(|o| o.contains("0x") || o.contains("lit(")) => {
            "DPP takes the place of a literal; the second source of v_fmac is printed as its code"
        }
        () if at.is_some() && name.starts_with("v_fma_mix") => "LLVM prints a wrong permutation",
        () if at.is_some()
            && matches!(gpu, Gpu::Gfx1100 | Gpu::Gfx1101 | Gpu::Gfx1102)
            && list.iter().skip(1).take(2).any(|o| !is_vector(o)) =>
        {
            "with DPP, the second source is a vector register on RDNA 3"
        }
        () if halves
            && list.iter().all(|o| !o.contains(".l") && !o.contains(".h"))
            && list.iter().any(whole) =>
        {
            "op_sel bits of operands that the instruction does not have"
        }
        () if halves && name.starts_with("v_cmp") && list.iter().all(|o| !is_vector(o)) => {
            "op_sel bits of operands that the instruction does not have"
        }
        () if name == "v_dot2_bf16_bf16" && text.contains("lit(") => "a literal as two bf16",
        () if name.starts_with("s_") && name.contains("f16") && text.contains("0x") => {
            "literals of 16-bit scalar operations are printed in different ways"
        }
        () if name.starts_with("flat_") && large => "flat offsets have 12 bits",
        () => return None,
    })
}

fn not_followed_on_cdna(gpu: Gpu, text: &str) -> Option<&'static str> {
    let scalar_mask = [
        "v_cndmask_b32_e64",
        "v_addc_co",
        "v_subb_co",
        "v_subbrev_co",
    ];
    let odd_accumulators = text.match_indices("a[").any(|(at, _)| {
        let first = text[at + 2..]
            .split(':')
            .next()
            .and_then(|n| n.parse::<u32>().ok());
        first.is_some_and(|n| n % 2 == 1)
    });
    let memory = ["flat_", "global_", "scratch_", "buffer_", "ds_"]
        .iter()
        .any(|name| text.starts_with(name));
    let reserved_formats = ["cbsz:5", "cbsz:6", "cbsz:7", "blgp:5", "blgp:6", "blgp:7"];
    if text.contains("f8f6f4") && reserved_formats.iter().any(|format| text.contains(format)) {
        return Some("formats of f8f6f4 end at 4");
    }
    if text.contains("null") || text.contains("src_flat_scratch_base") {
        return Some("operand codes of later GPUs");
    }
    if text.contains("_sdwa") && text.contains("src_lds_direct") {
        return Some("SDWA takes no LDS");
    }
    if text.contains(" [s") {
        return Some("tuples of scalar registers that run into vcc");
    }
    if text.contains("mfma") && text.contains("src_") {
        return Some("matrix operands take no special scalars");
    }
    if scalar_mask.iter().any(|name| text.starts_with(name)) {
        let last = text.trim_end_matches(" clamp").rsplit(", ").next();
        if last.is_some_and(|operand| operand.starts_with("v[")) {
            return Some("lane masks are scalar registers");
        }
    }
    let registers_only = [
        "v_swap",
        "v_accvgpr",
        "v_readlane",
        "v_readfirstlane",
        "v_permlane",
    ];
    if registers_only.iter().any(|name| text.starts_with(name)) && text.contains("src_") {
        return Some("special scalars are no vector registers");
    }
    if odd_accumulators && gpu != Gpu::Gfx908 {
        return Some("tuples of accumulator registers start at an even one");
    }
    if gpu == Gpu::Gfx908 && memory && text.contains(" a") {
        return Some("gfx908 has no accumulators as memory operands");
    }
    if text.starts_with("v_cmp") && text.contains(" src_") {
        let destination = text.split_whitespace().nth(1).unwrap_or("");
        if destination.starts_with("src_") {
            return Some("special scalar sources are no destinations");
        }
    }
    if text.contains(" offset:0x0") {
        return Some("an offset of 0 beside a register is not kept apart from none");
    }
    None
}

/// Instructions that LLVM refuses although the GPU has them.
fn wrongly_refused(ours: &str) -> bool {
    // LLVM's gfx942 tables lack the returning forms of float atomics with accumulators.
    let float_atomic = ["add_f32", "pk_add_f16", "f64"]
        .iter()
        .any(|n| ours.contains(n));
    // With DPP, LLVM has no scalar sources for these.
    let fp8 = ours.starts_with("v_cvt_pk_") || ours.starts_with("v_dot4_f32_");
    // LLVM's DPP forms of mixed multiply-adds have one operand too few.
    fp8 && ours.contains("_e64_dpp")
        || ours.starts_with("v_fma_mix") && ours.contains("_dpp")
        || ours.contains("_atomic_") && float_atomic && ours.contains(" sc0") && ours.contains(" a")
        || ours.starts_with("s_set_valu_coexec_mode")
}

/// LLVM's answer for the words of one place.
#[derive(Clone, Debug, PartialEq)]
enum Llvm {
    /// Text and length.
    Instruction(String, usize),
    /// No instruction, or one with an operand that LLVM marks as invalid.
    Refused,
    /// The disassembler crashed, by an assertion or a signal.
    Crashed,
}

/// A code object that contains the words, and the tool that disassembles it.
struct Listing {
    toolchain: Toolchain,
    path: PathBuf,
    /// Address of the first word.
    start: u64,
}

/// LLVM's answer for the start of each place.
fn llvm(gpu: Gpu, units: &[Words]) -> Vec<Llvm> {
    let mut text = String::from(".text\n");
    for unit in units {
        text.push_str(".long ");
        for word in unit {
            write!(text, "{word:#x},").expect("a string");
        }
        text.push_str("0xbf800000\n");
    }
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let object = Assembly::new(gpu, &text)
        .assemble(&toolchain)
        .expect("LLVM assembles words");
    let name = format!("ferrowave-isa-{}-{}", std::process::id(), gpu.name());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, &object).expect("the temporary directory can be written");
    let mut listing = Listing {
        toolchain,
        path,
        start: 0,
    };
    listing.start = listing.text_address();
    let mut seen = vec![Llvm::Refused; units.len()];
    // In pieces: after a crash, only one piece has to be disassembled again.
    for first in (0..units.len()).step_by(PIECE) {
        listing.disassemble(first..units.len().min(first + PIECE), &mut seen);
    }
    std::fs::remove_file(&listing.path).expect("it was written");
    seen
}

impl Listing {
    fn objdump(&self, arguments: &[&str]) -> Option<String> {
        let output = Command::new(self.toolchain.llvm_objdump())
            .args(arguments)
            .arg(&self.path)
            .output()
            .expect("llvm-objdump runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        output.status.success().then_some(text)
    }

    fn text_address(&self) -> u64 {
        let headers = self
            .objdump(&["--section-headers"])
            .expect("section headers");
        let line = headers
            .lines()
            .find(|l| l.contains(" .text "))
            .expect("code");
        let address = line.split_whitespace().nth(3).expect("an address");
        u64::from_str_radix(address, 16).expect("an address")
    }

    /// Disassembles some places. If LLVM crashes, disassembles each half of them.
    fn disassemble(&self, places: Range<usize>, seen: &mut [Llvm]) {
        let address = |place: usize| self.start + (place * STRIDE * 4) as u64;
        let Some(listing) = self.objdump(&[
            "--disassemble",
            "--disassemble-zeroes",
            &format!("--start-address={:#x}", address(places.start)),
            &format!("--stop-address={:#x}", address(places.end)),
        ]) else {
            if places.len() == 1 {
                seen[places.start] = Llvm::Crashed;
                return;
            }
            let middle = places.start + places.len() / 2;
            self.disassemble(places.start..middle, seen);
            self.disassemble(middle..places.end, seen);
            return;
        };
        for line in listing.lines() {
            // `       text // ADDRESS: WORD WORD`, possibly followed by a remark or a branch target.
            let Some((text, place)) = line.strip_prefix('\t').and_then(|l| l.rsplit_once("//"))
            else {
                continue;
            };
            let (at, words) = place
                .trim_start()
                .split_once(':')
                .expect("address and words");
            let at = u64::from_str_radix(at, 16).expect("an address");
            let place = (at - self.start) as usize / 4;
            let refused = text.starts_with(['.', '<']) || text.contains("/*");
            if place.is_multiple_of(STRIDE) && !refused {
                let is_word = |w: &&str| w.len() == 8 && w.bytes().all(|b| b.is_ascii_hexdigit());
                let length = words.split_whitespace().take_while(is_word).count();
                seen[place / STRIDE] = Llvm::Instruction(text.trim_end().to_string(), length);
            }
        }
    }
}

fn compare(gpu: Gpu) {
    let opcodes = words::opcodes(gpu);
    let mut rng = Pcg64Mcg::seed_from_u64(0x5eed + gpu as u64);
    let units: Vec<_> = opcodes
        .iter()
        .enumerate()
        .flat_map(|(n, opcode)| {
            let forms: Vec<_> = (0..FORMS)
                .map(|form| (n, opcode.words(gpu, form, &mut rng)))
                .collect();
            forms
        })
        .collect();
    let words: Vec<_> = units.iter().map(|u| u.1).collect();
    let (mut differences, mut count, mut crashes) = (String::new(), 0, Vec::new());
    let (mut agreed, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for ((n, words), theirs) in units.iter().zip(llvm(gpu, &words)) {
        let ours = decode(gpu, words, 0);
        let is_it = ours.as_ref().is_ok_and(|i| opcodes[*n].is(i));
        let ours = ours.map(|i| (i.text(gpu).to_string(), usize::from(i.size / 4)));
        // Of these, only the name and the length are decoded, and no operand is refused.
        let graphics = opcodes[*n].refused
            && matches!(
                opcodes[*n].encoding,
                "mimg" | "vimage" | "vsample" | "exp" | "vinterp" | "ldsdir"
            );
        let same = match (&ours, &theirs) {
            (Ok((text, length)), Llvm::Instruction(t, l)) if graphics => {
                let same = (Some(text.as_str()), length) == (t.split(' ').next(), l);
                if same && is_it {
                    agreed.insert(*n);
                }
                same
            }
            (Ok(_), Llvm::Refused) if graphics => true,
            (Ok((text, length)), Llvm::Instruction(t, l)) => {
                let same = (text, length) == (t, l);
                if same && is_it {
                    agreed.insert(*n);
                }
                same || not_followed(gpu, t).is_some()
            }
            (Err(_), Llvm::Instruction(text, _)) => {
                // If the product after a scale is refused, so is the scale; LLVM accepts the scale alone.
                not_followed(gpu, text).is_some() || text.starts_with("v_mfma_ld_scale")
            }
            (Err(_), Llvm::Refused) => true,
            (Ok((text, _)), Llvm::Refused) => wrongly_refused(text),
            (_, Llvm::Crashed) => {
                crashes.push((&opcodes[*n].name, words));
                true
            }
        };
        if !same {
            count += 1;
            // One form of each instruction is enough for the message.
            if shown.insert(*n) && shown.len() <= 20 {
                writeln!(
                    differences,
                    "{words:08x?}\n  LLVM {theirs:?}\n  ours {ours:?}"
                )
                .expect("a string");
            }
        }
    }
    assert!(
        count == 0,
        "{count} differences on {}:\n{differences}",
        gpu.name()
    );
    assert!(
        crashes.len() < 10,
        "LLVM crashed on too many forms to say anything: {crashes:08x?}"
    );
    let unseen: BTreeSet<_> = opcodes
        .iter()
        .enumerate()
        .filter(|(n, opcode)| !agreed.contains(n) && opcode.name != "s_set_valu_coexec_mode")
        .map(|(_, opcode)| format!("{} ({})", opcode.name, opcode.encoding))
        .collect();
    assert!(
        unseen.is_empty(),
        "never an instruction to LLVM: {unseen:?}"
    );
}

#[test]
fn gfx908_agrees_with_llvm() {
    compare(Gpu::Gfx908);
}

#[test]
fn gfx90a_agrees_with_llvm() {
    compare(Gpu::Gfx90a);
}

#[test]
fn gfx942_agrees_with_llvm() {
    compare(Gpu::Gfx942);
}

#[test]
fn gfx950_agrees_with_llvm() {
    compare(Gpu::Gfx950);
}

#[test]
fn gfx1100_agrees_with_llvm() {
    compare(Gpu::Gfx1100);
}

#[test]
fn gfx1150_agrees_with_llvm() {
    compare(Gpu::Gfx1150);
}

#[test]
fn gfx1200_agrees_with_llvm() {
    compare(Gpu::Gfx1200);
}

/// Matrix products in waves of 64 lanes, as `llvm-mc` of LLVM 21 encodes them with `-mattr=+wavefrontsize64`.
#[test]
fn products_of_64_lanes_have_half_the_registers() {
    for (word, text) in [
        (
            0xcc40,
            "v_wmma_f32_16x16x16_f16 v[0:3], v[8:9], v[12:13], v[0:3]",
        ),
        (
            0xcc41,
            "v_wmma_f32_16x16x16_bf16 v[0:3], v[8:9], v[12:13], v[0:3]",
        ),
        (
            0xcc42,
            "v_wmma_f16_16x16x16_f16 v[0:1], v[8:9], v[12:13], v[0:1]",
        ),
        (
            0xcc43,
            "v_wmma_bf16_16x16x16_bf16 v[0:1], v[8:9], v[12:13], v[0:1]",
        ),
        (0xcc44, "v_wmma_i32_16x16x16_iu8 v[0:3], v8, v12, v[0:3]"),
        (0xcc45, "v_wmma_i32_16x16x16_iu4 v[0:3], v8, v12, v[0:3]"),
        (
            0xcc47,
            "v_wmma_f32_16x16x16_fp8_bf8 v[0:3], v8, v12, v[0:3]",
        ),
        (0xcc4a, "v_wmma_i32_16x16x32_iu4 v[0:3], v8, v12, v[0:3]"),
    ] {
        let words = [word << 16 | 0x4000, 0x1c02_1908];
        let found = decode_for_wave(Gpu::Gfx1200, 64, &words, 0).expect("an instruction");
        assert_eq!(found.text(Gpu::Gfx1200).to_string(), text);
    }
    // Those of a sparse A, with the highest set of the index.
    let sparse = |op: u32, key: u32| [0xcc00_4008 | op << 16 | key << 11, 0x1c1a_0500];
    for (op, key, text) in [
        (
            0x50,
            3,
            "v_swmmac_f32_16x16x32_f16 v[8:11], v[0:1], v[2:5], v6 index_key:3",
        ),
        (
            0x52,
            3,
            "v_swmmac_f16_16x16x32_f16 v[8:9], v[0:1], v[2:5], v6 index_key:3",
        ),
        (
            0x54,
            3,
            "v_swmmac_i32_16x16x32_iu8 v[8:11], v0, v[2:3], v6 index_key:3",
        ),
        (
            0x55,
            1,
            "v_swmmac_i32_16x16x32_iu4 v[8:11], v0, v2, v6 index_key:1",
        ),
        (
            0x56,
            1,
            "v_swmmac_i32_16x16x64_iu4 v[8:11], v0, v[2:3], v6 index_key:1",
        ),
        (
            0x58,
            3,
            "v_swmmac_f32_16x16x32_fp8_bf8 v[8:11], v0, v[2:3], v6 index_key:3",
        ),
    ] {
        let found = decode_for_wave(Gpu::Gfx1200, 64, &sparse(op, key), 0).expect(text);
        assert_eq!(found.text(Gpu::Gfx1200).to_string(), text);
        let next = decode_for_wave(Gpu::Gfx1200, 64, &sparse(op, key + 1), 0);
        assert!(next.is_err(), "{text} has no further set");
    }
}

/// The GPUs of a generation have the same instructions.
#[test]
fn gpus_of_a_generation_decode_alike() {
    let mut rng = Pcg64Mcg::seed_from_u64(0x5eed);
    for (gpu, others) in [
        (Gpu::Gfx1100, &[Gpu::Gfx1101, Gpu::Gfx1102][..]),
        (Gpu::Gfx1150, &[Gpu::Gfx1151][..]),
        (Gpu::Gfx1200, &[Gpu::Gfx1201][..]),
    ] {
        for opcode in words::opcodes(gpu) {
            let words = opcode.words(gpu, 0, &mut rng);
            for &other in others {
                assert_eq!(decode(gpu, &words, 0).ok(), decode(other, &words, 0).ok());
            }
        }
    }
}
