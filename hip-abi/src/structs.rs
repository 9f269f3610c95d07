//! Structs that calls take and fill in.

use core::ffi::{c_int, c_uint, c_void};

use crate::{
    hipArray_t, hipChannelFormatKind, hipDeviceptr_t, hipHostFn_t, hipMemAccessFlags,
    hipMemLocationType, hipMemcpyKind, hipMemoryType, hipResourceType, hipStream_t,
    layout::c_struct,
};

c_struct! {
    /// What a texture's elements are made of.
    pub struct hipChannelFormatDesc of 20 bytes {
        /// Bits of the first part.
        0 x: c_int,
        /// Bits of the second part.
        4 y: c_int,
        /// Bits of the third part.
        8 z: c_int,
        /// Bits of the fourth part.
        12 w: c_int,
        /// What they are.
        16 f: hipChannelFormatKind,
    }
}

c_struct! {
    /// Three sizes.
    pub struct dim3 of 12 bytes {
        /// Along x.
        0 x: u32,
        /// Along y.
        4 y: u32,
        /// Along z.
        8 z: u32,
    }
}

c_struct! {
    /// A place in an allocation of three dimensions.
    pub struct hipPos of 24 bytes {
        /// In bytes.
        0 x: usize,
        /// In rows.
        8 y: usize,
        /// In layers.
        16 z: usize,
    }
}

c_struct! {
    /// The size of an allocation or copy of three dimensions.
    pub struct hipExtent of 24 bytes {
        /// In bytes.
        0 width: usize,
        /// In rows.
        8 height: usize,
        /// In layers.
        16 depth: usize,
    }
}

c_struct! {
    /// Memory in rows.
    pub struct hipPitchedPtr of 32 bytes {
        /// The first row.
        0 ptr: *mut c_void,
        /// From one row to the next, in bytes.
        8 pitch: usize,
        /// Bytes of a row that are used.
        16 xsize: usize,
        /// Rows of a layer.
        24 ysize: usize,
    }
}

c_struct! {
    /// Whose memory an address is in.
    pub struct hipPointerAttribute_t of 32 bytes {
        /// What kind of memory.
        0 r#type: hipMemoryType,
        /// The device that it belongs to.
        4 device: c_int,
        /// The address on the device.
        8 devicePointer: *mut c_void,
        /// The address on the host; null if it has none.
        16 hostPointer: *mut c_void,
        /// Whether it is managed.
        24 isManaged: c_int,
        /// The flags that it was allocated with.
        28 allocationFlags: c_uint,
    }
}

c_struct! {
    /// What a kernel is and needs.
    pub struct hipFuncAttributes of 56 bytes {
        /// Version of the machine code.
        0 binaryVersion: c_int,
        /// CUDA only.
        4 cacheModeCA: c_int,
        /// Constant memory, in bytes.
        8 constSizeBytes: usize,
        /// Scratch of a work-item, in bytes.
        16 localSizeBytes: usize,
        /// Most LDS that a launch may add, in bytes.
        24 maxDynamicSharedSizeBytes: c_int,
        /// Most work-items of a workgroup.
        28 maxThreadsPerBlock: c_int,
        /// Vector registers of a work-item.
        32 numRegs: c_int,
        /// CUDA only.
        36 preferredShmemCarveout: c_int,
        /// Version of the instruction set.
        40 ptxVersion: c_int,
        /// LDS of a workgroup without what a launch adds, in bytes.
        48 sharedSizeBytes: usize,
    }
}

c_struct! {
    /// Where memory is.
    pub struct hipMemLocation of 8 bytes {
        /// On what.
        0 r#type: hipMemLocationType,
        /// Its number.
        4 id: c_int,
    }
}

c_struct! {
    /// Who may do what with memory.
    pub struct hipMemAccessDesc of 12 bytes {
        /// Who.
        0 location: hipMemLocation,
        /// What.
        8 flags: hipMemAccessFlags,
    }
}

c_struct! {
    /// What a pool shall be.
    pub struct hipMemPoolProps of 88 bytes {
        /// 1 (`hipMemAllocationTypePinned`).
        0 allocType: c_uint,
        /// Handles by which it can be shared; 0 for none.
        4 handleTypes: c_uint,
        /// The device that it is on.
        8 location: hipMemLocation,
        /// Windows only.
        16 win32SecurityAttributes: *mut c_void,
        /// The most that it holds, in bytes; 0 for as much as there is.
        24 maxSize: usize,
        /// Zeros.
        32 reserved: [u8; 56],
    }
}

