//! Executable code. Each stretch of it is decoded and compiled when a wave first reaches it.
//!
//! A library's code object holds thousands of kernels, of which a program runs a few. Code is therefore divided into
//! stretches where functions begin. A wave may reach a stretch by a launch, a branch, a jump to an address, or by
//! running on from the stretch before. Threads that reach it together wait until one has compiled it.
//!
//! All code objects of a device are in one memory, and function pointers lead from one to another (rocFFT calls back
//! into its caller's program). Code that a jump leads to is linked after the code that the launch began in.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use ferrowave_gpu::{Family, Gpu, GpuLimits};

use super::{
    Formatter, SimdLevel,
    compile::{self, Line, Target},
    jit,
    observe::Facts,
    operation::Operation,
    operation::Operations,
    simd::CHUNKS,
};
use crate::memory::CodePlace;
use ferrowave_isa::{self as isa, Instruction, run::Run};

/// Words of the longest instruction.
const LONGEST: u32 = 4;

/// The memory that holds code.
pub(crate) trait CodeMemory: Send + Sync {
    /// Reads words of a code at an address; fewer if the code has been unloaded.
    fn read(&self, address: u64, words: usize) -> Vec<u32>;

    /// The code that contains an address. Code loaded later at the same address is a different `CodePlace`.
    fn code_at(&self, address: u64) -> Option<Arc<CodePlace>>;
}

/// Executable code.
///
/// The first instruction of a stretch has as index the number of words before it in the code; the others count up from
/// there. Indices thus follow addresses, and depend only on their own stretch. Where instructions have several words,
/// some indices are unused.
pub struct Code {
    pub(super) gpu: Gpu,
    place: Arc<CodePlace>,
    /// The host instructions that the operations use.
    pub(super) level: SimdLevel,
    /// The size of the waves that run it.
    pub(super) size: Size,
    policy: jit::Policy,
    /// The first instruction's index: 0, except for linked code.
    first: u32,
    memory: Arc<dyn CodeMemory>,
    /// In order of address; the first begins where the code does.
    stretches: Box<[Stretch]>,
    /// Functions that format the values of a panic's message.
    formatters: Box<[Formatter]>,
    /// The code that jumps out of this code reached first; code reached later is linked after it. Its indices follow
    /// those of this code, after one index that stands for the end of this code.
    linked: OnceLock<Box<Code>>,
}

/// The size of a code's waves. The compiler for it stands here, so that only sizes that are used are compiled into the
/// library.
#[derive(Clone, Copy)]
pub(super) struct Size {
    /// Host vectors in a VGPR.
    pub(super) chunks: usize,
    #[expect(clippy::type_complexity, reason = "it is `compile::operations`")]
    operations:
        fn(Gpu, SimdLevel, u32, &[Line], &dyn Fn(i64) -> Target) -> (Vec<Operation>, Vec<u32>),
}

impl Size {
    /// The size of a GPU's waves with this many lanes. Only RDNA has more sizes than one.
    pub(super) fn on(gpu: Gpu, lanes: u32) -> Self {
        match (gpu.family(), lanes) {
            (Family::Rdna, 32) => Self::of::<{ CHUNKS / 2 }>(),
            (Family::Cdna | Family::Rdna, _) => Self::of::<CHUNKS>(),
        }
    }

    /// Lanes of a wave.
    fn lanes(self) -> u32 {
        16 * self.chunks as u32
    }

    /// Waves of `C` chunks.
    pub(super) fn of<const C: usize>() -> Self {
        Size {
            chunks: C,
            operations: compile::operations::<C>,
        }
    }
}

/// The code from the beginning of a function to the beginning of the next.
struct Stretch {
    words: Range<u32>,
    lines: OnceLock<Arc<Lines>>,
    ready: OnceLock<Ready>,
}

/// A stretch's instructions.
pub(super) struct Lines {
    list: Vec<Line>,
    /// For each word, which of the stretch's instructions begins there, or [`NOWHERE`].
    number_at: Vec<u32>,
    /// The word after the last instruction, counted as indices are.
    end: u32,
    /// For observers. Each is found when it is first asked for: a stretch may hold far more than a launch runs.
    facts: OnceLock<Box<[LateFacts]>>,
}

