//! Tests the effects in the instruction table against what instructions do.
//!
//! Each instruction of each GPU, in each size of waves, runs in several random forms on two waves that agree in everything
//! that the table says it reads and differ in every other register. Both runs must do the same, and may change only what
//! the table says the instruction writes. [`reason`] lists what cannot be tested in this way.

use std::collections::{BTreeMap, BTreeSet};

use ferrowave_gpu::{Family, Gpu, GpuLimits};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::exec::{
    Code, Context, Mode, PRIVATE_APERTURE, SimdLevel, Stop, Unobserved, Wave,
    code::Size,
    jit::Policy,
    run,
    state::Segment,
    wave::{ACCUMULATORS, M0},
};
use crate::memory::{AllocationKind, DeviceMemory, View};
use ferrowave_isa::{Effect, Format, Instruction, Register, Registers, Role};

#[path = "../../../../isa/tests/words/mod.rs"]
pub(super) mod words;

use words::Opcode;

/// Runs of each instruction, and the most forms that are tried for them.
const RUNS: usize = 6;
pub(super) const FORMS: usize = 300;

/// The instruction's address.
pub(super) const CODE: u64 = 0x1000;
const BYTES: usize = 1 << 16;
/// Offset that addresses point to, so that instruction offsets of both signs stay inside.
const MIDDLE: u64 = 1 << 15;
/// Bytes of private memory per lane.
const PRIVATE: u32 = 1 << 13;
pub(super) const VECTORS: u16 = 2 * ACCUMULATORS;
pub(super) const SCALARS: u16 = 126;
const FLAT_SCRATCH: u16 = 102;
/// Bits of MODE that affect float arithmetic: rounding, denormals, clamps, NaNs, overflow.
const FLOATS: u32 = 0x80_03ff;

/// Why an instruction cannot be tested alone.
pub(super) fn reason(opcode: &Opcode) -> Option<&'static str> {
    Some(match opcode.name.as_str() {
        _ if opcode.refused => "it is refused",
        "s_memtime" | "s_memrealtime" | "s_sendmsg_rtn_b32" | "s_sendmsg_rtn_b64" => {
            "its result is the time"
        }
        "s_sendmsghalt" | "s_trap" => "it ends the launch",
        "s_getreg_b32" => "STATUS holds scc, vccz and execz",
        "s_cbranch_g_fork" | "s_cbranch_i_fork" | "s_cbranch_join" => {
            "a count in MODE tells its registers"
        }
        name if name.starts_with("ds_gws_") => "it waits for other workgroups",
        _ => return None,
    })
}

/// A number of a kind that is meaningful to instructions: an integer, a float, a small integer, two halves.
fn number(random: &mut impl Rng) -> u32 {
    match random.random_range(0..5) {
        0 => random.random(),
        1 => random.random_range(0..64),
        2 => random.random_range(0x3f00_0000..0x4080_0000),
        3 => random.random_range(0xbf00_0000..0xc080_0000),
        _ => random.random_range(0x3800..0x4400) << 16 | random.random_range(0x3800..0x4400),
    }
}

pub(super) fn random_wave(random: &mut impl Rng) -> Wave {
    let mut wave = Wave::default();
    for register in 0..VECTORS {
        for lane in wave.lanes_mut(register).as_mut_array() {
            *lane = number(random);
        }
    }
    wave
}

/// Changes everything except the vector registers.
pub(super) fn shuffle(wave: &mut Wave, random: &mut impl Rng) {
    for register in 0..SCALARS {
        wave.set_scalar(register, number(random));
    }
    if random.random_range(0..4) == 0 {
        wave.set_scalar_pair(106, 0);
    }
    wave.set_scalar(M0, 4 * random.random_range(0..5));
    wave.exec = match random.random_range(0..8) {
        0 => 0,
        1..4 => !0,
        _ => random.random(),
    };
    wave.scc = random.random();
    wave.mode = Mode::from_bits(random.random::<u32>() & FLOATS);
}

/// Whether an instruction may reach private memory: flat addresses and the offsets of scalar instructions can lead there.
pub(super) fn reaches_private(i: &Instruction) -> bool {
    matches!(i.format, Format::Scratch | Format::Flat | Format::Smem)
}

/// The memory that instructions run on.
pub(super) struct Bytes {
    pub(super) memory: DeviceMemory,
    base: u64,
    private: u64,
    pub(super) filled: Vec<u8>,
    other: Vec<u8>,
}

