//! The memory system of the replayed compute unit: its L1 cache, and its share of L2, the Infinity Cache and memory.
//!
//! Each resource is a queue with a fixed number of bytes per cycle: a request starts when the ones before it are
//! through. The compute unit's share of L2, the Infinity Cache and memory is its share of all workgroups, or of what these
//! supply: a unit with more work makes more requests, and gets what others leave once they are finished. Results return in the order
//! of the requests, because L1 is assumed to be one queue.
//!
//! Vector memory instructions wait before L1 in a queue of a few instructions. L1 starts one when it is done with the one
//! before, and when there is room for the lines that it has to request: those in flight and not yet returned fill at
//! most L1 (AMD's Gluon tutorials, `v8_sliceMN`, 4.1 to 4.5).
//!
//! RDNA's workgroup processor has two vector caches, one for each of its compute units, and the L1 of their shader array is
//! behind them. On RDNA 4, results return in the order of each wave's requests only.

use std::collections::{HashMap, VecDeque};

use super::{
    parameters::{L1_WAYS, Parameters},
    replayed::Replayed,
    sharing::{Shares, Source},
    tags::Tags,
    trace::Shape,
};

/// A resource with a fixed number of bytes per cycle.
#[derive(Clone, Copy, Debug)]
struct Server {
    cycles_per_byte: f64,
    free_at: f64,
    busy: f64,
}

impl Server {
    fn new(bytes_per_cycle: f64) -> Self {
        Server {
            cycles_per_byte: if bytes_per_cycle > 0.0 {
                1.0 / bytes_per_cycle
            } else {
                0.0
            },
            free_at: 0.0,
            busy: 0.0,
        }
    }

    /// The cycle at which `bytes` requested at `at` are through.
    fn serve(&mut self, at: f64, bytes: f64) -> f64 {
        let cycles = bytes * self.cycles_per_byte;
        self.free_at = self.free_at.max(at) + cycles;
        self.busy += cycles;
        self.free_at
    }
}

/// Busy cycles of the resources, and bytes that they transferred.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    pub(super) l1_busy: f64,
    pub(super) l1_lines: u64,
    pub(super) l1_hits: u64,
    pub(super) l2_busy: f64,
    pub(super) infinity_busy: f64,
    pub(super) memory_busy: f64,
    pub(super) l2_bytes: u64,
    pub(super) infinity_bytes: u64,
    pub(super) memory_bytes: u64,
}

/// The vector cache of a compute unit, and its path to L2.
struct L1 {
    /// For each line, the cycle at which its data is available.
    tags: Tags<u64>,
    /// The cycle at which it can start the next access.
    free_at: u64,
    /// The cycles at which it starts the last instructions, as many as may wait for it.
    starts: VecDeque<u64>,
    /// Requested lines that have not returned, in order: the cycle at which they do, and their number.
    flying: VecDeque<(u64, u32)>,
    flying_lines: u32,
    most_lines: u32,
    /// The cycle at which the last result returned.
    returned_at: u64,
    port: Server,
}

impl L1 {
    fn new(parameters: &Parameters) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        L1 {
            tags: Tags::by_low_bits(u64::from(parameters.hardware.l1_bytes) / line, L1_WAYS),
            free_at: 0,
            starts: VecDeque::new(),
            flying: VecDeque::new(),
            flying_lines: 0,
            most_lines: parameters.in_flight_bytes / line as u32,
            returned_at: 0,
            port: Server::new(parameters.l1_to_l2_bytes_per_cycle),
        }
    }

    /// Starts an access that requests lines. Returns the cycle at which it starts.
    fn start(&mut self, now: u64, shape: &Shape, lines: u32) -> u64 {
        let mut start = now.max(self.free_at);
        while let Some(&(there_at, oldest)) = self.flying.front()
            && (there_at <= start || self.flying_lines + lines > self.most_lines)
        {
            start = start.max(there_at);
            self.flying_lines -= oldest;
            self.flying.pop_front();
        }
        self.free_at = start + u64::from(shape.busy);
        self.starts.push_back(start);
        start
    }
}

/// The memory system of one compute unit, or of a workgroup processor.
pub(super) struct Memory<'a> {
    parameters: &'a Parameters,
    shares: HashMap<u32, Shares>,
    /// Of each compute unit.
    l1: Vec<L1>,
    scalar: Tags<u64>,
    l2: Server,
    /// How much longer L2 takes for a written byte than for a read one.
    write_factor: f64,
    infinity: Server,
    memory: Server,
    traffic: Traffic,
}

impl<'a> Memory<'a> {
    pub(super) fn new(
        parameters: &'a Parameters,
        replayed: &Replayed,
        shares: HashMap<u32, Shares>,
    ) -> Self {
        let line = u64::from(parameters.hardware.gpu.line_bytes());
        let infinity = parameters.infinity_bytes_per_second / parameters.hardware.clock_hz();
        let compute_units = 0..parameters.pipeline.compute_units;
        Memory {
            parameters,
            shares,
            l1: compute_units.map(|_| L1::new(parameters)).collect(),
            scalar: Tags::new(u64::from(parameters.hardware.scalar_cache_bytes) / line, 4),
            l2: Server::new(parameters.l2_bytes_per_cycle * replayed.share_of_xcd),
            write_factor: parameters.l2_bytes_per_cycle / parameters.l2_written_bytes_per_cycle,
            infinity: Server::new(infinity * replayed.share),
            memory: Server::new(parameters.memory_bytes_per_cycle() * replayed.share),
            traffic: Traffic::default(),
        }
    }

    /// Whether another instruction may wait for a compute unit's L1.
    pub(super) fn has_room(&mut self, unit: usize, now: u64) -> bool {
        let starts = &mut self.l1[unit].starts;
        while starts.front().is_some_and(|&start| start <= now) {
            starts.pop_front();
        }
        starts.len() < self.parameters.memory_queue as usize
    }

