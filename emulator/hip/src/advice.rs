//! Advice about memory and prefetches. Advice about its grain has an effect, the rest only on what queries answer.

use std::{
    ffi::{c_int, c_uint, c_ulonglong, c_void},
    ops::Range,
    sync::Arc,
};

use ferrowave_hip_abi::{
    self as abi, hipError_t, hipMemLocation, hipMemLocationType, hipMemRangeAttribute as Attribute,
    hipMemoryAdvise as Advise, hipStream_t,
};

use super::{
    error::{Failure, is_absent},
    list::{has_room, is_mapped, list},
    objects::{
        allocation::set_fine_grained,
        owner::{AddressOwner, owner_of},
        stream::stream,
    },
    runtime::{Device, Runtime, advice::Advice, allocations::MadeBy},
};

/// A range of an allocation.
struct Known {
    device: Arc<Device>,
    range: Range<u64>,
    /// Where the allocation begins.
    base: u64,
    /// Whether the driver keeps advice about it: managed memory, and the program's own if kernels reach that.
    is_managed: bool,
    /// Whether it is memory of `hipHostMalloc`.
    is_host: bool,
}

impl Known {
    /// Checks that the range lies in one allocation.
    fn new(address: *const c_void, bytes: usize) -> Result<Self, Failure> {
        let start = address.addr() as u64;
        let found = match owner_of(start)? {
            AddressOwner::Device(device, _) => device.memory.find(start).map(|info| (device, info)),
            AddressOwner::Host => {
                let device = Runtime::get().retries_faults()?;
                if let Some(device) =
                    device.filter(|_| bytes > 0 && is_mapped(address.addr(), bytes))
                {
                    return Ok(Known {
                        range: start..start + bytes as u64,
                        base: start,
                        is_managed: true,
                        is_host: false,
                        device,
                    });
                }
                None
            }
        };
        match found {
            Some((device, info)) if bytes > 0 && bytes as u64 <= info.end() - start => {
                let made = device.allocations.get(info.base);
                let made = made.map(|made| made.by);
                Ok(Known {
                    range: start..start + bytes as u64,
                    base: info.base,
                    is_managed: made.as_ref().is_some_and(MadeBy::is_managed),
                    is_host: matches!(made, Some(MadeBy::Host)),
                    device,
                })
            }
            _ => Err(Failure::value(format_args!(
                "{bytes} bytes at {start:#x} are not inside one allocation"
            ))),
        }
    }

    /// An error for memory that is not managed.
    fn managed(&self, address: *const c_void) -> Result<(), Failure> {
        match self.is_managed {
            true => Ok(()),
            false => Err(Failure::value(format_args!(
                "{address:p} is not memory of hipMallocManaged"
            ))),
        }
    }

    /// Makes the allocation coarse-grained if the program advised so for all of it, otherwise fine-grained.
    fn set_grain(&self) {
        if let Some(info) = self.device.memory.find(self.base) {
            let parts = self.device.advised.of(&(info.base..info.end()));
            let coarse = parts.iter().all(|part| part.coarse_grain);
            set_fine_grained(info.base, &self.device, !coarse);
        }
    }

    /// Changes what is known of managed memory. The driver keeps no advice about other memory.
    fn change(&self, change: impl Fn(&mut Advice)) {
        if self.is_managed {
            self.device.advised.change(&self.range, change);
        }
    }
}

/// Checks that a device, or the host, exists.
fn exists(device: c_int) -> Result<(), Failure> {
    match device {
        abi::hipCpuDeviceId => Ok(()),
        _ => Runtime::get().device(device).map(drop),
    }
}

/// The number of the device, or of the host.
fn located(location: hipMemLocation) -> Result<c_int, Failure> {
    match location.r#type {
        hipMemLocationType::hipMemLocationTypeDevice => Ok(location.id),
        hipMemLocationType::hipMemLocationTypeHost => Ok(abi::hipCpuDeviceId),
        other => Err(Failure::value(format_args!(
            "the location's type is {}, but must be 1 (device) or 2 (host)",
            other.0
        ))),
    }
}

pub(super) unsafe fn hipMemAdvise(
    address: *const c_void,
    bytes: usize,
    advise: Advise,
    device: c_int,
) -> Result<(), Failure> {
    let change: fn(&mut Advice, c_int) = match advise.0 {
        1 => |advice, _| advice.read_mostly = true,
        2 => |advice, _| advice.read_mostly = false,
        3 => |advice, device| advice.preferred = Some(device),
        4 => |advice, _| advice.preferred = None,
        5 => |advice, device| {
            if !advice.accessed_by.contains(&device) {
                advice.accessed_by.push(device);
            }
        },
        6 => |advice, device| advice.accessed_by.retain(|other| *other != device),
        100 => |advice, _| advice.coarse_grain = true,
        101 => |advice, _| advice.coarse_grain = false,
        other => {
            return Err(Failure::value(format_args!(
                "{other} is not an advice; expected 1 to 6, 100 or 101"
            )));
        }
    };
    // The first two are not about a device (`hipMemAdvise` in CLR's `hip_hmm.cpp`).
    if !matches!(advise.0, 1 | 2) {
        exists(device)?;
    }
    let known = Known::new(address, bytes)?;
    // The driver keeps attributes of managed memory alone.
    known.managed(address)?;
    known.change(|advice| change(advice, device));
    if matches!(advise.0, 100 | 101) {
        known.set_grain();
    }
    Ok(())
}