impl Bytes {
    pub(super) fn new(random: &mut impl Rng) -> Self {
        let memory = DeviceMemory::new(1 << 22);
        let mut fill = || (0..BYTES).map(|_| random.random()).collect();
        let (filled, other) = (fill(), fill());
        let allocate = |bytes| memory.allocate(bytes, AllocationKind::Host);
        Bytes {
            base: allocate(BYTES).expect("memory"),
            private: allocate(64 * PRIVATE as usize).expect("memory"),
            memory,
            filled,
            other,
        }
    }

    /// Fills the memory that an instruction may reach.
    fn fill(&self, i: &Instruction, data: &[u8]) {
        self.memory.write(self.base, data).expect("its own memory");
        if reaches_private(i) {
            let filled = self
                .memory
                .fill(self.private, &[7, 1, 3, 9], 16 * PRIVATE as usize);
            filled.expect("its own memory");
        }
    }

    /// All bytes that an instruction may reach.
    fn read(&self, i: &Instruction) -> [Vec<u8>; 2] {
        let private = match reaches_private(i) {
            true => 64 * PRIVATE as usize,
            false => 0,
        };
        [(self.base, BYTES), (self.private, private)].map(|(at, bytes)| {
            let mut all = vec![0; bytes];
            self.memory.read(at, &mut all).expect("its own memory");
            all
        })
    }
}

/// Puts valid addresses where an instruction reads them.
pub(super) fn aim(
    gpu: Gpu,
    i: &Instruction,
    wave: &mut Wave,
    bytes: &Bytes,
    random: &mut impl Rng,
) {
    let mut base = bytes.base + MIDDLE;
    if i.format == Format::Flat && random.random_range(0..3) == 0 {
        base = PRIVATE_APERTURE;
    }
    // Up to gfx90a, only the register says where private memory is.
    let in_register = matches!(gpu, Gpu::Gfx908 | Gpu::Gfx90a);
    if in_register {
        wave.set_scalar_pair(FLAT_SCRATCH, bytes.private);
    }
    wave.private = Segment {
        base: (!in_register).then_some(bytes.private),
        bytes: PRIVATE,
    };
    for read in i.uses().reads {
        let (Role::Address | Role::Branch, Some(slot)) = (read.role, read.slot) else {
            continue;
        };
        let Registers { first, count } = read.registers;
        if first.is_vector() {
            for lane in 0..64 {
                let mut set = |register: u16, value: u32| {
                    wave.lanes_mut(register).as_mut_array()[lane] = value;
                };
                let offset = 16 * random.random_range(0..256);
                match (i.format, count) {
                    (Format::Flat | Format::Global, 2) => {
                        set(first.0, (base + u64::from(offset)) as u32);
                        set(first.0 + 1, (base >> 32) as u32);
                    }
                    (Format::Mubuf | Format::Mtbuf, _) => {
                        read.registers.iter().for_each(|r| set(r.0, offset / 64));
                    }
                    _ => set(first.0, offset),
                }
            }
            continue;
        }
        let scalar = first.0 - Register::SCALARS;
        match (i.format, slot, count) {
            (_, _, 2) if read.role == Role::Branch => wave.set_scalar_pair(scalar, CODE),
            (_, _, 2) => wave.set_scalar_pair(scalar, base),
            (_, _, 4) => {
                wave.set_scalar_pair(scalar, base & 0xffff_ffff_ffff);
                // A format of four floats, each selected into its own place.
                let format = match gpu.family() {
                    Family::Cdna => 14 << 15 | 7 << 12,
                    Family::Rdna => 63 << 12,
                };
                for (index, word) in [(2, 0x4000), (3, format | 0xfac)] {
                    wave.set_scalar(scalar + index, word);
                }
            }
            _ => wave.set_scalar(scalar, 16 * random.random_range(0..16)),
        }
    }
}

/// The state before and after an instruction.
pub(super) struct Done {
    before: Wave,
    pub(super) after: Wave,
    pub(super) stop: Stop,
    pub(super) lds: Vec<u8>,
    pub(super) memory: [Vec<u8>; 2],
}

pub(super) fn copied(wave: &Wave) -> Wave {
    let mut copy = Wave::default();
    copy.vgprs.copy_from_slice(&wave.vgprs[..]);
    (copy.sgprs, copy.exec, copy.scc, copy.mode) = (wave.sgprs, wave.exec, wave.scc, wave.mode);
    copy.private = wave.private;
    copy.set_lane_count(wave.lane_count() as u32);
    copy
}

