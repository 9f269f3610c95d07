//! Undefined values that pass through LDS.
//!
//! Libraries exchange tiles of which the end was never loaded through LDS, and use no more of them than there is: a store
//! to LDS is no use of a value, what is loaded there is as undefined as what was stored.

use std::collections::HashMap;

use super::{
    Look,
    definedness::{Definedness, Origin},
};
use ferrowave_emulator::exec::{Facts, ObservedAccess, Space};
use ferrowave_isa::{Category, Effect, Read, Register, Registers, Role};

/// What of a workgroup's LDS is undefined: few bytes, if any.
#[derive(Default)]
pub(super) struct ThroughLds {
    /// By dword, its undefined bytes and where they come from.
    dwords: HashMap<u64, (u8, Origin)>,
    /// What the store that runs next will store undefined.
    storing: Vec<Storing>,
}

/// A data register of a store with undefined lanes.
struct Storing {
    /// The number of its access among the instruction's.
    access: usize,
    /// Its first byte in what a lane stores there.
    offset: u64,
    lanes: u64,
    origin: Origin,
}

/// Whether it stores to LDS what may be loaded from there again.
pub(super) fn is_store(facts: &Facts) -> bool {
    facts.category == Category::Lds && facts.effect == Effect::Store
}

/// Whether it loads from LDS.
pub(super) fn is_load(facts: &Facts) -> bool {
    facts.category == Category::Lds && facts.effect == Effect::Load
}

impl ThroughLds {
    /// Another workgroup begins.
    pub(super) fn clear(&mut self) {
        self.dwords.clear();
        self.storing.clear();
    }

    /// A store is about to run.
    pub(super) fn store(&mut self, look: &Look<'_>, state: &Definedness) {
        self.storing.clear();
        let data = |read: &&Read| read.role == Role::Data;
        for (access, read) in look.step.facts.uses.reads.iter().filter(data).enumerate() {
            for (number, register) in read.registers.iter().enumerate() {
                let one = Read {
                    registers: Registers {
                        first: register,
                        count: 1,
                    },
                    ..*read
                };
                if let Some((_, lanes)) = look.undefined(&one, state) {
                    let origin = state.origin(register);
                    self.storing.push(Storing {
                        access,
                        offset: 4 * number as u64,
                        lanes,
                        origin: Origin {
                            reader: origin.reader.or(Some(look.step.index)),
                            ..origin
                        },
                    });
                }
            }
        }
    }

    /// A store has run: what it touched is as defined as what it stored.
    pub(super) fn stored<'a>(&mut self, accesses: impl Iterator<Item = ObservedAccess<'a>>) {
        if self.storing.is_empty() && self.dwords.is_empty() {
            return;
        }
        let accesses = accesses.filter(|observed| observed.space == Space::Lds);
        for (access, observed) in accesses.enumerate() {
            for (lane, address) in observed.iter() {
                for byte in 0..u64::from(observed.bytes) {
                    let undefined = self.storing.iter().find(|storing| {
                        storing.access == access
                            && storing.lanes >> lane & 1 == 1
                            && (storing.offset..storing.offset + 4).contains(&byte)
                    });
                    let origin = undefined.map(|storing| storing.origin);
                    self.set(address + byte, origin);
                }
            }
        }
        self.storing.clear();
    }

    fn set(&mut self, address: u64, undefined: Option<Origin>) {
        let (dword, bit) = (address / 4, 1 << (address % 4));
        match undefined {
            Some(origin) => {
                let entry = self.dwords.entry(dword).or_insert((0, origin));
                *entry = (entry.0 | bit, origin);
            }
            None => {
                if let Some((bytes, _)) = self.dwords.get_mut(&dword) {
                    *bytes &= !bit;
                    if *bytes == 0 {
                        self.dwords.remove(&dword);
                    }
                }
            }
        }
    }

    /// A load has run: lanes that loaded something undefined hold it.
    pub(super) fn loaded<'a>(
        &self,
        results: impl Iterator<Item = Register>,
        accesses: impl Iterator<Item = ObservedAccess<'a>>,
        state: &mut Definedness,
    ) {
        if self.dwords.is_empty() {
            return;
        }
        let accesses = accesses.filter(|observed| observed.space == Space::Lds);
        // The registers that the accesses of a lane fill, one after the other.
        let dwords = accesses.flat_map(|observed| {
            (0..u64::from(observed.bytes).div_ceil(4)).map(move |dword| (observed, 4 * dword))
        });
        for (register, (observed, offset)) in results.zip(dwords) {
            let mut found: Option<(u64, Origin)> = None;
            for (lane, address) in observed.iter() {
                let bytes = address + offset..address + u64::from(observed.bytes).min(offset + 4);
                let undefined = bytes.clone().find_map(|byte| {
                    let (bytes, origin) = self.dwords.get(&(byte / 4))?;
                    (bytes >> (byte % 4) & 1 == 1).then_some(*origin)
                });
                if let Some(origin) = undefined {
                    found.get_or_insert((0, origin)).0 |= 1 << lane;
                }
            }
            if let Some((lanes, origin)) = found {
                state.undefine(register, lanes);
                state.set_origin(register, origin);
            }
        }
    }
}
