//! Words of RDNA's instructions.

use rand::{Rng, RngExt};

use super::{LITERALS, Opcode, S_NOP, Section, Words};

/// Sections of `rdna.txt`: first word, its fixed bits, and the lowest bit of the opcode.
pub(super) const ENCODINGS: [Section; 22] = [
    ("sop1", 0xbe80_0000, 0xff80_ff00, 8),
    ("sop2", 0x8000_0000, 0xff80_0000, 23),
    ("sopc", 0xbf00_0000, 0xffff_0000, 16),
    ("sopk", 0xb000_0000, 0xff80_0000, 23),
    ("sopp", 0xbf80_0000, 0xffff_0000, 16),
    ("smem", 0xf400_0000, 0xfffc_0000, 18),
    ("vop1", 0x7e00_0000, 0xfe01_fe00, 9),
    ("vop2", 0x0000_0000, 0xfe00_0000, 25),
    ("vopc", 0x7c00_0000, 0xfffe_0000, 17),
    ("vop3", 0xd400_0000, 0xffff_0000, 16),
    ("vop3p", 0xcc00_0000, 0xffff_0000, 16),
    ("vopd", 0xc800_0000, 0xffc0_0000, 22),
    ("ds", 0xd800_0000, 0xfffc_0000, 18),
    ("flat", 0xdc00_0000, 0xffff_0000, 18),
    ("scratch", 0xdc01_0000, 0xffff_0000, 18),
    ("global", 0xdc02_0000, 0xffff_0000, 18),
    ("mubuf", 0xe000_0000, 0xfffc_0000, 18),
    ("mtbuf", 0xe800_0000, 0xfc07_8000, 15),
    ("mimg", 0xf000_0000, 0xfffc_0000, 18),
    ("exp", 0xf800_0000, 0xfc00_1000, 12),
    ("vinterp", 0xcd00_0000, 0xffff_0000, 16),
    ("ldsdir", 0xce00_0000, 0xfff0_0000, 20),
];

/// The same on gfx12.
pub(super) const ENCODINGS_GFX12: [Section; 23] = [
    ("sop1", 0xbe80_0000, 0xff80_ff00, 8),
    ("sop2", 0x8000_0000, 0xff80_0000, 23),
    ("sopc", 0xbf00_0000, 0xffff_0000, 16),
    ("sopk", 0xb000_0000, 0xff80_0000, 23),
    ("sopp", 0xbf80_0000, 0xffff_0000, 16),
    ("smem", 0xf400_0000, 0xfe07_e000, 13),
    ("vop1", 0x7e00_0000, 0xfe01_fe00, 9),
    ("vop2", 0x0000_0000, 0xfe00_0000, 25),
    ("vopc", 0x7c00_0000, 0xfffe_0000, 17),
    ("vop3", 0xd400_0000, 0xffff_0000, 16),
    ("vop3p", 0xcc00_0000, 0xffff_0000, 16),
    ("vopd", 0xc800_0000, 0xffc0_0000, 22),
    ("ds", 0xd800_0000, 0xffff_0000, 18),
    ("flat", 0xec00_0000, 0xff3f_c000, 14),
    ("scratch", 0xed00_0000, 0xff3f_c000, 14),
    ("global", 0xee00_0000, 0xff3f_c000, 14),
    ("mubuf", 0xc400_0000, 0xff3f_c000, 14),
    ("mtbuf", 0xc400_0000, 0xff3f_c000, 14),
    ("vimage", 0xd000_0000, 0xff3f_c000, 14),
    ("vsample", 0xe400_0000, 0xff3f_c000, 14),
    ("exp", 0xf800_0000, 0xfc00_0000, 26),
    ("vinterp", 0xcd00_0000, 0xffff_0000, 16),
    ("ldsdir", 0xce00_0000, 0xfff0_0000, 20),
];

/// The `saddr` or `soffset` code for none.
const NULL: u32 = 124;
/// First operand codes that mark DPP in place of the first source.
const DPP8: u32 = 233;
const DPP16: u32 = 250;

