//! Functions of HIP that this project does not support: texture references, mipmapped arrays,
//! graphics and external memory.

/// Calls the macro `callback` with the names of all HIP functions that the emulator does not implement. A library still
/// exports them, so that programs linked against them start. Each returns `hipErrorNotSupported` for any arguments.
#[macro_export]
macro_rules! for_each_unsupported_hip_function {
    ($callback:ident) => {
        $callback! {
            hipBindTexture
            hipBindTexture2D
            hipBindTextureToArray
            hipBindTextureToMipmappedArray
            hipDestroyExternalMemory
            hipDestroyExternalSemaphore
            hipDeviceGetTexture1DLinearMaxWidth
            hipExternalMemoryGetMappedBuffer
            hipExternalMemoryGetMappedMipmappedArray
            hipFreeMipmappedArray
            hipGLGetDevices
            hipGetMipmappedArrayLevel
            hipGetTextureAlignmentOffset
            hipGetTextureReference
            hipGraphAddBatchMemOpNode
            hipGraphAddExternalSemaphoresSignalNode
            hipGraphAddExternalSemaphoresWaitNode
            hipGraphBatchMemOpNodeGetParams
            hipGraphBatchMemOpNodeSetParams
            hipGraphExecBatchMemOpNodeSetParams
            hipGraphExecExternalSemaphoresSignalNodeSetParams
            hipGraphExecExternalSemaphoresWaitNodeSetParams
            hipGraphExternalSemaphoresSignalNodeGetParams
            hipGraphExternalSemaphoresSignalNodeSetParams
            hipGraphExternalSemaphoresWaitNodeGetParams
            hipGraphExternalSemaphoresWaitNodeSetParams
            hipGraphicsGLRegisterBuffer
            hipGraphicsGLRegisterImage
            hipGraphicsMapResources
            hipGraphicsResourceGetMappedPointer
            hipGraphicsSubResourceGetMappedArray
            hipGraphicsUnmapResources
            hipGraphicsUnregisterResource
            hipImportExternalMemory
            hipImportExternalSemaphore
            hipMallocMipmappedArray
            hipMemGetHandleForAddressRange
            hipMemMapArrayAsync
            hipMipmappedArrayCreate
            hipMipmappedArrayDestroy
            hipMipmappedArrayGetLevel
            hipModuleGetTexRef
            hipProfilerStart
            hipProfilerStop
            hipSignalExternalSemaphoresAsync
            hipTexRefGetAddress
            hipTexRefGetAddressMode
            hipTexRefGetArray
            hipTexRefGetBorderColor
            hipTexRefGetFilterMode
            hipTexRefGetFlags
            hipTexRefGetFormat
            hipTexRefGetMaxAnisotropy
            hipTexRefGetMipMappedArray
            hipTexRefGetMipmapFilterMode
            hipTexRefGetMipmapLevelBias
            hipTexRefGetMipmapLevelClamp
            hipTexRefSetAddress
            hipTexRefSetAddress2D
            hipTexRefSetAddressMode
            hipTexRefSetArray
            hipTexRefSetBorderColor
            hipTexRefSetFilterMode
            hipTexRefSetFlags
            hipTexRefSetFormat
            hipTexRefSetMaxAnisotropy
            hipTexRefSetMipmapFilterMode
            hipTexRefSetMipmapLevelBias
            hipTexRefSetMipmapLevelClamp
            hipTexRefSetMipmappedArray
            hipUnbindTexture
            hipWaitExternalSemaphoresAsync
        }
    };
}
