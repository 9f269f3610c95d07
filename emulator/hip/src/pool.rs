//! Memory pools. They keep freed memory for later allocations of the same length, until the program waits for work; then, as much
//! as it asked for (`hipMemPoolAttrReleaseThreshold`). With checks they keep none, so that accesses to freed memory are found.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use ferrowave_hip_abi::{
    hipError_t, hipMemAccessDesc, hipMemAccessFlags, hipMemAllocationHandleType as HandleType,
    hipMemAllocationType as Kind, hipMemLocation, hipMemLocationType, hipMemPool_t,
    hipMemPoolAttr as Attr, hipMemPoolProps,
};

use super::{
    check,
    error::{Failure, out, read},
    handles::Handles,
    list::list,
    runtime::{Device, Runtime, pool_memory::PoolMemory},
};

/// A pool.
pub(super) struct Pool {
    pub(super) device: Arc<Device>,
    /// Its memory, and the attributes that the program can set.
    pub(super) memory: Arc<PoolMemory>,
    /// The most bytes that it may take from its device; 0 for no limit.
    most: usize,
    /// How processes share it.
    pub(super) handle_type: HandleType,
    /// The other devices that can access its memory.
    access: Mutex<Vec<(Weak<Device>, hipMemAccessFlags)>>,
}

impl Pool {
    fn new(device: Arc<Device>, is_managed: bool, handle_type: HandleType) -> Self {
        // HIP's defaults: reuse is enabled, and no memory is kept when the program waits.
        Self::with(device, is_managed, handle_type, [1, 1, 1, 0])
    }

    /// A pool with these settings.
    pub(super) fn with(
        device: Arc<Device>,
        is_managed: bool,
        handle_type: HandleType,
        settings: [u64; 4],
    ) -> Self {
        let keeps = !check::needs_account();
        let memory = PoolMemory::new(&device.memory, is_managed, settings, keeps);
        Pool {
            device,
            memory: Arc::new(memory),
            most: 0,
            handle_type,
            access: Mutex::default(),
        }
    }

    fn access(&self) -> MutexGuard<'_, Vec<(Weak<Device>, hipMemAccessFlags)>> {
        // A poisoned lock is ignored: the list is valid between statements.
        self.access.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets another device access the memory.
    pub(super) fn let_access(&self, device: &Arc<Device>, flags: hipMemAccessFlags) {
        // The pool's own device always reads and writes.
        if Arc::ptr_eq(device, &self.device) {
            return;
        }
        // A GPU also writes what it can read.
        self.memory.let_access(&device.memory);
        let mut known = self.access();
        known
            .retain(|(other, _)| other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(device));
        known.push((Arc::downgrade(device), flags));
    }

    /// Lets all devices access managed memory.
    fn share(&self) -> Result<(), Failure> {
        if self.memory.is_managed {
            for device in Runtime::get().with_devices(<[_]>::to_vec)?.iter().flatten() {
                self.let_access(device, hipMemAccessFlags::hipMemAccessFlagsProtReadWrite);
            }
        }
        Ok(())
    }

    /// The other devices that can access the memory.
    pub(super) fn accesses(&self) -> Vec<(c_int, hipMemAccessFlags)> {
        let access = self.access();
        let known = access.iter();
        known
            .filter_map(|(device, flags)| Some((device.upgrade()?.ordinal, *flags)))
            .collect()
    }

    pub(super) fn settings(&self) -> [u64; 4] {
        self.memory
            .settings
            .each_ref()
            .map(|setting| setting.load(Ordering::Relaxed))
    }

    /// Keeps the pool, and returns its handle.
    pub(super) fn keep(self) -> hipMemPool_t {
        ptr::without_provenance_mut(POOLS.insert(Arc::new(self)))
    }

    /// Checks that the pool may take `bytes` more from its device. What it has had counts, even if it was released
    /// (`max_total_size_` in CLR's `hip_mempool_impl.cpp`).
    pub(super) fn has_room(&self, bytes: usize) -> Result<(), Failure> {
        let had = self.memory.reserved.high();
        if self.most != 0 && had.saturating_add(bytes as u64) > self.most as u64 {
            return Err(Failure::new(
                hipError_t::hipErrorOutOfMemory,
                format_args!(
                    "{bytes} bytes asked for, {had} of the pool's {} are in use, or were",
                    self.most
                ),
            ));
        }
        Ok(())
    }

