//! Execution contexts: parts of a device's compute units, and streams that use them (`hip_executionctx.cpp` in CLR). Streams
//! use all compute units here.

use std::{
    ffi::{c_int, c_uint, c_ulonglong},
    ptr,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use ferrowave_hip_abi::{
    hipDevResource, hipDevResourceDesc_t, hipDevResourceType as Kind, hipDevSmResource,
    hipDevSmResourceGroupParams, hipDevice_t, hipError_t, hipEvent_t, hipExecutionCtx_t,
    hipStream_t,
};

use super::{
    error::{Failure, Out, out, present, read},
    event::{check_device, record_in},
    handles::Handles,
    list::{has_room, list},
    objects::{
        event::event,
        stream::{StreamRef, stream},
    },
    runtime::{Device, Runtime},
    stream::{check_flags, create, hipStreamWaitEvent},
};

/// CLR's `kAlignment`: parts have a multiple of it.
const ALIGNMENT: c_uint = 2;

/// Compute units may be more than a multiple of the alignment (`hipDevSmResourceGroupBackfill`).
const BACKFILL: c_uint = 1;

/// Compute units of a device, as in [`hipDevResource`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    count: c_uint,
    alignment: c_uint,
    flags: c_uint,
    device: c_int,
    /// The first one.
    start: c_uint,
    /// Which split made it; 0 for all of the device's.
    split: u32,
}

impl Part {
    fn all_of(device: &Device) -> Self {
        Part {
            count: device.row.multiprocessors(),
            alignment: ALIGNMENT,
            flags: 0,
            device: device.ordinal,
            start: 0,
            split: 0,
        }
    }

    fn of(resource: &hipDevResource) -> Result<Self, Failure> {
        if resource.r#type != Kind::hipDevResourceTypeSm {
            return Err(wrong_kind(resource.r#type));
        }
        let words = resource._internal_padding.as_chunks().0;
        let [device, start, split] = [0, 1, 2].map(|index| u32::from_le_bytes(words[index]));
        let count = resource.sm.smCount;
        // A program may have made or changed the resource itself.
        let units = Runtime::get()
            .device(device.cast_signed())?
            .row
            .multiprocessors();
        if start.checked_add(count).is_none_or(|end| end > units) {
            return Err(unfit(format_args!(
                "{count} compute units from {start} on, of a device with {units}"
            )));
        }
        Ok(Part {
            count,
            // Parts of a program's own making must not divide by zero.
            alignment: resource.sm.smCoscheduledAlignment.max(1),
            flags: resource.sm.flags,
            device: device.cast_signed(),
            start,
            split,
        })
    }

    fn resource(self) -> hipDevResource {
        let mut resource = hipDevResource {
            r#type: Kind::hipDevResourceTypeSm,
            sm: hipDevSmResource {
                smCount: self.count,
                minSmPartitionSize: self.alignment,
                smCoscheduledAlignment: self.alignment,
                flags: self.flags,
            },
            ..hipDevResource::ZERO
        };
        let own = [self.device.cast_unsigned(), self.start, self.split];
        let words = resource._internal_padding.as_chunks_mut().0;
        for (place, word) in words.iter_mut().zip(own) {
            *place = word.to_le_bytes();
        }
        resource
    }

    /// Parts of these numbers of compute units, and the rest. There must be enough.
    fn split(&self, groups: &[(c_uint, c_uint, c_uint)]) -> (Vec<Part>, Part) {
        static SPLITS: AtomicU32 = AtomicU32::new(1);
        let mut rest = Part {
            flags: 0,
            split: SPLITS.fetch_add(1, Ordering::Relaxed),
            ..*self
        };
        let parts = groups.iter().map(|&(count, alignment, flags)| {
            let part = Part {
                count,
                alignment,
                flags,
                ..rest
            };
            rest.start += count;
            rest.count -= count;
            part
        });
        (parts.collect(), rest)
    }
}

/// What contexts are made of, by handle.
static DESCRIPTIONS: LazyLock<Handles<Vec<Part>>> = LazyLock::new(Handles::new);

/// An execution context.
pub(super) struct ExecutionContext {
    pub(super) device: Arc<Device>,
    id: usize,
    parts: Vec<Part>,
    /// Whether it is the device's own.
    is_primary: bool,
    /// The handles of its streams.
    streams: Mutex<Vec<usize>>,
}

/// Contexts by handle.
pub(super) static EXECUTION_CONTEXTS: LazyLock<Handles<ExecutionContext>> =
    LazyLock::new(Handles::new);

impl ExecutionContext {
    /// Makes a context, and returns its handle.
    fn insert(device: Arc<Device>, parts: Vec<Part>, is_primary: bool) -> usize {
        EXECUTION_CONTEXTS.insert_with(|id| {
            Arc::new(ExecutionContext {
                device,
                id,
                parts,
                is_primary,
                streams: Mutex::default(),
            })
        })
    }

