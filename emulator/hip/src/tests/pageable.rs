//! The program's own memory, which kernels reach on GPUs that retry page faults if `HSA_XNACK` is 1.

use std::{
    fs::{self, File},
    hint::black_box,
    os::fd::AsRawFd,
    sync::atomic::{AtomicU32, Ordering},
};

use ferrowave_emulator::memory::BLOCK_BYTES;

use super::*;

const RETRIES: (&str, &str) = ("HSA_XNACK", "1");
const ILLEGAL: hipError_t = hipError_t::hipErrorIllegalAddress;

/// Whether the device says that kernels reach all memory, and its target.
fn says(device: &TestDevice) -> (bool, String) {
    let attribute = |attribute| {
        // SAFETY: the result pointer is valid.
        result(|value| unsafe { hipDeviceGetAttribute(value, attribute, device.0) })
    };
    let pageable = attribute(hipDeviceAttribute_t::hipDeviceAttributePageableMemoryAccess);
    let tables =
        attribute(hipDeviceAttribute_t::hipDeviceAttributePageableMemoryAccessUsesHostPageTables);
    assert_eq!(tables, 0);
    // SAFETY: the result pointer is valid.
    let properties: hipDeviceProp_tR0600 =
        result(|all| unsafe { hipGetDevicePropertiesR0600(all, device.0) });
    // SAFETY: the name ends with a NUL.
    let target = unsafe { CStr::from_ptr(properties.gcnArchName.as_ptr()) };
    (pageable != 0, target.to_string_lossy().into_owned())
}

/// Runs `add` on 64 words.
fn run(function: hipFunction_t, out: *mut c_void, input: *mut c_void) -> hipError_t {
    let arguments = add_arguments(black_box(out), black_box(input), 1);
    succeeds(add(function, 1, &arguments, ptr::null_mut()));
    // SAFETY: the function takes no pointers.
    unsafe { hipDeviceSynchronize() }
}

/// A file's pages, for reading only.
struct Pages(*mut c_void);

impl Pages {
    const BYTES: usize = 3 * 4096;

    /// Far below the process's other memory, so that no other thread's memory takes the addresses
    /// once the pages are gone.
    const START: *mut c_void = ptr::without_provenance_mut(1 << 44);

