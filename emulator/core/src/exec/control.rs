//! Program control: branches, calls, barriers, waits.

use std::sync::atomic::{Ordering, fence};

use super::{
    Context, FaultKind, Wave,
    lanes::{Binder, vcc},
    operation::{Flow, Handler, Operation, SourceKind},
    panic, scalar_memory,
    wave::{BarrierPhase, EXEC, M0, Mode},
};
use ferrowave_gpu::{Family, Gpu};
use ferrowave_isa::{
    Counter, Instruction, WaitCounts,
    run::{Control, Run},
};

/// Traps of `llvm.trap` and `llvm.debugtrap` (LLVM's `AMDGPUUsage`, «Trap Handler ABI»).
const ABORT_TRAP: u8 = 2;
const DEBUG_TRAP: u8 = 3;

/// Ends the wave at a trap.
#[cold]
fn trap<const C: usize>(w: &Wave<C>, c: &mut Context<'_>, id: u8) -> Flow {
    let kind = match panic::at_trap(w.as_any(), c) {
        Some(panic) if id == ABORT_TRAP => FaultKind::Panic(Box::new(panic)),
        _ => FaultKind::Trap { id },
    };
    c.fail(kind)
}

/// The handler of a control operation.
pub(super) fn handler<const C: usize>(b: Binder<C>, op: Control) -> Handler {
    match op {
        // These only tune the hardware; they do not affect results.
        Control::s_nop
        | Control::s_setprio
        | Control::s_wakeup
        | Control::s_sendmsg
        | Control::s_icache_inv
        | Control::s_incperflevel
        | Control::s_decperflevel
        | Control::s_ttracedata
        | Control::s_set_valu_coexec_mode
        | Control::ds_nop
        // Exception flags, which the emulator does not have.
        | Control::v_clrexcp
        // Probes and discards affect caches, which the emulator does not have.
        | Control::s_atc_probe
        | Control::s_atc_probe_buffer
        | Control::s_dcache_discard
        | Control::s_dcache_discard_x2 => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Next,
        ),
        // Memory operations complete in order when they are issued, so there is little to wait for. Two orders remain:
        // a wave that has read another's flag must not have loaded what the flag guards earlier (on x86 that fence is
        // no instruction); a wave that has waited for a store must not load before others see the store (that fence is
        // one).
        Control::s_waitcnt => b.bind(
            #[inline(always)]
            |_, c, o| {
                if o.detail != 0 {
                    c.settle();
                }
                fence(Ordering::AcqRel);
                Flow::Next
            },
        ),
        Control::s_dcache_inv
        | Control::s_dcache_wb
        | Control::s_dcache_inv_vol
        | Control::s_dcache_wb_vol
        | Control::buffer_wbl2
        | Control::buffer_wbinvl1
        | Control::buffer_wbinvl1_vol
        | Control::buffer_invl2
        | Control::buffer_inv => b.bind(
            #[inline(always)]
            |_, c, _| {
                c.settle();
                fence(Ordering::AcqRel);
                Flow::Next
            },
        ),
        // RDNA has an instruction for each half of MODE's lowest byte.
        Control::s_round_mode => b.bind(
            #[inline(always)]
            |w, _, o| {
                w.mode = Mode::from_bits(w.mode.bits() & !0xf | o.imm as u32 & 0xf);
                Flow::Changed
            },
        ),
        Control::s_denorm_mode => b.bind(
            #[inline(always)]
            |w, _, o| {
                w.mode = Mode::from_bits(w.mode.bits() & !0xf0 | (o.imm as u32 & 0xf) << 4);
                Flow::Changed
            },
        ),
        Control::s_sendmsg_rtn_b32 => b.bind(
            #[inline(always)]
            |w, c, o| match answer(o) {
                Some(value) => {
                    w.set_scalar(o.dst, value as u32);
                    Flow::Next
                }
                None => no_answer(c, o),
            },
        ),
        Control::s_sendmsg_rtn_b64 => b.bind(
            #[inline(always)]
            |w, c, o| match answer(o) {
                Some(value) => {
                    w.set_scalar_pair(o.dst, value);
                    Flow::Next
                }
                None => no_answer(c, o),
            },
        ),
        Control::s_endpgm | Control::s_endpgm_saved | Control::s_endpgm_ordered_ps_done => b.bind(
            #[inline(always)]
            |_, _, _| Flow::End,
        ),
        Control::s_sleep => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Yield,
        ),
        Control::s_barrier => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Barrier,
        ),
        // The barrier of the workgroup is number -1; the dispatcher knows which waves have signalled.
        Control::s_barrier_signal => b.bind(
            #[inline(always)]
            |w, c, o| signal(w, c, o, false),
        ),
        Control::s_barrier_signal_isfirst => b.bind(
            #[inline(always)]
            |w, c, o| signal(w, c, o, true),
        ),
        Control::s_barrier_wait => b.bind(
            #[inline(always)]
            |w, c, o| match (o.imm, w.barrier) {
                (WORKGROUP_BARRIER, BarrierPhase::Complete) => {
                    w.barrier = BarrierPhase::Idle;
                    Flow::Next
                }
                (WORKGROUP_BARRIER, _) if !w.allocated.in_group => Flow::Next,
                (WORKGROUP_BARRIER, _) => Flow::Barrier,
                (number, _) => named_barrier(c, number),
            },
        ),
        // Without a debugger, its trap is skipped (LLVM's `AMDGPUUsage`, «Trap Handler ABI»).
        Control::s_trap => b.bind(
            #[inline(always)]
            |w, c, o| match o.imm as u8 {
                DEBUG_TRAP => Flow::Next,
                id => trap(w, c, id),
            },
        ),
        // Only the host can resume a halted wave, and nothing here does.
        Control::s_sethalt => b.bind(
            #[inline(always)]
            |_, c, o| match o.imm & 1 {
                0 => Flow::Next,
                _ => c.fail(FaultKind::Halted),
            },
        ),
        Control::s_sendmsghalt => b.bind(
            #[inline(always)]
            |_, c, _| c.fail(FaultKind::Halted),
        ),
        Control::s_setkill => b.bind(
            #[inline(always)]
            |_, _, o| match o.imm & 1 {
                0 => Flow::Next,
                _ => Flow::End,
            },
        ),
        Control::s_setvskip => b.bind(
            #[inline(always)]
            |w, _, o| {
                w.skips_vector = w.read32(&o.src[0]) >> (w.read32(&o.src[1]) & 31) & 1 == 1;
                Flow::Changed
            },
        ),
        Control::s_set_gpr_idx_on => b.bind(
            #[inline(always)]
            |w, _, o| {
                let index = w.read32(&o.src[0]) & 0xff;
                let operands = w.read32(&o.src[1]) & 15;
                let rest = w.scalar(M0) & !0xf0ff;
                w.set_scalar(M0, rest | index | operands << 12);
                w.mode = w.mode.with_indexing(true);
                Flow::Changed
            },
        ),
        Control::s_set_gpr_idx_off => b.bind(
            #[inline(always)]
            |w, _, _| {
                w.mode = w.mode.with_indexing(false);
                Flow::Changed
            },
        ),
        Control::s_set_gpr_idx_mode => b.bind(
            #[inline(always)]
            |w, _, o| {
                let rest = w.scalar(M0) & !0xf000;
                w.set_scalar(M0, rest | (o.imm as u32 & 15) << 12);
                Flow::Next
            },
        ),
        Control::s_set_gpr_idx_idx => b.bind(
            #[inline(always)]
            |w, _, o| {
                let index = w.read32(&o.src[0]) & 0xff;
                let rest = w.scalar(M0) & !0xff;
                w.set_scalar(M0, rest | index);
                Flow::Next
            },
        ),
        // A loop that runs twice in waves of 64 lanes, for the lower and for the upper half of EXEC, and not for a half
        // without active lanes. The register holds the half that waits (RDNA ISA guide, SOPK).
        Control::s_subvector_loop_begin => b.bind(
            #[inline(always)]
            |w, _, o| {
                let [low, high] = [w.scalar(EXEC), w.scalar(EXEC + 1)];
                let skips = (low | high) == 0;
                if !skips {
                    let waits = if low == 0 { 0 } else { high };
                    w.set_scalar(o.dst, waits);
                    if low != 0 {
                        w.set_scalar(EXEC + 1, 0);
                    }
                }
                branch(w, o, skips)
            },
        ),
        Control::s_subvector_loop_end => b.bind(
            #[inline(always)]
            |w, _, o| {
                let waits = w.read32(&o.src[0]);
                if w.scalar(EXEC + 1) != 0 {
                    // The upper half has run.
                    w.set_scalar(EXEC, waits);
                    return Flow::Next;
                }
                let again = waits != 0;
                if again {
                    let low = w.scalar(EXEC);
                    w.set_scalar(o.dst, low);
                    w.exec = u64::from(waits) << 32;
                }
                branch(w, o, again)
            },
        ),
        Control::s_branch => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, true),
        ),
        Control::s_cbranch_scc0 => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, !w.scc),
        ),
        Control::s_cbranch_scc1 => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, w.scc),
        ),
        Control::s_cbranch_vccz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, vcc(w) == 0),
        ),
        Control::s_cbranch_vccnz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, vcc(w) != 0),
        ),
        Control::s_cbranch_execz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, w.active() == 0),
        ),
        Control::s_cbranch_execnz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, w.active() != 0),
        ),
        // No debugger is attached.
        Control::s_cbranch_cdbgsys
        | Control::s_cbranch_cdbguser
        | Control::s_cbranch_cdbgsys_or_user
        | Control::s_cbranch_cdbgsys_and_user => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Next,
        ),
        Control::s_getpc_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let next = c.code.address_of(w.pc);
                w.set_scalar_pair(o.dst, next);
                Flow::Next
            },
        ),
        Control::s_setpc_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let address = w.read64(&o.src[0]);
                jump(w, c, address)
            },
        ),
        Control::s_swappc_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let address = w.read64(&o.src[0]);
                let next = c.code.address_of(w.pc);
                w.set_scalar_pair(o.dst, next);
                jump(w, c, address)
            },
        ),
        // Return from a trap handler; without privilege it is a jump.
        Control::s_rfe_b64 | Control::s_rfe_restore_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let address = w.read64(&o.src[0]);
                jump(w, c, address)
            },
        ),
        Control::s_cbranch_g_fork => b.bind(
            #[inline(always)]
            |w, c, o| {
                let target = w.read64(&o.src[1]);
                match c.code.index_of(target) {
                    Some(index) => fork(w, c, o, target, index),
                    None => c.fail(FaultKind::Jump { address: target }),
                }
            },
        ),
        Control::s_cbranch_i_fork => b.bind(
            #[inline(always)]
            |w, c, o| {
                let index = o.imm as u32;
                fork(w, c, o, c.code.address_of(index), index)
            },
        ),
        Control::s_cbranch_join => b.bind(join::<C>),
        Control::s_call_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let next = c.code.address_of(w.pc);
                w.set_scalar_pair(o.dst, next);
                branch(w, o, true)
            },
        ),
    }
}

