//! Structs that functions take or fill in.

use core::ffi::{c_int, c_uint, c_void};

use crate::{
    hipArray_Format, hipArray_t, hipChannelFormatKind, hipDevResourceType, hipDeviceptr_t,
    hipFunction_t, hipGraphNode_t, hipGraphNodeType, hipHostFn_t, hipMemAccessFlags,
    hipMemAllocationHandleType, hipMemAllocationType, hipMemLocationType, hipMemcpy3DOperandType,
    hipMemcpyKind, hipMemcpySrcAccessOrder, hipMemoryType, hipResourceType, hipStream_t,
    hipTextureObject_t, layout::c_struct,
};

c_struct! {
    /// The channels of a texture's elements.
    pub struct hipChannelFormatDesc of 20 bytes {
        /// Bits of the first channel.
        0 x: c_int,
        /// Bits of the second channel.
        4 y: c_int,
        /// Bits of the third channel.
        8 z: c_int,
        /// Bits of the fourth channel.
        12 w: c_int,
        /// The type of the channels.
        16 f: hipChannelFormatKind,
    }
}

c_struct! {
    /// Sizes along three dimensions.
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
    /// A position in a 3D allocation.
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
    /// The size of a 3D allocation or copy.
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
    /// Pitched memory.
    pub struct hipPitchedPtr of 32 bytes {
        /// The first row.
        0 ptr: *mut c_void,
        /// Distance between rows, in bytes.
        8 pitch: usize,
        /// Used bytes of a row.
        16 xsize: usize,
        /// Rows per layer.
        24 ysize: usize,
    }
}

c_struct! {
    /// The memory that an address belongs to.
    pub struct hipPointerAttribute_t of 32 bytes {
        /// The kind of memory.
        0 r#type: hipMemoryType,
        /// The device that it belongs to.
        4 device: c_int,
        /// The address on the device.
        8 devicePointer: *mut c_void,
        /// The address on the host, or null.
        16 hostPointer: *mut c_void,
        /// Whether the memory is managed.
        24 isManaged: c_int,
        /// The flags that it was allocated with.
        28 allocationFlags: c_uint,
    }
}

c_struct! {
    /// The properties of a kernel.
    pub struct hipFuncAttributes of 56 bytes {
        /// Version of the machine code.
        0 binaryVersion: c_int,
        /// CUDA only.
        4 cacheModeCA: c_int,
        /// Size of constant memory, in bytes.
        8 constSizeBytes: usize,
        /// Scratch per work-item, in bytes.
        16 localSizeBytes: usize,
        /// Maximum dynamic LDS, in bytes.
        24 maxDynamicSharedSizeBytes: c_int,
        /// Maximum number of work-items per workgroup.
        28 maxThreadsPerBlock: c_int,
        /// Vector registers per work-item.
        32 numRegs: c_int,
        /// CUDA only.
        36 preferredShmemCarveout: c_int,
        /// Version of the instruction set.
        40 ptxVersion: c_int,
        /// Static LDS per workgroup, in bytes.
        48 sharedSizeBytes: usize,
    }
}

c_struct! {
    /// A memory location.
    pub struct hipMemLocation of 8 bytes {
        /// The kind of location.
        0 r#type: hipMemLocationType,
        /// The device ordinal.
        4 id: c_int,
    }
}

c_struct! {
    /// The accesses that a location has to memory.
    pub struct hipMemAccessDesc of 12 bytes {
        /// The location.
        0 location: hipMemLocation,
        /// The allowed accesses.
        8 flags: hipMemAccessFlags,
    }
}

c_struct! {
    /// Compute units of a device.
    pub struct hipDevSmResource of 16 bytes {
        /// How many.
        0 smCount: c_uint,
        /// The fewest that a part may have.
        4 minSmPartitionSize: c_uint,
        /// The number of which a part has a multiple.
        8 smCoscheduledAlignment: c_uint,
        /// `hipDevSmResourceGroupBackfill` (1) or 0.
        12 flags: c_uint,
    }
}

c_struct! {
    /// A resource of a device.
    pub struct hipDevResource of 144 bytes {
        /// Its kind.
        0 r#type: hipDevResourceType,
        /// The library's.
        4 _internal_padding: [u8; 92],
        /// Compute units, if these are its kind.
        96 sm: hipDevSmResource,
        /// The rest of HIP's union.
        112 _oversize: [u8; 24],
        /// The next one of several.
        136 nextResource: *mut hipDevResource,
    }
}