    /// The setting of an attribute, if it can be set.
    fn setting(&self, attribute: Attr) -> Option<&AtomicU64> {
        self.memory
            .settings
            .get((attribute.0 as usize).checked_sub(1)?)
    }
}

/// Pools by handle.
pub(super) static POOLS: LazyLock<Handles<Pool>> = LazyLock::new(Handles::new);

/// The pool of a handle.
pub(super) fn pool(handle: hipMemPool_t) -> Result<Arc<Pool>, Failure> {
    let found = POOLS.get(handle.addr());
    found.ok_or_else(|| no_pool(handle))
}

fn no_pool(handle: hipMemPool_t) -> Failure {
    // HIP's code for an invalid pool differs from that for other handles.
    Failure::value(format_args!(
        "{:#x} is not a memory pool, or was destroyed",
        handle.addr()
    ))
}

/// The handle of a device's default pool.
fn default_of(device: &Arc<Device>, is_managed: bool) -> Result<usize, Failure> {
    let handle = &device.default_pools[usize::from(is_managed)];
    if let Some(handle) = handle.get() {
        return Ok(*handle);
    }
    let pool = Pool::new(
        Arc::clone(device),
        is_managed,
        HandleType::hipMemHandleTypeNone,
    );
    pool.share()?;
    Ok(*handle.get_or_init(|| pool.keep().addr()))
}

/// The handle of a device's current pool.
fn current_of(device: &Arc<Device>, is_managed: bool) -> Result<usize, Failure> {
    let chosen = device.pools[usize::from(is_managed)].load(Ordering::Relaxed);
    match POOLS.get(chosen) {
        Some(_) => Ok(chosen),
        // No pool was selected, or it was destroyed.
        None => default_of(device, is_managed),
    }
}

/// A device's current pool.
pub(super) fn current(device: &Arc<Device>) -> Result<Arc<Pool>, Failure> {
    pool(ptr::without_provenance_mut(current_of(device, false)?))
}

pub(super) unsafe fn hipDeviceGetDefaultMemPool(
    pool: *mut hipMemPool_t,
    device: c_int,
) -> Result<(), Failure> {
    let pool = out!(pool);
    let device = Runtime::get().device(device)?;
    pool.set(ptr::without_provenance_mut(default_of(&device, false)?));
    Ok(())
}

/// A device of the functions for its current pool, which have another code for one that does not exist.
fn device_of(ordinal: c_int) -> Result<Arc<Device>, Failure> {
    let device = Runtime::get().device(ordinal);
    device.map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))
}

pub(super) unsafe fn hipDeviceGetMemPool(
    pool: *mut hipMemPool_t,
    device: c_int,
) -> Result<(), Failure> {
    let pool = out!(pool);
    let device = device_of(device)?;
    pool.set(ptr::without_provenance_mut(current_of(&device, false)?));
    Ok(())
}

/// Whether this kind of memory is managed. Pools have managed or pinned memory.
fn is_managed(kind: Kind) -> Result<bool, Failure> {
    match kind {
        Kind::hipMemAllocationTypePinned => Ok(false),
        Kind::hipMemAllocationTypeManaged => Ok(true),
        Kind(other) => Err(Failure::value(format_args!(
            "the type of allocations is {other}, but must be 1 (hipMemAllocationTypePinned) or 2 (hipMemAllocationTypeManaged)"
        ))),
    }
}

