//! Modules, registered kernels and variables, attributes: rows of
//! [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_modules {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Loads a file, as `hipModuleLoadData`. `hipErrorFileNotFound` if it does not exist.
            required fn hipModuleLoad(
                module: *mut $crate::hipModule_t,
                path: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// Loads a code object from memory, whose header gives its length. `hipErrorInvalidImage` if it is
            /// malformed, `hipErrorNoBinaryForGpu` if it is for another GPU than the current device's.
            required fn hipModuleLoadData(
                module: *mut $crate::hipModule_t,
                image: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Unloads a module with its kernels and variables.
            required fn hipModuleUnload(module: $crate::hipModule_t) -> $crate::hipError_t;
            /// A module's kernel by name. `hipErrorNotFound` if there is none.
            required fn hipModuleGetFunction(
                function: *mut $crate::hipFunction_t,
                module: $crate::hipModule_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// Address and length of a module's variable; either may be null. `hipErrorNotFound` if there is none.
            required fn hipModuleGetGlobal(
                address: *mut $crate::hipDeviceptr_t,
                bytes: *mut usize,
                module: $crate::hipModule_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// One attribute of a kernel. `hipErrorInvalidValue` if the attribute is unknown.
            required fn hipFuncGetAttribute(
                value: *mut ::core::ffi::c_int,
                attribute: $crate::hipFunction_attribute,
                function: $crate::hipFunction_t,
            ) -> $crate::hipError_t;
            /// The number of a kernel's workgroups that fit on a compute unit at once.
            required fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                workgroups: *mut ::core::ffi::c_int,
                function: $crate::hipFunction_t,
                block_size: ::core::ffi::c_int,
                dynamic_lds_bytes: usize,
            ) -> $crate::hipError_t;
            /// As `hipModuleLoadData`. The options, which are for a compiler, are ignored.
            optional fn hipModuleLoadDataEx(
                module: *mut $crate::hipModule_t,
                image: *const ::core::ffi::c_void,
                num_options: ::core::ffi::c_uint,
                options: *mut $crate::hipJitOption,
                option_values: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hipModuleLoadData`.
            optional fn hipModuleLoadFatBinary(
                module: *mut $crate::hipModule_t,
                fatbin: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// The number of kernels in a module.
            optional fn hipModuleGetFunctionCount(
                count: *mut ::core::ffi::c_uint,
                module: $crate::hipModule_t,
            ) -> $crate::hipError_t;
            /// Sets one attribute of a kernel: the maximum dynamic LDS.
            optional fn hipFuncSetAttribute(
                func: *const ::core::ffi::c_void,
                attr: $crate::hipFuncAttribute,
                value: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// All properties of a program's kernel.
            optional fn hipFuncGetAttributes(
                attr: *mut $crate::hipFuncAttributes,
                func: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Accepted for a kernel; has no effect on AMD GPUs.
            optional fn hipFuncSetCacheConfig(
                func: *const ::core::ffi::c_void,
                config: $crate::hipFuncCache_t,
            ) -> $crate::hipError_t;
            /// Accepted for a kernel; has no effect on AMD GPUs.
            optional fn hipFuncSetSharedMemConfig(
                func: *const ::core::ffi::c_void,
                config: $crate::hipSharedMemConfig,
            ) -> $crate::hipError_t;
            /// A kernel's name; null if the handle is invalid.
            optional fn hipKernelNameRef(function: $crate::hipFunction_t) -> *const ::core::ffi::c_char;
            /// The name of the kernel of a program's stub; null if it is not registered. `stream` is ignored.
            optional fn hipKernelNameRefByPtr(
                host_function: *const ::core::ffi::c_void,
                stream: $crate::hipStream_t,
            ) -> *const ::core::ffi::c_char;
            /// The kernel of a program's stub, on the current device. `hipErrorInvalidDeviceFunction` if the stub is
            /// not registered.
            optional fn hipGetFuncBySymbol(
                function_ptr: *mut $crate::hipFunction_t,
                symbol_ptr: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Address of a program's device variable on the current device. `hipErrorInvalidSymbol` if it is not
            /// registered.
            optional fn hipGetSymbolAddress(
                dev_ptr: *mut *mut ::core::ffi::c_void,
                symbol: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Length of a program's device variable in bytes. `hipErrorInvalidSymbol` if it is not registered.
            optional fn hipGetSymbolSize(
                size: *mut usize,
                symbol: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Called by a program compiled for HIP as it starts. Registers the code objects embedded in it. Null if
            /// `data` is not a `FatBinaryWrapper`.
            optional fn __hipRegisterFatBinary(data: *const ::core::ffi::c_void) -> *mut *mut ::core::ffi::c_void;
            /// Registers the kernel of a stub.
            optional fn __hipRegisterFunction(
                modules: *mut *mut ::core::ffi::c_void,
                host_function: *const ::core::ffi::c_void,
                device_function: *mut ::core::ffi::c_char,
                device_name: *const ::core::ffi::c_char,
                thread_limit: ::core::ffi::c_uint,
                tid: *mut ::core::ffi::c_void,
                bid: *mut ::core::ffi::c_void,
                block_dim: *mut $crate::dim3,
                grid_dim: *mut $crate::dim3,
                w_size: *mut ::core::ffi::c_int,
            ) -> ();
            /// Registers the device variable of a host variable.
            optional fn __hipRegisterVar(
                modules: *mut *mut ::core::ffi::c_void,
                var: *mut ::core::ffi::c_void,
                host_var: *mut ::core::ffi::c_char,
                device_var: *mut ::core::ffi::c_char,
                ext: ::core::ffi::c_int,
                size: usize,
                constant: ::core::ffi::c_int,
                global: ::core::ffi::c_int,
            ) -> ();
            /// Registers a surface, which no other function knows. Such calls run as programs start, and leave no error.
            optional fn __hipRegisterSurface(
                modules: *mut *mut ::core::ffi::c_void,
                var: *mut ::core::ffi::c_void,
                host_var: *mut ::core::ffi::c_char,
                device_var: *mut ::core::ffi::c_char,
                kind: ::core::ffi::c_int,
                ext: ::core::ffi::c_int,
            ) -> ();
            /// Registers a texture reference, as `__hipRegisterSurface`.
            optional fn __hipRegisterTexture(
                modules: *mut *mut ::core::ffi::c_void,
                var: *mut ::core::ffi::c_void,
                host_var: *mut ::core::ffi::c_char,
                device_var: *mut ::core::ffi::c_char,
                kind: ::core::ffi::c_int,
                norm: ::core::ffi::c_int,
                ext: ::core::ffi::c_int,
            ) -> ();
            /// Registers a managed variable, allocates it with its initial value, and sets the program's pointer to it.
            optional fn __hipRegisterManagedVar(
                modules: *mut *mut ::core::ffi::c_void,
                pointer: *mut *mut ::core::ffi::c_void,
                init_value: *mut ::core::ffi::c_void,
                name: *const ::core::ffi::c_char,
                size: usize,
                align: ::core::ffi::c_uint,
            ) -> ();
            /// Called by such a program as it ends.
            optional fn __hipUnregisterFatBinary(modules: *mut *mut ::core::ffi::c_void) -> ();
            /// As `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`.
            optional fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                num_blocks: *mut ::core::ffi::c_int,
                function: $crate::hipFunction_t,
                block_size: ::core::ffi::c_int,
                dyn_shared_mem_per_blk: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// The workgroup size with the best occupancy, up to a limit (0 for none), and how many such workgroups
            /// fill the device.
            optional fn hipModuleOccupancyMaxPotentialBlockSize(
                grid_size: *mut ::core::ffi::c_int,
                block_size: *mut ::core::ffi::c_int,
                function: $crate::hipFunction_t,
                dyn_shared_mem_per_blk: usize,
                block_size_limit: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// As `hipModuleOccupancyMaxPotentialBlockSize`.
            optional fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
                grid_size: *mut ::core::ffi::c_int,
                block_size: *mut ::core::ffi::c_int,
                function: $crate::hipFunction_t,
                dyn_shared_mem_per_blk: usize,
                block_size_limit: ::core::ffi::c_int,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`, for a program's kernel.
            optional fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
                num_blocks: *mut ::core::ffi::c_int,
                function: *const ::core::ffi::c_void,
                block_size: ::core::ffi::c_int,
                dyn_shared_mem_per_blk: usize,
            ) -> $crate::hipError_t;
            /// As `hipOccupancyMaxActiveBlocksPerMultiprocessor`.
            optional fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                num_blocks: *mut ::core::ffi::c_int,
                function: *const ::core::ffi::c_void,
                block_size: ::core::ffi::c_int,
                dyn_shared_mem_per_blk: usize,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipModuleOccupancyMaxPotentialBlockSize`, for a program's kernel.
            optional fn hipOccupancyMaxPotentialBlockSize(
                grid_size: *mut ::core::ffi::c_int,
                block_size: *mut ::core::ffi::c_int,
                function: *const ::core::ffi::c_void,
                dyn_shared_mem_per_blk: usize,
                block_size_limit: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// As `hiprtcLinkCreate`.
            optional fn hipLinkCreate(
                num_options: ::core::ffi::c_uint,
                options: *mut $crate::hipJitOption,
                option_values: *mut *mut ::core::ffi::c_void,
                state_out: *mut $crate::hipLinkState_t,
            ) -> $crate::hipError_t;
            /// As `hiprtcLinkAddFile`. `hipErrorInvalidConfiguration` if the file cannot be added.
            optional fn hipLinkAddFile(
                state: $crate::hipLinkState_t,
                input_type: $crate::hipJitInputType,
                path: *const ::core::ffi::c_char,
                num_options: ::core::ffi::c_uint,
                options: *mut $crate::hipJitOption,
                option_values: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hiprtcLinkAddData`.
            optional fn hipLinkAddData(
                state: $crate::hipLinkState_t,
                input_type: $crate::hipJitInputType,
                data: *mut ::core::ffi::c_void,
                size: usize,
                name: *const ::core::ffi::c_char,
                num_options: ::core::ffi::c_uint,
                options: *mut $crate::hipJitOption,
                option_values: *mut *mut ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// As `hiprtcLinkComplete`. `hipErrorInvalidConfiguration` if linking fails.
            optional fn hipLinkComplete(
                state: $crate::hipLinkState_t,
                hip_bin_out: *mut *mut ::core::ffi::c_void,
                size_out: *mut usize,
            ) -> $crate::hipError_t;
            /// As `hiprtcLinkDestroy`.
            optional fn hipLinkDestroy(state: $crate::hipLinkState_t) -> $crate::hipError_t;
            /// Makes a library of a code object in memory, which is loaded on the device that is current when the library
            /// is first asked for a kernel. The memory must stay as it is until then. `hipErrorInvalidValue` if there
            /// are options of the JIT; those of libraries are ignored.
            optional fn hipLibraryLoadData(
                library: *mut $crate::hipLibrary_t,
                code: *const ::core::ffi::c_void,
                jit_options: *mut $crate::hipJitOption,
                jit_options_values: *mut *mut ::core::ffi::c_void,
                num_jit_options: ::core::ffi::c_uint,
                library_options: *mut $crate::hipLibraryOption,
                library_option_values: *mut *mut ::core::ffi::c_void,
                num_library_options: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipLibraryLoadData`, of a file. `hipErrorInvalidValue` if it does not exist.
            optional fn hipLibraryLoadFromFile(
                library: *mut $crate::hipLibrary_t,
                file_name: *const ::core::ffi::c_char,
                jit_options: *mut $crate::hipJitOption,
                jit_options_values: *mut *mut ::core::ffi::c_void,
                num_jit_options: ::core::ffi::c_uint,
                library_options: *mut $crate::hipLibraryOption,
                library_option_values: *mut *mut ::core::ffi::c_void,
                num_library_options: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Unloads a library with its kernels.
            optional fn hipLibraryUnload(library: $crate::hipLibrary_t) -> $crate::hipError_t;
            /// A library's kernel by name. `hipErrorNotFound` if there is none.
            optional fn hipLibraryGetKernel(
                kernel: *mut $crate::hipKernel_t,
                library: $crate::hipLibrary_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// The number of a library's kernels.
            optional fn hipLibraryGetKernelCount(
                count: *mut ::core::ffi::c_uint,
                library: $crate::hipLibrary_t,
            ) -> $crate::hipError_t;
            /// Up to `num_kernels` kernels of a library, in no particular order.
            optional fn hipLibraryEnumerateKernels(
                kernels: *mut $crate::hipKernel_t,
                num_kernels: ::core::ffi::c_uint,
                library: $crate::hipLibrary_t,
            ) -> $crate::hipError_t;
            /// The library of a kernel. `hipErrorInvalidValue` if it is of none.
            optional fn hipKernelGetLibrary(
                library: *mut $crate::hipLibrary_t,
                kernel: $crate::hipKernel_t,
            ) -> $crate::hipError_t;
            /// A kernel's name, which lives as long as the kernel.
            optional fn hipKernelGetName(
                name: *mut *const ::core::ffi::c_char,
                kernel: $crate::hipKernel_t,
            ) -> $crate::hipError_t;
            /// The function of a kernel, which in HIP is the same handle. `hipErrorInvalidValue` for null.
            optional fn hipKernelGetFunction(
                function: *mut $crate::hipFunction_t,
                kernel: $crate::hipKernel_t,
            ) -> $crate::hipError_t;
            /// Where a kernel's parameter is among its arguments, and, unless `param_size` is null, how long it is, both in
            /// bytes. `hipErrorInvalidValue` if the kernel has no such parameter; hidden ones do not count.
            optional fn hipKernelGetParamInfo(
                kernel: $crate::hipKernel_t,
                param_index: usize,
                param_offset: *mut usize,
                param_size: *mut usize,
            ) -> $crate::hipError_t;
            /// As `hipFuncGetAttribute`. `hipErrorMissingConfiguration` if the kernel is not loaded on this device.
            optional fn hipKernelGetAttribute(
                value: *mut ::core::ffi::c_int,
                attribute: $crate::hipFunction_attribute,
                kernel: $crate::hipKernel_t,
                device: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// Sets a kernel's maximum of dynamic LDS in bytes. The share of LDS in the cache is accepted without an effect;
            /// other attributes are `hipErrorInvalidValue`. `hipErrorMissingConfiguration` as above.
            optional fn hipKernelSetAttribute(
                attribute: $crate::hipFunction_attribute,
                value: ::core::ffi::c_int,
                kernel: $crate::hipKernel_t,
                device: $crate::hipDevice_t,
            ) -> $crate::hipError_t;
            /// As `hipModuleGetGlobal`. `hipErrorInvalidValue` if `device_pointer` and `bytes` are both null, or `name` is
            /// empty.
            optional fn hipLibraryGetGlobal(
                device_pointer: *mut *mut ::core::ffi::c_void,
                bytes: *mut usize,
                library: $crate::hipLibrary_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// The same of a managed variable. `hipErrorNotFound` for another variable.
            optional fn hipLibraryGetManaged(
                device_pointer: *mut *mut ::core::ffi::c_void,
                bytes: *mut usize,
                library: $crate::hipLibrary_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// A library as a module, always the same one. It is valid until the library is unloaded.
            optional fn hipLibraryGetModule(
                module: *mut $crate::hipModule_t,
                library: $crate::hipLibrary_t,
            ) -> $crate::hipError_t;
            /// How much dynamic LDS each of `num_blocks` workgroups on a compute unit may have, in bytes.
            optional fn hipOccupancyAvailableDynamicSMemPerBlock(
                dynamic_smem_size: *mut usize,
                function: *const ::core::ffi::c_void,
                num_blocks: ::core::ffi::c_int,
                block_size: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
        }
    };
}
