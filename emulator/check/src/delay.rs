//! Loads that return as late as the rules allow.
//!
//! The emulator has a load's data immediately. With delays, the registers of a load keep their old values until the
//! wave waits for the load, or until a random earlier moment: a program that reads them too early reads the old values.
//! The data is what memory held when the load was issued. Loads of one unit return in order where the hardware
//! guarantees it. Flat loads, stores and loads to LDS are not delayed.

use std::collections::VecDeque;

use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg32;

use ferrowave_emulator::exec::{Context, Flow, GroupStart, Lanes, Observer, Wave, lanes_of};
use ferrowave_isa::{
    Category, Counter, Effect, Format, Instruction, Register, Registers, WaitCounts,
    run::{self, Components, Run},
};

/// A load in flight.
struct Load {
    register: Registers,
    values: Values,
}

enum Values {
    Vector {
        lanes: Vec<Lanes>,
        exec: u64,
        /// The bits of each register that the load writes.
        bits: u32,
    },
    Scalar(Vec<u32>),
    /// No data, but the operation counts in the wait counter.
    Nothing,
}

#[derive(Default)]
struct InFlight {
    /// Vector memory, in order.
    memory: VecDeque<Load>,
    /// Images with a sampler, where these have a counter of their own (RDNA 4), in order.
    sample: VecDeque<Load>,
    /// LDS, in order.
    lds: VecDeque<Load>,
    /// Scalar memory, in any order.
    scalar: VecDeque<Load>,
}

/// Delays the loads of one host thread's waves. With seed 0, nothing is delayed.
pub(super) struct Delayer {
    rng: Pcg32,
    seed: u64,
    waves: Vec<InFlight>,
    /// The old values of the registers that the current load writes.
    before: Option<(Delayed, Values)>,
}

/// What a load writes.
#[derive(Clone, Copy)]
struct Delayed {
    registers: Registers,
    /// The bits of each register; loads to a half of a register may follow each other without a wait.
    bits: u32,
}

/// What a load writes, if it can be delayed.
fn delayed(context: &Context<'_>, index: u32) -> Option<Delayed> {
    let facts = context.facts(index)?;
    let instruction = context.code.instruction(index)?;
    let loads = match facts.category {
        Category::VectorMemory => instruction.format != Format::Flat,
        Category::Lds => true,
        Category::ScalarMemory => facts.effect == Effect::Load,
        _ => false,
    };
    if !loads || facts.to_lds || facts.effect == Effect::Store {
        return None;
    }
    Some(Delayed {
        registers: facts.uses.writes.first().copied()?,
        bits: written_bits(instruction),
    })
}

/// The bits of each register that a load writes.
fn written_bits(instruction: &Instruction) -> u32 {
    const LOW: u32 = 0xffff;
    if !instruction.keeps() {
        return !0;
    }
    match instruction.run() {
        Run::BufferLoad(load)
        | Run::GlobalLoad(load)
        | Run::LdsLoad(load)
        | Run::ScratchLoad(load) => match load {
            run::Load::I8High | run::Load::U16High | run::Load::U8High => !LOW,
            _ => LOW,
        },
        Run::TypedComponents(Components::D16HiX) => !LOW,
        Run::TypedComponents(Components::D16X) => LOW,
        // Both halves, but for the second register of three components.
        _ => !0,
    }
}

fn held(wave: &Wave, delayed: Delayed) -> Values {
    let Delayed { registers, bits } = delayed;
    match registers.first.is_vector() {
        true => Values::Vector {
            lanes: registers.iter().map(|r| *wave.lanes(r.0)).collect(),
            exec: wave.active(),
            bits,
        },
        false => Values::Scalar(
            registers
                .iter()
                .map(|r| wave.scalar(r.0 - Register::SCALARS))
                .collect(),
        ),
    }
}

fn deliver(wave: &mut Wave, load: &Load) {
    match &load.values {
        Values::Nothing => {}
        Values::Scalar(values) => {
            for (register, &value) in load.register.iter().zip(values) {
                wave.set_scalar(register.0 - Register::SCALARS, value);
            }
        }
        Values::Vector { lanes, exec, bits } => {
            for (register, new) in load.register.iter().zip(lanes) {
                let old = wave.lanes_mut(register.0).as_mut_array();
                for lane in lanes_of(*exec) {
                    old[lane] = old[lane] & !bits | new.as_array()[lane] & bits;
                }
            }
        }
    }
}