/// Writes the handle that `of` has for a device and whether memory is managed.
fn write_pool(
    pool: *mut hipMemPool_t,
    location: *mut hipMemLocation,
    kind: Kind,
    of: fn(&Arc<Device>, bool) -> Result<usize, Failure>,
) -> Result<(), Failure> {
    let pool = out!(pool);
    let handle = of(&given(read!(location))?, is_managed(kind)?)?;
    pool.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipMemGetDefaultMemPool(
    pool: *mut hipMemPool_t,
    location: *mut hipMemLocation,
    kind: Kind,
) -> Result<(), Failure> {
    write_pool(pool, location, kind, default_of)
}

pub(super) unsafe fn hipMemGetMemPool(
    pool: *mut hipMemPool_t,
    location: *mut hipMemLocation,
    kind: Kind,
) -> Result<(), Failure> {
    write_pool(pool, location, kind, current_of)
}

pub(super) unsafe fn hipMemSetMemPool(
    location: *mut hipMemLocation,
    kind: Kind,
    pool: hipMemPool_t,
) -> Result<(), Failure> {
    let (device, is_managed) = (given(read!(location))?, is_managed(kind)?);
    let chosen = self::pool(pool)?;
    if !Arc::ptr_eq(&chosen.device, &device) || chosen.memory.is_managed != is_managed {
        return Err(Failure::value(format_args!(
            "the pool {:#x} is not of device {}, or has another type of allocations than {}",
            pool.addr(),
            device.ordinal,
            kind.0
        )));
    }
    device.pools[usize::from(is_managed)].store(pool.addr(), Ordering::Relaxed);
    Ok(())
}

pub(super) unsafe fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) -> Result<(), Failure> {
    let device = device_of(device)?;
    if pool.is_null() {
        return Err(Failure::value("mem_pool is null"));
    }
    let chosen = self::pool(pool)?;
    if !Arc::ptr_eq(&chosen.device, &device) {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidDevice,
            format_args!(
                "the pool is on device {}, not on {}",
                chosen.device.ordinal, device.ordinal
            ),
        ));
    }
    device.pools[0].store(pool.addr(), Ordering::Relaxed);
    Ok(())
}

pub(super) unsafe fn hipMemPoolCreate(
    pool: *mut hipMemPool_t,
    properties: *const hipMemPoolProps,
) -> Result<(), Failure> {
    let pool = out!(pool);
    let properties = read!(properties);
    let is_managed = is_managed(Kind(properties.allocType))?;
    // On Linux, CLR takes any number (`hipMemPoolCreate` in `hip_mempool.cpp`).
    let handle_type = HandleType(properties.handleTypes);
    let device = given(properties.location)?;
    let new = Pool {
        most: properties.maxSize,
        ..Pool::new(device, is_managed, handle_type)
    };
    new.share()?;
    pool.set(new.keep());
    Ok(())
}

/// The device of a location.
fn located(location: hipMemLocation) -> Result<Arc<Device>, Failure> {
    if location.r#type != hipMemLocationType::hipMemLocationTypeDevice {
        return Err(Failure::value(format_args!(
            "the location's type is {}, but must be 1 (hipMemLocationTypeDevice)",
            location.r#type.0
        )));
    }
    Runtime::get().device(location.id)
}

/// The same, with the code of the functions that do not take a device that does not exist for one (`hip_mempool.cpp`).
fn given(location: hipMemLocation) -> Result<Arc<Device>, Failure> {
    located(location).map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))
}

pub(super) unsafe fn hipMemPoolDestroy(pool: hipMemPool_t) -> Result<(), Failure> {
    let device = Arc::clone(&self::pool(pool)?.device);
    let mut defaults = device.default_pools.iter().filter_map(OnceLock::get);
    if defaults.any(|&default| default == pool.addr()) {
        return Err(Failure::value(
            "a device's default pool cannot be destroyed",
        ));
    }
    let gone = POOLS.remove(pool.addr()).ok_or_else(|| no_pool(pool))?;
    for task in gone.memory.close() {
        task.wait()?;
    }
    gone.memory.release_all();
    Ok(())
}

/// Releases what a device's pools keep beyond what the program wants to be kept when it waits for work.
pub(super) fn trim(device: &Arc<Device>) {
    for pool in POOLS.all() {
        if Arc::ptr_eq(&pool.device, device) {
            pool.memory.trim_to_threshold();
        }
    }
}

/// Releases all that a device's pools keep.
pub(super) fn release_all(device: &Arc<Device>) {
    for pool in POOLS.all() {
        if Arc::ptr_eq(&pool.device, device) {
            pool.memory.release_all();
        }
    }
}

pub(super) unsafe fn hipMemPoolGetAttribute(
    pool: hipMemPool_t,
    attribute: Attr,
    value: *mut c_void,
) -> Result<(), Failure> {
    let pool = self::pool(pool)?;
    let number = match attribute {
        Attr::hipMemPoolAttrReservedMemCurrent => pool.memory.reserved.now(),
        Attr::hipMemPoolAttrReservedMemHigh => pool.memory.reserved.high(),
        Attr::hipMemPoolAttrUsedMemCurrent => pool.memory.used.now(),
        Attr::hipMemPoolAttrUsedMemHigh => pool.memory.used.high(),
        _ => {
            let setting = pool.setting(attribute).ok_or_else(|| unknown(attribute))?;
            setting.load(Ordering::Relaxed)
        }
    };
    if attribute.0 < Attr::hipMemPoolAttrReleaseThreshold.0 {
        let value = value.cast::<c_int>();
        out!(value).set(number as c_int);
    } else {
        let value = value.cast::<u64>();
        out!(value).set(number);
    }
    Ok(())
}