c_struct! {
    /// What a part of a device's compute units shall be. A call sets what is 0.
    pub struct hipDevSmResourceGroupParams of 64 bytes {
        /// How many compute units.
        0 smCount: c_uint,
        /// How many of them run a cluster of workgroups.
        4 coscheduledSmCount: c_uint,
        /// The same, if that is possible.
        8 preferredCoscheduledSmCount: c_uint,
        /// `hipDevSmResourceGroupBackfill` (1): `smCount` need not be a multiple of `coscheduledSmCount`. Or else 0.
        12 flags: c_uint,
        /// Must be zero.
        16 reserved: [c_uint; 12],
    }
}

c_struct! {
    /// The properties of physical memory.
    pub struct hipMemAllocationProp of 32 bytes {
        /// The kind of memory.
        0 r#type: hipMemAllocationType,
        /// How it is shared.
        4 requestedHandleType: hipMemAllocationHandleType,
        /// The device whose memory it is.
        8 location: hipMemLocation,
        /// Windows only.
        16 win32HandleMetaData: *mut c_void,
        /// Compression, access of other PCIe devices, and usage, which have no effect.
        24 allocFlags: u64,
    }
}

c_struct! {
    /// The properties of a memory pool.
    pub struct hipMemPoolProps of 88 bytes {
        /// 1 (`hipMemAllocationTypePinned`) or 2 (`hipMemAllocationTypeManaged`).
        0 allocType: c_uint,
        /// Handle types for sharing the pool; 0 for none.
        4 handleTypes: c_uint,
        /// The pool's device.
        8 location: hipMemLocation,
        /// Windows only.
        16 win32SecurityAttributes: *mut c_void,
        /// Maximum size in bytes; 0 for no limit.
        24 maxSize: usize,
        /// Must be zero.
        32 reserved: [u8; 56],
    }
}

c_struct! {
    /// An allocation in a graph.
    pub struct hipMemAllocNodeParams of 120 bytes {
        /// Where to allocate.
        0 poolProps: hipMemPoolProps,
        /// Further accesses to the memory.
        88 accessDescs: *const hipMemAccessDesc,
        /// Number of access descriptions.
        96 accessDescCount: usize,
        /// Size in bytes.
        104 bytesize: usize,
        /// The result: the address.
        112 dptr: *mut c_void,
    }
}

c_struct! {
    /// A copy of rows.
    pub struct hip_Memcpy2D of 128 bytes {
        /// Byte offset in the source's rows.
        0 srcXInBytes: usize,
        /// The source's first row.
        8 srcY: usize,
        /// Selects which of the next three fields is the source.
        16 srcMemoryType: hipMemoryType,
        /// A host address.
        24 srcHost: *const c_void,
        /// A device address.
        32 srcDevice: hipDeviceptr_t,
        /// An array.
        40 srcArray: hipArray_t,
        /// Distance between the source's rows, in bytes.
        48 srcPitch: usize,
        /// Byte offset in the target's rows.
        56 dstXInBytes: usize,
        /// The target's first row.
        64 dstY: usize,
        /// Selects which of the next three fields is the target.
        72 dstMemoryType: hipMemoryType,
        /// A host address.
        80 dstHost: *mut c_void,
        /// A device address.
        88 dstDevice: hipDeviceptr_t,
        /// An array.
        96 dstArray: hipArray_t,
        /// Distance between the target's rows, in bytes.
        104 dstPitch: usize,
        /// Bytes per row.
        112 WidthInBytes: usize,
        /// Rows.
        120 Height: usize,
    }
}

c_struct! {
    /// A copy of layers of rows, in the driver API's form.
    pub struct HIP_MEMCPY3D of 184 bytes {
        /// Byte offset in the source's rows.
        0 srcXInBytes: usize,
        /// The source's first row.
        8 srcY: usize,
        /// The source's first layer.
        16 srcZ: usize,
        /// 0.
        24 srcLOD: usize,
        /// Selects which of the next three fields is the source.
        32 srcMemoryType: hipMemoryType,
        /// A host address.
        40 srcHost: *const c_void,
        /// A device address.
        48 srcDevice: hipDeviceptr_t,
        /// An array.
        56 srcArray: hipArray_t,
        /// Distance between the source's rows, in bytes.
        64 srcPitch: usize,
        /// Rows per layer of the source.
        72 srcHeight: usize,
        /// Byte offset in the target's rows.
        80 dstXInBytes: usize,
        /// The target's first row.
        88 dstY: usize,
        /// The target's first layer.
        96 dstZ: usize,
        /// 0.
        104 dstLOD: usize,
        /// Selects which of the next three fields is the target.
        112 dstMemoryType: hipMemoryType,
        /// A host address.
        120 dstHost: *mut c_void,
        /// A device address.
        128 dstDevice: hipDeviceptr_t,
        /// An array.
        136 dstArray: hipArray_t,
        /// Distance between the target's rows, in bytes.
        144 dstPitch: usize,
        /// Rows per layer of the target.
        152 dstHeight: usize,
        /// Bytes per row.
        160 WidthInBytes: usize,
        /// Rows per layer.
        168 Height: usize,
        /// Layers.
        176 Depth: usize,
    }
}

