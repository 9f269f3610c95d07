//! Global wave sync (GWS): barriers and semaphores of all waves of a cooperative launch.
//!
//! There are 64 resources, each a counter and a queue of waves; an instruction names one by `m0[21:16]` plus its offset.
//! What each instruction does is in AMD's «Vega» and «MI100» ISA guides, «LDS and GDS instructions» (`GWS_INIT` to
//! `GWS_BARRIER`). Which lane gives the value where none is active they do not say: lane 0, as in `v_readfirstlane_b32`.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use super::{
    Context, FaultKind, Wave,
    lanes::Binder,
    operation::{Flow, Handler, Operation},
    state::GlobalWait,
    wave::M0,
};
use ferrowave_isa::run::Gws;

/// How many resources there are.
const RESOURCES: usize = 64;

/// One barrier or semaphore. Waves leave its queue in the order in which they came.
#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    counter: u32,
    /// Waves that have queued, ever.
    queued: u64,
    /// Those of them that have left.
    released: u64,
}

impl Resource {
    fn enqueue(&mut self) -> u64 {
        self.queued += 1;
        self.queued
    }

    /// A semaphore lets waves through as long as its counter allows it.
    fn let_through(&mut self) {
        let through = (self.queued - self.released).min(self.counter.into());
        self.released += through;
        self.counter -= through as u32;
    }
}

/// The resources of a launch.
#[derive(Debug)]
pub(crate) struct GlobalSync {
    resources: Mutex<[Resource; RESOURCES]>,
    /// How often something changed that a wave may wait for.
    changes: AtomicU64,
}

impl GlobalSync {
    /// Of a launch of so many workgroups: HIP makes resource 0 a barrier of all of them before the kernel runs (ROCclr's
    /// `RunGwsInit`, with one less than there are).
    pub(crate) fn new(workgroups: u32) -> Self {
        let mut resources = [Resource::default(); RESOURCES];
        resources[0].counter = workgroups.saturating_sub(1);
        GlobalSync {
            resources: Mutex::new(resources),
            changes: AtomicU64::new(0),
        }
    }

    /// Whether a wave may go on.
    pub(crate) fn is_released(&self, wait: GlobalWait) -> bool {
        // Whole between statements.
        let resources = self
            .resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        wait.place <= resources[usize::from(wait.resource) % RESOURCES].released
    }

    /// A number that is another whenever a wave that waited may go on.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Does `change` to a resource, which returns the wave's place in the queue or 0.
    fn change(&self, resource: u8, change: impl FnOnce(&mut Resource) -> u64) -> GlobalWait {
        let mut resources = self
            .resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let changed = &mut resources[usize::from(resource) % RESOURCES];
        let released = changed.released;
        let place = change(changed);
        if changed.released != released {
            self.changes.fetch_add(1, Ordering::Release);
        }
        GlobalWait { resource, place }
    }
}

/// The handler of a `ds_gws_*` operation.
pub(super) fn handler(b: Binder, op: Gws) -> Handler {
    match op {
        Gws::ds_gws_init => b.bind(|w, c, o| {
            sync(w, c, o, |resource, value| {
                resource.counter = value;
                0
            })
        }),
        Gws::ds_gws_barrier => b.bind(|w, c, o| {
            sync(w, c, o, |resource, value| {
                if resource.counter > 0 {
                    resource.counter -= 1;
                    return resource.enqueue();
                }
                // The last one brings the count of the next time.
                resource.counter = value;
                resource.released = resource.queued;
                0
            })
        }),
        Gws::ds_gws_sema_v => b.bind(|w, c, o| {
            sync(w, c, o, |resource, _| {
                resource.counter = resource.counter.saturating_add(1);
                resource.let_through();
                0
            })
        }),
        Gws::ds_gws_sema_br => b.bind(|w, c, o| {
            sync(w, c, o, |resource, value| {
                resource.counter = resource.counter.saturating_add(value);
                resource.let_through();
                0
            })
        }),
        Gws::ds_gws_sema_p => b.bind(|w, c, o| {
            sync(w, c, o, |resource, _| {
                let place = resource.enqueue();
                resource.let_through();
                place
            })
        }),
        // It lets those go that wait and has no effect where none does.
        Gws::ds_gws_sema_release_all => b.bind(|w, c, o| {
            sync(w, c, o, |resource, _| {
                resource.released = resource.queued;
                0
            })
        }),
    }
}

/// Changes the resource that an operation names with the value that it brings. Whether the wave goes on is for those
/// to find who run it.
fn sync(
    w: &mut Wave,
    c: &mut Context<'_>,
    o: &Operation,
    change: impl FnOnce(&mut Resource, u32) -> u64,
) -> Flow {
    let Some(global) = c.global_sync else {
        return c.fail(FaultKind::NoGlobalSync);
    };
    let resource = (w.scalar(M0) >> 16).wrapping_add(o.imm as u32) as u8 % RESOURCES as u8;
    let data = w.fetch(0, &o.src[0]);
    let lane = w.exec.trailing_zeros() as usize % 64;
    let value = w.chunk(data, lane / 16)[lane % 16];
    w.global_wait = Some(global.change(resource, |resource| change(resource, value)));
    Flow::Wait
}
