//! The HIP functions as a C program calls them.

mod arrays;
mod batches;
mod cooperative;
mod devices;
mod execution_contexts;
mod faults;
mod graph_memory;
mod graphs;
mod handles;
mod ipc;
mod launches;
mod mappings;
mod memory;
mod modules;
mod nulls;
#[cfg(target_os = "linux")]
mod pageable;
mod peers;
mod places;
mod random_calls;
mod streams;
mod textures;
mod threads;
mod trace;

use std::{
    env,
    ffi::{CStr, c_int, c_uint, c_void},
    process::Command,
    ptr,
    sync::OnceLock,
};

use ferrowave_hip_abi::*;
use ferrowave_kernel_build::{Assembly, Toolchain};

use super::{DeviceConfig, add_device, error::last_error_detail, exports::*, remove_device};
use ferrowave_gpu::{Family, Gpu};

/// A device for one test, current on its thread.
struct TestDevice(c_int);

impl TestDevice {
    fn new(gpu: Gpu) -> Self {
        Self::with(DeviceConfig::new(gpu))
    }

    fn with(config: DeviceConfig) -> Self {
        let device = TestDevice(add_device(config));
        device.make_current();
        device
    }

    fn make_current(&self) {
        // SAFETY: the function takes no pointers.
        succeeds(unsafe { hipSetDevice(self.0) });
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        remove_device(self.0);
    }
}

#[track_caller]
fn succeeds(code: hipError_t) {
    assert_eq!(
        code,
        hipError_t::hipSuccess,
        "{:?}: {}",
        code.row().map(|row| row.name),
        last_error_detail()
    );
}

/// Asserts that the call failed with `code`, and that its detail contains `text`.
#[track_caller]
fn fails(result: hipError_t, code: hipError_t, text: &str) {
    let detail = last_error_detail();
    assert_eq!(result, code, "{detail}");
    assert!(detail.contains(text), "{detail}");
}

/// The result that a function writes.
#[track_caller]
fn result<T>(function: impl FnOnce(*mut T) -> hipError_t) -> T {
    let mut value = std::mem::MaybeUninit::zeroed();
    succeeds(function(value.as_mut_ptr()));
    // SAFETY: results are integers and raw pointers.
    unsafe { value.assume_init() }
}

/// A child process that runs one test of this program alone.
fn child(test: &str) -> Command {
    let mut child = Command::new(env::current_exe().expect("the test has a path"));
    child.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    child
}

/// Runs a child process, which must succeed, and returns what it said.
#[track_caller]
fn output_of(child: &mut Command) -> String {
    let output = child.output().expect("the child starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said.into_owned()
}

/// Whether this process runs the test alone. If not, another one does so first.
#[track_caller]
fn alone(test: &str) -> bool {
    alone_with(test, &[])
}

/// The same, with environment variables.
#[track_caller]
fn alone_with(test: &str, variables: &[(&str, &str)]) -> bool {
    const ALONE: &str = "FERROWAVE_TEST_ALONE";
    if env::var_os(ALONE).is_some() {
        return true;
    }
    let said = output_of(child(test).env(ALONE, "").envs(variables.iter().copied()));
    assert!(said.contains("1 passed"), "{said}");
    false
}

/// Assembles `add.s` for a GPU, once.
fn code_object(gpu: Gpu) -> &'static [u8] {
    static OBJECTS: [OnceLock<Vec<u8>>; 4] = [const { OnceLock::new() }; 4];
    OBJECTS[gpu as usize].get_or_init(|| assemble(gpu, ""))
}

/// Assembles `add.s` for a GPU with these target features.
fn assemble(gpu: Gpu, features: &str) -> Vec<u8> {
    assemble_with(gpu, features, |text| text)
}

