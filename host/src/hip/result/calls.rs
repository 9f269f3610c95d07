//! HIP's functions, as functions that return their results.

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
};

use ferrowave_hip_abi::{
    self as abi, HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE,
    HIP_LAUNCH_PARAM_END, hipDeviceProp_tR0600, hipError_t, hipEvent_t, hipFunction_t, hipModule_t,
    hipStream_t,
};

use super::HipError;
use crate::hip::Api;

/// Calls one of the table's functions.
macro_rules! call {
    ($api:ident.$function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: pointers to results are to variables of the surrounding function. For the rest, the function's
        // caller promises what HIP requires.
        let code = unsafe { ($api.functions().$function)($($argument),*) };
        $api.check(stringify!($function), code)
    }};
}

/// The arguments of a launch as HIP takes them, with their length in `bytes`.
fn extra(arguments: &[u8], bytes: &mut usize) -> [*mut c_void; 5] {
    [
        HIP_LAUNCH_PARAM_BUFFER_POINTER,
        // HIP only reads and copies the arguments, although the parameter is mutable.
        arguments.as_ptr().cast_mut().cast(),
        HIP_LAUNCH_PARAM_BUFFER_SIZE,
        ptr::from_mut(bytes).cast(),
        HIP_LAUNCH_PARAM_END,
    ]
}

/// The pointer to them: null for a kernel without arguments, which gets no buffer.
fn extra_pointer(extra: &mut [*mut c_void; 5], arguments: &[u8]) -> *mut *mut c_void {
    match arguments.is_empty() {
        true => ptr::null_mut(),
        false => extra.as_mut_ptr(),
    }
}

/// A device address as a C pointer.
fn pointer(address: u64) -> *mut c_void {
    ptr::without_provenance_mut(address as usize)
}

/// The functions of the result layer. All fail with the code that HIP returns. The unsafe ones pass pointers or handles
/// to HIP, which does not check them.
impl Api {
    /// `hipInit`.
    ///
    /// # Errors
    /// HIP's.
    pub fn init(&self) -> Result<(), HipError> {
        call!(self.hipInit(0))
    }

    /// `hipRuntimeGetVersion`: major × 10⁷ + minor × 10⁵ + patch.
    ///
    /// # Errors
    /// HIP's.
    pub fn runtime_version(&self) -> Result<i32, HipError> {
        let mut version = 0;
        call!(self.hipRuntimeGetVersion(&mut version))?;
        Ok(version)
    }

    /// `hipGetDeviceCount`.
    ///
    /// # Errors
    /// HIP's.
    pub fn device_count(&self) -> Result<u32, HipError> {
        let mut count = 0;
        call!(self.hipGetDeviceCount(&mut count))?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// Adds an emulated device with a name such as `emulator:MI250X`, and returns its ordinal; `None` if the library is
    /// not the emulator.
    ///
    /// # Errors
    /// If the emulator has no device of that name.
    pub fn add_device(&self, name: &CStr) -> Option<Result<c_int, HipError>> {
        let add = self.functions().ferrowaveAddDevice?;
        let mut ordinal = 0;
        // SAFETY: a text that ends in NUL, and a variable.
        let code = unsafe { add(name.as_ptr(), &mut ordinal) };
        Some(self.check("ferrowaveAddDevice", code).map(|()| ordinal))
    }

    /// Removes an emulated device with all that is on it; `None` if the library is not the emulator.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn remove_device(&self, ordinal: c_int) -> Option<Result<(), HipError>> {
        let remove = self.functions().ferrowaveRemoveDevice?;
        // SAFETY: it takes no pointers.
        let code = unsafe { remove(ordinal) };
        Some(self.check("ferrowaveRemoveDevice", code))
    }

    /// `hipGetDevicePropertiesR0600`.
    ///
    /// # Errors
    /// HIP's.
    pub fn device_properties(&self, device: c_int) -> Result<Box<hipDeviceProp_tR0600>, HipError> {
        let mut properties = Box::new(hipDeviceProp_tR0600::ZERO);
        call!(self.hipGetDevicePropertiesR0600(&mut *properties, device))?;
        Ok(properties)
    }

    /// `hipDeviceGetAttribute`.
    ///
    /// # Errors
    /// HIP's, also for an unknown attribute.
    pub fn device_attribute(
        &self,
        device: c_int,
        attribute: abi::hipDeviceAttribute_t,
    ) -> Result<c_int, HipError> {
        let mut value = 0;
        call!(self.hipDeviceGetAttribute(&mut value, attribute, device))?;
        Ok(value)
    }

    /// `hipSetDevice`, for this thread.
    ///
    /// # Errors
    /// HIP's.
    pub fn set_device(&self, device: c_int) -> Result<(), HipError> {
        call!(self.hipSetDevice(device))
    }