type LateFacts = OnceLock<Box<Option<Facts>>>;

/// A stretch's operations.
pub(super) struct Ready {
    lines: Arc<Lines>,
    pub(super) operations: Operations,
    /// Regions of operations that the JIT can translate.
    pub(super) regions: jit::Regions,
    /// Indices of instructions that the emulator cannot run.
    refused: Vec<u32>,
}

/// An instruction that the emulator cannot run. It is an error only for waves that reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Byte offset in the code.
    pub offset: u64,
    /// Its disassembly, or why there is none.
    pub what: String,
}

const NOWHERE: u32 = u32::MAX;

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code")
            .field("address", &self.place.address)
            .field("words", &self.place.words)
            .field("stretches", &self.stretches.len())
            .finish_non_exhaustive()
    }
}

/// What observers need to know of a code's instructions.
#[derive(Clone, Copy, Debug)]
pub struct FactsTable<'a> {
    code: &'a Code,
}

impl<'a> FactsTable<'a> {
    /// Number of indices, including unused ones and excluding those of linked code.
    pub fn len(self) -> usize {
        self.code.place.words as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The facts of the instruction at an index; `Some(None)` for words that are no instruction.
    pub fn get(self, index: u32) -> Option<&'a Option<Facts>> {
        let (stretch, lines) = self.code.lines_of(index);
        lines.facts((index - stretch.words.start) as usize)
    }
}

impl Lines {
    /// The facts of an instruction by its number in the stretch; `Some(None)` for words that are no instruction.
    fn facts(&self, number: usize) -> Option<&Option<Facts>> {
        let all = self
            .facts
            .get_or_init(|| self.list.iter().map(|_| OnceLock::new()).collect());
        let facts = all.get(number)?;
        Some(facts.get_or_init(|| {
            let from = self.list.get(number..).unwrap_or_default();
            let mut from = from.iter().map(|line| line.instruction.as_ref().ok());
            let instruction = from.next().flatten();
            Box::new(instruction.map(|instruction| Facts::of(instruction, from.flatten())))
        }))
    }
}

impl Ready {
    /// The instruction at an index, if it is one of these.
    pub(super) fn instruction(&self, index: u32) -> Option<&Instruction> {
        let number = index.wrapping_sub(self.operations.first) as usize;
        self.lines.list.get(number)?.instruction.as_ref().ok()
    }

    /// What observers need to know of the instruction at an index, if it is one of these.
    pub(super) fn facts(&self, index: u32) -> Option<&Facts> {
        let number = index.wrapping_sub(self.operations.first) as usize;
        self.lines.facts(number)?.as_ref()
    }
}

impl Code {
    /// Lanes of the waves that run it.
    pub fn lanes(&self) -> u32 {
        self.size.lanes()
    }

    /// Compiles the words of `text`, which are at `address`, as one stretch for waves of the GPU's default size. It runs with the host instructions of
    /// `level`, or the best below it that the host has.
    pub fn compile(gpu: Gpu, level: SimdLevel, address: u64, text: &[u8]) -> Self {
        let size = Size::on(gpu, GpuLimits::of(gpu).wave_size);
        Self::divided(gpu, level, size, address, text, &[], jit::Policy::default())
    }

    /// As [`Self::compile`], for waves of a size, divided at byte offsets and with its own policy for the JIT.
    pub(super) fn divided(
        gpu: Gpu,
        level: SimdLevel,
        size: Size,
        address: u64,
        text: &[u8],
        starts: &[u64],
        policy: jit::Policy,
    ) -> Self {
        let words = words(text);
        let place = CodePlace {
            address,
            words: words.len() as u32,
            starts: starts.to_vec(),
        };
        let memory = Arc::new(Words { address, words });
        Self::of(gpu, level, size, policy, Arc::new(place), 0, memory)
    }

    /// Code in a memory for waves of this many lanes, which is read when a wave first reaches a stretch.
    pub(crate) fn new(
        gpu: Gpu,
        level: SimdLevel,
        lanes: u32,
        place: Arc<CodePlace>,
        memory: Arc<dyn CodeMemory>,
    ) -> Self {
        let (size, policy) = (Size::on(gpu, lanes), jit::Policy::default());
        Self::of(gpu, level, size, policy, place, 0, memory)
    }

