//! Events that processes share: a page with the number of the last record, and of the records that were reached.

use std::{
    ffi::c_void,
    io, ptr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use super::host_call::HostCall;
use ferrowave_emulator::memory::{Addresses, PAGE_BYTES, Physical, Shared};

/// Records whose completion is kept, as in CLR. A place keeps its highest number, so that no one waits forever.
const PLACES: usize = 32;

/// How long a thread sleeps between two looks, which no process can shorten.
const PAUSE: Duration = Duration::from_micros(50);

/// The page. All zero is an event that was never recorded.
#[repr(C)]
struct Page {
    /// The number of the last record, from 1 on.
    last: AtomicU64,
    /// The last record of each place that was reached.
    reached: [AtomicU64; PLACES],
}

/// An event that processes share.
pub(crate) struct SharedEvent {
    /// Where the page is mapped.
    addresses: Addresses,
    memory: Physical,
}

/// A record of an event, in this or another process.
pub(crate) struct SharedRecord {
    event: Arc<SharedEvent>,
    number: u64,
}

impl SharedEvent {
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        Self::of(Physical::of_host(PAGE_BYTES)?)
    }

    /// The event of another process.
    pub(crate) fn open(process: u32, shared: &Shared) -> io::Result<Arc<Self>> {
        Self::of(Physical::of_process(process, shared)?)
    }

    fn of(memory: Physical) -> io::Result<Arc<Self>> {
        if memory.bytes() != PAGE_BYTES {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let addresses = Addresses::reserve(PAGE_BYTES, PAGE_BYTES, 0)?;
        addresses.map(&(0..PAGE_BYTES), &memory)?;
        Ok(Arc::new(SharedEvent { addresses, memory }))
    }

    /// Where other processes find it.
    pub(crate) fn shared(&self) -> io::Result<Shared> {
        self.memory.shared()
    }

    fn page(&self) -> &Page {
        let page = ptr::with_exposed_provenance(self.addresses.start() as usize);
        // SAFETY: the page is mapped while `self` exists, and all processes access it by atomic operations only.
        unsafe { &*page }
    }

    /// A new record, which becomes the last. `reached` must run when the stream gets there.
    pub(crate) fn record(self: &Arc<Self>) -> SharedRecord {
        SharedRecord {
            event: Arc::clone(self),
            number: self.page().last.fetch_add(1, Ordering::AcqRel) + 1,
        }
    }

    /// The last record; `None` if there is none.
    pub(crate) fn last(self: &Arc<Self>) -> Option<SharedRecord> {
        match self.page().last.load(Ordering::Acquire) {
            0 => None,
            number => Some(SharedRecord {
                event: Arc::clone(self),
                number,
            }),
        }
    }
}

impl SharedRecord {
    fn place(&self) -> &AtomicU64 {
        &self.event.page().reached[self.number as usize % PLACES]
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.place().load(Ordering::Acquire) >= self.number
    }

    pub(crate) fn wait(&self) {
        while !self.is_reached() {
            thread::sleep(PAUSE);
        }
    }

    /// What a stream calls when it gets to the record, once.
    pub(crate) fn reach(self) -> HostCall {
        unsafe extern "C" fn reach(record: *mut c_void) {
            // SAFETY: `call` has passed on the ownership.
            let record = unsafe { SharedRecord::called(record) };
            record.place().fetch_max(record.number, Ordering::AcqRel);
        }
        self.call(reach)
    }

    /// What a stream calls to wait for the record, once.
    pub(crate) fn wait_in_stream(self) -> HostCall {
        unsafe extern "C" fn wait(record: *mut c_void) {
            // SAFETY: `call` has passed on the ownership.
            unsafe { SharedRecord::called(record) }.wait();
        }
        self.call(wait)
    }

    fn call(self, function: unsafe extern "C" fn(*mut c_void)) -> HostCall {
        HostCall {
            function,
            data: Box::into_raw(Box::new(self)).expose_provenance(),
        }
    }

    /// # Safety
    /// The address is from [`Self::call`], and is not used again.
    unsafe fn called(record: *mut c_void) -> Box<Self> {
        // SAFETY: guaranteed by the caller.
        unsafe { Box::from_raw(record.cast()) }
    }
}
