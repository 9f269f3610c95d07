//! Global wave sync (GWS): barriers and semaphores of all waves of a cooperative launch.
//!
//! There are 64 resources, each a counter and a queue of waves. An instruction names one by `m0[21:16]` plus its
//! offset. AMD's «Vega» and «MI100» ISA guides describe the instructions («LDS and GDS instructions», `GWS_INIT` to
//! `GWS_BARRIER`), but not which lane gives the value if none is active; here it is lane 0, as in
//! `v_readfirstlane_b32`.

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

/// Number of resources.
const RESOURCES: usize = 64;

/// One barrier or semaphore. Waves leave its queue in the order of arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    counter: u32,
    /// How many waves have joined the queue so far.
    queued: u64,
    /// How many of them have left.
    released: u64,
}

impl Resource {
    fn enqueue(&mut self) -> u64 {
        self.queued += 1;
        self.queued
    }

    /// Releases waves as long as the semaphore's counter allows it.
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
    /// How often waves were released; see [`Self::changes`].
    changes: AtomicU64,
}

impl GlobalSync {
    /// The resources of a launch of `workgroups` workgroups. HIP makes resource 0 a barrier of all of them before the
    /// kernel runs (ROCclr's `RunGwsInit`, with one less than their number).
    pub(crate) fn new(workgroups: u32) -> Self {
        let mut resources = [Resource::default(); RESOURCES];
        resources[0].counter = workgroups.saturating_sub(1);
        GlobalSync {
            resources: Mutex::new(resources),
            changes: AtomicU64::new(0),
        }
    }

    /// Whether a wave may continue.
    pub(crate) fn is_released(&self, wait: GlobalWait) -> bool {
        // A poisoned lock is safe to use: resources are consistent between statements.
        let resources = self
            .resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        wait.place <= resources[usize::from(wait.resource) % RESOURCES].released
    }

    /// A counter that changes whenever waves are released.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Applies `change` to a resource. `change` returns the wave's place in the queue, or 0.
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
pub(super) fn handler<const C: usize>(b: Binder<C>, op: Gws) -> Handler {
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
                // The last wave provides the count for the next use.
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
        // Releases all waiting waves; without any it has no effect.
        Gws::ds_gws_sema_release_all => b.bind(|w, c, o| {
            sync(w, c, o, |resource, _| {
                resource.released = resource.queued;
                0
            })
        }),
    }
}

/// Changes the resource that an operation names, with the operation's value. The scheduler decides whether the wave
/// continues.
fn sync<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    change: impl FnOnce(&mut Resource, u32) -> u64,
) -> Flow {
    let Some(global) = c.global_sync else {
        return c.fail(FaultKind::NoGlobalSync);
    };
    let resource = (w.scalar(M0) >> 16).wrapping_add(o.imm as u32) as u8 % RESOURCES as u8;
    let data = w.fetch(0, &o.src[0]);
    let lane = w.active().trailing_zeros() as usize % 64;
    let value = w.chunk(data, lane / 16)[lane % 16];
    w.global_wait = Some(global.change(resource, |resource| change(resource, value)));
    Flow::Wait
}
