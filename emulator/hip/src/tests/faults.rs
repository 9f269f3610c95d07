//! Failed kernels are reported by calls that wait for them, and the device stays usable.

use ferrowave_emulator::memory::BLOCK_BYTES;

use super::*;

/// Launches of `add` that write past a buffer of one block in their second workgroup.
struct Overrun {
    function: hipFunction_t,
    arguments: Vec<u8>,
}

impl Overrun {
    fn new(function: hipFunction_t) -> Self {
        let last_words = allocate(BLOCK_BYTES).wrapping_byte_add(BLOCK_BYTES - 256);
        let arguments = add_arguments(last_words, buffer(&[0; 128]), 1);
        Overrun {
            function,
            arguments,
        }
    }

    fn launch(&self, stream: hipStream_t) {
        succeeds(add(self.function, 2, &self.arguments, stream));
    }
}

#[test]
fn a_fault_is_reported_with_its_place_and_the_next_launch_works() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let stream = stream();
    Overrun::new(function).launch(stream);
    // SAFETY: HIP checks the handle.
    let code = unsafe { hipStreamSynchronize(stream) };
    for text in [
        "kernel `add`",
        "at `global_store_dword v0, v1, s[4:5]`",
        "workgroup (1, 0, 0), wave 0",
        "just past the end of the device allocation of 2097152 bytes",
    ] {
        fails(code, hipError_t::hipErrorIllegalAddress, text);
    }
    // SAFETY: HIP checks the handle.
    succeeds(unsafe { hipStreamSynchronize(stream) });
    let data = buffer(&[1; 64]);
    succeeds(add(function, 1, &add_arguments(data, data, 1), stream));
    assert_eq!(contents(data, 64), [2; 64]);
}

#[test]
fn only_who_waits_for_a_stream_hears_of_its_fault() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    let (failing, other) = (stream(), stream());
    let overrun = Overrun::new(function);
    let illegal = hipError_t::hipErrorIllegalAddress;
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let [before, after] = [(); 2].map(|()| result(|event| hipEventCreate(event)));
        succeeds(hipEventRecord(before, failing));
        overrun.launch(failing);
        succeeds(hipEventRecord(after, failing));
        succeeds(hipStreamQuery(other));
        succeeds(hipStreamSynchronize(other));
        succeeds(hipEventSynchronize(before));
        fails(hipEventSynchronize(after), illegal, "kernel `add`");
        succeeds(hipEventQuery(after));

        overrun.launch(failing);
        overrun.launch(other);
        // The default stream comes after all others, and a copy on it waits.
        let mut word = 0_u32;
        let source = allocate(4);
        let copied = hipMemcpyDtoH((&raw mut word).cast(), source, 4);
        fails(copied, illegal, "and 1 later launch failed");
        succeeds(hipDeviceSynchronize());

        overrun.launch(failing);
        fails(
            hipStreamSynchronize(ptr::null_mut()),
            illegal,
            "kernel `add`",
        );

        overrun.launch(failing);
        succeeds(hipStreamDestroy(failing));
        fails(hipDeviceSynchronize(), illegal, "kernel `add`");
    }
}

#[test]
fn memory_that_was_freed_is_out_of_bounds_for_kernels() {
    let _device = TestDevice::new(Gpu::Gfx908);
    let function = kernel(load(code_object(Gpu::Gfx908)), c"add");
    let data = buffer(&[0; 64]);
    // SAFETY: the allocation is valid.
    succeeds(unsafe { hipFree(data) });
    succeeds(add(
        function,
        1,
        &add_arguments(data, data, 1),
        ptr::null_mut(),
    ));
    // SAFETY: the function takes no pointers.
    let code = unsafe { hipDeviceSynchronize() };
    fails(
        code,
        hipError_t::hipErrorIllegalAddress,
        "global_load_dword",
    );
}