c_struct! {
    /// An array of one or two dimensions.
    pub struct HIP_ARRAY_DESCRIPTOR of 24 bytes {
        /// In elements.
        0 Width: usize,
        /// In rows; 0 for one dimension.
        8 Height: usize,
        /// The type of a channel.
        16 Format: hipArray_Format,
        /// Channels of an element: 1, 2 or 4.
        20 NumChannels: c_uint,
    }
}

c_struct! {
    /// An array.
    pub struct HIP_ARRAY3D_DESCRIPTOR of 40 bytes {
        /// In elements.
        0 Width: usize,
        /// In rows; 0 for one dimension.
        8 Height: usize,
        /// In layers; 0 for one or two dimensions.
        16 Depth: usize,
        /// The type of a channel.
        24 Format: hipArray_Format,
        /// Channels of an element: 1, 2 or 4.
        28 NumChannels: c_uint,
        /// `hipArrayLayered` and others.
        32 Flags: c_uint,
    }
}

c_struct! {
    /// An event of another process.
    pub struct hipIpcEventHandle_t of 64 bytes {
        /// What only HIP knows.
        0 reserved: [u64; 8],
    }
}

c_struct! {
    /// An allocation of another process.
    pub struct hipIpcMemHandle_t of 64 bytes {
        /// What only HIP knows.
        0 reserved: [u64; 8],
    }
}

c_struct! {
    /// A copy of layers of rows.
    pub struct hipMemcpy3DParms of 160 bytes {
        /// The source, if it is an array.
        0 srcArray: hipArray_t,
        /// Position in the source.
        8 srcPos: hipPos,
        /// The source, if it is memory.
        32 srcPtr: hipPitchedPtr,
        /// The target, if it is an array.
        64 dstArray: hipArray_t,
        /// Position in the target.
        72 dstPos: hipPos,
        /// The target, if it is memory.
        96 dstPtr: hipPitchedPtr,
        /// Size of the copy.
        128 extent: hipExtent,
        /// Direction of the copy.
        152 kind: hipMemcpyKind,
    }
}

c_struct! {
    /// A copy of layers of rows between devices.
    pub struct hipMemcpy3DPeerParms of 168 bytes {
        /// The source, if it is an array.
        0 srcArray: hipArray_t,
        /// Position in the source.
        8 srcPos: hipPos,
        /// The source, if it is memory.
        32 srcPtr: hipPitchedPtr,
        /// The source's device.
        64 srcDevice: c_int,
        /// The target, if it is an array.
        72 dstArray: hipArray_t,
        /// Position in the target.
        80 dstPos: hipPos,
        /// The target, if it is memory.
        104 dstPtr: hipPitchedPtr,
        /// The target's device.
        136 dstDevice: c_int,
        /// Size of the copy.
        144 extent: hipExtent,
    }
}

c_struct! {
    /// What copies of a batch have in common.
    pub struct hipMemcpyAttributes of 24 bytes {
        /// When the source is read.
        0 srcAccessOrder: hipMemcpySrcAccessOrder,
        /// Where the source is.
        4 srcLocHint: hipMemLocation,
        /// Where the target is.
        12 dstLocHint: hipMemLocation,
        /// 0, or 1 for a copy that should run beside kernels.
        20 flags: c_uint,
    }
}

c_struct! {
    /// A side of a copy of layers of rows in a batch.
    pub struct hipMemcpy3DOperand of 40 bytes {
        /// Memory or an array.
        0 r#type: hipMemcpy3DOperandType,
        /// The memory's address, or the array.
        8 place: *mut c_void,
        /// Memory: elements of a row, rows of a layer (0 for those of the copy), a location. An array: the position.
        16 layout: [usize; 3],
    }
}

