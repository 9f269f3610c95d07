//! Physical memory and the reserved addresses where programs map it.

use std::{
    collections::BTreeMap,
    ffi::c_int,
    ops::Range,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use ferrowave_hip_abi::{hipError_t, hipMemAccessFlags, hipMemAllocationProp};

use crate::{
    error::Failure,
    handles::Handles,
    runtime::{Device, allocations::MadeBy},
};
use ferrowave_emulator::memory::{Addresses, Mapped, Physical};

/// Physical memory that a program created or imported.
pub(crate) struct Memory {
    pub(crate) physical: Physical,
    pub(crate) device: Arc<Device>,
    pub(crate) properties: hipMemAllocationProp,
    handle: usize,
    /// How often the program must release the handle.
    references: AtomicUsize,
}

// SAFETY: the properties hold a pointer that only the program uses.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// The memory whose handle the program has.
static MEMORY: LazyLock<Handles<Memory>> = LazyLock::new(Handles::new);

impl Memory {
    /// Makes a handle.
    pub(crate) fn keep(
        physical: Physical,
        device: Arc<Device>,
        properties: hipMemAllocationProp,
    ) -> usize {
        MEMORY.insert_with(|handle| {
            Arc::new(Memory {
                physical,
                device,
                properties,
                handle,
                references: AtomicUsize::new(1),
            })
        })
    }

    pub(crate) fn of(handle: usize) -> Result<Arc<Self>, Failure> {
        MEMORY.get(handle).ok_or_else(|| {
            Failure::value(format_args!(
                "{handle:#x} is not the handle of physical memory, or was released"
            ))
        })
    }

    /// The handle, which must be released once more.
    fn retain(self: &Arc<Self>) -> usize {
        if self.references.fetch_add(1, Ordering::Relaxed) == 0 {
            MEMORY.insert_at(self.handle, Arc::clone(self));
        }
        self.handle
    }

    /// Releases the handle once. Mappings keep the memory.
    pub(crate) fn release(handle: usize) -> Result<(), Failure> {
        // The lock orders this with `retain`.
        let _places = places();
        let memory = Self::of(handle)?;
        if memory.references.fetch_sub(1, Ordering::Relaxed) == 1 {
            MEMORY.remove(handle);
        }
        Ok(())
    }
}

/// Memory at some of the reserved addresses.
struct Mapping {
    bytes: usize,
    memory: Arc<Memory>,
    /// The devices that can access it.
    access: Vec<(Arc<Device>, hipMemAccessFlags)>,
}

/// Reserved addresses, and what is mapped there, by offset.
struct Place {
    addresses: Addresses,
    mappings: BTreeMap<usize, Mapping>,
    /// The devices whose memory lists allocations here.
    devices: Vec<Arc<Device>>,
}

/// Reserved addresses by the first one.
static PLACES: LazyLock<Mutex<BTreeMap<u64, Place>>> = LazyLock::new(Mutex::default);

fn places() -> MutexGuard<'static, BTreeMap<u64, Place>> {
    // A poisoned lock is ignored: the state is valid between statements.
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A range of addresses as a function got it.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) bytes: usize,
}

impl Span {
    fn failure(self, what: &str) -> Failure {
        let Span { start, bytes } = self;
        Failure::value(format_args!("{bytes} bytes at {start:#x} {what}"))
    }

    /// The place that contains the range, and the range's offsets there.
    fn place(
        self,
        places: &mut BTreeMap<u64, Place>,
    ) -> Result<(&mut Place, Range<usize>), Failure> {
        let missing = self.failure("are not in addresses that hipMemAddressReserve reserved");
        let Some((_, place)) = places.range_mut(..=self.start).next_back() else {
            return Err(missing);
        };
        let offset = (self.start - place.addresses.start()) as usize;
        match offset.checked_add(self.bytes) {
            Some(end) if end <= place.addresses.bytes() => Ok((place, offset..end)),
            _ => Err(missing),
        }
    }

