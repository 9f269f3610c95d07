//! What a wave has beside its registers, for the handlers of some instructions.

/// What a launch decides of the registers.
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
    /// Its address; none where the kernel itself puts it in `flat_scratch`.
    pub(crate) base: Option<u64>,
    /// Bytes of a lane.
    pub(crate) bytes: u32,
}

/// A wave's place in a resource's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalWait {
    /// The resource's number.
    pub resource: u8,
    /// Which one in the queue it is, from 1; 0 if it need not wait.
    pub(super) place: u64,
}

/// What a wave has done with LDS since the last barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing that counts.
    Before,
    /// It has read.
    Read,
    /// It need not let others go first (again).
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

    /// Whether the wave lets others go first, if it is about to store.
    #[inline(always)]
    pub(super) fn gives_way(&mut self, stores: impl FnOnce() -> bool) -> bool {
        let gives = *self == Turn::Read && stores();
        if gives {
            *self = Turn::Given;
        }
        gives
    }
}
