//! Host code while it is written: instructions, jumps and constants.

use std::collections::BTreeMap;

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code as X, IcedError, Instruction as Host, InstructionBlock,
    MemoryOperand,
};

use super::{Assembled, POOL, at, spread};
use crate::exec::simd::U;

/// A jump target.
#[derive(Clone, Copy)]
pub(super) struct Label(usize);

/// Constants in front of a region's own.
#[derive(Clone, Copy)]
pub(super) enum Fixed {
    /// Multiples of 4, 8 and 16: the strides of contiguous lanes.
    Row4,
    Row8,
    Row16,
    /// Indices that pick the dwords of contiguous lanes from two vectors.
    Even,
    Odd,
    FirstTwo,
    LastTwo,
    /// The largest distance of a lane from the beginning of an allocation: offsets are signed.
    Farthest,
    /// Shifts that move the bit of each of eight lanes to the sign.
    ToSign,
}

const FIXED: [[u32; 16]; 9] = [
    multiples(4),
    multiples(8),
    multiples(16),
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
    [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31],
    // Dword 0, then dword 1, of eight lanes of four dwords each; then dwords 2 and 3.
    [0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29],
    [2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31],
    [i32::MAX as u32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [31, 30, 29, 28, 27, 26, 25, 24, 0, 0, 0, 0, 0, 0, 0, 0],
];

const fn multiples(of: u32) -> [u32; 16] {
    let mut all = [0; 16];
    let mut lane = 0;
    while lane < 16 {
        all[lane] = of * lane as u32;
        lane += 1;
    }
    all
}

/// The code so far.
pub(super) struct Emitter {
    host: Vec<Host>,
    /// Position of each label: the number of the instruction after it.
    labels: Vec<Option<usize>>,
    /// Instructions that jump, with their labels.
    jumps: Vec<(usize, Label)>,
    pool: Vec<U>,
    /// Position of each constant in the pool after [`FIXED`], in dwords.
    constants: BTreeMap<u32, usize>,
    /// The function that loads four dwords per lane, if the code calls it.
    pub(super) gather: Option<Label>,
}

impl Emitter {
    /// Where a chunk is left to the operations.
    pub(super) const BAIL: Label = Label(0);

    pub(super) fn new() -> Self {
        Emitter {
            host: Vec::new(),
            labels: vec![None],
            jumps: Vec::new(),
            pool: FIXED.map(U::from_array).to_vec(),
            constants: BTreeMap::new(),
            gather: None,
        }
    }

    pub(super) fn emit(&mut self, instruction: Result<Host, IcedError>) -> Option<()> {
        self.host.push(instruction.ok()?);
        Some(())
    }

    /// The instruction that was emitted last.
    pub(super) fn last(&mut self) -> Option<&mut Host> {
        self.host.last_mut()
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub(super) fn here(&mut self, label: Label) {
        self.labels[label.0] = Some(self.host.len());
    }

    pub(super) fn jump(&mut self, code: X, label: Label) -> Option<()> {
        self.jumps.push((self.host.len(), label));
        self.emit(Host::with_branch(code, 0))
    }

    /// The instructions so far, which [`append`](Emitter::append) puts behind others.
    pub(super) fn take(&mut self) -> Vec<Host> {
        std::mem::take(&mut self.host)
    }

    pub(super) fn append(&mut self, rest: Vec<Host>) {
        let front = self.host.len();
        self.host.extend(rest);
        for place in self.labels.iter_mut().flatten() {
            *place += front;
        }
        for (place, _) in &mut self.jumps {
            *place += front;
        }
    }

    pub(super) fn fixed(&self, which: Fixed) -> MemoryOperand {
        at(POOL, which as i64 * size_of::<U>() as i64)
    }

    /// A constant in all lanes.
    pub(super) fn constant(&mut self, value: u32) -> MemoryOperand {
        let next = self.constants.len();
        let number = *self.constants.entry(value).or_insert(next);
        let vector = FIXED.len() + number / 16;
        if vector == self.pool.len() {
            self.pool.push(U::splat(0));
        }
        self.pool[vector][number % 16] = value;
        spread(
            POOL,
            (vector * size_of::<U>()) as i64 + 4 * (number % 16) as i64,
        )
    }

    /// The bytes of the code, which works on chunks of this many lanes.
    pub(super) fn encoded(mut self, lanes: usize) -> Option<Assembled> {
        // To the encoder, an instruction's address is its number, from 1 on.
        for (number, instruction) in (1..).zip(&mut self.host) {
            instruction.set_ip(number);
        }
        for &(place, label) in &self.jumps {
            let target = self.labels[label.0]?;
            self.host[place].set_near_branch64(target as u64 + 1);
        }
        let block = InstructionBlock::new(&self.host, 0);
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?;
        Some(Assembled {
            code: encoded.code_buffer,
            pool: self.pool,
            lanes,
        })
    }
}
