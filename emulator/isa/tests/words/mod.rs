//! Generates instruction words in every form, from the opcodes of `cdna.txt` and `rdna.txt` and random fields.

mod rdna;

use std::collections::BTreeMap;

use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::{Instruction, Op};
use rand::{Rng, RngExt};

/// The words of an instruction, including a possible literal.
pub(crate) type Words = [u32; 4];

/// Words placed after an instruction: no complete instruction (an operand of `s_nop`), and no inline constant.
const LITERALS: [u32; 8] = [
    0xbf80_0000,
    0xbf80_1234,
    0x3f80_0000,
    0xbf80_fff0,
    0x0000_0001,
    0x0000_3c00,
    0x4000_0041,
    0x0200_0501,
];
const S_NOP: u32 = 0xbf80_0000;

/// A section of a table: first word of its instructions, its fixed bits, and the lowest bit of the opcode.
type Section = (&'static str, u32, u32, u32);

/// Sections of `cdna.txt`.
const ENCODINGS: [Section; 20] = [
    ("sop1", 0xbe80_0000, 0xff80_ff00, 8),
    ("sop2", 0x8000_0000, 0xff80_0000, 23),
    ("sopc", 0xbf00_0000, 0xffff_0000, 16),
    ("sopk", 0xb000_0000, 0xff80_0000, 23),
    ("sopp", 0xbf80_0000, 0xffff_0000, 16),
    ("smem", 0xc000_0000, 0xfffc_0000, 18),
    ("vop1", 0x7e00_0000, 0xfe01_fe00, 9),
    ("vop2", 0x0000_0000, 0xfe00_0000, 25),
    ("vopc", 0x7c00_0000, 0xfffe_0000, 17),
    ("vop3", 0xd000_0000, 0xffff_0000, 16),
    ("vop3p", 0xd380_0000, 0xffff_0000, 16),
    ("mai", 0xd380_0000, 0xffff_0000, 16),
    ("vop3px2", 0xd380_0000, 0xffff_0000, 16),
    ("ds", 0xd800_0000, 0xfdfe_0000, 17),
    ("flat", 0xdc00_0000, 0xfdfc_c000, 18),
    ("global", 0xdc00_8000, 0xfdfc_c000, 18),
    ("scratch", 0xdc00_4000, 0xfdfc_c000, 18),
    ("mubuf", 0xe000_0000, 0xfdfc_0000, 18),
    ("mtbuf", 0xe800_0000, 0xfc07_8000, 15),
    ("mimg", 0xf000_0000, 0xfdfc_0000, 18),
];

/// The sections of a GPU's table.
fn sections(gpu: Gpu) -> &'static [Section] {
    match gpu.family() {
        Family::Cdna => &ENCODINGS,
        Family::Rdna if column(gpu) == 2 => &rdna::ENCODINGS_GFX12,
        Family::Rdna => &rdna::ENCODINGS,
    }
}

/// A GPU's column of the table of its family.
fn column(gpu: Gpu) -> usize {
    match gpu {
        Gpu::Gfx1100 | Gpu::Gfx1101 | Gpu::Gfx1102 => 0,
        Gpu::Gfx1150 | Gpu::Gfx1151 => 1,
        Gpu::Gfx1200 | Gpu::Gfx1201 => 2,
        _ => gpu.number_in_family(),
    }
}

/// An instruction of a table: its name, encoding and opcode.
#[derive(Clone, Debug)]
pub(crate) struct Opcode {
    /// The mnemonic in the table.
    pub(crate) name: String,
    /// The operation's name: the mnemonic, or another one with the same semantics.
    operation: String,
    /// Whether the table says why the emulator does not run it.
    pub(crate) refused: bool,
    /// The encoding: a section of the table, or `vop3` for the long form of a short encoding.
    pub(crate) encoding: &'static str,
    number: u32,
}