impl Delayer {
    pub(super) fn new(seed: u64) -> Self {
        Delayer {
            rng: Pcg32::seed_from_u64(seed),
            seed,
            waves: Vec::new(),
            before: None,
        }
    }

    fn wait(&mut self, wave: &mut Wave, counts: &WaitCounts) {
        let flight = &mut self.waves[wave.index as usize];
        for (queue, count) in [
            (&mut flight.memory, counts.left(Counter::Vm)),
            (&mut flight.sample, counts.left(Counter::Sample)),
            (&mut flight.lds, counts.lds_left()),
        ] {
            while queue.len() > count as usize {
                if let Some(load) = queue.pop_front() {
                    deliver(wave, &load);
                }
            }
        }
        if counts.scalar_left() == 0 {
            for load in flight.scalar.drain(..) {
                deliver(wave, &load);
            }
        }
    }
}

impl Observer for Delayer {
    const ACTIVE: bool = true;

    fn begin(&mut self, group: &GroupStart<'_>) {
        // The delays of a workgroup do not depend on which workgroups ran before it.
        self.rng = Pcg32::seed_from_u64(self.seed ^ group.number.wrapping_mul(0x9e37_79b9));
        self.waves.clear();
        self.waves.resize_with(group.waves.len(), InFlight::default);
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, index: u32) {
        if self.seed == 0 {
            return;
        }
        self.before = delayed(context, index).map(|load| (load, held(wave, load)));
    }

    fn after(&mut self, wave: &mut Wave, context: &mut Context<'_>, index: u32, flow: Flow) {
        let Some(facts) = context.facts(index) else {
            return;
        };
        let category = facts.category;
        if flow == Flow::Fault || self.seed == 0 {
            return;
        }
        if category == Category::Wait {
            let counts = WaitCounts::of(context.code.instruction(index));
            self.wait(wave, &counts);
            return;
        }
        let instruction = context.code.instruction(index);
        let is_flat = instruction.is_some_and(|i| i.format == Format::Flat);
        let counts_samples = |i: &Instruction| i.counters().contains(&Counter::Sample);
        let is_sample = instruction.is_some_and(counts_samples);
        if is_flat
            || !matches!(
                category,
                Category::VectorMemory | Category::Lds | Category::ScalarMemory
            )
        {
            self.maybe_deliver(wave);
            return;
        }
        let load = match (self.before.take(), delayed(context, index)) {
            (Some((delayed, old)), Some(_)) => {
                let values = held(wave, delayed);
                let register = delayed.registers;
                // Restores the old values: the data has not arrived.
                deliver(
                    wave,
                    &Load {
                        register,
                        values: old,
                    },
                );
                Load { register, values }
            }
            _ => Load {
                register: Registers {
                    first: Register(0),
                    count: 0,
                },
                values: Values::Nothing,
            },
        };
        let flight = &mut self.waves[wave.index as usize];
        match category {
            Category::VectorMemory if is_sample => flight.sample.push_back(load),
            Category::VectorMemory => flight.memory.push_back(load),
            Category::Lds => flight.lds.push_back(load),
            _ => flight.scalar.push_back(load),
        }
        self.maybe_deliver(wave);
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>) {}
}

impl Delayer {
    /// Completes a load at random before the wave waits for it.
    fn maybe_deliver(&mut self, wave: &mut Wave) {
        const ONE_IN: u32 = 16;
        if !self.rng.random_ratio(1, ONE_IN) {
            return;
        }
        let flight = &mut self.waves[wave.index as usize];
        let queue = match self.rng.random_range(0..3) {
            0 if flight.memory.is_empty() => &mut flight.sample,
            0 => &mut flight.memory,
            1 => &mut flight.lds,
            _ => &mut flight.scalar,
        };
        if let Some(load) = queue.pop_front() {
            deliver(wave, &load);
        }
    }
}