    fn new(file: &File) -> Self {
        let (access, kind) = (libc::PROT_READ, libc::MAP_PRIVATE);
        let descriptor = file.as_raw_fd();
        // SAFETY: without MAP_FIXED, the system chooses addresses that nothing uses.
        let start = unsafe { libc::mmap(Self::START, Self::BYTES, access, kind, descriptor, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        Pages(start)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `new` mapped them, and nothing refers to them.
        unsafe { libc::munmap(self.0, Self::BYTES) };
    }
}

#[test]
fn kernels_reach_what_the_process_has_mapped() {
    static WORDS: [AtomicU32; 64] = [const { AtomicU32::new(3) }; 64];
    let test = "tests::pageable::kernels_reach_what_the_process_has_mapped";
    if !alone_with(test, &[RETRIES]) {
        return;
    }
    let name = format!("ferrowave-pageable-{}", std::process::id());
    let path = env::temp_dir().join(name);
    fs::write(&path, [1; 4096 + 256]).expect("a file");
    let file = File::open(&path).expect("the file");
    fs::remove_file(&path).expect("the file");
    for gpu in [Gpu::Gfx90a, Gpu::Gfx942, Gpu::Gfx950] {
        let device = TestDevice::new(gpu);
        let target = format!("{gpu}:sramecc+:xnack+");
        assert_eq!(says(&device), (true, target));
        let function = kernel(load(code_object(gpu)), c"add");
        let mut heap = vec![0_u32; 64];
        let mut stack = [7_u32; 64];
        let heap: *mut c_void = heap.as_mut_ptr().cast();
        let stack: *mut c_void = (&raw mut stack).cast();
        let global: *mut c_void = WORDS.as_ptr().cast_mut().cast();
        // SAFETY: the arrays have 64 words, and nothing else accesses them.
        let words = |array: *mut c_void| unsafe { array.cast::<[u32; 64]>().read_volatile() };

        succeeds(run(function, heap, stack));
        assert_eq!(words(heap), [8; 64]);
        WORDS
            .iter()
            .for_each(|word| word.store(3, Ordering::Relaxed));
        succeeds(run(function, stack, global));
        assert_eq!(words(stack), [4; 64]);
        succeeds(run(function, global, heap));
        assert_eq!(words(global), [9; 64]);
        let data = buffer(&[20; 64]);
        succeeds(run(function, heap, data));
        assert_eq!(words(heap), [21; 64]);

        // A file can be read as far as it goes, while it is mapped.
        let pages = Pages::new(&file);
        let page = |number: usize| pages.0.wrapping_byte_add(4096 * number);
        succeeds(run(function, heap, page(1)));
        assert_eq!(words(heap), [0x0101_0102; 64]);
        fails(run(function, heap, page(2)), ILLEGAL, "global_load_dword");
        let read_only = "in memory that the program has mapped for reading only";
        fails(run(function, page(1), heap), ILLEGAL, read_only);
        let gone = page(1);
        drop(pages);
        fails(run(function, heap, gone), ILLEGAL, "global_load_dword");
        fails(run(function, heap, ptr::null_mut()), ILLEGAL, "bytes at 0x");

        // The memory of allocations is not the program's.
        let last_word = allocate(BLOCK_BYTES).wrapping_byte_add(BLOCK_BYTES - 4);
        let behind = "just past the end of the device allocation of 2097152 bytes";
        fails(run(function, last_word, heap), ILLEGAL, behind);
        let other = TestDevice::new(Gpu::Gfx942);
        let foreign = buffer(&[1; 64]);
        device.make_current();
        fails(run(function, heap, foreign), ILLEGAL, "peer access");
        drop(other);
        device.make_current();

        // Registered memory ends where the program's goes on.
        // SAFETY: the memory stays until it is unregistered.
        succeeds(unsafe { hipHostRegister(heap, 128, 0) });
        succeeds(run(function, heap, stack));
        assert_eq!(words(heap), [5; 64]);
        // SAFETY: HIP checks the address.
        succeeds(unsafe { hipHostUnregister(heap) });
    }
}

#[test]
fn atomic_operations_and_calls_take_the_programs_memory() {
    let test = "tests::pageable::atomic_operations_and_calls_take_the_programs_memory";
    if !alone_with(test, &[RETRIES]) {
        return;
    }
    let device = TestDevice::new(Gpu::Gfx942);
    let object = assemble_with(Gpu::Gfx942, "+xnack", |text| {
        text.replace("global_store_dword v0, v1", "global_atomic_add v0, v1")
    });
    let function = kernel(load(&object), c"add");
    let (mut to, mut from) = (vec![2_u32; 64], vec![10_u32; 64]);
    let [to, from]: [*mut c_void; 2] = [&mut to, &mut from].map(|words| words.as_mut_ptr().cast());
    for _ in 0..2 {
        succeeds(run(function, to, from));
    }
    // SAFETY: the arrays have 64 words; HIP checks the handles.
    unsafe {
        assert_eq!(to.cast::<[u32; 64]>().read_volatile(), [24; 64]);
        succeeds(hipMemcpy(
            to,
            from,
            256,
            hipMemcpyKind::hipMemcpyHostToDevice,
        ));
        succeeds(hipMemcpy(
            from,
            to,
            256,
            hipMemcpyKind::hipMemcpyDeviceToDevice,
        ));
        assert_eq!(to.cast::<[u32; 64]>().read_volatile(), [10; 64]);
        let stream = stream();
        succeeds(hipMemAdvise(to, 256, hipMemoryAdvise(3), device.0));
        succeeds(hipMemPrefetchAsync(to, 256, device.0, stream));
        succeeds(hipStreamAttachMemAsync(stream, to, 256, 4));
        let nothing = hipStreamAttachMemAsync(stream, to, 0, 4);
        fails(nothing, hipError_t::hipErrorInvalidValue, "");
    }
    let other = assemble(Gpu::Gfx942, "-xnack");
    // SAFETY: the result pointer and the code object are valid.
    let refused = unsafe { hipModuleLoadData(&mut ptr::null_mut(), other.as_ptr().cast()) };
    fails(
        refused,
        hipError_t::hipErrorNoBinaryForGpu,
        "is for gfx942:xnack-, but the device is gfx942:sramecc+:xnack+",
    );
}

#[test]
fn other_gpus_do_not_retry() {
    if !alone_with("tests::pageable::other_gpus_do_not_retry", &[RETRIES]) {
        return;
    }
    let device = TestDevice::new(Gpu::Gfx908);
    assert_eq!(says(&device), (false, "gfx908:sramecc+:xnack-".to_owned()));
    let function = kernel(load(code_object(Gpu::Gfx908)), c"add");
    let mut heap = vec![1_u32; 64];
    let heap = heap.as_mut_ptr().cast();
    fails(run(function, heap, heap), ILLEGAL, "global_load_dword");
    let device = TestDevice::new(Gpu::Gfx1100);
    assert_eq!(says(&device), (false, "gfx1100".to_owned()));
}

#[test]
fn one_gpu_without_retries_keeps_the_process_from_them() {
    let test = "tests::pageable::one_gpu_without_retries_keeps_the_process_from_them";
    let devices = (crate::DEVICE_VARIABLE, "gfx90a,gfx908");
    if !alone_with(test, &[RETRIES, devices]) {
        return;
    }
    let attribute = hipDeviceAttribute_t::hipDeviceAttributePageableMemoryAccess;
    // SAFETY: the result pointer is valid.
    let pageable = result(|value| unsafe { hipDeviceGetAttribute(value, attribute, 0) });
    assert_eq!(pageable, 0);
}