    /// A bit for each of its compute units.
    fn mask(&self) -> Vec<u32> {
        let mut mask = vec![0; self.device.row.multiprocessors().div_ceil(32) as usize];
        for part in &self.parts {
            for unit in part.start..part.start.saturating_add(part.count) {
                if let Some(word) = mask.get_mut(unit as usize / 32) {
                    *word |= 1 << (unit % 32);
                }
            }
        }
        mask
    }

    /// Its streams that were not destroyed.
    fn streams(&self) -> Vec<StreamRef> {
        // A poisoned lock is ignored: the list is valid between statements.
        let mut handles = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        handles.retain(|&handle| {
            let stream = stream(ptr::without_provenance_mut(handle));
            let exists = stream.is_ok();
            found.extend(stream);
            exists
        });
        found
    }
}

/// The context of a handle, which must not be null.
fn context(handle: hipExecutionCtx_t) -> Result<Arc<ExecutionContext>, Failure> {
    if handle.is_null() {
        return Err(Failure::value("ctx is null"));
    }
    let found = EXECUTION_CONTEXTS.get(handle.addr());
    found.ok_or_else(|| Failure::handle("execution context", handle.addr()))
}

fn wrong_kind(kind: Kind) -> Failure {
    Failure::new(
        hipError_t::hipErrorInvalidResourceType,
        format_args!(
            "the kind of resource is {}, but must be 1 (hipDevResourceTypeSm)",
            kind.0
        ),
    )
}

fn check_kind(kind: Kind) -> Result<(), Failure> {
    match kind {
        Kind::hipDevResourceTypeSm => Ok(()),
        other => Err(wrong_kind(other)),
    }
}

fn unfit(detail: std::fmt::Arguments<'_>) -> Failure {
    Failure::new(hipError_t::hipErrorInvalidResourceConfiguration, detail)
}

pub(super) unsafe fn hipDeviceGetDevResource(
    device: hipDevice_t,
    resource: *mut hipDevResource,
    kind: Kind,
) -> Result<(), Failure> {
    let resource = out!(resource);
    check_kind(kind)?;
    resource.set(Part::all_of(&*Runtime::get().device(device)?).resource());
    Ok(())
}

/// Writes the parts of a split, and what is left, each unless its place is null.
///
/// # Safety
/// `result` has room for the parts.
unsafe fn write_parts(
    (parts, rest): (Vec<Part>, Part),
    result: *mut hipDevResource,
    remainder: *mut hipDevResource,
) -> Result<(), Failure> {
    if !result.is_null() {
        has_room(result, parts.len(), "result")?;
        for (index, part) in parts.into_iter().enumerate() {
            // SAFETY: guaranteed by the caller.
            unsafe { result.add(index).write_unaligned(part.resource()) };
        }
    }
    if !remainder.is_null() {
        out!(remainder).set(match rest.count {
            0 => hipDevResource::ZERO,
            _ => rest.resource(),
        });
    }
    Ok(())
}

pub(super) unsafe fn hipDevSmResourceSplitByCount(
    result: *mut hipDevResource,
    groups: *mut c_uint,
    input: *const hipDevResource,
    remainder: *mut hipDevResource,
    flags: c_uint,
    least: c_uint,
) -> Result<(), Failure> {
    let wanted = read!(groups);
    let all = Part::of(&read!(input))?;
    if flags != 0 {
        return Err(Failure::new(
            hipError_t::hipErrorNotSupported,
            format_args!("flags are {flags:#x}, but the emulator has none"),
        ));
    }
    let each = least.max(1).checked_next_multiple_of(all.alignment);
    let possible = each.map_or(0, |each| all.count / each);
    let groups = out!(groups);
    if result.is_null() {
        groups.set(possible);
        return Ok(());
    }
    let made = wanted.min(possible);
    groups.set(made);
    let each = each.unwrap_or_default();
    let sizes = vec![(each, all.alignment, 0); made as usize];
    // SAFETY: HIP's contract: room for as many groups as were asked for.
    unsafe { write_parts(all.split(&sizes), result, remainder) }
}

pub(super) unsafe fn hipDevSmResourceSplit(
    result: *mut hipDevResource,
    groups: c_uint,
    input: *const hipDevResource,
    remainder: *mut hipDevResource,
    flags: c_uint,
    parameters: *mut hipDevSmResourceGroupParams,
) -> Result<(), Failure> {
    let all = read!(input);
    present(parameters, "group_params")?;
    let all = Part::of(&all)?;
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    // SAFETY: HIP's contract: a list of `groups`.
    let mut wanted = unsafe { list(parameters, groups as usize, "group_params") }?;
    let mut left = all.count;
    let mut sizes = Vec::new();
    for (index, group) in wanted.iter_mut().enumerate() {
        if group.coscheduledSmCount == 0 {
            group.coscheduledSmCount = all.alignment;
        }
        if group.preferredCoscheduledSmCount == 0 {
            group.preferredCoscheduledSmCount = group.coscheduledSmCount;
        }
        let together = group.coscheduledSmCount;
        let backfills = group.flags & BACKFILL != 0;
        if group.smCount == 0 {
            group.smCount = match backfills {
                true => left,
                false => left - left % together,
            };
        }
        let count = group.smCount;
        let fits = count >= together.max(2)
            && count <= left
            && (backfills || count.is_multiple_of(together));
        if !fits {
            return Err(unfit(format_args!(
                "group {index} has {count} compute units, of which {together} run a cluster; it needs a multiple of these, at least 2 and at most the {left} that are left of {}",
                all.count
            )));
        }
        left -= count;
        sizes.push((count, together, group.flags));
    }
    for (index, group) in wanted.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { parameters.add(index).write_unaligned(group) };
    }
    // SAFETY: HIP's contract: room for `groups`.
    unsafe { write_parts(all.split(&sizes), result, remainder) }
}

