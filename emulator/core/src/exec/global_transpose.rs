//! RDNA 4's transposing loads from global memory, for waves of 32 lanes.
//!
//! Each lane reads eight elements and gets eight, one from each of eight lanes: the element with its own number among
//! eight. Elements of 16 bits come from the lanes of the same eight, in order. With elements of 8 bits, sixteen lanes take
//! part: the lower eight get those of lanes 0 to 3 and 8 to 11, the upper eight those of lanes 4 to 7 and 12 to 15.
//!
//! AMD's RDNA 4 ISA guide says which matrices the instructions are for, but not which lane gets what. For 16 bits,
//! AMD's documentation of the builtin has the rule. For 8 bits, projects measured it on an RX 9070 XT (llama.cpp's fork
//! of kmbandy, «`global_load_tr_b64` fp8 B-fragment contract»), and kernels of others agree with it.
//!
//! The guide asks for all lanes to be active. Elements of inactive lanes read as 0 here. Nothing is known of waves of 64
//! lanes, which have half as many elements a lane.

use ferrowave_isa::run::GlobalTranspose;

use super::{
    Context, Wave, global,
    lanes::Binder,
    operation::{Flow, Handler, Operation},
    wave::Lanes,
};

/// Lanes of a wave that has these instructions.
const LANES: usize = 32;

/// The handler of one of these operations.
pub(super) fn handler(b: Binder<2>, op: GlobalTranspose) -> Handler {
    match op {
        GlobalTranspose::global_load_tr_b128 => {
            b.bind(|w, c, o| transposed::<4>(w, c, o, |lane, element| lane / 8 * 8 + element))
        }
        GlobalTranspose::global_load_tr_b64 => b.bind(|w, c, o| {
            transposed::<2>(w, c, o, |lane, element| {
                lane / 16 * 16 + lane / 8 % 2 * 4 + element / 4 * 8 + element % 4
            })
        }),
    }
}

/// Eight elements in `N` dwords of each lane. `reader` is the lane that reads an element of a lane.
fn transposed<const N: usize>(
    w: &mut Wave<2>,
    c: &mut Context<'_>,
    o: &Operation,
    reader: fn(usize, usize) -> usize,
) -> Flow {
    let mut rows = [0_u128; LANES];
    let flow = global::visit(w, c, o, 4 * N as u32, false, |_, access| {
        let moves = access.moves;
        access.each(|lane, address| {
            // SAFETY: the lane is active, so its bytes were checked.
            let data = unsafe { moves.read_dwords(address, N) };
            for (part, dword) in data.into_iter().take(N).enumerate() {
                rows[lane] |= u128::from(dword) << (32 * part);
            }
        });
    });
    if flow != Flow::Next {
        return flow;
    }
    let bits = 4 * N;
    let mask = (1_u128 << bits) - 1;
    let mut results = [Lanes::splat(0); N];
    for lane in 0..LANES {
        let column = bits * (lane % 8);
        let value = (0..8).fold(0, |value, element| {
            value | (rows[reader(lane, element)] >> column & mask) << (bits * element)
        });
        for (part, result) in results.iter_mut().enumerate() {
            result.as_mut_array()[lane] = (value >> (32 * part)) as u32;
        }
    }
    for (register, result) in (o.dst..).zip(results) {
        w.commit(register, *result.chunks());
    }
    Flow::Next
}
