//! Requests of kernels to the host: `printf`, `assert` and `malloc` of HIP's device code.
//!
//! A wave takes a packet from a stack of free ones, fills it, pushes it to a stack of ready ones, and sleeps until the
//! packet is answered. The emulator answers when a wave sleeps. Layout and services are those of ROCm's CLR
//! (`rocclr/device/devhostcall.hpp`, `devhcmessages.cpp`), with which ROCm's device library communicates.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{Ordering, fence},
    },
};

use super::printf;
use crate::memory::{AllocationKind, DeviceMemory, MemoryError};

/// Offsets in the buffer's head, which is followed by a signal, the packets' headers and their payloads.
mod head {
    pub(super) const HEADERS: u64 = 0;
    pub(super) const PAYLOADS: u64 = 8;
    pub(super) const DOORBELL: u64 = 16;
    pub(super) const FREE_STACK: u64 = 24;
    pub(super) const READY_STACK: u64 = 32;
    pub(super) const INDEX_MASK: u64 = 40;
    /// The doorbell, an `amd_signal_t`: its kind, then its value. Without a mailbox, waves only add to the value.
    pub(super) const SIGNAL: u64 = 64;
    /// The first header.
    pub(super) const END: u64 = 128;
}

/// Offsets in a packet's header.
mod header {
    pub(super) const NEXT: u64 = 0;
    pub(super) const LANES: u64 = 8;
    pub(super) const SERVICE: u64 = 16;
    pub(super) const CONTROL: u64 = 20;
    pub(super) const BYTES: u64 = 24;
}

/// `AMD_SIGNAL_KIND_USER`.
const USER_SIGNAL: u64 = 1;

/// A payload has eight words for each lane.
const LANE_WORDS: usize = 8;
const PAYLOAD_BYTES: u64 = 64 * LANE_WORDS as u64 * 8;

/// `SERVICE_PRINTF`: a message to print, in one or more requests.
const PRINTF: u32 = 2;
/// `SERVICE_DEVMEM`: memory for the device's heap.
const HEAP: u32 = 3;

/// Bits of the first word of a request that is part of a message: its first and last request, the number of words, and
/// the message's number.
const BEGIN: u64 = 1;
const END: u64 = 2;
const LENGTH_SHIFT: u32 = 5;
const MESSAGE_SHIFT: u32 = 8;

/// The buffer of a launch; freed on drop.
pub(super) struct Hostcalls<'a> {
    memory: &'a DeviceMemory,
    pub(super) base: u64,
    headers: u64,
    payloads: u64,
    mask: u64,
    messages: Mutex<Messages>,
}

#[derive(Default)]
struct Messages {
    /// The words of unfinished messages, by number.
    begun: HashMap<u64, Vec<u64>>,
    next: u64,
}

impl Drop for Hostcalls<'_> {
    fn drop(&mut self) {
        // `new` allocated it, and only this value knows the address.
        let _ = self.memory.free(self.base);
    }
}

impl<'a> Hostcalls<'a> {
    /// A buffer for launches of at most this number of waves that have started and not ended. Each needs a packet.
    pub(super) fn new(memory: &'a DeviceMemory, waves: usize) -> Result<Self, MemoryError> {
        // A tagged pointer has its index in the lower bits, and is never 0.
        let packets = (waves as u64).max(2);
        let mask = packets.next_power_of_two() - 1;
        let payloads = (head::END + packets * header::BYTES).next_multiple_of(PAYLOAD_BYTES);
        let bytes = payloads + packets * PAYLOAD_BYTES;
        let base = memory.allocate(bytes as usize, AllocationKind::Launch)?;
        let calls = Hostcalls {
            memory,
            base,
            headers: base + head::END,
            payloads: base + payloads,
            mask,
            messages: Mutex::default(),
        };
        // Each free packet points to the one before. The first index is 0, so its pointer has a tag.
        let next = |packet: u64| match packet {
            0 => 0,
            1 => mask + 1,
            packet => packet - 1,
        };
        let mut headers = Vec::with_capacity((packets * header::BYTES) as usize);
        for packet in 0..packets {
            headers.extend(next(packet).to_le_bytes());
            headers.resize(((packet + 1) * header::BYTES) as usize, 0);
        }
        memory.write(calls.headers, &headers)?;
        for (offset, word) in [
            (head::HEADERS, calls.headers),
            (head::PAYLOADS, calls.payloads),
            (head::DOORBELL, base + head::SIGNAL),
            (head::FREE_STACK, packets - 1),
            (head::READY_STACK, 0),
            (head::INDEX_MASK, mask),
            (head::SIGNAL, USER_SIGNAL),
        ] {
            memory.write(base + offset, &word.to_le_bytes())?;
        }
        Ok(calls)
    }