    /// The cycle at which the result of a compute unit's vector load is available.
    pub(super) fn load(
        &mut self,
        unit: usize,
        now: u64,
        index: u32,
        shape: &Shape,
        base: u64,
    ) -> u64 {
        let lines = || shape.lines.iter().map(|line| line.wrapping_add(base));
        let l1 = &mut self.l1[unit];
        let missing = lines().filter(|&line| !l1.tags.holds(line)).count() as u32;
        let start = l1.start(now, shape, missing);
        self.traffic.l1_busy += f64::from(shape.busy);
        let hit_at = start + self.parameters.l1_latency;
        let mut done = hit_at + u64::from(shape.busy).saturating_sub(4);
        for line in lines() {
            self.traffic.l1_lines += 1;
            if let Some(there_at) = self.l1[unit].tags.find(line) {
                self.traffic.l1_hits += 1;
                done = done.max(*there_at);
                continue;
            }
            let there_at = self.request(unit, start, index, true);
            self.l1[unit].tags.insert(line, there_at);
            done = done.max(there_at);
        }
        let l1 = &mut self.l1[unit];
        if !self.parameters.pipeline.returns_out_of_order {
            done = done.max(l1.returned_at);
            l1.returned_at = done;
        }
        if missing > 0 {
            l1.flying.push_back((done, missing));
            l1.flying_lines += missing;
        }
        done
    }

    /// The cycle at which a compute unit's store or atomic operation completes.
    pub(super) fn store(
        &mut self,
        unit: usize,
        now: u64,
        index: u32,
        shape: &Shape,
        base: u64,
    ) -> u64 {
        let start = self.l1[unit].start(now, shape, 0);
        self.traffic.l1_busy += f64::from(shape.busy);
        let mut done = start + self.parameters.l2_latency;
        for line in shape.lines.iter().map(|line| line.wrapping_add(base)) {
            self.traffic.l1_lines += 1;
            let tags = &mut self.l1[unit].tags;
            if !shape.is_whole {
                tags.remove(line);
            } else if let Some(there_at) = tags.find(line) {
                *there_at = (*there_at).max(start);
            } else {
                tags.insert(line, start);
            }
            done = done.max(self.request(unit, start, index, false));
        }
        done
    }

    /// The cycle at which the result of a scalar load is available.
    pub(super) fn scalar_load(&mut self, now: u64, index: u32, shape: &Shape, base: u64) -> u64 {
        let mut done = now + self.parameters.scalar_latency;
        for line in shape.lines.iter().map(|line| line.wrapping_add(base)) {
            if let Some(there_at) = self.scalar.find(line) {
                done = done.max(*there_at);
                continue;
            }
            let there_at = self.request(0, now, index, true);
            self.scalar.insert(line, there_at);
            done = done.max(there_at);
        }
        done
    }

    /// Requests a line of a compute unit from what is behind its L1. Returns the cycle at which a load's data is available or
    /// a store has arrived.
    fn request(&mut self, unit: usize, now: u64, index: u32, is_load: bool) -> u64 {
        let line = f64::from(self.parameters.hardware.gpu.line_bytes());
        let source = self.shares.entry(index).or_default().deal();
        let at = self.l1[unit].port.serve(now as f64, line);
        if !source.is_behind_array() {
            return at.ceil() as u64 + self.latency(source);
        }
        // Reads and writes share L2; writes take longer.
        let mut at = match is_load {
            true => self.l2.serve(at, line),
            false => self.l2.serve(at, line * self.write_factor),
        };
        self.traffic.l2_bytes += u64::from(self.parameters.hardware.gpu.line_bytes());
        if source.is_behind_l2() {
            if self.parameters.hardware.infinity_bytes > 0 {
                at = self.infinity.serve(at, line);
                self.traffic.infinity_bytes += u64::from(self.parameters.hardware.gpu.line_bytes());
            }
            if source == Source::Memory {
                at = self.memory.serve(at, line);
                self.traffic.memory_bytes += u64::from(self.parameters.hardware.gpu.line_bytes());
            }
        }
        let latency = match is_load {
            true => self.latency(source),
            false => self.parameters.l2_latency,
        };
        at.ceil() as u64 + latency
    }

    /// Cycles from a request to its data. A line that is already on its way has half of the distance left.
    fn latency(&self, source: Source) -> u64 {
        let parameters = self.parameters;
        let (l2, infinity, memory) = (
            parameters.l2_latency,
            parameters.infinity_latency,
            parameters.memory_latency,
        );
        // A machine without this cache has no such source.
        let array = parameters.pipeline.array_cache;
        let array = array.map_or(l2, |array| array.latency);
        match source {
            Source::Array => array,
            Source::ArrayFromL2 => u64::midpoint(array, l2),
            Source::ArrayFromInfinity => u64::midpoint(array, infinity),
            Source::ArrayFromMemory => u64::midpoint(array, memory),
            Source::L2 => l2,
            Source::L2FromInfinity => u64::midpoint(l2, infinity),
            Source::L2FromMemory => u64::midpoint(l2, memory),
            Source::Infinity => infinity,
            Source::InfinityFromMemory => u64::midpoint(infinity, memory),
            Source::Memory => memory,
        }
    }

    /// The traffic so far.
    pub(super) fn traffic(&self) -> Traffic {
        let ports = self.l1.iter().map(|l1| l1.port.busy);
        Traffic {
            l1_busy: self.traffic.l1_busy / self.l1.len() as f64,
            l2_busy: ports.fold(self.l2.busy, f64::max),
            infinity_busy: self.infinity.busy,
            memory_busy: self.memory.busy,
            ..self.traffic
        }
    }
}
