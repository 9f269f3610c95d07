//! Buffer operations that convert: MTBUF, whose instructions contain the format, and MUBUF's format instructions, which
//! use the resource's format and selection of components.
//!
//! AMD's CDNA4 ISA guide, «Buffer Data» (9.1.4) and «Range Checking» (9.1.5.1): an element is in range as a whole or
//! not at all. An element out of range reads as 0, except in registers that select 1. Components that a format lacks
//! are 0. MTBUF's selection is the identity.
//!
//! A store writes each register to the component from which a load with the same selection would read it (the guide has
//! no rule of its own). Components without a register become 0, on gfx12 the first register's value (LLVM's subtarget
//! features `DefaultComponentZero` and `DefaultComponentBroadcast`, by which it leaves registers out).

use super::{
    put_status,
    target::{GFX12, RDNA, Target},
};
use crate::exec::format::{Format, NoFormat};
use crate::exec::{
    Context, FaultKind, Wave,
    lanes::Binder,
    operation::{Flow, Handler, Operation},
    wave::Lanes,
};
use crate::memory::shared::Moves;
use ferrowave_isa::{self as isa, Effect, Instruction, run::Components};

/// Bits of the operation's detail, above the number of components.
const COMPONENTS: u8 = 7;
/// Registers hold two 16-bit values each.
const HALVES: u8 = 8;
/// The only component is in the upper half.
const HIGH: u8 = 16;
/// The format is in the instruction, in `control[0]`.
const OWN_FORMAT: u8 = 32;
/// The half of a register that gets no component stays as it is (RDNA).
const KEEPS: u8 = 64;

/// The first code of [`super::target::Resource::select`] that selects a component.
const FIRST_COMPONENT: u32 = 4;

/// The handler and the detail of a buffer operation with a format.
pub(in crate::exec) fn components<const C: usize>(
    b: Binder<C>,
    i: &Instruction,
    which: Components,
) -> (Handler, u8) {
    let run = match i.effect() {
        Effect::Store => b.bind(store::<C>),
        Effect::None | Effect::Load | Effect::Atomic => b.bind(load::<C>),
    };
    let components = match which {
        Components::X => 1,
        Components::Xy => 2,
        Components::Xyz => 3,
        Components::Xyzw => 4,
        Components::D16X => HALVES | 1,
        Components::D16Xy => HALVES | 2,
        Components::D16Xyz => HALVES | 3,
        Components::D16Xyzw => HALVES | 4,
        Components::D16HiX => HALVES | HIGH | 1,
    };
    let own_format = match i.format {
        isa::Format::Mtbuf => OWN_FORMAT,
        _ => 0,
    };
    let keeps = match i.keeps() {
        true => KEEPS,
        false => 0,
    };
    (run, components | own_format | keeps)
}

/// What a data register gets from or gives to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selected {
    Zero,
    One,
    Component(usize),
}

/// An operation's data.
struct Data {
    format: Format,
    /// Per register, or per half of one.
    selected: [Selected; 4],
    count: usize,
}

impl Data {
    fn new<const C: usize>(o: &Operation, target: &Target<C>) -> Result<Self, NoFormat> {
        let own = o.detail & OWN_FORMAT != 0;
        let format = match o.control[2] & RDNA != 0 {
            true => Format::unified(unified_code(o, target))?,
            false => {
                let (data, number) = codes(o, target);
                Format::new(data, number)?
            }
        };
        let selected = std::array::from_fn(|register| {
            let select = match own {
                true => FIRST_COMPONENT + register as u32,
                false => target.resource.select(register),
            };
            let component = select.wrapping_sub(FIRST_COMPONENT) as usize;
            match select {
                1 => Selected::One,
                _ if component < format.components() => Selected::Component(component),
                _ => Selected::Zero,
            }
        });
        Ok(Data {
            format,
            selected,
            count: usize::from(o.detail & COMPONENTS),
        })
    }

    /// The register that a component is stored from.
    fn register_of(&self, component: usize) -> Option<usize> {
        self.selected[..self.count]
            .iter()
            .position(|&selected| selected == Selected::Component(component))
    }
}

/// The codes of the data format and the number format.
fn codes<const C: usize>(o: &Operation, target: &Target<C>) -> (u8, u8) {
    match o.detail & OWN_FORMAT != 0 {
        true => (o.control[0] & 15, o.control[0] >> 4),
        false => target.resource.formats(),
    }
}

/// RDNA's code of the format.
fn unified_code<const C: usize>(o: &Operation, target: &Target<C>) -> u8 {
    match o.detail & OWN_FORMAT != 0 {
        true => o.control[0],
        false => target.resource.unified_format(),
    }
}

#[cold]
fn unknown<const C: usize>(c: &mut Context<'_>, o: &Operation, target: &Target<C>) -> Flow {
    let what = match o.control[2] & RDNA != 0 {
        true => format!("there is no buffer format {}", unified_code(o, target)),
        false => {
            let (data, number) = codes(o, target);
            format!("there is no buffer format of data format {data} and number format {number}")
        }
    };
    c.fail(FaultKind::Unsupported { what })
}