impl Opcode {
    /// Completes words of this opcode whose other bits are random.
    pub(super) fn complete_rdna(&self, w: &mut Words, form: usize, rng: &mut impl Rng) {
        let literal = LITERALS[rng.random_range(0..LITERALS.len())];
        match self.encoding {
            "sop1" | "sop2" | "sopc" | "sopk" | "sopp" => {
                w[1] = literal;
                if !matches!(self.encoding, "sopk" | "sopp")
                    && form > 0
                    && rng.random_range(0..4) == 0
                {
                    w[0] |= 0xff;
                }
                if self.name.contains("barrier") {
                    // The workgroup's barrier has the number -1. LLVM asserts on a literal.
                    match self.encoding {
                        "sop1" if form == 1 => w[0] = w[0] & !0xff | 193,
                        "sopp" if form == 1 => w[0] |= 0xffff,
                        _ if w[0] & 0xff == 0xff => w[0] &= !0x3f,
                        _ => {}
                    }
                }
                if self.name == "s_delay_alu" && rng.random() {
                    let parts = [
                        rng.random_range(0..12),
                        rng.random_range(0..6),
                        rng.random_range(0..12),
                    ];
                    w[0] = w[0] & 0xffff_0000 | parts[0] | parts[1] << 4 | parts[2] << 7;
                }
                if self.name.contains("depctr") && rng.random() {
                    w[0] &= !0x60;
                }
            }
            "smem" => {
                if rng.random() {
                    w[1] = w[1] & 0x01ff_ffff | NULL << 25;
                }
                if rng.random_range(0..4) > 0 && w[0] >> 6 & 0x7f > NULL {
                    w[0] &= !0x1fc0;
                }
            }
            // No other word of this opcode is an instruction.
            "vop2" if self.name == "v_illegal" && form == 0 => w[0] = 0,
            "vop1" | "vop2" | "vopc" => {
                if form > 0 {
                    w[0] = w[0] & !0x1ff | source(rng);
                }
                w[1] = literal;
                extend(w, 1, form, rng);
            }
            "vop3" | "vop3p" => {
                long(w, form, literal, rng);
                let products = ["v_wmma", "v_swmmac", "v_dot4_f32"];
                if form % 2 == 1 && products.iter().any(|name| self.name.starts_with(name)) {
                    // gfx12 wants op_sel_hi, and only some of the other modifiers.
                    w[0] = w[0] & !0xb800 | 1 << 14;
                    w[1] |= 3 << 27;
                    if form % 4 == 1 {
                        w[0] &= !0x700;
                        w[1] &= 0x1fff_ffff;
                    }
                }
            }
            "vopd" => self.pair(w, literal, rng),
            "mimg" if self.name.contains("bvh") => {
                // LLVM wants these bits.
                w[0] = w[0] & 0xfffd_0001 | 0x8f80;
                w[1] &= 0x001f_ffff;
            }
            // Vector registers only.
            "vinterp" => w[1] |= 256 | 256 << 9 | 256 << 18,
            // gfx12: LLVM wants these bits of ray tracing, and a single component of some others.
            "vimage" if self.name.contains("bvh") => {
                w[0] = w[0] & 0x003f_c000 | 0xd3c0_0010;
                w[1] = 0x1500_0000;
            }
            "vimage" | "vsample" if form % 2 == 1 => {
                w[0] = w[0] & 0xfc3f_c000 | 1 << 22;
                w[1] = 0;
                w[2] = 0;
            }
            "mimg" => {
                // Where a short address has the long form, a gather of D16 a status, or a sampler samples, LLVM's
                // disassembler takes the next best opcode.
                if w[0] & 1 != 0 {
                    w[0] = w[0] & !0x1_0018 | 8;
                }
                if self.name.contains("sample") {
                    w[0] &= !0x10 | (!w[0] & 8) << 1;
                }
                if self.name.contains("gather") {
                    w[1] &= !(1 << 21);
                }
            }
            "vimage" | "vsample" | "exp" | "ldsdir" => {}
            _ => memory(self.encoding, w, form, rng),
        }
    }

    fn pair(&self, w: &mut Words, literal: u32, rng: &mut impl Rng) {
        w[0] = w[0] & !0x1ff | source(rng);
        w[1] = w[1] & !0x1ff | source(rng);
        w[2] = literal;
        if self.number >= 16 {
            // Opcodes of second halves only.
            w[0] = w[0] & 0x03c0_0000 | 0xc8c0_0000 | self.number << 17 | w[0] & 0x1_ffff;
        }
        // LLVM asserts on a pair with two results in one register and on mixed constants.
        if w[0] & 0x1ff == 255 {
            w[1] &= !0x1ff;
        }
    }
}

