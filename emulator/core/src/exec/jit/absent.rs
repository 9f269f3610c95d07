//! Stands for the JIT on hosts without one: operations run everything, one by one.

use crate::exec::{
    Context, Wave,
    operation::{Flow, Operation, Operations},
};
use ferrowave_isa::Instruction;

/// When regions are translated: never.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::exec) struct Policy;

#[cfg(test)]
impl Policy {
    /// As if each vector instruction were translated at once.
    pub(in crate::exec) const AT_ONCE: Self = Policy;
}

/// The regions of some code: none.
#[derive(Debug, Default)]
pub(in crate::exec) struct Regions;

impl Regions {
    pub(in crate::exec) fn find<'a>(
        _: u32,
        _: impl Fn(usize) -> Option<&'a Instruction>,
        _: &mut [Operation],
        _: Policy,
    ) -> Self {
        Regions
    }

    #[inline]
    pub(in crate::exec) fn run(
        &self,
        _: &Operations,
        _: &mut Wave,
        _: &mut Context<'_>,
        _: u32,
        _: &mut u64,
    ) -> Option<Flow> {
        None
    }
}