    /// As [`Self::place`], if mappings cover the range: whole ones, without a gap.
    fn mappings(
        self,
        places: &mut BTreeMap<u64, Place>,
    ) -> Result<(&mut Place, Range<usize>), Failure> {
        let (place, at) = self.place(places)?;
        let mut end = at.start;
        for (&start, mapping) in place.mappings.range(at.clone()) {
            if start != end {
                break;
            }
            end += mapping.bytes;
        }
        match end == at.end {
            true => Ok((place, at)),
            false => Err(self.failure("are not whole mappings of hipMemMap")),
        }
    }
}

/// Reserves addresses and returns the first.
pub(crate) fn reserve(addresses: Addresses) -> u64 {
    let start = addresses.start();
    let place = Place {
        addresses,
        mappings: BTreeMap::new(),
        devices: Vec::new(),
    };
    places().insert(start, place);
    start
}

/// Frees reserved addresses.
pub(crate) fn free(span: Span) -> Result<(), Failure> {
    let mut places = places();
    let (place, at) = span.place(&mut places)?;
    if at != (0..place.addresses.bytes()) {
        return Err(span.failure("are not all that hipMemAddressReserve reserved there"));
    }
    if !place.mappings.is_empty() {
        return Err(span.failure("have memory that is still mapped"));
    }
    places.remove(&span.start);
    Ok(())
}

/// Maps memory. No device can access it yet.
pub(crate) fn map(span: Span, memory: Arc<Memory>) -> Result<(), Failure> {
    let mut places = places();
    let (place, at) = span.place(&mut places)?;
    if span.bytes > memory.physical.bytes() {
        return Err(Failure::value(format_args!(
            "{} bytes are more than the {} of the physical memory",
            span.bytes,
            memory.physical.bytes()
        )));
    }
    let before = place.mappings.range(..at.end).next_back();
    if before.is_some_and(|(start, mapping)| start + mapping.bytes > at.start) {
        return Err(span.failure("have memory that is mapped already"));
    }
    let mapped = place.addresses.map(&at, &memory.physical);
    mapped.map_err(|error| out_of_memory(&error))?;
    let mapping = Mapping {
        bytes: span.bytes,
        memory,
        access: Vec::new(),
    };
    place.mappings.insert(at.start, mapping);
    Ok(())
}

fn out_of_memory(error: &std::io::Error) -> Failure {
    Failure::new(hipError_t::hipErrorOutOfMemory, error)
}

/// Unmaps whole mappings. No device may be working.
pub(crate) fn unmap(span: Span) -> Result<(), Failure> {
    let mut places = places();
    let (place, at) = span.mappings(&mut places)?;
    let gone: Vec<_> = place.mappings.extract_if(at.clone(), |_, _| true).collect();
    place.publish()?;
    drop(gone);
    place
        .addresses
        .unmap(&at)
        .map_err(|error| out_of_memory(&error))
}

/// Sets the accesses of devices to whole mappings. No device may be working.
pub(crate) fn set_access(
    span: Span,
    access: &[(Arc<Device>, hipMemAccessFlags)],
) -> Result<(), Failure> {
    let mut places = places();
    let (place, at) = span.mappings(&mut places)?;
    for (_, mapping) in place.mappings.range_mut(at) {
        for (device, flags) in access {
            mapping
                .access
                .retain(|(other, _)| !Arc::ptr_eq(other, device));
            if *flags != hipMemAccessFlags::hipMemAccessFlagsProtNone {
                mapping.access.push((Arc::clone(device), *flags));
            }
        }
    }
    place.publish()
}

/// Calls a function with the mapping at an address.
fn at<R>(address: u64, of: impl FnOnce(&Mapping) -> R) -> Result<R, Failure> {
    let span = Span {
        start: address,
        bytes: 1,
    };
    let mut places = places();
    let (place, offset) = span.place(&mut places)?;
    let below = place.mappings.range(..=offset.start).next_back();
    match below {
        Some((start, mapping)) if offset.start - start < mapping.bytes => Ok(of(mapping)),
        _ => Err(span.failure("are not mapped")),
    }
}

