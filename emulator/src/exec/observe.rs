//! Watching a wave run: what checks, counters and the timing model hang on to.

use super::{Context, Wave};

/// Sees every instruction of a run before it happens. A run is generic over its observer, so that one
/// without observer ([`Unobserved`]) has no trace of it.
pub trait Observer {
    /// Whether [`Self::before`] is called at all.
    const ACTIVE: bool;

    /// The wave is about to run the instruction at `index` of the code.
    fn before(&mut self, wave: &Wave, context: &Context<'_>, index: u32);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;

    fn before(&mut self, _: &Wave, _: &Context<'_>, _: u32) {}
}
