//! Program control: branches, calls, barriers, waits.

use super::{
    Context, FaultKind, Wave,
    lanes::{Binder, vcc},
    operation::{Flow, Handler, Operation},
};
use crate::isa::Op;

/// The handler of a control operation, if `op` is one.
pub(crate) fn handler(b: Binder, op: Op) -> Option<Handler> {
    Some(match op {
        // Memory operations are done when they are issued, so that there is nothing to wait for; what
        // only tunes the hardware has no effect on results.
        Op::s_nop
        | Op::s_waitcnt
        | Op::s_setprio
        | Op::s_sleep
        | Op::s_sethalt
        | Op::s_setkill
        | Op::s_wakeup
        | Op::s_sendmsg
        | Op::s_sendmsghalt
        | Op::s_icache_inv
        | Op::s_incperflevel
        | Op::s_decperflevel
        | Op::s_ttracedata
        | Op::s_set_valu_coexec_mode
        | Op::v_clrexcp
        | Op::s_dcache_inv
        | Op::s_dcache_wb
        | Op::s_dcache_inv_vol
        | Op::s_dcache_wb_vol
        | Op::buffer_wbl2
        | Op::buffer_wbinvl1
        | Op::buffer_wbinvl1_vol
        | Op::buffer_invl2
        | Op::buffer_inv => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Next,
        ),
        Op::s_endpgm | Op::s_endpgm_saved | Op::s_endpgm_ordered_ps_done => b.bind(
            #[inline(always)]
            |_, _, _| Flow::End,
        ),
        Op::s_barrier => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Barrier,
        ),
        Op::s_trap => b.bind(
            #[inline(always)]
            |_, c, o| c.fail(FaultKind::Trap { id: o.imm as u8 }),
        ),
        Op::s_branch => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, true),
        ),
        Op::s_cbranch_scc0 => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, !w.scc),
        ),
        Op::s_cbranch_scc1 => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, w.scc),
        ),
        Op::s_cbranch_vccz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, vcc(w) == 0),
        ),
        Op::s_cbranch_vccnz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, vcc(w) != 0),
        ),
        Op::s_cbranch_execz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, w.exec == 0),
        ),
        Op::s_cbranch_execnz => b.bind(
            #[inline(always)]
            |w, _, o| branch(w, o, w.exec != 0),
        ),
        // No debugger is attached.
        Op::s_cbranch_cdbgsys
        | Op::s_cbranch_cdbguser
        | Op::s_cbranch_cdbgsys_or_user
        | Op::s_cbranch_cdbgsys_and_user => b.bind(
            #[inline(always)]
            |_, _, _| Flow::Next,
        ),
        Op::s_getpc_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let next = c.code.address_of(w.pc);
                w.set_scalar_pair(o.dst, next);
                Flow::Next
            },
        ),
        Op::s_setpc_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let address = w.read64(&o.src[0]);
                jump(w, c, address)
            },
        ),
        Op::s_swappc_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let address = w.read64(&o.src[0]);
                let next = c.code.address_of(w.pc);
                w.set_scalar_pair(o.dst, next);
                jump(w, c, address)
            },
        ),
        Op::s_call_b64 => b.bind(
            #[inline(always)]
            |w, c, o| {
                let next = c.code.address_of(w.pc);
                w.set_scalar_pair(o.dst, next);
                branch(w, o, true)
            },
        ),
        _ => return None,
    })
}

#[inline(always)]
fn branch(w: &mut Wave, o: &Operation, taken: bool) -> Flow {
    if taken {
        w.pc = o.imm as u32;
    }
    Flow::Next
}

fn jump(w: &mut Wave, c: &mut Context<'_>, address: u64) -> Flow {
    match c.code.index_of(address) {
        Some(index) => {
            w.pc = index;
            Flow::Next
        }
        None => c.fail(FaultKind::Jump { address }),
    }
}

/// Whether the operation's immediate is a branch offset, in instruction words from the next one.
pub(crate) fn is_branch(op: Op) -> bool {
    matches!(
        op,
        Op::s_branch
            | Op::s_cbranch_scc0
            | Op::s_cbranch_scc1
            | Op::s_cbranch_vccz
            | Op::s_cbranch_vccnz
            | Op::s_cbranch_execz
            | Op::s_cbranch_execnz
            | Op::s_call_b64
    )
}