/// The access of a device to the memory at an address.
pub(crate) fn access(address: u64, device: c_int) -> Result<hipMemAccessFlags, Failure> {
    at(address, |mapping| {
        let mut access = mapping.access.iter();
        let found = access.find(|(other, _)| other.ordinal == device);
        found.map_or(
            hipMemAccessFlags::hipMemAccessFlagsProtNone,
            |(_, flags)| *flags,
        )
    })
}

/// The handle of the memory at an address, which must be released once more.
pub(crate) fn retain(address: u64) -> Result<usize, Failure> {
    at(address, |mapping| mapping.memory.retain())
}

/// Removes a device: its memory, wherever it is mapped, and its accesses.
pub(crate) fn forget(device: &Arc<Device>) {
    let mut places = places();
    for place in places.values_mut() {
        let is_its = |mapping: &Mapping| Arc::ptr_eq(&mapping.memory.device, device);
        let gone: Vec<_> = place
            .mappings
            .extract_if(.., |_, mapping| is_its(mapping))
            .collect();
        for mapping in place.mappings.values_mut() {
            mapping
                .access
                .retain(|(other, _)| !Arc::ptr_eq(other, device));
        }
        // Both fail only if the host has no memory for its tables. Then the memory stays until the addresses are freed.
        let _ = place.publish();
        for (start, mapping) in gone {
            let _ = place.addresses.unmap(&(start..start + mapping.bytes));
        }
    }
    MEMORY.retain(|memory| !Arc::ptr_eq(&memory.device, device));
}

impl Place {
    /// Tells all devices what they can access. Adjacent mappings with the same access are one allocation, because
    /// programs use them as one.
    fn publish(&mut self) -> Result<(), Failure> {
        let mut devices = std::mem::take(&mut self.devices);
        let now = self.mappings.values().flat_map(|mapping| &mapping.access);
        for (device, _) in now {
            if !devices.iter().any(|known| Arc::ptr_eq(known, device)) {
                devices.push(Arc::clone(device));
            }
        }
        for device in devices {
            let parts = self.parts(&device);
            let start = self.addresses.start();
            let here = start..start + self.addresses.bytes() as u64;
            for base in device.allocations.bases() {
                if here.contains(&base) {
                    device.allocations.take(base, |_| true);
                }
            }
            let mapped: Vec<_> = parts.iter().map(|(part, _)| part.clone()).collect();
            device.memory.set_mapped(&self.addresses, &mapped)?;
            for (part, _) in parts.iter().filter(|(_, is_own)| *is_own) {
                let base = start + part.at.start as u64;
                device.allocations.keep(base, MadeBy::Mapped, 0);
            }
            if !parts.is_empty() {
                self.devices.push(device);
            }
        }
        Ok(())
    }

    /// What a device can access, and whether it is its own memory.
    fn parts(&self, device: &Arc<Device>) -> Vec<(Mapped, bool)> {
        let mut parts: Vec<(Mapped, bool)> = Vec::new();
        for (&start, mapping) in &self.mappings {
            let mut access = mapping.access.iter();
            let Some((_, flags)) = access.find(|(other, _)| Arc::ptr_eq(other, device)) else {
                continue;
            };
            let writable = *flags == hipMemAccessFlags::hipMemAccessFlagsProtReadWrite;
            let is_own = Arc::ptr_eq(&mapping.memory.device, device);
            let at = start..start + mapping.bytes;
            match parts.last_mut() {
                Some((last, own))
                    if (last.at.end, last.writable, *own) == (start, writable, is_own) =>
                {
                    last.at.end = at.end;
                }
                _ => parts.push((Mapped { at, writable }, is_own)),
            }
        }
        parts
    }
}