/// The same, of a changed text.
fn assemble_with(gpu: Gpu, features: &str, change: impl FnOnce(String) -> String) -> Vec<u8> {
    let accumulators = match gpu {
        Gpu::Gfx908 => "",
        _ => ".amdhsa_accum_offset 4",
    };
    let text = include_str!("add.s").replace("ACCUM_OFFSET\n", &format!("{accumulators}\n"));
    let text = change(text);
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let assembly = Assembly::new(gpu, &text).features(features);
    assembly
        .assemble(&toolchain)
        .expect("LLVM assembles the test")
}

fn load(bytes: &[u8]) -> hipModule_t {
    // SAFETY: the result pointer and the code object are valid.
    result(|module| unsafe { hipModuleLoadData(module, bytes.as_ptr().cast()) })
}

fn kernel(module: hipModule_t, name: &CStr) -> hipFunction_t {
    // SAFETY: the result pointer is valid, and the text a C string.
    result(|function| unsafe { hipModuleGetFunction(function, module, name.as_ptr()) })
}

fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: the result pointer is valid.
    result(|address| unsafe { hipMalloc(address, bytes) })
}

fn stream() -> hipStream_t {
    // SAFETY: the result pointer is valid.
    result(|stream| unsafe { hipStreamCreate(stream) })
}

/// The properties of a pool on a device.
fn pool_properties(device: &TestDevice) -> hipMemPoolProps {
    hipMemPoolProps {
        allocType: 1,
        location: hipMemLocation {
            r#type: hipMemLocationType::hipMemLocationTypeDevice,
            id: device.0,
        },
        ..hipMemPoolProps::ZERO
    }
}

/// Allocates a device buffer with these contents.
fn buffer(contents: &[u32]) -> *mut c_void {
    let bytes = size_of_val(contents);
    let address = allocate(bytes);
    // SAFETY: both have that many bytes.
    succeeds(unsafe { hipMemcpyHtoD(address, contents.as_ptr().cast(), bytes) });
    address
}

fn contents(address: *mut c_void, count: usize) -> Vec<u32> {
    let mut contents = vec![0; count];
    // SAFETY: the vector has that many bytes; the device checks its address.
    succeeds(unsafe { hipMemcpyDtoH(contents.as_mut_ptr().cast(), address, 4 * count) });
    contents
}

/// A launch of a kernel with arguments in a buffer.
struct Launch<'a> {
    function: hipFunction_t,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    lds_bytes: c_uint,
    stream: hipStream_t,
    arguments: &'a [u8],
}

impl Launch<'_> {
    fn run(&self) -> hipError_t {
        let mut bytes = self.arguments.len();
        let mut extra = [
            HIP_LAUNCH_PARAM_BUFFER_POINTER,
            self.arguments.as_ptr().cast_mut().cast(),
            HIP_LAUNCH_PARAM_BUFFER_SIZE,
            (&raw mut bytes).cast(),
            HIP_LAUNCH_PARAM_END,
        ];
        self.run_with(ptr::null_mut(), extra.as_mut_ptr())
    }

    fn run_with(&self, parameters: *mut *mut c_void, extra: *mut *mut c_void) -> hipError_t {
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        // SAFETY: the arguments are valid.
        unsafe {
            hipModuleLaunchKernel(
                self.function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                self.lds_bytes,
                self.stream,
                parameters,
                extra,
            )
        }
    }
}

/// The arguments of `add`.
fn add_arguments(out: *mut c_void, input: *mut c_void, bias: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(out.addr().to_le_bytes());
    bytes.extend(input.addr().to_le_bytes());
    bytes.extend(bias.to_le_bytes());
    bytes
}

/// Launches `add` with `workgroups` workgroups of 64.
fn add(
    function: hipFunction_t,
    workgroups: u32,
    arguments: &[u8],
    stream: hipStream_t,
) -> hipError_t {
    let launch = Launch {
        function,
        grid: [workgroups, 1, 1],
        block: [64, 1, 1],
        lds_bytes: 0,
        stream,
        arguments,
    };
    launch.run()
}
