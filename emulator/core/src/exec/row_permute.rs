//! Permutations of lanes within and between rows of sixteen lanes, and between the halves of a wave (RDNA).

use super::{
    Wave,
    array::{Mapped, array},
    lanes::Binder,
    operation::{Flow, Handler, Operation},
    wave::Lanes,
};
use ferrowave_isa::run::RowPermute;

pub(super) fn handler<const C: usize>(b: Binder<C>, op: RowPermute) -> Handler {
    match op {
        RowPermute::v_permlane16_b32 => b.bind(
            #[inline(always)]
            |w, _, o| permute(w, o, |w, row, column| 16 * row + selected(w, o, column)),
        ),
        RowPermute::v_permlanex16_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                permute(w, o, |w, row, column| {
                    16 * (row ^ 1) + selected(w, o, column)
                })
            },
        ),
        RowPermute::v_permlane16_var_b32 => b.bind(
            #[inline(always)]
            |w, _, o| permute(w, o, |w, row, column| 16 * row + named(w, o, row, column)),
        ),
        RowPermute::v_permlanex16_var_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                permute(w, o, |w, row, column| {
                    16 * (row ^ 1) + named(w, o, row, column)
                })
            },
        ),
        // It does nothing in a wave of 32 lanes.
        RowPermute::v_permlane64_b32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let from = *w.lanes(o.src[0].register);
                if C == 4 {
                    w.commit(o.dst, array::<_, C>(|c| from.0[c ^ 2]));
                }
                Flow::Next
            },
        ),
    }
}

/// The lane of a row that the scalar sources select for a lane: sixteen numbers of four bits.
fn selected<const C: usize>(w: &Wave<C>, o: &Operation, column: usize) -> usize {
    let [low, high] = [1, 2].mapped(|n| u64::from(w.read32(&o.src[n])));
    (low | high << 32) as usize >> (4 * column) & 15
}

/// The lane of a row that a lane's second source names.
fn named<const C: usize>(w: &Wave<C>, o: &Operation, row: usize, column: usize) -> usize {
    w.lanes(o.src[1].register).as_array()[16 * row + column] as usize & 15
}

/// Reads each lane from another one. An inactive one gives its value if bit 0 of `op_sel` (`fi`) is set, otherwise 0 if
/// bit 1 (`bound_ctrl`) is, otherwise the result keeps its old value.
fn permute<const C: usize>(
    w: &mut Wave<C>,
    o: &Operation,
    source: impl Fn(&Wave<C>, usize, usize) -> usize,
) -> Flow {
    let (fetch_inactive, zero) = (o.op_sel & 1 != 0, o.op_sel & 2 != 0);
    let (exec, from, mut result) = (w.active(), *w.lanes(o.src[0].register), *w.lanes(o.dst));
    for lane in 0..16 * C {
        let other = source(w, lane / 16, lane % 16);
        let value = &mut result.as_mut_array()[lane];
        if fetch_inactive || exec >> other & 1 == 1 {
            *value = from.as_array()[other];
        } else if zero {
            *value = 0;
        }
    }
    let result: Lanes = result;
    w.commit(o.dst, *result.chunks());
    Flow::Next
}
