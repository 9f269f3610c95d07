//! LDS of the replayed compute unit, as AMD's Gluon tutorials describe it (`docs/lds_throughput.md`, 1.2 to 1.6).
//!
//! The banks serve one access at a time. The data then goes over the bus of a pair of SIMDs, which both directions have
//! for themselves. A pair has eight instructions of 16 bytes a lane in flight: the next one issues when the oldest
//! completes. Narrower ones are assumed to take less of this room, because eight of 4 bytes a lane would be too few for
//! the bandwidth that LDS has.
//!
//! RDNA's workgroup processor has two of them, one for each compute unit. A workgroup has its bytes in one; waves on the
//! other compute unit access them over their own bus.

use std::collections::VecDeque;

use super::{parameters::Parameters, trace::LdsAccess};

/// The room of an instruction in a pair's queue: 16 bytes for each lane of CDNA.
const WIDEST_BYTES: u64 = 1024;

/// The pair of a SIMD.
pub(super) const fn pair_of(simd: usize) -> usize {
    simd / 2
}

/// Two SIMDs' way to LDS.
#[derive(Clone, Debug, Default)]
struct Pair {
    /// The cycle from which the bus is free: from LDS, and to it.
    free_at: [u64; 2],
    /// The instructions in flight, in order: the cycle of completion, and the cycles of the bus.
    flying: VecDeque<(u64, u64)>,
    flying_cycles: u64,
}

/// LDS of one compute unit, or of a workgroup processor.
#[derive(Clone, Debug)]
pub(super) struct Lds {
    latency: u64,
    /// The most cycles of the bus that a pair's instructions in flight take.
    most_cycles: u64,
    /// The cycle from which the banks of each half are free; there is only one on CDNA.
    free_at: Vec<u64>,
    pairs: Vec<Pair>,
    /// Cycles in which the banks were busy.
    pub(super) busy: u64,
}

impl Lds {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Lds {
            latency: parameters.lds_latency,
            most_cycles: u64::from(parameters.lds_queue) * WIDEST_BYTES
                / u64::from(parameters.lds_bus_bytes_per_cycle.max(1)),
            free_at: vec![0; parameters.pipeline.compute_units],
            pairs: vec![Pair::default(); pair_of(parameters.simds() - 1) + 1],
            busy: 0,
        }
    }

    /// Whether a SIMD can issue another instruction.
    pub(super) fn has_room(&mut self, simd: usize, now: u64) -> bool {
        let pair = &mut self.pairs[pair_of(simd)];
        while let Some(&(done_at, cycles)) = pair.flying.front()
            && done_at <= now
        {
            pair.flying.pop_front();
            pair.flying_cycles -= cycles;
        }
        pair.flying.is_empty() || pair.flying_cycles < self.most_cycles
    }

    /// The number of halves.
    pub(super) const fn halves(&self) -> usize {
        self.free_at.len()
    }

    /// Issues an instruction of a workgroup whose bytes are in a half. Returns the cycle at which it completes.
    pub(super) fn issue(&mut self, simd: usize, half: usize, now: u64, access: LdsAccess) -> u64 {
        let start = self.serve(half, now, access);
        let pair = &mut self.pairs[pair_of(simd)];
        let bus = &mut pair.free_at[usize::from(access.is_write)];
        *bus = (*bus).max(start) + u64::from(access.bus_cycles);
        let through = self.free_at[half].max(*bus);
        let done_at = (through - 1).max(start) + self.latency;
        let last = pair.flying.back().map_or(0, |&(done_at, _)| done_at);
        let done_at = done_at.max(last);
        let cycles = u64::from(access.bus_cycles);
        pair.flying.push_back((done_at, cycles));
        pair.flying_cycles += cycles;
        done_at
    }

    /// Occupies the banks of a half. Returns the first cycle.
    pub(super) fn serve(&mut self, half: usize, now: u64, access: LdsAccess) -> u64 {
        let start = now.max(self.free_at[half]);
        self.free_at[half] = start + u64::from(access.cycles);
        self.busy += u64::from(access.cycles);
        start
    }
}