/// Every instruction of a GPU in every encoding.
pub(crate) fn opcodes(gpu: Gpu) -> Vec<Opcode> {
    let (data, vop1_in_vop3) = match gpu.family() {
        Family::Cdna => (include_str!("../../cdna.txt"), 0x140),
        Family::Rdna => (include_str!("../../rdna.txt"), 0x180),
    };
    let sections: BTreeMap<_, _> = sections(gpu).iter().map(|e| (e.0, e.0)).collect();
    let mut section = None;
    let mut all = Vec::new();
    for line in data
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            section = sections.get(name).copied();
            continue;
        }
        let Some(encoding) = section else { continue };
        let mut words = line.split_whitespace();
        let name = words.next().expect("a name").to_string();
        let numbers: Vec<&str> = words.next().expect("opcodes").split(',').collect();
        let Ok(number) = numbers[column(gpu) % numbers.len()].parse::<u32>() else {
            continue;
        };
        let words: Vec<&str> = words.collect();
        let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
        let operation = value("as=").unwrap_or(&name).to_string();
        let refused = value("refused=").is_some();
        let long = match encoding {
            "vop1" => Some(number + vop1_in_vop3),
            "vop2" => Some(number + 0x100),
            "vopc" => Some(number),
            _ => None,
        };
        if let Some(number) = long.filter(|_| words.contains(&"e64")) {
            all.push(Opcode {
                name: name.clone(),
                operation: operation.clone(),
                refused,
                encoding: "vop3",
                number,
            });
        }
        all.push(Opcode {
            name,
            operation,
            refused,
            encoding,
            number,
        });
    }
    all
}

impl Opcode {
    /// Whether an instruction has this operation.
    pub(crate) fn is(&self, i: &Instruction) -> bool {
        let is = |op: Op| op.name() == self.operation;
        is(i.op) || i.second.is_some_and(|second| is(second.op))
    }

    /// Words with this opcode and random other bits, many or few of them set; none in the first form.
    ///
    /// Avoids words on which LLVM's disassembler stops with an assertion.
    pub(crate) fn words(&self, gpu: Gpu, form: usize, rng: &mut impl Rng) -> Words {
        let &(_, base, fixed, shift) = sections(gpu)
            .iter()
            .find(|e| e.0 == self.encoding)
            .expect("an encoding");
        let thin = if form == 0 {
            32
        } else {
            rng.random_range(0..4)
        };
        let mut bits = || (0..thin).fold(rng.random::<u32>(), |b, _| b & rng.random::<u32>());
        let mut w = [
            base | self.number << shift | bits() & !fixed,
            bits(),
            S_NOP,
            S_NOP,
        ];
        if gpu.family() == Family::Rdna {
            self.complete_rdna(&mut w, form, rng);
            return w;
        }
        let literal = LITERALS[rng.random_range(0..LITERALS.len())];
        match self.encoding {
            "sop1" | "sop2" | "sopc" | "sopk" | "sopp" => {
                w[1] = literal;
                let has_source = !matches!(self.encoding, "sopk" | "sopp");
                if has_source && form > 0 && rng.random_range(0..4) == 0 {
                    w[0] |= 0xff;
                }
            }
            "vop1" | "vop2" | "vopc" => self.short(&mut w, literal, rng),
            "vop3" => long(&mut w, gpu, form, literal, rng),
            "vop3p" if self.name != "v_mfma_ld_scale_b32" => long(&mut w, gpu, form, literal, rng),
            "vop3p" | "mai" | "vop3px2" => matrix(&mut w, rng),
            // LLVM has no opcode for a gather of D16 with a status.
            "mimg" if self.name.contains("gather") => w[0] &= !(1 << 16),
            _ => memory(self.encoding, &mut w, form, rng),
        }
        if self.encoding == "vop3px2" {
            let scales = [
                0xd3ac_0000 | rng.random::<u32>() & 0x1800,
                scale(rng) | scale(rng) << 9,
            ];
            let selects = rng.random_range(0..4) << 27;
            return [scales[0], scales[1] | selects, w[0] & !0x7800 | 0x800, w[1]];
        }
        w
    }

    fn short(&self, w: &mut Words, literal: u32, rng: &mut impl Rng) {
        let plain = matches!(self.name.as_str(), "v_nop" | "v_clrexcp");
        match rng.random_range(if plain { 4..8 } else { 0..8 }) {
            // SDWA, without the reserved selectors.
            0 | 1 => {
                w[0] = w[0] & !0x1ff | 249;
                for low in [8, 16, 24] {
                    if w[1] >> low & 7 == 7 {
                        w[1] ^= 1 << low;
                    }
                }
                w[1] &= !(1 << if self.encoding == "vopc" { 0 } else { 12 });
                if self.encoding == "vop1" && rng.random_range(0..4) > 0 {
                    w[1] &= 0x00ff_ffff;
                }
            }
            2 | 3 => {
                w[0] = w[0] & !0x1ff | 250;
                let control = match rng.random_range(0..4) {
                    0 => rng.random_range(0..0x200),
                    1 => rng.random_range(0x150..0x160),
                    2 => rng.random_range(0..0x100),
                    _ => [
                        0x101, 0x10f, 0x111, 0x12f, 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141,
                        0x142, 0x143,
                    ][rng.random_range(0..12)],
                };
                w[1] = w[1] & !0x1_ff00 | control << 8;
            }
            _ => {
                w[0] = w[0] & !0x1ff | source(rng);
                w[1] = literal;
            }
        }
    }
}