/// The number of the barrier that all waves of a workgroup share.
const WORKGROUP_BARRIER: i64 = -1;

/// Signals the workgroup's barrier. If asked for, `scc` tells whether the wave is the first to do so.
fn signal<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    asks_for_first: bool,
) -> Flow {
    let number = i64::from(w.read32(&o.src[0]) as i32);
    // `m0` names other barriers.
    if o.src[0].kind != SourceKind::Constant || number != WORKGROUP_BARRIER {
        return named_barrier(c, number);
    }
    // A workgroup of one wave has no barrier.
    if !w.allocated.in_group {
        w.scc &= !asks_for_first;
        return Flow::Next;
    }
    w.barrier = match asks_for_first {
        true => BarrierPhase::AsksForFirst,
        false => BarrierPhase::Signalled,
    };
    Flow::Signal
}

#[cold]
fn named_barrier(c: &mut Context<'_>, number: i64) -> Flow {
    c.fail(FaultKind::Unsupported {
        what: format!("barrier {number}: only the workgroup's barrier, -1, is supported"),
    })
}

/// What the hardware answers to a message (RDNA 3 ISA guide, «S_SENDMSG_RTN»): the doorbell's number, the draw's identifier and
/// the trap handler's addresses, which are all 0 here, and the real-time counter.
fn answer(o: &Operation) -> Option<u64> {
    const DOORBELL: u64 = 0x80;
    const REAL_TIME: u64 = 0x83;
    const TRAP_HANDLER: u64 = 0x85;
    const SAVE_WAVE: u64 = 0x84;
    match o.src[0].value & 0xff {
        REAL_TIME => Some(scalar_memory::nanoseconds() / 10),
        SAVE_WAVE => None,
        DOORBELL..=TRAP_HANDLER => Some(0),
        _ => None,
    }
}

