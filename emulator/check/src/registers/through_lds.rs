//! Tracks undefined values through LDS.
//!
//! Libraries exchange partly loaded tiles through LDS and use only the loaded part. So a store to LDS does not count as
//! a use; a load from LDS is as undefined as the stored data.

use std::collections::HashMap;

use super::{
    Look,
    definedness::{Definedness, Origin},
};
use ferrowave_emulator::exec::{Facts, ObservedAccess, Space};
use ferrowave_isa::{Category, Effect, Read, Register, Registers, Role};

/// The undefined bytes of a workgroup's LDS: few, if any.
#[derive(Default)]
pub(super) struct ThroughLds {
    /// For each dword, its undefined bytes and their origin.
    dwords: HashMap<u64, (u8, Origin)>,
    /// The undefined data of the store that is about to run.
    storing: Vec<Storing>,
}

/// A data register of a store with undefined lanes.
struct Storing {
    /// The number of the access within the instruction.
    access: usize,
    /// The byte offset of the register in the data of a lane.
    offset: u64,
    lanes: u64,
    origin: Origin,
}

/// Whether it is a store to LDS.
pub(super) fn is_store(facts: &Facts) -> bool {
    facts.category == Category::Lds && facts.effect == Effect::Store
}

/// Whether it is a load from LDS.
pub(super) fn is_load(facts: &Facts) -> bool {
    facts.category == Category::Lds && facts.effect == Effect::Load
}

impl ThroughLds {
    /// Resets the state for the next workgroup.
    pub(super) fn clear(&mut self) {
        self.dwords.clear();
        self.storing.clear();
    }

    /// Notes the undefined data of a store before it runs.
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

    /// Updates the touched bytes after a store.
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

    /// Marks lanes that loaded undefined bytes.
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
        // The dwords of all accesses of a lane, in the order of the registers that they fill.
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