c_struct! {
    /// A copy of layers of rows in a batch.
    pub struct hipMemcpy3DBatchOp of 112 bytes {
        /// The source.
        0 src: hipMemcpy3DOperand,
        /// The target.
        40 dst: hipMemcpy3DOperand,
        /// Size of the copy in elements: an array's, or else bytes.
        80 extent: hipExtent,
        /// When the source is read.
        104 srcAccessOrder: hipMemcpySrcAccessOrder,
        /// As in [`hipMemcpyAttributes`].
        108 flags: c_uint,
    }
}

c_struct! {
    /// An allocation of a pool of another process.
    pub struct hipMemPoolPtrExportData of 64 bytes {
        /// What only HIP knows.
        0 reserved: [u64; 8],
    }
}

c_struct! {
    /// A kernel launch in a graph.
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
        /// Dynamic LDS, in bytes.
        56 sharedMemBytes: c_uint,
    }
}

c_struct! {
    /// Memory that caches treat differently.
    pub struct hipAccessPolicyWindow of 32 bytes {
        /// Its address.
        0 base_ptr: usize,
        /// What happens to accesses that hit.
        8 hitProp: c_uint,
        /// Share of accesses that are treated as hits.
        12 hitRatio: f32,
        /// What happens to other accesses.
        16 missProp: c_uint,
        /// Its size in bytes.
        24 num_bytes: usize,
    }
}

c_struct! {
    /// A node of any kind.
    pub struct hipGraphNodeParams of 256 bytes {
        /// The kind.
        0 r#type: hipGraphNodeType,
        /// Must be zero.
        4 reserved0: [c_int; 3],
        /// The kind's own struct.
        16 parameters: [u64; 29],
        /// Must be zero.
        248 reserved2: u64,
    }
}

c_struct! {
    /// A memset in a graph.
    pub struct hipMemsetParams of 48 bytes {
        /// The first row.
        0 dst: *mut c_void,
        /// Bytes of an element: 1, 2 or 4.
        8 elementSize: c_uint,
        /// Rows.
        16 height: usize,
        /// Distance between rows, in bytes.
        24 pitch: usize,
        /// The value of each element.
        32 value: c_uint,
        /// Elements per row.
        40 width: usize,
    }
}

c_struct! {
    /// A memset in a graph, as the functions of the driver's interface take it.
    pub struct HIP_MEMSET_NODE_PARAMS of 40 bytes {
        /// The first row.
        0 dst: hipDeviceptr_t,
        /// Distance between rows, in bytes.
        8 pitch: usize,
        /// The value of each element.
        16 value: c_uint,
        /// Bytes of an element: 1, 2 or 4.
        20 elementSize: c_uint,
        /// Elements per row.
        24 width: usize,
        /// Rows.
        32 height: usize,
    }
}

/// A host function call in a graph.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipHostNodeParams {
    /// The function.
    pub r#fn: hipHostFn_t,
    /// Its argument.
    pub userData: *mut c_void,
}

c_struct! {
    /// What `hipGraphInstantiateWithParams` takes and returns.
    pub struct hipGraphInstantiateParams of 32 bytes {
        /// The node that caused a failure, or null.
        0 errNode_out: hipGraphNode_t,
        /// Flags.
        8 flags: u64,
        /// 0 for success.
        16 result_out: c_uint,
        /// The stream of an upload.
        24 uploadStream: hipStream_t,
    }
}

c_struct! {
    /// Data of an edge, which AMD's GPUs do not have.
    pub struct hipGraphEdgeData of 8 bytes {
        /// The port of the edge's start.
        0 from_port: u8,
        /// Padding.
        1 reserved: [u8; 5],
        /// The port of its end.
        6 to_port: u8,
        /// Its kind.
        7 r#type: u8,
    }
}

c_struct! {
    /// A wait or write of `hipStreamBatchMemOp`.
    pub struct hipStreamBatchMemOpParams of 48 bytes {
        /// 1 and 4: wait for a value of 32 or 64 bits. 2 and 5: write one.
        0 operation: c_uint,
        /// The address.
        8 address: hipDeviceptr_t,
        /// The value.
        16 value: u64,
        /// The condition of a wait.
        24 flags: c_uint,
        /// Ignored.
        32 alias: hipDeviceptr_t,
        /// Padding.
        40 pad: u64,
    }
}

