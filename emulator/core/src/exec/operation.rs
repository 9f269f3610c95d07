//! An instruction ready to run: resolved operands and a function pointer.

use ferrowave_isa::{Category, Extension};

use super::{Context, Wave, simd::SimdLevel};
use crate::memory::shared::Moves;

/// What a wave does after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Flow {
    /// Continues at its program counter.
    Next,
    /// Ends.
    End,
    /// As [`Flow::Next`], but `gpr_index::is_plain` may have changed.
    Changed,
    /// Waits at a workgroup barrier.
    Barrier,
    /// As [`Flow::Next`], after it has signalled the workgroup's barrier.
    Signal,
    /// As [`Flow::Next`], after other waves have had a turn: it sleeps, most likely until one of them has done
    /// something.
    Yield,
    /// Runs this operation again after other waves have had a turn; the operation has done nothing yet.
    Later,
    /// Continues when it is released from the queue that it has joined (`exec/gws.rs`).
    Wait,
    /// Stops; the reason is in `Context::fault`.
    Fault,
}

/// A compiled operation's function.
///
/// # Safety
/// The computer must have the [`SimdLevel`] that the function was bound for, and the context must be of code for that
/// level.
///
/// The wave must have the number of chunks that the function was bound for; otherwise it computes nonsense.
pub(crate) type Handler = unsafe fn(&mut Wave, &mut Context<'_>, &Operation) -> Flow;

/// Where a source operand is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SourceKind {
    /// No operand: reads as 0.
    #[default]
    None,
    /// Index into the vector register file.
    Vector,
    /// Index into the scalar register file.
    Scalar,
    /// The bits in [`Source::value`].
    Constant,
    /// `vccz`, `execz` or `scc`, by operand code in [`Source::register`].
    Status,
}

/// A resolved source operand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    pub(crate) kind: SourceKind,
    pub(crate) register: u16,
    pub(crate) value: u64,
}

/// An instruction ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) run: Handler,
    pub(crate) src: [Source; 4],
    /// First register of the result, in the file that the operation writes.
    pub(crate) dst: u16,
    /// Scalar register of a second result.
    pub(crate) sdst: u16,
    /// Byte offset, branch target or other immediate.
    pub(crate) imm: i64,
    /// Source masks and result modifiers, as in [`ferrowave_isa::Modifiers`].
    pub(crate) abs: u8,
    pub(crate) neg: u8,
    pub(crate) neg_hi: u8,
    pub(crate) op_sel: u8,
    pub(crate) op_sel_hi: u8,
    pub(crate) clamp: bool,
    pub(crate) omod: u8,
    /// What the slow path of a float operation computes, or another detail of the operation.
    pub(crate) detail: u8,
    pub(crate) control: [u8; 3],
    /// The unit that executes the instruction.
    pub(crate) category: Category,
    /// The region that begins at this operation, or [`super::jit::NONE`].
    pub(crate) native: u32,
    /// What SDWA or DPP does around the operation.
    pub(crate) extension: Option<Box<Extended>>,
}

/// The operation inside an extension.
#[derive(Clone, Debug)]
pub(crate) struct Extended {
    pub(crate) inner: Operation,
    pub(super) extension: Extension,
    /// The real destination register; with a partial result, SDWA writes a temporary one first.
    pub(super) dst: u16,
    /// Whether source 0 is a register pair.
    pub(super) wide: bool,
    /// The sources before staging.
    pub(super) originals: [Source; 2],
    /// The second instruction of a pair.
    pub(super) second: Option<Operation>,
}

impl Operation {
    /// Gives a memory operation its index into `Context::recent`.
    pub(crate) fn remember(&mut self, place: u8) {
        self.control[1] = place;
        if let Some(extended) = &mut self.extension {
            extended.inner.control[1] = place;
        }
    }
}