/// Adds a DPP word as word `n`, where the first source asks for one or, often, makes it ask.
fn extend(w: &mut Words, n: usize, form: usize, rng: &mut impl Rng) {
    if form == 0 || rng.random_range(0..3) > 0 {
        return;
    }
    let code = [DPP16, DPP8, DPP8 + 1][rng.random_range(0..3)];
    let at = n - 1;
    w[at] = w[at] & !0x1ff | code;
    w[n] = rng.random();
    if code == DPP16 {
        let control = match rng.random_range(0..4) {
            0 => rng.random_range(0..0x200),
            1 => rng.random_range(0x150..0x170),
            2 => rng.random_range(0..0x100),
            _ => [0x101, 0x10f, 0x111, 0x12f, 0x140, 0x141][rng.random_range(0..6)],
        };
        w[n] = w[n] & !0x3_ff00 | control << 8;
    }
}

/// A 9-bit source: registers, constants, sometimes a literal.
fn source(rng: &mut impl Rng) -> u32 {
    match rng.random_range(0..10) {
        0..6 => 256 + rng.random_range(0..256),
        6 => rng.random_range(0..106),
        7 => rng.random_range(128..209),
        8 => rng.random_range(240..249),
        _ => [253, 255, 255, 255, 106, 126, NULL, 125][rng.random_range(0..8)],
    }
}

fn long(w: &mut Words, form: usize, literal: u32, rng: &mut impl Rng) {
    let sources = match form {
        // What v_readlane, v_writelane and additions with carry need.
        1 => [256 + 4, 30, 256 + 8],
        2 => [30, 34, 256 + 8],
        3 => [256 + 4, 256 + 6, 30],
        4 => [256 + 4, 30, 34],
        5 => [256 + 8, 256 + 16, 256 + 32],
        _ => [source(rng), source(rng), source(rng)],
    };
    // LLVM asserts on a literal as a compare's destination.
    if w[0] & 0xff == 0xff {
        w[0] ^= 1;
    }
    w[1] = w[1] & 0xf800_0000 | sources[0] | sources[1] << 9 | sources[2] << 18;
    w[2] = literal;
    if (1..6).contains(&form) {
        w[0] &= !0xff80;
        w[1] &= 0x07ff_ffff;
    }
    if rng.random() {
        w[0] &= !0xff00;
    }
    if rng.random() {
        w[1] &= 0x07ff_ffff;
    }
    // The forms for particular instructions stay as they are.
    if !(1..6).contains(&form) {
        extend(w, 2, form, rng);
    }
}

fn memory(encoding: &str, w: &mut Words, form: usize, rng: &mut impl Rng) {
    let gfx12_buffer = w[0] >> 26 == 0x31;
    if gfx12_buffer || matches!(w[0] >> 24, 0xec..=0xee) {
        // The third word: an address register and an offset, which is not negative in buffers.
        let offset = rng.random_range(0..0x1000_u32);
        let negative = !gfx12_buffer && rng.random();
        let offset = if negative { offset | 0xff_f000 } else { offset };
        w[2] = offset << 8 | rng.random_range(0..256);
    }
    if gfx12_buffer {
        return;
    }
    if matches!(w[0] >> 24, 0xec..=0xee) {
        // gfx12: no scalar address, no scaled offset, and the bit of scratch's vector address elsewhere.
        if form == 0 || rng.random() {
            w[0] = w[0] & !0x7f | NULL;
        }
        if rng.random_range(0..4) > 0 {
            w[1] &= !(1 << 16);
        }
        if encoding != "scratch" && rng.random_range(0..4) > 0 {
            w[1] &= !(1 << 17);
        }
        return;
    }
    if matches!(encoding, "flat" | "global" | "scratch") && (form == 0 || rng.random()) {
        w[1] = w[1] & !0x7f_0000 | NULL << 16;
    }
    if matches!(encoding, "flat" | "global") && rng.random_range(0..4) > 0 {
        w[1] &= !(1 << 23);
    }
    if form == 1 && encoding == "ds" {
        // Only the GDS bit, which some instructions need.
        w[0] = w[0] & 0xfdfc_0000 | 1 << 17;
        w[1] = 0;
        return;
    }
    if form == 0 {
        return;
    }
    match encoding {
        "ds" => {
            for low in [8, 16, 24] {
                if rng.random() {
                    w[1] &= !(0xff << low);
                }
            }
        }
        // LLVM accepts a literal here, which no instruction has room for.
        "mubuf" | "mtbuf" if w[1] >> 24 == 255 => w[1] ^= 1 << 24,
        _ => {}
    }
    w[2] = S_NOP;
}