c_struct! {
    /// One of several launches of programs' kernels.
    pub struct hipLaunchParams of 56 bytes {
        /// The kernel's stub.
        0 func: *mut c_void,
        /// Workgroups.
        8 gridDim: dim3,
        /// Work-items of a workgroup.
        20 blockDim: dim3,
        /// A pointer to each argument.
        32 args: *mut *mut c_void,
        /// Dynamic LDS, in bytes.
        40 sharedMem: usize,
        /// The stream.
        48 stream: hipStream_t,
    }
}

c_struct! {
    /// One of several launches of modules' kernels.
    pub struct hipFunctionLaunchParams of 56 bytes {
        /// The kernel.
        0 function: hipFunction_t,
        /// Workgroups along x.
        8 gridDimX: c_uint,
        /// Workgroups along y.
        12 gridDimY: c_uint,
        /// Workgroups along z.
        16 gridDimZ: c_uint,
        /// Work-items of a workgroup along x.
        20 blockDimX: c_uint,
        /// Work-items of a workgroup along y.
        24 blockDimY: c_uint,
        /// Work-items of a workgroup along z.
        28 blockDimZ: c_uint,
        /// Dynamic LDS, in bytes.
        32 sharedMemBytes: c_uint,
        /// The stream.
        40 hStream: hipStream_t,
        /// A pointer to each argument.
        48 kernelParams: *mut *mut c_void,
    }
}

c_struct! {
    /// An attribute of a launch: its ID and a value of 64 bytes, whose type depends on the ID.
    pub struct hipLaunchAttribute of 72 bytes {
        /// 2 for a cooperative launch.
        0 id: c_uint,
        /// Padding.
        4 pad: [u8; 4],
        /// The value; for a cooperative launch an `int`, 1 or 0.
        8 value: [c_int; 16],
    }
}

/// The only launch attribute that AMD's runtime supports: whether the launch is cooperative.
pub const hipLaunchAttributeCooperative: c_uint = 2;

c_struct! {
    /// A launch of a program's kernel.
    pub struct hipLaunchConfig_t of 56 bytes {
        /// Workgroups.
        0 gridDim: dim3,
        /// Work-items of a workgroup.
        12 blockDim: dim3,
        /// Dynamic LDS, in bytes.
        24 dynamicSmemBytes: usize,
        /// The stream.
        32 stream: hipStream_t,
        /// Its attributes.
        40 attrs: *mut hipLaunchAttribute,
        /// The number of attributes.
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
        /// Dynamic LDS, in bytes.
        24 sharedMemBytes: c_uint,
        /// The stream.
        32 hStream: hipStream_t,
        /// Its attributes.
        40 attrs: *mut hipLaunchAttribute,
        /// The number of attributes.
        48 numAttrs: c_uint,
    }
}

c_struct! {
    /// The argument of `__hipRegisterFatBinary` that clang embeds in a program (its `CGCUDANV.cpp`).
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
    /// The memory of a texture. The fields after the kind apply to linear and pitched memory. Arrays have a handle
    /// instead of the address, and none of the other fields.
    pub struct hipResourceDesc of 64 bytes {
        /// The kind of memory.
        0 resType: hipResourceType,
        /// The address.
        8 devPtr: *mut c_void,
        /// What its elements are made of.
        16 desc: hipChannelFormatDesc,
        /// For linear memory its length in bytes; for rows the elements per row.
        40 sizeInBytes: usize,
        /// For rows their number.
        48 height: usize,
        /// For rows the distance between them, in bytes.
        56 pitchInBytes: usize,
    }
}

c_struct! {
    /// How a texture is sampled.
    pub struct hipTextureDesc of 64 bytes {
        /// Address mode of each dimension, for coordinates outside the texture.
        0 addressMode: [c_uint; 3],
        /// Filter mode: 0 for the nearest element, 1 for linear interpolation.
        12 filterMode: c_uint,
        /// 0 for elements as stored, 1 for integers as floats from -1 or 0 to 1.
        16 readMode: c_uint,
        /// Whether colours are sRGB.
        20 sRGB: c_int,
        /// The value outside the texture, in border mode.
        24 borderColor: [f32; 4],
        /// Whether coordinates are normalized to 0 to 1.
        40 normalizedCoords: c_int,
        /// Maximum anisotropy.
        44 maxAnisotropy: c_uint,
        /// Filter mode between levels, as `filterMode`.
        48 mipmapFilterMode: c_uint,
        /// Bias added to the level.
        52 mipmapLevelBias: f32,
        /// The lowest level.
        56 minMipmapLevelClamp: f32,
        /// The highest level.
        60 maxMipmapLevelClamp: f32,
    }
}