/// A 9-bit source: even and odd registers, constants, sometimes a literal.
fn source(rng: &mut impl Rng) -> u32 {
    match rng.random_range(0..10) {
        0..4 => 256 + 2 * rng.random_range(0..128),
        4 | 5 => 256 + rng.random_range(0..256),
        6 => rng.random_range(0..128),
        7 => rng.random_range(128..209),
        8 => rng.random_range(235..249),
        _ => [251, 252, 253, 254, 255, 106, 126, 124][rng.random_range(0..8)],
    }
}

/// A source that is not a literal.
fn scale(rng: &mut impl Rng) -> u32 {
    match source(rng) {
        255 => 256,
        other => other,
    }
}

fn long(w: &mut Words, gpu: Gpu, form: usize, literal: u32, rng: &mut impl Rng) {
    let mut sources = match form {
        // What v_readlane, v_writelane and additions with carry need.
        1 => [256 + 4, 30, 256 + 8],
        2 => [30, 34, 256 + 8],
        3 => [256 + 4, 256 + 6, 30],
        _ => [source(rng), source(rng), source(rng)],
    };
    if (1..4).contains(&form) {
        w[0] &= !0xff80;
        w[1] &= 0x07ff_ffff;
    }
    // LLVM asserts on a literal as a compare's destination.
    if w[0] & 0xff == 0xff {
        w[0] ^= 1;
    }
    for s in &mut sources {
        // LLVM asserts on literals in VOP3 before gfx950, and on wide operands of scalars.
        if *s == 255 && gpu != Gpu::Gfx950 {
            *s = 254;
        }
        if gpu == Gpu::Gfx950 && w[0] >> 16 & 0x3ff >= 0x235 && w[0] >> 16 & 0x3ff < 0x265 {
            *s |= 256;
        }
    }
    w[1] = w[1] & 0xf800_0000 | sources[0] | sources[1] << 9 | sources[2] << 18;
    w[2] = literal;
    if rng.random() {
        w[0] &= !0xff00;
    }
    if rng.random() {
        w[1] &= 0x07ff_ffff;
    }
}

fn matrix(w: &mut Words, rng: &mut impl Rng) {
    let third = match rng.random_range(0..3) {
        0 => rng.random_range(128..209),
        1 => rng.random_range(240..249),
        _ => 256 + 2 * rng.random_range(0..128),
    };
    let mut register = || 256 + 2 * rng.random_range(0..128);
    w[1] = w[1] & 0xf800_0000 | register() | register() << 9 | third << 18;
    w[0] &= !1;
    if rng.random() {
        w[0] &= !0xff00;
    }
    if rng.random() {
        w[1] &= 0x1fff_ffff;
    }
}

fn memory(encoding: &str, w: &mut Words, form: usize, rng: &mut impl Rng) {
    if form == 0 {
        return;
    }
    if form == 1 && encoding == "ds" {
        // Only the GDS bit, which some instructions need.
        w[0] = w[0] & 0xfdfe_0000 | 1 << 16;
        w[1] = 0;
        return;
    }
    match encoding {
        "global" | "scratch" if rng.random() => w[1] |= 0x7f_0000,
        "flat" if rng.random_range(0..4) > 0 => w[1] &= !0x7f_0000,
        "ds" => {
            for low in [8, 16, 24] {
                if rng.random() {
                    w[1] &= !(0xff << low);
                }
            }
        }
        // LLVM asserts on a literal here.
        "mubuf" | "mtbuf" if w[1] >> 24 == 255 => w[1] ^= 1 << 24,
        _ => {}
    }
    if rng.random() {
        w[1] &= 0xfefe_fefe;
    }
}
