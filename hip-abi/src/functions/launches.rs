//! Launches: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_launches {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Launches a grid of workgroups. Arguments are either `parameters`, a pointer to each, or `extra`, a
            /// buffer with all of them between the markers `HIP_LAUNCH_PARAM_BUFFER_POINTER`,
            /// `HIP_LAUNCH_PARAM_BUFFER_SIZE` and `HIP_LAUNCH_PARAM_END`; the other is null. `hipErrorInvalidValue` if
            /// the kernel cannot run on this device with the grid, workgroup size, LDS or arguments.
            required fn hipModuleLaunchKernel(
                function: $crate::hipFunction_t,
                grid_x: ::core::ffi::c_uint,
                grid_y: ::core::ffi::c_uint,
                grid_z: ::core::ffi::c_uint,
                block_x: ::core::ffi::c_uint,
                block_y: ::core::ffi::c_uint,
                block_z: ::core::ffi::c_uint,
                dynamic_lds_bytes: ::core::ffi::c_uint,
                stream: $crate::hipStream_t,
                parameters: *mut *mut ::core::ffi::c_void,
                extra: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Saves the configuration of a `<<<>>>` launch for the kernel's stub.
            optional fn __hipPushCallConfiguration(
                grid_dim: $crate::dim3,
                block_dim: $crate::dim3,
                shared_mem: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Returns the saved configuration to the stub. `hipErrorMissingConfiguration` if there is none.
            optional fn __hipPopCallConfiguration(
                grid_dim: *mut $crate::dim3,
                block_dim: *mut $crate::dim3,
                shared_mem: *mut usize,
                stream: *mut $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Launches a program's kernel. `hipErrorInvalidDeviceFunction` if it is not registered.
            optional fn hipLaunchKernel(
                function_address: *const ::core::ffi::c_void,
                num_blocks: $crate::dim3,
                dim_blocks: $crate::dim3,
                args: *mut *mut ::core::ffi::c_void,
                shared_mem_bytes: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipLaunchKernel`, with the configuration in a struct. The only supported attribute is cooperative
            /// launch.
            optional fn hipLaunchKernelExC(
                config: *const $crate::hipLaunchConfig_t,
                f_ptr: *const ::core::ffi::c_void,
                args: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hipModuleLaunchKernel`, with the configuration in a struct. The only supported attribute is
            /// cooperative launch.
            optional fn hipDrvLaunchKernelEx(
                config: *const $crate::HIP_LAUNCH_CONFIG,
                function: $crate::hipFunction_t,
                params: *mut *mut ::core::ffi::c_void,
                extra: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hipLaunchKernel`, with events before and after it, which may be null.
            optional fn hipExtLaunchKernel(
                function_address: *const ::core::ffi::c_void,
                num_blocks: $crate::dim3,
                dim_blocks: $crate::dim3,
                args: *mut *mut ::core::ffi::c_void,
                shared_mem_bytes: usize,
                stream: $crate::hipStream_t,
                start_event: $crate::hipEvent_t,
                stop_event: $crate::hipEvent_t,
                flags: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// As `hipModuleLaunchKernel`, with sizes in work-items and events before and after it, which may be
            /// null.
            optional fn hipExtModuleLaunchKernel(
                function: $crate::hipFunction_t,
                global_work_size_x: u32,
                global_work_size_y: u32,
                global_work_size_z: u32,
                local_work_size_x: u32,
                local_work_size_y: u32,
                local_work_size_z: u32,
                shared_mem_bytes: usize,
                stream: $crate::hipStream_t,
                kernel_params: *mut *mut ::core::ffi::c_void,
                extra: *mut *mut ::core::ffi::c_void,
                start_event: $crate::hipEvent_t,
                stop_event: $crate::hipEvent_t,
                flags: u32,
            ) -> $crate::hipError_t;
            /// As `hipExtModuleLaunchKernel` without flags.
            optional fn hipHccModuleLaunchKernel(
                function: $crate::hipFunction_t,
                global_work_size_x: u32,
                global_work_size_y: u32,
                global_work_size_z: u32,
                local_work_size_x: u32,
                local_work_size_y: u32,
                local_work_size_z: u32,
                shared_mem_bytes: usize,
                stream: $crate::hipStream_t,
                kernel_params: *mut *mut ::core::ffi::c_void,
                extra: *mut *mut ::core::ffi::c_void,
                start_event: $crate::hipEvent_t,
                stop_event: $crate::hipEvent_t,
            ) -> $crate::hipError_t;
            /// As `hipModuleLaunchKernel`. `hipErrorCooperativeLaunchTooLarge` if the workgroups do not all fit on the
            /// device at once.
            optional fn hipModuleLaunchCooperativeKernel(
                function: $crate::hipFunction_t,
                grid_dim_x: ::core::ffi::c_uint,
                grid_dim_y: ::core::ffi::c_uint,
                grid_dim_z: ::core::ffi::c_uint,
                block_dim_x: ::core::ffi::c_uint,
                block_dim_y: ::core::ffi::c_uint,
                block_dim_z: ::core::ffi::c_uint,
                shared_mem_bytes: ::core::ffi::c_uint,
                stream: $crate::hipStream_t,
                kernel_params: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hipModuleLaunchCooperativeKernel`, for a program's kernel.
            optional fn hipLaunchCooperativeKernel(
                function: *const ::core::ffi::c_void,
                grid_dim: $crate::dim3,
                block_dim_x: $crate::dim3,
                kernel_params: *mut *mut ::core::ffi::c_void,
                shared_mem_bytes: ::core::ffi::c_uint,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// As `hipLaunchCooperativeKernel` on several devices, each with its own stream. Waits for the streams before and
            /// after, unless flags say otherwise. Kernels cannot synchronize across devices.
            optional fn hipLaunchCooperativeKernelMultiDevice(
                launch_params_list: *mut $crate::hipLaunchParams,
                num_devices: ::core::ffi::c_int,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipLaunchCooperativeKernelMultiDevice`, for launches that are not cooperative.
            optional fn hipExtLaunchMultiKernelMultiDevice(
                launch_params_list: *mut $crate::hipLaunchParams,
                num_devices: ::core::ffi::c_int,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipLaunchCooperativeKernelMultiDevice`, for modules' kernels.
            optional fn hipModuleLaunchCooperativeKernelMultiDevice(
                launch_params_list: *mut $crate::hipFunctionLaunchParams,
                num_devices: ::core::ffi::c_uint,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Keeps the configuration of the calling thread's next `hipLaunchByPtr`.
            optional fn hipConfigureCall(
                grid_dim: $crate::dim3,
                block_dim: $crate::dim3,
                shared_mem: usize,
                stream: $crate::hipStream_t,
            ) -> $crate::hipError_t;
            /// Keeps an argument of the next `hipLaunchByPtr`, at an offset in the kernarg segment.
            optional fn hipSetupArgument(
                arg: *const ::core::ffi::c_void,
                size: usize,
                offset: usize,
            ) -> $crate::hipError_t;
            /// Launches a program's kernel as configured.
            optional fn hipLaunchByPtr(func: *const ::core::ffi::c_void) -> $crate::hipError_t;
            /// Calls a host function after the work already in a stream. The function must not call HIP.
            optional fn hipLaunchHostFunc(
                stream: $crate::hipStream_t,
                function: $crate::hipHostFn_t,
                user_data: *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
        }
    };
}