c_struct! {
    /// Memory that a graph allocates.
    pub struct hipMemAllocNodeParams of 120 bytes {
        /// Where it shall be.
        0 poolProps: hipMemPoolProps,
        /// What reaches it.
        88 accessDescs: *const hipMemAccessDesc,
        /// How many of them there are.
        96 accessDescCount: usize,
        /// How much, in bytes.
        104 bytesize: usize,
        /// The result: where it is.
        112 dptr: *mut c_void,
    }
}

c_struct! {
    /// A copy of rows.
    pub struct hip_Memcpy2D of 128 bytes {
        /// Where in the source's rows it starts, in bytes.
        0 srcXInBytes: usize,
        /// The source's first row.
        8 srcY: usize,
        /// Which of the next three the source is.
        16 srcMemoryType: hipMemoryType,
        /// On the host.
        24 srcHost: *const c_void,
        /// On a device.
        32 srcDevice: hipDeviceptr_t,
        /// An array.
        40 srcArray: hipArray_t,
        /// From one of the source's rows to the next, in bytes.
        48 srcPitch: usize,
        /// Where in the target's rows it starts, in bytes.
        56 dstXInBytes: usize,
        /// The target's first row.
        64 dstY: usize,
        /// Which of the next three the target is.
        72 dstMemoryType: hipMemoryType,
        /// On the host.
        80 dstHost: *mut c_void,
        /// On a device.
        88 dstDevice: hipDeviceptr_t,
        /// An array.
        96 dstArray: hipArray_t,
        /// From one of the target's rows to the next, in bytes.
        104 dstPitch: usize,
        /// Bytes of a row.
        112 WidthInBytes: usize,
        /// Rows.
        120 Height: usize,
    }
}

c_struct! {
    /// A copy of layers of rows, as the module interface has it.
    pub struct HIP_MEMCPY3D of 184 bytes {
        /// Where in the source's rows it starts, in bytes.
        0 srcXInBytes: usize,
        /// The source's first row.
        8 srcY: usize,
        /// The source's first layer.
        16 srcZ: usize,
        /// 0.
        24 srcLOD: usize,
        /// Which of the next three the source is.
        32 srcMemoryType: hipMemoryType,
        /// On the host.
        40 srcHost: *const c_void,
        /// On a device.
        48 srcDevice: hipDeviceptr_t,
        /// An array.
        56 srcArray: hipArray_t,
        /// From one of the source's rows to the next, in bytes.
        64 srcPitch: usize,
        /// Rows of a layer of the source.
        72 srcHeight: usize,
        /// Where in the target's rows it starts, in bytes.
        80 dstXInBytes: usize,
        /// The target's first row.
        88 dstY: usize,
        /// The target's first layer.
        96 dstZ: usize,
        /// 0.
        104 dstLOD: usize,
        /// Which of the next three the target is.
        112 dstMemoryType: hipMemoryType,
        /// On the host.
        120 dstHost: *mut c_void,
        /// On a device.
        128 dstDevice: hipDeviceptr_t,
        /// An array.
        136 dstArray: hipArray_t,
        /// From one of the target's rows to the next, in bytes.
        144 dstPitch: usize,
        /// Rows of a layer of the target.
        152 dstHeight: usize,
        /// Bytes of a row.
        160 WidthInBytes: usize,
        /// Rows of a layer.
        168 Height: usize,
        /// Layers.
        176 Depth: usize,
    }
}

c_struct! {
    /// A copy of layers of rows.
    pub struct hipMemcpy3DParms of 160 bytes {
        /// The source, if it is an array.
        0 srcArray: hipArray_t,
        /// Where in the source it starts.
        8 srcPos: hipPos,
        /// The source, if it is memory.
        32 srcPtr: hipPitchedPtr,
        /// The target, if it is an array.
        64 dstArray: hipArray_t,
        /// Where in the target it starts.
        72 dstPos: hipPos,
        /// The target, if it is memory.
        96 dstPtr: hipPitchedPtr,
        /// How much.
        128 extent: hipExtent,
        /// From where to where.
        152 kind: hipMemcpyKind,
    }
}

c_struct! {
    /// A launch in a graph.
    pub struct hipKernelNodeParams of 64 bytes {
        /// Work-items of a workgroup.
        0 blockDim: dim3,
        /// Arguments in one buffer, or null.
        16 extra: *mut *mut c_void,
        /// A program's stub, or a module's kernel.
        24 func: *mut c_void,
        /// Workgroups.
        32 gridDim: dim3,
        /// A pointer to each argument, or null.
        48 kernelParams: *mut *mut c_void,
        /// LDS on top of the kernel's own, in bytes.
        56 sharedMemBytes: c_uint,
    }
}

