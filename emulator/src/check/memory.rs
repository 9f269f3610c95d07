//! Global memory: bytes that nobody wrote, addresses that the hardware silently changes.

use std::sync::Arc;

use super::{
    Access, Example, Findings, Key, Kind, Side, Step, Watch, allocations::Allocations,
    names::bytes_text, segments::segments,
};
use crate::{
    exec::{Context, GroupStart, Space, Touch, Wave},
    isa::{Category, Effect, Format, Source},
    memory::Written,
};

/// The account of writes of each allocation that has one.
pub(super) struct Memory {
    allocations: Allocations<Arc<Written>>,
}

impl Memory {
    pub(super) fn new(allocations: Allocations<Arc<Written>>) -> Self {
        Memory { allocations }
    }

    fn touch(&mut self, step: &Step<'_>, wave: u32, touch: &Touch, findings: &mut Findings) {
        let reads = !touch.write || step.facts.effect == Effect::Atomic;
        let bytes = u64::from(touch.bytes);
        let mut missing: Option<(u64, u64)> = None;
        let mut place = self.allocations.start(step.index);
        for segment in segments(touch) {
            let Some((base, written)) = self.allocations.find(&mut place, segment.start) else {
                continue;
            };
            let offset = segment.start - base;
            if reads && written.first_missing(offset, segment.bytes).is_some() {
                for start in (offset..offset + segment.bytes).step_by(touch.bytes as usize) {
                    if let Some(byte) = written.first_missing(start, bytes) {
                        let lane = match touch.scalar {
                            true => 0,
                            false => segment.lane_of(base + start, touch),
                        };
                        missing.get_or_insert((base + byte, 0)).1 |= lane;
                    }
                }
            }
            if touch.write {
                written.mark(offset, segment.bytes);
            }
        }
        self.allocations.remember(step.index, place);
        if let Some((address, lanes)) = missing {
            let key = Key {
                kind: Kind::UninitializedMemory,
                index: step.index,
                other: None,
            };
            findings.add(key, |workgroup| Example {
                side: Side {
                    index: step.index,
                    workgroup,
                    wave,
                    lanes,
                    what: format!(
                        "reads {}, of which some were never written",
                        bytes_text(touch.bytes)
                    ),
                },
                access: Some(Access::Global { address, bytes: 1 }),
                other: None,
            });
        }
    }
}

impl Watch for Memory {
    fn begin(&mut self, _: &GroupStart<'_>, _: &mut Findings) {}

    fn before(
        &mut self,
        step: &Step<'_>,
        wave: &Wave,
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        if step.facts.category != Category::ScalarMemory || step.facts.effect == Effect::None {
            return;
        }
        // The scalar unit drops the low bits of base and offset, each for itself (CDNA3 ISA guide, «SMEM»).
        let Some(instruction) = context.code.instruction(step.index) else {
            return;
        };
        let base = match instruction.src[0].source {
            Source::Sgpr(register) => wave.scalar(register),
            _ => 0,
        };
        let offset = match instruction.src[1].source {
            Source::Sgpr(register) => wave.scalar(register),
            _ => 0,
        };
        let offset = offset.wrapping_add(instruction.memory.offset as u32);
        if (base | offset) & 3 == 0 || instruction.format != Format::Smem {
            return;
        }
        let key = Key {
            kind: Kind::Misaligned,
            index: step.index,
            other: None,
        };
        findings.add(key, |workgroup| Example {
            side: Side {
                index: step.index,
                workgroup,
                wave: wave.index,
                lanes: 0,
                what: format!(
                    "has a base that ends in {:#x} and an offset of {offset:#x}; the hardware takes both without their lowest two bits",
                    base & 0xf
                ),
            },
            access: None,
            other: None,
        });
    }

    fn after(
        &mut self,
        step: &Step<'_>,
        wave: &mut Wave,
        context: &mut Context<'_>,
        findings: &mut Findings,
    ) {
        for touch in context.touches() {
            if touch.space == Space::Global {
                self.touch(step, wave.index, touch, findings);
            }
        }
    }

    fn barrier(&mut self, _: &mut [Wave], _: &[bool], _: &mut Context<'_>, _: &mut Findings) {}

    fn end(&mut self, _: &mut [Wave], _: &mut Context<'_>, _: &mut Findings) {}
}