c_struct! {
    /// A texture reference: a variable of type `texture` of the program, and its copy on the device.
    pub struct textureReference of 88 bytes {
        /// Whether coordinates are normalized to 0 to 1.
        0 normalized: c_int,
        /// 0 for elements as stored, 1 for integers as floats from -1 or 0 to 1.
        4 readMode: c_uint,
        /// Filter mode: 0 for the nearest element, 1 for linear interpolation.
        8 filterMode: c_uint,
        /// Address mode of each dimension, for coordinates outside the texture.
        12 addressMode: [c_uint; 3],
        /// What its elements are made of, as the program's type says.
        24 channelDesc: hipChannelFormatDesc,
        /// Whether colours are sRGB.
        44 sRGB: c_int,
        /// Maximum anisotropy.
        48 maxAnisotropy: c_uint,
        /// Filter mode between levels, as `filterMode`.
        52 mipmapFilterMode: c_uint,
        /// Bias added to the level.
        56 mipmapLevelBias: f32,
        /// The lowest level.
        60 minMipmapLevelClamp: f32,
        /// The highest level.
        64 maxMipmapLevelClamp: f32,
        /// The texture object that device code reads; null if nothing is bound.
        72 textureObject: hipTextureObject_t,
        /// Channels of an element, in the driver's functions.
        80 numChannels: c_int,
        /// Format of a channel, in the driver's functions.
        84 format: hipArray_Format,
    }
}

c_struct! {
    /// A view of a texture's array.
    pub struct hipResourceViewDesc of 48 bytes {
        /// What its elements are made of: 1 to 24 for unsigned and signed integers of 8, 16 and 32 bits, f16 and f32, with
        /// 1, 2 or 4 channels each; above that, compressed ones.
        0 format: c_uint,
        /// Width in elements.
        8 width: usize,
        /// Height in elements.
        16 height: usize,
        /// Depth in elements.
        24 depth: usize,
        /// The first mipmap level.
        32 firstMipmapLevel: c_uint,
        /// The last mipmap level.
        36 lastMipmapLevel: c_uint,
        /// The first layer.
        40 firstLayer: c_uint,
        /// The last layer.
        44 lastLayer: c_uint,
    }
}

c_struct! {
    /// The memory of a texture, in the driver's form of [`hipResourceDesc`].
    pub struct HIP_RESOURCE_DESC of 144 bytes {
        /// The kind of memory, as in [`hipResourceType`].
        0 resType: c_uint,
        /// The address, or an array's handle.
        8 devPtr: *mut c_void,
        /// The format of a channel.
        16 format: hipArray_Format,
        /// Channels of an element.
        20 numChannels: c_uint,
        /// For linear memory its length in bytes; for rows the elements per row.
        24 sizeInBytes: usize,
        /// For rows their number.
        32 height: usize,
        /// For rows the distance between them, in bytes.
        40 pitchInBytes: usize,
        /// Not used.
        48 reserved: [c_int; 22],
        /// Must be 0.
        136 flags: c_uint,
    }
}

c_struct! {
    /// How a texture is sampled, in the driver's form of [`hipTextureDesc`].
    pub struct HIP_TEXTURE_DESC of 104 bytes {
        /// Address mode of each dimension.
        0 addressMode: [c_uint; 3],
        /// Filter mode.
        12 filterMode: c_uint,
        /// 1 for elements as stored, 2 for normalized coordinates, 16 for sRGB.
        16 flags: c_uint,
        /// Maximum anisotropy.
        20 maxAnisotropy: c_uint,
        /// Filter mode between levels.
        24 mipmapFilterMode: c_uint,
        /// Bias added to the level.
        28 mipmapLevelBias: f32,
        /// The lowest level.
        32 minMipmapLevelClamp: f32,
        /// The highest level.
        36 maxMipmapLevelClamp: f32,
        /// The value outside the texture, in border mode.
        40 borderColor: [f32; 4],
        /// Not used.
        56 reserved: [c_int; 12],
    }
}

c_struct! {
    /// A view of a texture's array, in the driver's form of [`hipResourceViewDesc`].
    pub struct HIP_RESOURCE_VIEW_DESC of 112 bytes {
        /// What the runtime's form has.
        0 view: hipResourceViewDesc,
        /// Not used.
        48 reserved: [c_uint; 16],
    }
}