fn load<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    if w.active() == 0 {
        return Flow::Next;
    }
    let target = Target::typed(w, o);
    let count = usize::from(o.detail & COMPONENTS);
    let registers = registers(o, count);
    let data = match Data::new(o, &target) {
        Ok(data) => data,
        Err(NoFormat::Unbound) => {
            put(w, o, count, [Lanes::splat(0); 4]);
            put_status(w, o, o.dst + registers);
            return Flow::Next;
        }
        Err(NoFormat::Unknown) => return unknown(c, o, &target),
    };
    let inside = target.inside(0, data.format.bytes());
    let mut results = [Lanes::splat(0); 4];
    for (result, selected) in results.iter_mut().zip(data.selected).take(count) {
        match selected {
            Selected::Zero => {}
            Selected::One => *result = Lanes::splat(data.format.one()),
            Selected::Component(component) => {
                let place = data.format.place(component);
                let access = match target.access(c, o, inside, place.at, place.bytes, false) {
                    Ok(access) => access,
                    Err(flow) => return flow,
                };
                access.each(|lane, address| {
                    // SAFETY: the lane is active, so the unit's bytes were checked.
                    let unit = unsafe { read_unit(access.moves, address, place.bytes) };
                    result.as_mut_array()[lane] = data.format.in_register(place, unit);
                });
            }
        }
        if o.detail & HALVES != 0 {
            for value in result.as_mut_array() {
                *value = data.format.halved(*value);
            }
        }
    }
    put(w, o, count, results);
    put_status(w, o, o.dst + registers);
    Flow::Next
}

/// Registers that hold `count` components.
fn registers(o: &Operation, count: usize) -> u16 {
    match o.detail & HALVES != 0 {
        true => count.div_ceil(2) as u16,
        false => count as u16,
    }
}

/// Writes the results, one or two per register. The unused half of a last odd one becomes 0, or stays on RDNA
/// ([`crate::exec::transfer`]).
fn put<const C: usize>(w: &mut Wave<C>, o: &Operation, count: usize, results: [Lanes; 4]) {
    if o.detail & HALVES == 0 {
        for (register, result) in (o.dst..).zip(results).take(count) {
            w.commit(register, *result.chunks());
        }
        return;
    }
    let high = if o.detail & HIGH != 0 { 16 } else { 0 };
    for (register, halves) in (o.dst..).zip(results[..count].chunks(2)) {
        let mut merged = Lanes::splat(0);
        for (half, shift) in halves.iter().zip([high, 16]) {
            for (value, half) in merged.as_mut_array().iter_mut().zip(half.as_array()) {
                *value |= half << shift;
            }
        }
        if o.detail & KEEPS != 0 && halves.len() == 1 {
            let old = w.lanes(register).as_array();
            for (value, old) in merged.as_mut_array().iter_mut().zip(old) {
                *value |= old & !(0xffff << high);
            }
        }
        w.commit(register, *merged.chunks());
    }
}

fn store<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    if w.active() == 0 {
        return Flow::Next;
    }
    let target = Target::typed(w, o);
    let data = match Data::new(o, &target) {
        Ok(data) => data,
        Err(NoFormat::Unbound) => return Flow::Next,
        Err(NoFormat::Unknown) => return unknown(c, o, &target),
    };
    let inside = target.inside(0, data.format.bytes());
    let units = match data.format.is_packed() {
        true => vec![(0..data.format.components()).collect()],
        false => (0..data.format.components())
            .map(|n| vec![n])
            .collect::<Vec<_>>(),
    };
    for components in units {
        let place = data.format.place(components[0]);
        let access = match target.access(c, o, inside, place.at, place.bytes, true) {
            Ok(access) => access,
            Err(flow) => return flow,
        };
        access.each(|lane, address| {
            let unit = components.iter().fold(0, |unit, &component| {
                let value = match data.register_of(component) {
                    Some(number) => source(w, o, &data.format, number, lane),
                    None if o.control[2] & GFX12 != 0 => source(w, o, &data.format, 0, lane),
                    None => 0,
                };
                unit | data.format.in_unit(data.format.place(component), value)
            });
            // SAFETY: the lane is active, so the unit's bytes were checked.
            unsafe { write_unit(access.moves, address, place.bytes, unit) };
        });
    }
    Flow::Next
}

/// A lane's value for a store.
fn source<const C: usize>(
    w: &Wave<C>,
    o: &Operation,
    format: &Format,
    number: usize,
    lane: usize,
) -> u32 {
    let first = o.src[1].register;
    if o.detail & HALVES == 0 {
        return w.lanes(first + number as u16).as_array()[lane];
    }
    let register = w.lanes(first + number as u16 / 2).as_array()[lane];
    let half = match o.detail & HIGH != 0 || number % 2 == 1 {
        true => register >> 16,
        false => register & 0xffff,
    };
    format.unhalved(half)
}

/// # Safety
/// As [`Moves::read`].
pub(in crate::exec) unsafe fn read_unit(moves: Moves, address: u64, bytes: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => u32::from(moves.read::<u8>(address)),
            2 => u32::from(moves.read::<u16>(address)),
            _ => moves.read(address),
        }
    }
}

/// # Safety
/// As [`Moves::write`].
pub(in crate::exec) unsafe fn write_unit(moves: Moves, address: u64, bytes: u32, unit: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => moves.write(address, unit as u8),
            2 => moves.write(address, unit as u16),
            _ => moves.write(address, unit),
        }
    }
}