/// Runs an instruction; `None` if it faults.
pub(super) fn done(
    i: &Instruction,
    code: &Code,
    before: Wave,
    bytes: &Bytes,
    data: &[u8],
    view: &View,
) -> Option<Done> {
    bytes.fill(i, data);
    let mut lds = data.to_vec();
    let mut after = copied(&before);
    let mut context = Context::new(code, view, &mut lds);
    let stop = run(&mut after, &mut context, &mut 1, &mut Unobserved);
    context.take_fault().is_none().then(|| Done {
        before,
        after,
        stop,
        lds,
        memory: bytes.read(i),
    })
}

/// What differs between two runs without the table saying so.
fn differences(gpu: Gpu, i: &Instruction, runs: &[&Done; 2], data: [&[u8]; 2]) -> BTreeSet<String> {
    let uses = i.uses();
    let mut found = BTreeSet::new();
    let [a, b] = *runs;
    let writes = |register: u16| uses.writes.iter().any(|w| w.contains(Register(register)));
    let mut note = |what: &str| {
        found.insert(what.to_string());
    };
    let [lanes, other_lanes] = [&a.before, &b.before].map(Wave::active);
    for register in 0..VECTORS {
        let [old, new] = [
            runs.each_ref()
                .map(|run| run.before.lanes(register).as_array()),
            runs.each_ref()
                .map(|run| run.after.lanes(register).as_array()),
        ];
        if i.relative().is_some() {
            // All vector registers agree before.
            if new[0] != new[1] {
                note("a vector result differs");
            }
            continue;
        }
        if !writes(register) {
            if old != new {
                note("writes a vector register");
            }
            continue;
        }
        for lane in 0..64 {
            let is_off = (lanes & other_lanes) >> lane & 1 == 0 || uses.partial;
            let stays = old[0][lane] == new[0][lane] && old[1][lane] == new[1][lane];
            if new[0][lane] != new[1][lane] && !(is_off && stays) {
                note("a vector result differs");
            }
        }
    }
    let scalars = |wave: &Wave| -> Vec<u32> {
        let registers = (0..SCALARS + 2).map(|register| wave.scalar(register));
        registers.chain([u32::from(wave.scc)]).collect()
    };
    let [old, new] = [[&a.before, &b.before], [&a.after, &b.after]].map(|waves| waves.map(scalars));
    for code in 0..old[0].len() {
        let name = Register(Register::SCALARS + code as u16).name(gpu.family());
        let same = [0, 1].map(|run| old[run][code] == new[run][code]);
        if !(writes(Register::SCALARS + code as u16) || i.relative().is_some()) {
            if same != [true; 2] {
                note(&format!("writes {name}"));
            }
        } else if new[0][code] != new[1][code] && !(i.relative().is_some() && same == [true; 2]) {
            note(&format!("the result in {name} differs"));
        }
    }
    let state = |wave: &Wave| (wave.mode, wave.skips_vector, wave.trap_status);
    if !i.writes_mode()
        && runs
            .iter()
            .any(|run| state(&run.before) != state(&run.after))
    {
        note("writes mode");
    }
    if (a.after.pc, a.stop) != (b.after.pc, b.stop) {
        note("goes another way");
    }
    let changes = matches!(i.effect(), Effect::Store | Effect::Atomic);
    if changes || i.loads_to_lds() {
        if a.memory != b.memory || a.lds != b.lds {
            note("memory differs");
        }
    } else if runs
        .iter()
        .zip(data)
        .any(|(run, data)| run.memory[0] != data || run.lds != data)
    {
        note("writes memory");
    }
    found
}

#[test]
fn instructions_of_cdna_do_what_the_table_says() {
    compare(Family::Cdna.gpus());
}

/// GPUs of a generation decode alike (`emulator/isa/tests/llvm.rs`).
#[test]
fn instructions_of_rdna_do_what_the_table_says() {
    compare(&[Gpu::Gfx1100, Gpu::Gfx1150, Gpu::Gfx1200]);
}