    /// `hipDeviceSynchronize`: waits for all work of the current device.
    ///
    /// # Errors
    /// HIP's, and those of the work.
    pub fn device_synchronize(&self) -> Result<(), HipError> {
        call!(self.hipDeviceSynchronize())
    }

    /// `hipMemGetInfo`: free and total bytes of the current device.
    ///
    /// # Errors
    /// HIP's.
    pub fn memory_info(&self) -> Result<(usize, usize), HipError> {
        let (mut free, mut total) = (0, 0);
        call!(self.hipMemGetInfo(&mut free, &mut total))?;
        Ok((free, total))
    }

    /// `hipMalloc` on the current device: the address of `bytes` bytes, or 0 if `bytes` is 0.
    ///
    /// # Errors
    /// HIP's.
    pub fn malloc(&self, bytes: usize) -> Result<u64, HipError> {
        let mut address = ptr::null_mut();
        call!(self.hipMalloc(&mut address, bytes))?;
        Ok(address.addr() as u64)
    }

    /// `hipFree`.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The address is from [`Self::malloc`] and not used any more.
    pub unsafe fn free(&self, address: u64) -> Result<(), HipError> {
        call!(self.hipFree(pointer(address)))
    }

    /// `hipMemcpyHtoD`: copies all of `from`.
    ///
    /// # Errors
    /// HIP's, and those of earlier work.
    ///
    /// # Safety
    /// The caller owns that many bytes at `to`.
    pub unsafe fn copy_to_device(&self, to: u64, from: &[u8]) -> Result<(), HipError> {
        call!(self.hipMemcpyHtoD(pointer(to), from.as_ptr().cast(), from.len()))
    }

    /// `hipMemcpyDtoH`: fills all of `to`.
    ///
    /// # Errors
    /// HIP's, and those of earlier work.
    ///
    /// # Safety
    /// That many bytes at `from` exist.
    pub unsafe fn copy_to_host(&self, to: &mut [u8], from: u64) -> Result<(), HipError> {
        call!(self.hipMemcpyDtoH(to.as_mut_ptr().cast(), pointer(from), to.len()))
    }

    /// `hipMemcpyDtoD`.
    ///
    /// # Errors
    /// HIP's, and those of earlier work.
    ///
    /// # Safety
    /// That many bytes exist at both, and the caller owns those at `to`.
    pub unsafe fn copy_on_device(&self, to: u64, from: u64, bytes: usize) -> Result<(), HipError> {
        call!(self.hipMemcpyDtoD(pointer(to), pointer(from), bytes))
    }

