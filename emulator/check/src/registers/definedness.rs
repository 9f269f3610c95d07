//! Which bits of a wave's registers are uninitialized.

use crate::register_set::WORDS;
use ferrowave_emulator::exec::{LANES, Prepared, lanes_of};
use ferrowave_isa::{Register, Registers};

const VECTORS: usize = Register::SCALARS as usize;
const SCALARS: usize = Register::COUNT - VECTORS;

/// A word of a register set: its index and bits.
pub(crate) type Cut = (u16, u64);

/// The words of a register set that contain `registers`.
pub(crate) fn cut(registers: Registers) -> impl Iterator<Item = Cut> {
    let first = registers.first.0;
    let end = (first + registers.count).min(Register::COUNT as u16);
    (first / 64..end.div_ceil(64)).map(move |word| {
        let bits = (first.max(64 * word)..end.min(64 * word + 64))
            .fold(0, |bits, register| bits | 1 << (register % 64));
        (word, bits)
    })
}

/// Merges words into a list that contains each index once.
pub(crate) fn merge(list: &mut Vec<Cut>, more: impl Iterator<Item = Cut>) {
    for (word, bits) in more {
        match list.iter_mut().find(|(other, _)| *other == word) {
            Some((_, others)) => *others |= bits,
            None => list.push((word, bits)),
        }
    }
}

/// The origin of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The uninitialized register.
    pub(super) register: Register,
    /// The first instruction that computed with it.
    pub(super) reader: Option<u32>,
}

/// The undefined bits of one wave's registers.
pub(super) struct Definedness {
    /// Registers with at least one undefined bit.
    any: [u64; WORDS],
    /// For each vector register, the lanes with undefined bits.
    lanes: [u64; VECTORS],
    /// The undefined bits of these lanes; `None` means all bits.
    bits: [Option<Box<[u32; LANES]>>; VECTORS],
    /// The undefined bits of each scalar register.
    scalars: [u32; SCALARS],
    origins: [Origin; Register::COUNT],
}

impl Definedness {
    /// The state at the start of a wave with these lanes, as the hardware initializes registers. `exec` and registers that only a trap
    /// handler writes are always defined.
    pub(super) fn new(prepared: Prepared, all_lanes: u64) -> Self {
        let mut scalars = [!0; SCALARS];
        for (code, bits) in scalars.iter_mut().enumerate() {
            let hardware = matches!(code, 104 | 105 | 108..=123 | 125..=127);
            if hardware || prepared.scalars.checked_shr(code as u32).unwrap_or(0) & 1 == 1 {
                *bits = 0;
            }
        }
        scalars[usize::from(Register::SCC.0) - VECTORS] &= 1;
        let mut lanes = [all_lanes; VECTORS];
        lanes[..usize::from(prepared.vectors)].fill(0);
        let mut new = Definedness {
            any: [0; WORDS],
            lanes,
            bits: [const { None }; VECTORS],
            scalars,
            origins: std::array::from_fn(|register| Origin {
                register: Register(register as u16),
                reader: None,
            }),
        };
        for register in (0..Register::COUNT as u16).map(Register) {
            new.note(register);
        }
        new
    }

    /// Updates `any` for a register.
    fn note(&mut self, register: Register) {
        let n = usize::from(register.0);
        let undefined = match n.checked_sub(VECTORS) {
            Some(scalar) => self.scalars[scalar] != 0,
            None => self.lanes[n] != 0,
        };
        let bit = 1 << (n % 64);
        if undefined {
            self.any[n / 64] |= bit;
        } else {
            self.any[n / 64] &= !bit;
        }
    }

    /// Whether one of the registers has an undefined bit.
    #[inline]
    pub(super) fn meets(&self, cuts: &[Cut]) -> bool {
        cuts.iter()
            .any(|&(word, bits)| self.any[usize::from(word) % WORDS] & bits != 0)
    }

    /// The registers with an undefined bit.
    pub(super) const fn any(&self) -> &[u64; WORDS] {
        &self.any
    }

    /// The undefined bits of a scalar register.
    pub(super) fn scalar(&self, register: Register) -> u32 {
        let n = usize::from(register.0).wrapping_sub(VECTORS);
        self.scalars.get(n).copied().unwrap_or(0)
    }

    /// The lanes of a vector register with undefined bits.
    pub(super) fn lanes(&self, register: Register) -> u64 {
        let n = usize::from(register.0);
        self.lanes.get(n).copied().unwrap_or(0)
    }