fn compare(gpus: &[Gpu]) {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let bytes = Bytes::new(&mut random);
    let view = bytes.memory.view();
    let mut waves = [random_wave(&mut random), random_wave(&mut random)];
    let mut wrong = BTreeMap::<String, BTreeSet<String>>::new();
    let mut untried = BTreeSet::new();
    let sizes = |gpu| GpuLimits::of(gpu).wave_sizes.iter();
    let gpus = gpus
        .iter()
        .flat_map(|&gpu| sizes(gpu).map(move |&lanes| (gpu, lanes)));
    for (gpu, lanes) in gpus {
        for wave in &mut waves {
            wave.set_lane_count(lanes);
        }
        for opcode in words::opcodes(gpu) {
            // Pairs and transposing loads are only for waves of 32 lanes.
            let is_narrow = opcode.encoding == "vopd" || opcode.name.starts_with("global_load_tr_");
            if reason(&opcode).is_some() || is_narrow && lanes == 64 {
                continue;
            }
            let mut runs = 0;
            for form in 0..FORMS {
                let words = opcode.words(gpu, form, &mut random);
                let text: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let Ok(i) = ferrowave_isa::decode_for_wave(gpu, lanes, &words, 0) else {
                    continue;
                };
                let text = &text[..usize::from(i.size)];
                let (level, size) = (SimdLevel::detect(), Size::on(gpu, lanes));
                let code = Code::divided(gpu, level, size, CODE, text, &[], Policy::default());
                if !opcode.is(&i) || !code.unsupported().is_empty() {
                    continue;
                }
                let [mut a, mut b] = waves.each_ref().map(copied);
                shuffle(&mut a, &mut random);
                shuffle(&mut b, &mut random);
                aim(gpu, &i, &mut a, &bytes, &mut random);
                b.private = a.private;
                agree(&i, &a, &mut b);
                let data = match i.effect() {
                    Effect::None => [&bytes.filled[..], &bytes.other],
                    _ => [&bytes.filled[..]; 2],
                };
                let runs_of = [(a, data[0]), (b, data[1])]
                    .map(|(wave, data)| done(&i, &code, wave, &bytes, data, &view));
                let what = match &runs_of {
                    [Some(a), Some(b)] => differences(gpu, &i, &[a, b], data),
                    [None, None] => continue,
                    _ => BTreeSet::from(["faults once".to_string()]),
                };
                for what in what {
                    let text = format!("{} {gpu} {lanes} {}", opcode.encoding, i.text(gpu));
                    let texts = wrong.entry(format!("{} {what}", opcode.name)).or_default();
                    texts.insert(text);
                }
                runs += 1;
                if runs == RUNS {
                    break;
                }
            }
            if runs == 0 {
                untried.insert(format!("{gpu} {lanes} {} {}", opcode.encoding, opcode.name));
            }
        }
    }
    let first = |texts: &BTreeSet<String>| texts.first().cloned();
    let wrong: Vec<_> = wrong
        .iter()
        .map(|(what, texts)| (what, first(texts)))
        .collect();
    assert!(wrong.is_empty(), "the table is wrong: {wrong:#?}");
    assert!(untried.is_empty(), "never ran: {untried:#?}");
}

/// Copies from one wave to the other what an instruction reads.
fn agree(i: &Instruction, from: &Wave, to: &mut Wave) {
    let uses = i.uses();
    let all = |registers: &Registers| -> Vec<_> {
        registers.iter().map(|register| (register, !0)).collect()
    };
    // Bits of the result that are kept count as read.
    let kept = uses.writes.iter().filter(|_| uses.partial).flat_map(all);
    let reads = uses.reads.iter().flat_map(|read| match read.role {
        Role::Data if i.effect() == Effect::Store => {
            let registers = read.registers.iter().enumerate();
            registers
                .map(|(index, register)| (register, i.stored_bits(index)))
                .collect()
        }
        _ => all(&read.registers),
    });
    // Registers that are read in full come last: a register may be data and address.
    let mut reads: Vec<_> = reads.chain(kept).collect();
    reads.sort_by_key(|(_, bits)| *bits);
    for (register, bits) in reads {
        match register {
            Register::SCC => to.scc = from.scc,
            Register(n) if register.is_vector() => {
                let lanes = to.lanes_mut(n).as_mut_array().iter_mut();
                for (to, from) in lanes.zip(from.lanes(n).as_array()) {
                    *to = from & bits | *to & !bits;
                }
            }
            Register(n) => to.set_scalar(n - Register::SCALARS, from.scalar(n - Register::SCALARS)),
        }
    }
    if i.reads_mode() {
        to.mode = from.mode;
    }
    if i.relative().is_some() {
        to.sgprs = from.sgprs;
        to.vgprs.copy_from_slice(&from.vgprs[..]);
    }
}