pub(super) unsafe fn hipMemAdvise_v2(
    address: *const c_void,
    bytes: usize,
    advise: Advise,
    location: hipMemLocation,
) -> Result<(), Failure> {
    let device = located(location)?;
    // SAFETY: the caller upholds the same contract.
    unsafe { hipMemAdvise(address, bytes, advise, device) }
}

pub(super) unsafe fn hipMemPrefetchAsync(
    address: *const c_void,
    bytes: usize,
    device: c_int,
    stream: hipStream_t,
) -> Result<(), Failure> {
    self::stream(stream)?;
    // The range is checked first, as in CLR.
    let known = Known::new(address, bytes)?;
    exists(device)?;
    known.change(|advice| advice.prefetched = Some(device));
    Ok(())
}

pub(super) unsafe fn hipMemPrefetchAsync_v2(
    address: *const c_void,
    bytes: usize,
    location: hipMemLocation,
    flags: c_uint,
    stream: hipStream_t,
) -> Result<(), Failure> {
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    let device = located(location)?;
    // SAFETY: the caller upholds the same contract.
    unsafe { hipMemPrefetchAsync(address, bytes, device, stream) }
}

/// The ranges of a batch (`ihipMemPrefetchBatchAsync` in CLR's `hip_hmm.cpp`).
///
/// # Safety
/// The lists have `count` elements.
unsafe fn ranges(
    addresses: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    stream: hipStream_t,
) -> Result<Vec<Known>, Failure> {
    if addresses.is_null() || sizes.is_null() || count == 0 {
        return Err(Failure::value(format_args!(
            "{count} ranges at {addresses:p} of sizes at {sizes:p}"
        )));
    }
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    if stream.is_null() {
        return Err(Failure::value("stream is null"));
    }
    self::stream(stream)?;
    // SAFETY: guaranteed by the caller.
    let (addresses, sizes) = unsafe {
        (
            list(addresses, count, "dev_ptrs")?,
            list(sizes, count, "sizes")?,
        )
    };
    let known = addresses.into_iter().zip(sizes).map(|(address, bytes)| {
        let known = Known::new(address, bytes)?;
        if !known.is_managed && !known.is_host && Runtime::get().retries_faults()?.is_none() {
            known.managed(address)?;
        }
        Ok(known)
    });
    known.collect()
}

/// Where each of `count` ranges goes.
///
/// # Safety
/// The lists have `locations_count` elements.
unsafe fn targets(
    locations: *mut hipMemLocation,
    indices: *mut usize,
    locations_count: usize,
    count: usize,
) -> Result<Vec<c_int>, Failure> {
    if locations.is_null() || indices.is_null() || locations_count == 0 || locations_count > count {
        return Err(Failure::value(format_args!(
            "{locations_count} locations at {locations:p} from the ranges at {indices:p} on, for {count} ranges"
        )));
    }
    // SAFETY: guaranteed by the caller.
    let (locations, indices) = unsafe {
        (
            list(locations, locations_count, "locations")?,
            list(indices, locations_count, "location_indices")?,
        )
    };
    if indices[0] != 0 || !indices.is_sorted_by(|a, b| a < b) || indices.last() >= Some(&count) {
        return Err(Failure::value(format_args!(
            "locations begin at the ranges {indices:?}; the first must be 0, and they must rise and be below {count}"
        )));
    }
    let mut targets = vec![abi::hipInvalidDeviceId; count];
    for (location, start) in locations.into_iter().zip(indices) {
        let device = located(location)?;
        exists(device).map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))?;
        targets[start..].fill(device);
    }
    Ok(targets)
}

#[expect(clippy::too_many_arguments, reason = "HIP's signature")]
pub(super) unsafe fn hipMemPrefetchBatchAsync(
    addresses: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    locations: *mut hipMemLocation,
    indices: *mut usize,
    locations_count: usize,
    flags: c_ulonglong,
    stream: hipStream_t,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    let (ranges, targets) = unsafe {
        (
            ranges(addresses, sizes, count, flags, stream)?,
            targets(locations, indices, locations_count, count)?,
        )
    };
    for (known, device) in ranges.into_iter().zip(targets) {
        known.change(|advice| advice.prefetched = Some(device));
    }
    Ok(())
}

pub(super) unsafe fn hipMemDiscardBatchAsync(
    addresses: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    stream: hipStream_t,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    unsafe { ranges(addresses, sizes, count, flags, stream) }.map(drop)
}