#[cold]
fn no_answer(c: &mut Context<'_>, o: &Operation) -> Flow {
    c.fail(FaultKind::Unsupported {
        what: format!(
            "the message {:#x} has no answer here; 0x80 to 0x83 and 0x85 have",
            o.src[0].value & 0xff
        ),
    })
}

impl Context<'_> {
    /// Makes earlier stores visible to all threads before any later load.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        if self.stored {
            fence(Ordering::SeqCst);
            self.stored = false;
        }
    }
}

/// Whether an instruction waits for the vector unit's stores, which a counter of their own counts on RDNA.
pub(super) fn awaits_stores(gpu: Gpu, i: &Instruction) -> bool {
    let counter = match gpu.family() {
        Family::Cdna => Counter::Vm,
        Family::Rdna => Counter::Vs,
    };
    WaitCounts::of(Some(i)).left(counter) != u32::MAX
}

#[inline(always)]
fn branch<const C: usize>(w: &mut Wave<C>, o: &Operation, taken: bool) -> Flow {
    if taken {
        w.pc = o.imm as u32;
    }
    Flow::Next
}

/// Most forks that can wait: three bits count them.
const FORKS: u32 = 7;

/// Lanes whose bit in the source is 1 go to the target, the others continue. If there are both, the smaller group runs
/// first; the other's address and mask wait in four SGPRs until [`join`].
fn fork<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    target: u64,
    index: u32,
) -> Flow {
    let source = w.read64(&o.src[0]);
    let (taken, left) = (source & w.active(), !source & w.active());
    if left == 0 {
        w.pc = index;
        return Flow::Next;
    }
    if taken == 0 {
        return Flow::Next;
    }
    let forks = w.mode.forks();
    if forks == FORKS {
        return c.fail(FaultKind::TooManyForks);
    }
    let next = c.code.address_of(w.pc);
    let (now, waiting, place) = if left.count_ones() < taken.count_ones() {
        (left, taken, target)
    } else {
        w.pc = index;
        (taken, left, next)
    };
    w.exec = now;
    let slot = 4 * forks as u16;
    w.set_scalar_pair(slot, waiting);
    w.set_scalar_pair(slot + 2, place);
    w.mode = w.mode.with_forks(forks + 1);
    Flow::Next
}