fn unknown(attribute: Attr) -> Failure {
    Failure::value(format_args!(
        "{} is not an attribute of a memory pool; expected 1 to 8",
        attribute.0
    ))
}

pub(super) unsafe fn hipMemPoolSetAttribute(
    pool: hipMemPool_t,
    attribute: Attr,
    value: *mut c_void,
) -> Result<(), Failure> {
    let pool = self::pool(pool)?;
    match attribute {
        Attr::hipMemPoolAttrReservedMemHigh | Attr::hipMemPoolAttrUsedMemHigh => {
            let value = value.cast::<u64>();
            if read!(value) != 0 {
                return Err(Failure::value("the maximum can only be set to 0"));
            }
            match attribute {
                Attr::hipMemPoolAttrReservedMemHigh => pool.memory.reserved.reset_high(),
                _ => pool.memory.used.reset_high(),
            }
        }
        Attr::hipMemPoolAttrReleaseThreshold => {
            let value = value.cast::<u64>();
            pool.memory.settings[3].store(read!(value), Ordering::Relaxed);
        }
        _ => {
            let setting = pool.setting(attribute).ok_or_else(|| unknown(attribute))?;
            let value = value.cast::<c_int>();
            setting.store(u64::from(read!(value) != 0), Ordering::Relaxed);
        }
    }
    Ok(())
}

pub(super) unsafe fn hipMemPoolTrimTo(pool: hipMemPool_t, bytes: usize) -> Result<(), Failure> {
    self::pool(pool)?.memory.trim(bytes as u64);
    Ok(())
}

pub(super) unsafe fn hipMemPoolSetAccess(
    pool: hipMemPool_t,
    list: *const hipMemAccessDesc,
    count: usize,
) -> Result<(), Failure> {
    let pool = self::pool(pool)?;
    if list.is_null() {
        return Err(Failure::value("desc_list is null"));
    }
    let devices = Runtime::get().with_devices(<[_]>::len)?;
    if count > devices {
        return Err(Failure::new(
            hipError_t::hipErrorInvalidDevice,
            format_args!("accesses of {count} devices, but there are {devices}"),
        ));
    }
    // SAFETY: HIP's contract: the list has `count` elements.
    for access in unsafe { self::list(list, count, "desc_list") }? {
        let device = located(access.location)?;
        match access.flags {
            hipMemAccessFlags::hipMemAccessFlagsProtRead
            | hipMemAccessFlags::hipMemAccessFlagsProtReadWrite => {}
            // As in CLR, which does not withdraw access.
            hipMemAccessFlags::hipMemAccessFlagsProtNone => {
                return Err(Failure::new(
                    hipError_t::hipErrorInvalidDevice,
                    "access to a pool's memory cannot be withdrawn",
                ));
            }
            hipMemAccessFlags(other) => {
                return Err(Failure::value(format_args!(
                    "the access is {other}, but must be 1 (read) or 3 (read and write)"
                )));
            }
        }
        pool.let_access(&device, access.flags);
    }
    Ok(())
}

pub(super) unsafe fn hipMemPoolGetAccess(
    flags: *mut hipMemAccessFlags,
    pool: hipMemPool_t,
    location: *mut hipMemLocation,
) -> Result<(), Failure> {
    let flags = out!(flags);
    let pool = self::pool(pool)?;
    let device = given(read!(location))?;
    if Arc::ptr_eq(&device, &pool.device) {
        flags.set(hipMemAccessFlags::hipMemAccessFlagsProtReadWrite);
        return Ok(());
    }
    let access = pool.access();
    let mut known = access.iter();
    let found = known.find(|(other, _)| other.as_ptr() == Arc::as_ptr(&device));
    flags.set(found.map_or(
        hipMemAccessFlags::hipMemAccessFlagsProtNone,
        |(_, flags)| *flags,
    ));
    Ok(())
}