pub(super) unsafe fn hipDevResourceGenerateDesc(
    description: *mut hipDevResourceDesc_t,
    resources: *mut hipDevResource,
    count: c_uint,
) -> Result<(), Failure> {
    let description = out!(description);
    if resources.is_null() || count == 0 {
        return Err(Failure::value(format_args!(
            "{count} resources at {resources:p}"
        )));
    }
    // SAFETY: HIP's contract: a list of `count`.
    let resources = unsafe { list(resources, count as usize, "resources") }?;
    let parts: Vec<_> = resources.iter().map(Part::of).collect::<Result<_, _>>()?;
    let first = parts[0];
    for part in &parts {
        let agree = part.count > 0
            && part.alignment == first.alignment
            && part.device == first.device
            && part.split == first.split;
        if !agree {
            return Err(unfit(format_args!(
                "the resources {parts:?} are not parts of one split of a device's compute units"
            )));
        }
    }
    let handle = DESCRIPTIONS.insert(Arc::new(parts));
    description.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipGreenCtxCreate(
    context: *mut hipExecutionCtx_t,
    description: hipDevResourceDesc_t,
    device: c_int,
    flags: c_uint,
) -> Result<(), Failure> {
    let context = out!(context);
    if description.is_null() || flags != 0 {
        return Err(Failure::value(format_args!(
            "the description of resources is {description:p}, and flags, which must be 0, are {flags:#x}"
        )));
    }
    let device = Runtime::get().device(device)?;
    let parts = DESCRIPTIONS.get(description.addr());
    let parts =
        parts.ok_or_else(|| Failure::handle("description of resources", description.addr()))?;
    let handle = ExecutionContext::insert(device, parts.to_vec(), false);
    context.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipExecutionCtxDestroy(context: hipExecutionCtx_t) -> Result<(), Failure> {
    if self::context(context)?.is_primary {
        return Err(Failure::value(
            "a device's own execution context cannot be destroyed",
        ));
    }
    EXECUTION_CONTEXTS.remove(context.addr());
    Ok(())
}

pub(super) unsafe fn hipDeviceGetExecutionCtx(
    context: *mut hipExecutionCtx_t,
    device: c_int,
) -> Result<(), Failure> {
    let context = out!(context);
    let device = Runtime::get().device(device)?;
    let handle = device.execution_context.get_or_init(|| {
        let parts = vec![Part::all_of(&device)];
        ExecutionContext::insert(Arc::clone(&device), parts, true)
    });
    context.set(ptr::without_provenance_mut(*handle));
    Ok(())
}

pub(super) unsafe fn hipExecutionCtxStreamCreate(
    stream: *mut hipStream_t,
    context: hipExecutionCtx_t,
    flags: c_uint,
    priority: c_int,
) -> Result<(), Failure> {
    let stream: Out<hipStream_t> = out!(stream);
    let context = self::context(context)?;
    check_flags(flags)?;
    let device = Arc::clone(&context.device);
    let handle = create(stream, device, flags, priority, context.mask());
    let mut streams = context
        .streams
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    streams.push(handle);
    Ok(())
}

pub(super) unsafe fn hipExecutionCtxGetDevResource(
    context: hipExecutionCtx_t,
    resource: *mut hipDevResource,
    kind: Kind,
) -> Result<(), Failure> {
    present(resource, "resource")?;
    let context = self::context(context)?;
    check_kind(kind)?;
    has_room(resource, context.parts.len(), "resource")?;
    let last = context.parts.len() - 1;
    for (index, part) in context.parts.iter().enumerate() {
        // SAFETY: HIP's contract: room for all of them.
        unsafe {
            let place = resource.add(index);
            place.write_unaligned(hipDevResource {
                nextResource: match index == last {
                    true => ptr::null_mut(),
                    false => place.add(1),
                },
                ..part.resource()
            });
        }
    }
    Ok(())
}

pub(super) unsafe fn hipExecutionCtxGetDevice(
    device: *mut c_int,
    context: hipExecutionCtx_t,
) -> Result<(), Failure> {
    let device = out!(device);
    device.set(self::context(context)?.device.ordinal);
    Ok(())
}

pub(super) unsafe fn hipExecutionCtxGetId(
    context: hipExecutionCtx_t,
    id: *mut c_ulonglong,
) -> Result<(), Failure> {
    let id = out!(id);
    id.set(self::context(context)?.id as c_ulonglong);
    Ok(())
}

pub(super) unsafe fn hipStreamGetDevResource(
    stream: hipStream_t,
    resource: *mut hipDevResource,
    kind: Kind,
) -> Result<(), Failure> {
    let resource = out!(resource);
    check_kind(kind)?;
    let stream = self::stream(stream)?;
    let all = Part::all_of(&stream.device);
    let chosen = stream.object.as_ref().map_or(0, |stream| {
        let mask = stream.compute_units.iter();
        mask.map(|word| word.count_ones()).sum()
    });
    let count = match chosen {
        0 => all.count,
        chosen => chosen.min(all.count),
    };
    resource.set(Part { count, ..all }.resource());
    Ok(())
}

pub(super) unsafe fn hipExecutionCtxRecordEvent(
    context: hipExecutionCtx_t,
    event: hipEvent_t,
) -> Result<(), Failure> {
    let context = self::context(context)?;
    let event = self::event(event)?;
    let streams = context.streams();
    let Some((first, others)) = streams.split_first() else {
        return Ok(());
    };
    check_device(&event, first)?;
    for other in others {
        first.wait_for(other.mark().0);
    }
    record_in(&event, first);
    Ok(())
}

pub(super) unsafe fn hipExecutionCtxSynchronize(context: hipExecutionCtx_t) -> Result<(), Failure> {
    let streams = self::context(context)?.streams();
    streams.iter().try_for_each(StreamRef::finish)
}

pub(super) unsafe fn hipExecutionCtxWaitEvent(
    context: hipExecutionCtx_t,
    event: hipEvent_t,
) -> Result<(), Failure> {
    let context = self::context(context)?;
    self::event(event)?;
    for stream in context.streams() {
        let handle = ptr::without_provenance_mut(stream.id);
        // SAFETY: it has no pointers.
        unsafe { hipStreamWaitEvent(handle, event, 0) }?;
    }
    Ok(())
}