/// The first group of a fork to arrive gives way to the other, which runs from its saved address. The second continues,
/// with only its own lanes active.
fn join<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, o: &Operation) -> Flow {
    let forks = w.mode.forks();
    if forks == w.read32(&o.src[0]) || forks == 0 {
        return Flow::Next;
    }
    let slot = 4 * (forks - 1) as u16;
    w.mode = w.mode.with_forks(forks - 1);
    w.exec = w.scalar_pair(slot);
    let place = w.scalar_pair(slot + 2);
    jump(w, c, place)
}

fn jump<const C: usize>(w: &mut Wave<C>, c: &mut Context<'_>, address: u64) -> Flow {
    match c.code.index_of(address) {
        Some(index) => {
            w.pc = index;
            Flow::Next
        }
        None => c.fail(FaultKind::Jump { address }),
    }
}

/// Whether the instruction is a branch that may be taken. Branches on a debugger never are.
pub(crate) fn is_branch(i: &Instruction) -> bool {
    let never = matches!(
        i.run(),
        Run::Control(
            Control::s_cbranch_cdbgsys
                | Control::s_cbranch_cdbguser
                | Control::s_cbranch_cdbgsys_or_user
                | Control::s_cbranch_cdbgsys_and_user
        )
    );
    i.branch_words().is_some() && !never
}