/// The function pointer that runs `f`, written for waves of `C` chunks, with the host instructions of `level`.
///
/// `f` must capture nothing, because only its type is kept.
pub(crate) fn bind<const C: usize, F>(level: SimdLevel, _f: F) -> Handler
where
    F: Fn(&mut Wave<C>, &mut Context<'_>, &Operation) -> Flow + Copy + 'static,
{
    match level {
        SimdLevel::Portable => portable::<C, F>,
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => avx2::<C, F>,
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => avx512::<C, F>,
        #[cfg(not(target_arch = "x86_64"))]
        _ => portable::<C, F>,
    }
}

/// Runs `f` with the host instructions of `level`, out of line: its stack and host registers cost the common case
/// nothing.
///
/// # Safety
/// The computer must have the [`SimdLevel`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn cold_path<const C: usize, F>(
    level: SimdLevel,
    wave: &mut Wave<C>,
    context: &mut Context<'_>,
    operation: &Operation,
    f: F,
) -> Flow
where
    F: Fn(&mut Wave<C>, &mut Context<'_>, &Operation) -> Flow + Copy + 'static,
{
    // SAFETY: the caller's promise.
    unsafe { bind(level, f)(wave.any(), context, operation) }
}

/// Runs `f` with the host instructions of `level`, out of line, so that all operations that need it share one copy.
///
/// # Safety
/// The computer must have the [`SimdLevel`].
#[inline(always)]
pub(crate) unsafe fn share(level: SimdLevel, f: impl FnOnce()) {
    match level {
        SimdLevel::Portable => shared_portable(f),
        // SAFETY: the caller's promise.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { shared_avx2(f) },
        // SAFETY: the caller's promise.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { shared_avx512(f) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => shared_portable(f),
    }
}

#[cfg_attr(target_arch = "x86_64", optimize(size))]
#[inline(never)]
fn shared_portable(f: impl FnOnce()) {
    f();
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn shared_avx2(f: impl FnOnce()) {
    f();
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
)]
fn shared_avx512(f: impl FnOnce()) {
    f();
}

/// The value of a type that has only one.
#[inline(always)]
fn only_value<F: Copy + 'static>() -> F {
    const {
        assert!(
            size_of::<F>() == 0,
            "an operation's closure captures nothing"
        );
    };
    // SAFETY: `F` is zero-sized and `Copy`, and its only value exists: `bind` was called with it.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}

/// On x86-64, small code is better than fast code: hardly a computer runs it, and it was the largest of the three levels.
#[cfg_attr(target_arch = "x86_64", optimize(size))]
unsafe fn portable<const C: usize, F>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    operation: &Operation,
) -> Flow
where
    F: Fn(&mut Wave<C>, &mut Context<'_>, &Operation) -> Flow + Copy + 'static,
{
    // SAFETY: context and function were both made for the level of the code.
    unsafe { std::hint::assert_unchecked(context.moves == Moves::Portable) };
    only_value::<F>()(wave.with_chunks(), context, operation)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<const C: usize, F>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    operation: &Operation,
) -> Flow
where
    F: Fn(&mut Wave<C>, &mut Context<'_>, &Operation) -> Flow + Copy + 'static,
{
    // SAFETY: as in `portable`.
    unsafe { std::hint::assert_unchecked(context.moves == Moves::Avx) };
    only_value::<F>()(wave.with_chunks(), context, operation)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn avx512<const C: usize, F>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    operation: &Operation,
) -> Flow
where
    F: Fn(&mut Wave<C>, &mut Context<'_>, &Operation) -> Flow + Copy + 'static,
{
    // SAFETY: as in `portable`.
    unsafe { std::hint::assert_unchecked(context.moves == Moves::Avx512) };
    only_value::<F>()(wave.with_chunks(), context, operation)
}

/// The operations of consecutive instructions.
pub(super) struct Operations {
    /// Index of the first.
    pub(super) first: u32,
    pub(super) list: Vec<Operation>,
}

impl Operations {
    /// The operation at an index, if it is one of these.
    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> Option<&Operation> {
        self.list.get(index.wrapping_sub(self.first) as usize)
    }
}