    /// `hipMemsetD8`: sets `bytes` bytes.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The caller owns that many bytes at `address`.
    pub unsafe fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), HipError> {
        call!(self.hipMemsetD8(pointer(address), value, bytes))
    }

    /// `hipMemsetD32`: sets `count` words of 4 bytes.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The caller owns that many words at `address`.
    pub unsafe fn fill_u32(&self, address: u64, value: u32, count: usize) -> Result<(), HipError> {
        call!(self.hipMemsetD32(pointer(address), value.cast_signed(), count))
    }

    /// `hipModuleLoadData`, for the current device.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The bytes are a complete code object: HIP does not get their length.
    pub unsafe fn module_load(&self, code_object: &[u8]) -> Result<hipModule_t, HipError> {
        let mut module = ptr::null_mut();
        call!(self.hipModuleLoadData(&mut module, code_object.as_ptr().cast()))?;
        Ok(module)
    }

    /// `hipModuleUnload`.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The module is from [`Self::module_load`], and neither it nor its kernels are used any more.
    pub unsafe fn module_unload(&self, module: hipModule_t) -> Result<(), HipError> {
        call!(self.hipModuleUnload(module))
    }

    /// `hipModuleGetFunction`.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The module is loaded.
    pub unsafe fn module_function(
        &self,
        module: hipModule_t,
        name: &CStr,
    ) -> Result<hipFunction_t, HipError> {
        let mut function = ptr::null_mut();
        call!(self.hipModuleGetFunction(&mut function, module, name.as_ptr()))?;
        Ok(function)
    }

    /// `hipModuleGetGlobal`: address and length in bytes.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The module is loaded.
    pub unsafe fn module_global(
        &self,
        module: hipModule_t,
        name: &CStr,
    ) -> Result<(u64, usize), HipError> {
        let (mut address, mut bytes) = (ptr::null_mut(), 0);
        call!(self.hipModuleGetGlobal(&mut address, &mut bytes, module, name.as_ptr()))?;
        Ok((address.addr() as u64, bytes))
    }

    /// `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`: workgroups that a compute unit holds at once.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The kernel's module is loaded.
    pub unsafe fn occupancy(
        &self,
        function: hipFunction_t,
        block_size: u32,
        dynamic_lds_bytes: u32,
    ) -> Result<u32, HipError> {
        let mut workgroups = 0;
        let block_size = c_int::try_from(block_size).unwrap_or(c_int::MAX);
        call!(self.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
            &mut workgroups,
            function,
            block_size,
            dynamic_lds_bytes as usize,
        ))?;
        Ok(u32::try_from(workgroups).unwrap_or(0))
    }

    /// `hipModuleLaunchKernel` with `arguments` in the layout of the kernel's argument segment.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The kernel's module is loaded, the stream is on its device, and the kernel accesses only its own memory with
    /// these arguments, grid (in workgroups) and block (in work-items).
    pub unsafe fn launch(
        &self,
        function: hipFunction_t,
        [grid_x, grid_y, grid_z]: [u32; 3],
        [block_x, block_y, block_z]: [u32; 3],
        dynamic_lds_bytes: u32,
        stream: hipStream_t,
        arguments: &[u8],
    ) -> Result<(), HipError> {
        let mut bytes = arguments.len();
        let mut extra = extra(arguments, &mut bytes);
        call!(self.hipModuleLaunchKernel(
            function,
            grid_x,
            grid_y,
            grid_z,
            block_x,
            block_y,
            block_z,
            dynamic_lds_bytes,
            stream,
            ptr::null_mut(),
            extra_pointer(&mut extra, arguments),
        ))
    }

    /// `hipExtModuleLaunchKernel`: as [`Self::launch`], with events for the kernel's start and end; `None` if the library
    /// does not have the function.
    ///
    /// The time between the two events is the kernel's, by the GPU's own time stamps: HIP marks them as not recorded, and
    /// takes both stamps from the command of `stop`, whatever `start` is (`Event::elapsedTime` in `hip_event.cpp` of ROCm
    /// 6's clr; a later version, which has no such mark, counts from a marker that HIP itself puts before the kernel). The
    /// events must have been made without flags.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// As for [`Self::launch`]; the events are valid and on the stream's device, and along each axis there are less than
    /// 2³² work-items.
    #[expect(clippy::too_many_arguments, reason = "as HIP's function")]
    pub unsafe fn launch_between(
        &self,
        function: hipFunction_t,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_lds_bytes: u32,
        stream: hipStream_t,
        arguments: &[u8],
        start: hipEvent_t,
        stop: hipEvent_t,
    ) -> Option<Result<(), HipError>> {
        let launch = self.functions().hipExtModuleLaunchKernel?;
        // This function counts work-items, not workgroups.
        let [x, y, z] = [0, 1, 2].map(|axis| grid[axis].wrapping_mul(block[axis]));
        let [block_x, block_y, block_z] = block;
        let mut bytes = arguments.len();
        let mut extra = extra(arguments, &mut bytes);
        // SAFETY: as the caller promises.
        let code = unsafe {
            launch(
                function,
                x,
                y,
                z,
                block_x,
                block_y,
                block_z,
                dynamic_lds_bytes as usize,
                stream,
                ptr::null_mut(),
                extra_pointer(&mut extra, arguments),
                start,
                stop,
                0,
            )
        };
        Some(self.check("hipExtModuleLaunchKernel", code))
    }

    /// `hipStreamCreate` on the current device.
    ///
    /// # Errors
    /// HIP's.
    pub fn stream_create(&self) -> Result<hipStream_t, HipError> {
        let mut stream = ptr::null_mut();
        call!(self.hipStreamCreateWithFlags(&mut stream, abi::hipStreamDefault))?;
        Ok(stream)
    }

    /// `hipStreamDestroy`.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The stream is from [`Self::stream_create`] and not used any more.
    pub unsafe fn stream_destroy(&self, stream: hipStream_t) -> Result<(), HipError> {
        call!(self.hipStreamDestroy(stream))
    }

    /// `hipStreamSynchronize`: waits for the stream's work.
    ///
    /// # Errors
    /// HIP's, and those of the work.
    ///
    /// # Safety
    /// The stream is valid.
    pub unsafe fn stream_synchronize(&self, stream: hipStream_t) -> Result<(), HipError> {
        call!(self.hipStreamSynchronize(stream))
    }

    /// `hipStreamQuery`: whether the stream has no work left.
    ///
    /// # Errors
    /// HIP's, and those of the work.
    ///
    /// # Safety
    /// The stream is valid.
    pub unsafe fn stream_is_done(&self, stream: hipStream_t) -> Result<bool, HipError> {
        is_done(call!(self.hipStreamQuery(stream)))
    }

    /// `hipStreamWaitEvent`: the stream's later work waits for the event.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// Stream and event are valid.
    pub unsafe fn stream_wait(
        &self,
        stream: hipStream_t,
        event: hipEvent_t,
    ) -> Result<(), HipError> {
        call!(self.hipStreamWaitEvent(stream, event, 0))
    }

    /// `hipEventCreate` on the current device.
    ///
    /// # Errors
    /// HIP's.
    pub fn event_create(&self) -> Result<hipEvent_t, HipError> {
        let mut event = ptr::null_mut();
        call!(self.hipEventCreate(&mut event))?;
        Ok(event)
    }

    /// `hipEventDestroy`.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The event is from [`Self::event_create`] and not used any more.
    pub unsafe fn event_destroy(&self, event: hipEvent_t) -> Result<(), HipError> {
        call!(self.hipEventDestroy(event))
    }

    /// `hipEventRecord`.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// Stream and event are valid.
    pub unsafe fn event_record(
        &self,
        event: hipEvent_t,
        stream: hipStream_t,
    ) -> Result<(), HipError> {
        call!(self.hipEventRecord(event, stream))
    }

    /// `hipEventSynchronize`: waits until the stream has reached the event.
    ///
    /// # Errors
    /// HIP's, and those of the work before it.
    ///
    /// # Safety
    /// The event is valid.
    pub unsafe fn event_synchronize(&self, event: hipEvent_t) -> Result<(), HipError> {
        call!(self.hipEventSynchronize(event))
    }

    /// `hipEventQuery`: whether the stream has reached the event.
    ///
    /// # Errors
    /// HIP's, and those of the work before it.
    ///
    /// # Safety
    /// The event is valid.
    pub unsafe fn event_is_done(&self, event: hipEvent_t) -> Result<bool, HipError> {
        is_done(call!(self.hipEventQuery(event)))
    }

    /// `hipEventElapsedTime` in milliseconds.
    ///
    /// # Errors
    /// HIP's.
    ///
    /// # Safety
    /// The events are valid.
    pub unsafe fn event_elapsed_ms(
        &self,
        start: hipEvent_t,
        stop: hipEvent_t,
    ) -> Result<f32, HipError> {
        let mut milliseconds = 0.0;
        call!(self.hipEventElapsedTime(&mut milliseconds, start, stop))?;
        Ok(milliseconds)
    }
}