    fn of(
        gpu: Gpu,
        level: SimdLevel,
        size: Size,
        policy: jit::Policy,
        place: Arc<CodePlace>,
        first: u32,
        memory: Arc<dyn CodeMemory>,
    ) -> Self {
        let words = place.words;
        let inside = place
            .starts
            .iter()
            .filter(|&start| start % 4 == 0 && start / 4 < u64::from(words));
        let inside = inside.map(|start| first + (start / 4) as u32);
        let mut starts: Vec<u32> = inside.chain([first]).collect();
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([first + words]);
        Code {
            gpu,
            level: level.min(SimdLevel::detect()),
            size,
            policy,
            first,
            memory,
            linked: OnceLock::new(),
            stretches: starts
                .iter()
                .zip(ends)
                .map(|(&start, end)| Stretch {
                    words: start..end,
                    lines: OnceLock::new(),
                    ready: OnceLock::new(),
                })
                .collect(),
            place,
            formatters: Box::default(),
        }
    }

    /// Adds functions that format the values of a panic's message.
    pub(crate) fn with_formatters(self, formatters: Box<[Formatter]>) -> Self {
        Code { formatters, ..self }
    }

    /// The formatter at an address.
    pub(super) fn formatter(&self, address: u64) -> Option<Formatter> {
        let mut all = self.formatters.iter();
        all.find(|formatter| formatter.address() == address)
            .copied()
    }

    /// The first index after this code; one index is reserved for the end of the code.
    fn end(&self) -> u32 {
        self.first + self.place.words + 1
    }

    /// The code that an index belongs to: this or linked code.
    fn part(&self, index: u32) -> &Code {
        let mut part = self;
        while index >= part.end()
            && let Some(next) = part.linked.get()
        {
            part = next;
        }
        part
    }

    /// The code that contains an address outside this code. The first jump there links it.
    #[cold]
    fn link(&self, address: u64) -> Option<&Code> {
        let place = self.memory.code_at(address)?;
        let mut part = self;
        while !Arc::ptr_eq(&part.place, &place) {
            let first = part.end();
            // There are as many indices as words in 16 GiB of code.
            first.checked_add(place.words)?.checked_add(1)?;
            part = part.linked.get_or_init(|| {
                let memory = Arc::clone(&self.memory);
                let (level, size, policy) = (self.level, self.size, self.policy);
                let place = Arc::clone(&place);
                Box::new(Self::of(
                    self.gpu, level, size, policy, place, first, memory,
                ))
            });
        }
        Some(part)
    }

    /// The GPU that it is for.
    pub fn gpu(&self) -> Gpu {
        self.gpu
    }

