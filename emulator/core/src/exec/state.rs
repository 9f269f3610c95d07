//! A wave's state besides its registers, for the handlers of a few instructions.

/// What the launch decides about the wave's registers and LDS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allocated {
    /// GPR_ALLOC.
    pub(crate) gprs: u32,
    /// LDS_ALLOC.
    pub(crate) lds: u32,
    /// Whether the workgroup has more than one wave.
    pub(crate) in_group: bool,
}

/// Where a wave's private memory is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its address; `None` where the kernel itself writes it to `flat_scratch`.
    pub(crate) base: Option<u64>,
    /// Bytes per lane.
    pub(crate) bytes: u32,
}

/// A wave's place in a resource's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalWait {
    /// The resource's number.
    pub resource: u8,
    /// The wave's position in the queue, from 1; 0 if it need not wait.
    pub(super) place: u64,
}

/// What a wave has done with LDS since the last barrier; decides whether it lets other waves go first (see `lds.rs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has not read.
    Before,
    /// It has read.
    Read,
    /// It need not let other waves go first: it has done so, or never has to.
    #[default]
    Given,
}

impl Turn {
    #[inline(always)]
    pub(super) fn read(&mut self) {
        if *self == Turn::Before {
            *self = Turn::Read;
        }
    }

    /// Whether the wave lets other waves go first, if it is about to store.
    #[inline(always)]
    pub(super) fn gives_way(&mut self, stores: impl FnOnce() -> bool) -> bool {
        let gives = *self == Turn::Read && stores();
        if gives {
            *self = Turn::Given;
        }
        gives
    }
}