    /// The undefined bits of one lane of a vector register.
    pub(super) fn lane(&self, register: Register, lane: usize) -> u32 {
        let n = usize::from(register.0);
        match self.bits.get(n) {
            _ if self.lanes(register) >> lane & 1 == 0 => 0,
            Some(Some(bits)) => bits[lane],
            _ => !0,
        }
    }

    /// The lanes in which bits of `mask` are undefined.
    pub(super) fn lanes_with(&self, register: Register, mask: u32) -> u64 {
        let lanes = self.lanes(register);
        match self.bits.get(usize::from(register.0)) {
            Some(Some(bits)) => lanes_of(lanes)
                .filter(|&lane| bits[lane] & mask != 0)
                .fold(0, |with, lane| with | 1 << lane),
            _ => lanes,
        }
    }

    pub(super) fn origin(&self, register: Register) -> Origin {
        self.origins[usize::from(register.0) % Register::COUNT]
    }

    pub(super) fn set_origin(&mut self, register: Register, origin: Origin) {
        self.origins[usize::from(register.0) % Register::COUNT] = origin;
    }

    /// Sets the undefined bits of a scalar register.
    pub(super) fn set_scalar(&mut self, register: Register, bits: u32) {
        let n = usize::from(register.0).wrapping_sub(VECTORS);
        if let Some(place) = self.scalars.get_mut(n)
            && *place != bits
        {
            *place = bits;
            self.note(register);
        }
    }

    /// Sets the undefined bits of all lanes of a vector register.
    pub(super) fn set_vector(&mut self, register: Register, bits: &[u32; LANES]) {
        let n = usize::from(register.0);
        if n >= VECTORS {
            return;
        }
        let lanes = (0..LANES)
            .filter(|&lane| bits[lane] != 0)
            .fold(0, |lanes, lane| lanes | 1 << lane);
        let whole = bits.iter().all(|&bits| bits == 0 || bits == !0);
        self.lanes[n] = lanes;
        if whole {
            self.bits[n] = None;
        } else {
            match &mut self.bits[n] {
                Some(place) => **place = *bits,
                empty => *empty = Some(Box::new(*bits)),
            }
        }
        self.note(register);
    }

    /// Makes some lanes of a vector register undefined.
    pub(super) fn undefine(&mut self, register: Register, lanes: u64) {
        let bits = std::array::from_fn(|lane| match lanes >> lane & 1 {
            1 => !0,
            _ => self.lane(register, lane),
        });
        self.set_vector(register, &bits);
    }

    /// Makes some lanes of a register defined; a scalar register as a whole.
    #[inline]
    pub(super) fn define(&mut self, register: Register, lanes: u64) {
        let n = usize::from(register.0);
        if n >= VECTORS {
            self.set_scalar(register, 0);
        } else if self.lanes[n] & lanes != 0 {
            self.lanes[n] &= !lanes;
            if self.lanes[n] == 0 {
                self.bits[n] = None;
                self.note(register);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> Definedness {
        let prepared = Prepared {
            scalars: 0b11,
            vectors: 1,
        };
        Definedness::new(prepared, !0)
    }

    fn meets(state: &Definedness, first: Register, count: u16) -> bool {
        let cuts: Vec<_> = cut(Registers { first, count }).collect();
        state.meets(&cuts)
    }

    #[test]
    fn a_wave_starts_with_what_the_hardware_set_up() {
        let state = state();
        let scalar = |n| Register(Register::SCALARS + n);
        assert!(!meets(&state, scalar(0), 2));
        assert!(meets(&state, scalar(1), 2));
        assert!(!meets(&state, Register(0), 1));
        assert!(meets(&state, Register(0), 2));
        assert!(!meets(&state, Register::EXEC, 2));
        for undefined in [Register::VCC, Register::M0, Register::SCC] {
            assert!(meets(&state, undefined, 1), "{undefined:?}");
        }
        assert_eq!(state.scalar(Register::SCC), 1);
    }

    #[test]
    fn lanes_and_halves_are_apart() {
        let mut state = state();
        let v5 = Register(5);
        state.define(v5, 0xff);
        assert_eq!(state.lanes(v5), !0xff);
        let with = |upper: u32| {
            std::array::from_fn(|lane| match lane {
                0..8 => 0,
                8..16 => upper,
                _ => !0,
            })
        };
        state.set_vector(v5, &with(0xffff_0000));
        assert_eq!(state.lane(v5, 8), 0xffff_0000);
        assert_eq!(state.lanes_with(v5, 0xffff), !0xffff);
        assert_eq!(state.lanes_with(v5, !0), !0xff);
        state.set_vector(v5, &with(0));
        assert_eq!(state.lanes(v5), !0xffff);
        state.define(v5, !0);
        assert!(!meets(&state, v5, 1));
    }
}