    /// What observers need to know of each instruction.
    pub fn facts(&self) -> FactsTable<'_> {
        FactsTable { code: self }
    }

    /// The code's address in memory.
    pub fn address(&self) -> u64 {
        self.place.address
    }

    /// Whether an index belongs to this code, not to linked code.
    pub(crate) fn is_own(&self, index: u32) -> bool {
        index < self.end()
    }

    /// All instructions of the code that the emulator cannot run. What is decoded for this is not kept.
    pub fn unsupported(&self) -> Vec<Unsupported> {
        let of_stretch = |stretch: &Stretch| {
            let lines = Arc::new(self.decode(stretch));
            let refused = self.make_ready(stretch, &lines).refused;
            let reported = refused.into_iter().filter_map(|index| {
                let line = lines.list.get((index - stretch.words.start) as usize)?;
                Some(Unsupported {
                    offset: 4 * u64::from(line.word - self.first),
                    what: self.refusal(line),
                })
            });
            reported.collect::<Vec<_>>()
        };
        self.stretches.iter().flat_map(of_stretch).collect()
    }

    /// Why the emulator cannot run the instruction at an index.
    pub(super) fn why_not(&self, index: u32) -> String {
        self.line(index)
            .map_or_else(String::new, |line| self.refusal(line))
    }

    fn refusal(&self, line: &Line) -> String {
        match &line.instruction {
            Err(error) => error.to_string(),
            Ok(instruction) => {
                let text = instruction.text(self.gpu);
                match instruction.run() {
                    Run::Refused(why) => format!("the emulator does not run `{text}`: {why}"),
                    _ => format!("the emulator does not run `{text}`"),
                }
            }
        }
    }

    /// The decoded instruction at an index.
    pub fn instruction(&self, index: u32) -> Option<&Instruction> {
        self.line(index)?.instruction.as_ref().ok()
    }

    /// The address of the instruction at `index`; for an index past the last instruction of a stretch, the stretch's
    /// end.
    pub fn address_of(&self, index: u32) -> u64 {
        let (stretch, lines) = self.lines_of(index);
        let line = lines.list.get((index - stretch.words.start) as usize);
        let word = line.map_or(lines.end, |line| line.word);
        let part = self.part(index);
        part.place.address + 4 * u64::from(word - part.first)
    }

    /// Where the branch at an index leads; `None` if there is no branch, or if it leads out of the code.
    pub fn branch_target(&self, index: u32) -> Option<u32> {
        let branch = self.instruction(index)?;
        let bytes = i64::from(branch.size) + 4 * branch.branch_words()?;
        self.index_of(self.address_of(index).wrapping_add_signed(bytes))
    }

    /// The index of the instruction at an address, which may be in other code of the same memory.
    pub fn index_of(&self, address: u64) -> Option<u32> {
        let bytes = 4 * u64::from(self.place.words);
        let part = match address.checked_sub(self.place.address) {
            Some(offset) if offset < bytes => self,
            _ => self.link(address)?,
        };
        let offset = address.checked_sub(part.place.address)?;
        if offset % 4 != 0 {
            return None;
        }
        match part.target(i64::try_from(offset / 4).ok()? + i64::from(part.first)) {
            Target::At(index) => Some(index),
            Target::Inside | Target::Outside => None,
        }
    }

    /// The indices of the instructions between two addresses; an instruction must begin at the first.
    pub(crate) fn indices(&self, addresses: Range<u64>) -> Range<u32> {
        let Some(first) = self.index_of(addresses.start) else {
            return 0..0;
        };
        // `index_of` has checked that the first is not below the code's address.
        let end = (addresses.end - self.place.address)
            .div_ceil(4)
            .min(u64::from(self.place.words)) as u32;
        let (stretch, lines) = self.lines_of(end.saturating_sub(1));
        let count = lines.list.partition_point(|line| line.word < end);
        first..stretch.words.start + count as u32
    }

    /// The words between two addresses of the code.
    pub(crate) fn words(&self, addresses: Range<u64>) -> Vec<u32> {
        let words = (addresses.end - addresses.start).div_ceil(4);
        self.memory.read(addresses.start, words as usize)
    }

    /// Number of stretches, excluding linked code.
    pub fn stretches(&self) -> usize {
        self.stretches.len()
    }

    /// The number of the stretch that an index belongs to, and the indices of its instructions; `None` for linked code.
    pub fn stretch(&self, index: u32) -> Option<(usize, Range<u32>)> {
        if !self.is_own(index) {
            return None;
        }
        let number = self.number(index);
        let first = self.stretches[number].words.start;
        let (_, lines) = self.lines_of(index);
        Some((number, first..first + lines.list.len() as u32))
    }

    /// What begins at a word, counted as the code's indices are.
    pub(super) fn target(&self, word: i64) -> Target {
        let words = self.first..self.first + self.place.words;
        let Some(word) = u32::try_from(word).ok().filter(|word| words.contains(word)) else {
            return Target::Outside;
        };
        // A word's number is the lowest index that its instruction can have, so it selects the right stretch.
        let (stretch, lines) = self.lines_of(word);
        match lines.number_at.get((word - stretch.words.start) as usize) {
            Some(&number) if number != NOWHERE => Target::At(stretch.words.start + number),
            _ => Target::Inside,
        }
    }

    /// The operations at a wave's index, compiled if no wave was there before. An index past the last instruction of
    /// a stretch becomes that of the next instruction. `None` if the wave has left the code.
    #[cold]
    pub(super) fn ready(&self, index: &mut u32) -> Option<&Ready> {
        let (mut stretch, mut lines) = self.lines_of(*index);
        if (*index - stretch.words.start) as usize >= lines.list.len() {
            let Target::At(next) = self.part(*index).target(i64::from(lines.end)) else {
                return None;
            };
            *index = next;
            (stretch, lines) = self.lines_of(next);
        }
        let part = self.part(*index);
        Some(
            stretch
                .ready
                .get_or_init(|| part.make_ready(stretch, lines)),
        )
    }

    fn line(&self, index: u32) -> Option<&Line> {
        let (stretch, lines) = self.lines_of(index);
        lines.list.get((index - stretch.words.start) as usize)
    }

    /// The number of the stretch that an index of this code belongs to.
    fn number(&self, index: u32) -> usize {
        let begins = |stretch: &Stretch| stretch.words.start <= index;
        // The first stretch begins where the code does.
        self.stretches.partition_point(begins) - 1
    }

    /// The stretch that an index belongs to, and its instructions.
    fn lines_of(&self, index: u32) -> (&Stretch, &Arc<Lines>) {
        let part = self.part(index);
        let stretch = &part.stretches[part.number(index)];
        let lines = stretch.lines.get_or_init(|| Arc::new(part.decode(stretch)));
        (stretch, lines)
    }

    fn decode(&self, stretch: &Stretch) -> Lines {
        let Range { start, end } = stretch.words;
        // The last instruction may reach into the next stretch.
        let reached = end
            .saturating_add(LONGEST)
            .min(self.first + self.place.words);
        let address = self.place.address + 4 * u64::from(start - self.first);
        let words = self.memory.read(address, (reached - start) as usize);
        let length = words.len().min((end - start) as usize);
        let mut list = Vec::new();
        let mut number_at = vec![NOWHERE; length];
        let mut at = 0;
        while at < length {
            let word = start + at as u32;
            let instruction = isa::decode_for_wave(
                self.gpu,
                self.size.lanes(),
                &words[at..],
                4 * u64::from(word - self.first),
            );
            number_at[at] = list.len() as u32;
            at += instruction
                .as_ref()
                .map_or(1, |i| usize::from(i.size / 4).max(1));
            list.push(Line { word, instruction });
        }
        Lines {
            list,
            number_at,
            end: start + at as u32,
            facts: OnceLock::new(),
        }
    }

    fn make_ready(&self, stretch: &Stretch, lines: &Arc<Lines>) -> Ready {
        let first = stretch.words.start;
        let (mut operations, refused) =
            (self.size.operations)(self.gpu, self.level, first, &lines.list, &|word| {
                self.target(word)
            });
        let regions = match self.level {
            SimdLevel::Avx2 | SimdLevel::Avx512 => jit::Regions::find(
                first,
                |number| lines.list.get(number)?.instruction.as_ref().ok(),
                &mut operations,
                self.policy,
            ),
            SimdLevel::Portable => jit::Regions::default(),
        };
        Ready {
            lines: Arc::clone(lines),
            operations: Operations {
                first,
                list: operations,
            },
            regions,
            refused,
        }
    }

    /// How often host code ran a whole region, and how often it left chunks to the operations.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub(super) fn native_counts(&self) -> [u32; 2] {
        let ready = self
            .stretches
            .iter()
            .filter_map(|stretch| stretch.ready.get());
        ready.fold([0; 2], |[whole, left], ready| {
            let [w, l] = ready.regions.counts();
            [whole + w, left + l]
        })
    }

    /// How many stretches have been compiled.
    #[cfg(test)]
    pub(super) fn ready_count(&self) -> usize {
        let ready = |stretch: &&Stretch| stretch.ready.get().is_some();
        self.stretches.iter().filter(ready).count()
    }
}

/// Code that brings its own words.
struct Words {
    address: u64,
    words: Vec<u32>,
}

impl CodeMemory for Words {
    fn read(&self, address: u64, words: usize) -> Vec<u32> {
        let first = ((address - self.address) / 4) as usize;
        self.words[first..first + words].to_vec()
    }

    fn code_at(&self, _address: u64) -> Option<Arc<CodePlace>> {
        None
    }
}

/// Machine code as words, without a trailing partial word.
pub(crate) fn words(text: &[u8]) -> Vec<u32> {
    let words = text.as_chunks::<4>().0.iter();
    words.map(|bytes| u32::from_le_bytes(*bytes)).collect()
}