/// Turns `hipErrorNotReady` into `false`.
fn is_done(result: Result<(), HipError>) -> Result<bool, HipError> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code == hipError_t::hipErrorNotReady => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use ferrowave_hip_abi::Functions;

    use super::*;
    use crate::hip::fake;

    /// Work-items, block, events and argument bytes.
    type Call = ([u32; 3], [u32; 3], [usize; 2], usize);
    static CALLS: Mutex<Vec<Call>> = Mutex::new(Vec::new());

    unsafe extern "C" fn recorded(
        _: hipFunction_t,
        x: u32,
        y: u32,
        z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        _: usize,
        _: hipStream_t,
        _: *mut *mut c_void,
        extra: *mut *mut c_void,
        start: hipEvent_t,
        stop: hipEvent_t,
        _: u32,
    ) -> hipError_t {
        let bytes = match extra.is_null() {
            true => 0,
            // SAFETY: the fourth element points to the number of bytes.
            false => unsafe { extra.add(3).read().cast::<usize>().read() },
        };
        let events = [start.addr(), stop.addr()];
        let call = ([x, y, z], [block_x, block_y, block_z], events, bytes);
        CALLS.lock().unwrap().push(call);
        hipError_t::hipErrorInvalidValue
    }

    #[test]
    fn a_launch_between_events_counts_work_items() {
        let launch = |api: &Api, arguments: &[u8]| {
            let event = |number: usize| ptr::without_provenance_mut(number);
            // SAFETY: nothing is launched.
            unsafe {
                api.launch_between(
                    ptr::null_mut(),
                    [3, 2, 1],
                    [64, 4, 1],
                    16,
                    ptr::null_mut(),
                    arguments,
                    event(8),
                    event(16),
                )
            }
        };
        assert!(launch(&fake::api(fake::FUNCTIONS), &[]).is_none());
        let api = fake::api(Functions {
            hipExtModuleLaunchKernel: Some(recorded),
            ..fake::FUNCTIONS
        });
        for bytes in [0, 24] {
            let error = launch(&api, &vec![0; bytes]).unwrap().unwrap_err();
            assert_eq!(error.function, "hipExtModuleLaunchKernel");
            let call = CALLS.lock().unwrap().pop();
            assert_eq!(call, Some(([192, 8, 1], [64, 4, 1], [8, 16], bytes)));
        }
    }
}