    /// Answers all requests that are ready.
    pub(super) fn answer(&self) -> Result<(), MemoryError> {
        let mut ready = self.memory.swap(self.base + head::READY_STACK, 0)?;
        if ready == 0 {
            return Ok(());
        }
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        // A damaged list has no end.
        for _ in 0..=self.mask {
            if ready == 0 {
                break;
            }
            let index = ready & self.mask;
            let header = self.headers + index * header::BYTES;
            let [next, lanes, word] =
                [header::NEXT, header::LANES, header::SERVICE].map(|offset| header + offset);
            ready = self.word(next)?;
            let (mut lanes, word) = (self.word(lanes)?, self.word(word)?);
            let (service, control) = (word as u32, (word >> 32) as u32);
            while lanes != 0 {
                let lane = lanes.trailing_zeros();
                lanes &= lanes - 1;
                let slot =
                    self.payloads + index * PAYLOAD_BYTES + u64::from(lane) * 8 * LANE_WORDS as u64;
                let mut bytes = [0; 8 * LANE_WORDS];
                self.memory.read(slot, &mut bytes)?;
                let mut words = [0; LANE_WORDS];
                for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
                words[0] = match service {
                    PRINTF => messages.append(words),
                    HEAP => self.memory.heap_request(words[0], words[1]),
                    // HIP's device code has no other service without a sanitizer.
                    _ => 0,
                };
                self.memory.write(slot, &words[0].to_le_bytes())?;
            }
            // The wave reads the answers once it sees that the lowest bit is clear.
            fence(Ordering::Release);
            self.memory
                .write(header + header::CONTROL, &(control & !1).to_le_bytes())?;
        }
        Ok(())
    }

    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        let mut bytes = [0; 8];
        self.memory.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl Messages {
    /// Adds a request to its message, and prints the message if it is complete. Returns the request's result: the
    /// description of the next one, or what `printf` returns.
    fn append(&mut self, words: [u64; LANE_WORDS]) -> u64 {
        let mut description = words[0];
        if description & BEGIN != 0 {
            let low = description & ((1 << MESSAGE_SHIFT) - 1) & !BEGIN;
            description = low | self.next << MESSAGE_SHIFT;
            self.begun.insert(self.next, Vec::new());
            self.next += 1;
        }
        let number = description >> MESSAGE_SHIFT;
        let Some(message) = self.begun.get_mut(&number) else {
            return u64::MAX;
        };
        let length = (description >> LENGTH_SHIFT) as usize & (LANE_WORDS - 1);
        message.extend_from_slice(&words[1..=length]);
        if description & END == 0 {
            return description;
        }
        let message = self.begun.remove(&number).unwrap_or_default();
        i64::from(printf::print(&message)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does what a wave does: takes a free packet, fills it for two lanes, and pushes it.
    fn request(calls: &Hostcalls<'_>, service: u32, lanes: &[(u32, [u64; 8])]) -> u64 {
        let memory = calls.memory;
        let word = |offset| calls.word(calls.base + offset).unwrap();
        let put = |address, word: u64| memory.write(address, &word.to_le_bytes()).unwrap();
        let free = word(head::FREE_STACK);
        let index = free & word(head::INDEX_MASK);
        let header = word(head::HEADERS) + index * header::BYTES;
        put(calls.base + head::FREE_STACK, calls.word(header).unwrap());
        let mask = lanes.iter().map(|(lane, _)| 1 << lane).sum();
        put(header + header::LANES, mask);
        put(header + header::SERVICE, u64::from(service) | 1 << 32);
        for (lane, words) in lanes {
            let slot = word(head::PAYLOADS) + index * PAYLOAD_BYTES + u64::from(*lane) * 64;
            for (i, &value) in words.iter().enumerate() {
                put(slot + 8 * i as u64, value);
            }
        }
        put(header, word(head::READY_STACK));
        put(calls.base + head::READY_STACK, free);
        free
    }

    fn slot(calls: &Hostcalls<'_>, packet: u64, lane: u32) -> u64 {
        let index = packet & calls.mask;
        let header = calls.word(calls.headers + index * header::BYTES + header::SERVICE);
        assert_eq!(header.unwrap() >> 32, 0, "the packet is answered");
        let slot = calls.payloads + index * PAYLOAD_BYTES + u64::from(lane) * 64;
        calls.word(slot).unwrap()
    }

    #[test]
    fn every_packet_is_free_once() {
        let memory = DeviceMemory::new(1 << 30);
        for waves in [0, 1, 2, 3, 16, 100] {
            let calls = Hostcalls::new(&memory, waves).unwrap();
            let mut seen = Vec::new();
            let mut next = calls.word(calls.base + head::FREE_STACK).unwrap();
            while next != 0 {
                seen.push(next & calls.mask);
                let header = calls.headers + (next & calls.mask) * header::BYTES;
                next = calls.word(header).unwrap();
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..waves.max(2) as u64));
        }
        assert_eq!(memory.used_bytes(), 0);
    }

    #[test]
    fn messages_of_lanes_are_kept_apart() {
        let memory = DeviceMemory::new(1 << 30);
        let calls = Hostcalls::new(&memory, 4).unwrap();
        // The first request of a message has a control word, here that of standard error, and no text yet.
        let begin = BEGIN | 1 << LENGTH_SHIFT;
        let first = request(
            &calls,
            PRINTF,
            &[
                (3, [begin, 1, 0, 0, 0, 0, 0, 0]),
                (60, [begin, 1, 0, 0, 0, 0, 0, 0]),
            ],
        );
        calls.answer().unwrap();
        let (a, b) = (slot(&calls, first, 3), slot(&calls, first, 60));
        assert!(a != b && (a | b) & BEGIN == 0);
        let text = u64::from_le_bytes(*b"%d.\n\0\0\0\0");
        let end = |description: u64| {
            let number = description >> MESSAGE_SHIFT << MESSAGE_SHIFT;
            number | END | 2 << LENGTH_SHIFT
        };
        let second = request(
            &calls,
            PRINTF,
            &[
                (3, [end(a), text, 7, 0, 0, 0, 0, 0]),
                (60, [end(b), text, 123, 0, 0, 0, 0, 0]),
            ],
        );
        calls.answer().unwrap();
        // The results are the numbers of printed bytes.
        assert_eq!((slot(&calls, second, 3), slot(&calls, second, 60)), (3, 5));
        // A message that is over cannot be continued.
        let third = request(&calls, PRINTF, &[(0, [end(a), text, 7, 0, 0, 0, 0, 0])]);
        calls.answer().unwrap();
        assert_eq!(slot(&calls, third, 0), u64::MAX);
    }

    #[test]
    fn the_heap_gives_and_takes() {
        let memory = DeviceMemory::new(1 << 30);
        let calls = Hostcalls::new(&memory, 4).unwrap();
        let lanes = [(0, 10_000), (1, 2 << 20), (2, u64::MAX)];
        let lanes = lanes.map(|(lane, bytes)| (lane, [0, bytes, 0, 0, 0, 0, 0, 0]));
        let packet = request(&calls, HEAP, &lanes);
        calls.answer().unwrap();
        let [small, slab, huge] = [0, 1, 2].map(|lane| slot(&calls, packet, lane));
        assert!(small != 0 && small.is_multiple_of(4096));
        assert!(slab != 0 && slab.is_multiple_of(2 << 20));
        assert_eq!(huge, 0);
        assert!(memory.find(slab + (2 << 20) - 1).is_some());
        request(&calls, HEAP, &[(0, [small, 0, 0, 0, 0, 0, 0, 0])]);
        calls.answer().unwrap();
        let packet = request(&calls, HEAP, &lanes[..1]);
        calls.answer().unwrap();
        assert_eq!(slot(&calls, packet, 0), small, "freed memory is used again");
    }
}