c_struct! {
    /// A fill in a graph.
    pub struct hipMemsetParams of 48 bytes {
        /// The first row.
        0 dst: *mut c_void,
        /// Bytes of an element: 1, 2 or 4.
        8 elementSize: c_uint,
        /// Rows.
        16 height: usize,
        /// From one row to the next, in bytes.
        24 pitch: usize,
        /// What each element becomes.
        32 value: c_uint,
        /// Elements of a row.
        40 width: usize,
    }
}

/// A call of a host function in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipHostNodeParams {
    /// The function.
    pub r#fn: hipHostFn_t,
    /// Its argument.
    pub userData: *mut c_void,
}

c_struct! {
    /// One attribute of a launch: its number and 64 bytes of which it says what they are.
    pub struct hipLaunchAttribute of 72 bytes {
        /// 2 for a cooperative launch.
        0 id: c_uint,
        /// The distance to the value.
        4 pad: [u8; 4],
        /// The value; for a cooperative launch an `int`, yes or no.
        8 value: [c_int; 16],
    }
}

/// The only attribute of a launch that AMD's runtime has: whether it is cooperative.
pub const hipLaunchAttributeCooperative: c_uint = 2;

c_struct! {
    /// A launch of a program's kernel.
    pub struct hipLaunchConfig_t of 56 bytes {
        /// Workgroups.
        0 gridDim: dim3,
        /// Work-items of a workgroup.
        12 blockDim: dim3,
        /// LDS on top of the kernel's own, in bytes.
        24 dynamicSmemBytes: usize,
        /// The stream.
        32 stream: hipStream_t,
        /// Its attributes.
        40 attrs: *mut hipLaunchAttribute,
        /// How many there are.
        48 numAttrs: c_uint,
    }
}

c_struct! {
    /// A launch of a module's kernel.
    pub struct HIP_LAUNCH_CONFIG of 56 bytes {
        /// Workgroups along x.
        0 gridDimX: c_uint,
        /// Workgroups along y.
        4 gridDimY: c_uint,
        /// Workgroups along z.
        8 gridDimZ: c_uint,
        /// Work-items of a workgroup along x.
        12 blockDimX: c_uint,
        /// Work-items of a workgroup along y.
        16 blockDimY: c_uint,
        /// Work-items of a workgroup along z.
        20 blockDimZ: c_uint,
        /// LDS on top of the kernel's own, in bytes.
        24 sharedMemBytes: c_uint,
        /// The stream.
        32 hStream: hipStream_t,
        /// Its attributes.
        40 attrs: *mut hipLaunchAttribute,
        /// How many there are.
        48 numAttrs: c_uint,
    }
}

c_struct! {
    /// What clang puts in a program for `__hipRegisterFatBinary` (its `CGCUDANV.cpp`).
    pub struct FatBinaryWrapper of 24 bytes {
        /// [`Self::MAGIC`].
        0 magic: u32,
        /// 1.
        4 version: u32,
        /// The offload bundle.
        8 binary: *const c_void,
        /// Null.
        16 unused: *const c_void,
    }
}

impl FatBinaryWrapper {
    /// `HIPF`, as clang writes it.
    pub const MAGIC: u32 = 0x4849_5046;
}

c_struct! {
    /// The memory of a texture. The fields behind the kind are those of linear memory and of rows; arrays have a handle
    /// instead of an address, and none of the others.
    pub struct hipResourceDesc of 64 bytes {
        /// The kind of memory.
        0 resType: hipResourceType,
        /// Its first byte.
        8 devPtr: *mut c_void,
        /// What its elements are made of.
        16 desc: hipChannelFormatDesc,
        /// Of linear memory its length in bytes, of rows the elements of one.
        40 sizeInBytes: usize,
        /// Of rows how many there are.
        48 height: usize,
        /// Of rows the bytes from one to the next.
        56 pitchInBytes: usize,
    }
}

c_struct! {
    /// How a texture is read.
    pub struct hipTextureDesc of 64 bytes {
        /// What is read outside, along each dimension.
        0 addressMode: [c_uint; 3],
        /// Between elements: 0 for the nearest, 1 for what lies between.
        12 filterMode: c_uint,
        /// 0 for elements as they are, 1 for integers as floats from -1 or 0 to 1.
        16 readMode: c_uint,
        /// Whether colours are sRGB.
        20 sRGB: c_int,
        /// What lies outside.
        24 borderColor: [f32; 4],
        /// Whether coordinates are from 0 to 1.
        40 normalizedCoords: c_int,
        /// Limit of the anisotropy.
        44 maxAnisotropy: c_uint,
        /// As `filterMode`, between levels.
        48 mipmapFilterMode: c_uint,
        /// Added to the level.
        52 mipmapLevelBias: f32,
        /// The lowest level.
        56 minMipmapLevelClamp: f32,
        /// The highest level.
        60 maxMipmapLevelClamp: f32,
    }
}
