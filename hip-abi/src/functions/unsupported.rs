//! Functions of HIP that this project does not support: mipmapped arrays, graphics, external memory and clusters of workgroups.

/// Calls the macro `callback` with the names of all HIP functions that the emulator does not implement. A library still
/// exports them, so that programs linked against them start. Each returns `hipErrorNotSupported` for any arguments.
#[macro_export]
macro_rules! for_each_unsupported_hip_function {
    ($callback:ident) => {
        $callback! {
            hipBindTextureToMipmappedArray
            hipDestroyExternalMemory
            hipDestroyExternalSemaphore
            hipDeviceGetTexture1DLinearMaxWidth
            hipExternalMemoryGetMappedBuffer
            hipExternalMemoryGetMappedMipmappedArray
            hipFreeMipmappedArray
            hipGLGetDevices
            hipGetMipmappedArrayLevel
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
            hipMipmappedArrayGetMemoryRequirements
            hipOccupancyMaxActiveClusters
            hipOccupancyMaxPotentialClusterSize
            hipProfilerStart
            hipProfilerStop
            hipSignalExternalSemaphoresAsync
            hipTexRefGetBorderColor
            hipTexRefGetMipMappedArray
            hipTexRefSetBorderColor
            hipTexRefSetMipmappedArray
            hipWaitExternalSemaphoresAsync
        }
    };
}