pub(super) use hipMemDiscardBatchAsync as hipDrvMemDiscardBatchAsync;
pub(super) use hipMemPrefetchBatchAsync as hipMemDiscardAndPrefetchBatchAsync;
pub(super) use hipMemPrefetchBatchAsync as hipDrvMemDiscardAndPrefetchBatchAsync;

/// What all parts have in common, or nothing.
fn common<T: PartialEq>(parts: &[Advice], of: impl Fn(&Advice) -> Option<T>) -> Option<T> {
    let first = of(&parts[0]);
    first.filter(|first| parts.iter().all(|part| of(part).as_ref() == Some(first)))
}

/// The words that answer a question, of which a caller may ask for fewer or more only in a list of devices.
fn answer(attribute: Attribute, parts: &[Advice], words: usize) -> Option<Vec<c_int>> {
    let device = |found: Option<c_int>| vec![found.unwrap_or(abi::hipInvalidDeviceId)];
    Some(match attribute {
        Attribute::hipMemRangeAttributeReadMostly => {
            vec![parts.iter().all(|part| part.read_mostly).into()]
        }
        Attribute::hipMemRangeAttributePreferredLocation => {
            device(common(parts, |part| part.preferred))
        }
        Attribute::hipMemRangeAttributeLastPrefetchLocation => {
            device(common(parts, |part| part.prefetched))
        }
        Attribute::hipMemRangeAttributeAccessedBy => {
            let mut devices = parts[0].accessed_by.clone();
            devices.retain(|device| parts.iter().all(|part| part.accessed_by.contains(device)));
            devices.resize(words, abi::hipInvalidDeviceId);
            devices
        }
        Attribute::hipMemRangeAttributeCoherencyMode => {
            vec![common(parts, |part| Some(part.coarse_grain)).map_or(2, c_int::from)]
        }
        _ => return None,
    })
}

pub(super) unsafe fn hipMemRangeGetAttribute(
    data: *mut c_void,
    data_bytes: usize,
    attribute: Attribute,
    address: *const c_void,
    bytes: usize,
) -> Result<(), Failure> {
    let known = Known::new(address, bytes)?;
    if !known.is_managed && attribute == Attribute::hipMemRangeAttributeCoherencyMode {
        // The only one that the driver has of memory of `hipMalloc`.
        let made = known.device.allocations.get(known.base);
        let coarse = match made {
            Some(made) if matches!(made.by, MadeBy::Device) => !made.by.is_fine_grained(made.flags),
            _ => return known.managed(address),
        };
        // SAFETY: the caller upholds HIP's contract.
        return unsafe { write(data, data_bytes, &[coarse.into()]) };
    }
    known.managed(address)?;
    let words = data_bytes / size_of::<c_int>();
    // Before an answer of that length is made.
    has_room(data.cast::<c_int>(), words, "data")?;
    let answer = answer(attribute, &known.device.advised.of(&known.range), words);
    let answer = answer.ok_or_else(|| {
        Failure::value(format_args!(
            "the attribute is {}, but must be from 1 to 4, or 100",
            attribute.0
        ))
    })?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { write(data, data_bytes, &answer) }
}

/// Writes an answer.
///
/// # Safety
/// `data` is null or valid for writes of `bytes` bytes.
unsafe fn write(data: *mut c_void, bytes: usize, answer: &[c_int]) -> Result<(), Failure> {
    if is_absent(data) || bytes == 0 || bytes != size_of_val(answer) {
        return Err(Failure::value(format_args!(
            "{bytes} bytes at {data:p} for the answer; it has 4, a list of devices a multiple of 4"
        )));
    }
    for (index, &word) in answer.iter().enumerate() {
        // SAFETY: guaranteed by the caller, as the lengths agree.
        unsafe { data.cast::<c_int>().add(index).write_unaligned(word) }
    }
    Ok(())
}

pub(super) unsafe fn hipMemRangeGetAttributes(
    data: *mut *mut c_void,
    data_bytes: *mut usize,
    attributes: *mut Attribute,
    count: usize,
    address: *const c_void,
    bytes: usize,
) -> Result<(), Failure> {
    if data.is_null() || data_bytes.is_null() || attributes.is_null() || count == 0 {
        return Err(Failure::value(format_args!(
            "{count} attributes at {attributes:p}, with answers at {data:p} and their lengths at {data_bytes:p}"
        )));
    }
    // SAFETY: HIP's contract: the lists have that many elements.
    let (data, lengths, attributes) = unsafe {
        (
            list(data, count, "data")?,
            list(data_bytes, count, "data_sizes")?,
            list(attributes, count, "attributes")?,
        )
    };
    for ((data, length), attribute) in data.into_iter().zip(lengths).zip(attributes) {
        // SAFETY: the caller upholds the same contract.
        unsafe { hipMemRangeGetAttribute(data, length, attribute, address, bytes) }?;
    }
    Ok(())
}
