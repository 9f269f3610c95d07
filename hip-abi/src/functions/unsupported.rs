//! Functions of HIP that this project does not support: mipmapped arrays, graphics, external memory and clusters of workgroups.

/// Calls the macro `callback` with the names of all HIP functions that the emulator does not implement. A library still
/// exports them, so that programs linked against them start. Each returns `hipErrorNotSupported`. Where a name has a list, its
/// first arguments are pointers with these names, for which null is `hipErrorInvalidValue`, as in CLR on Linux.
#[macro_export]
macro_rules! for_each_unsupported_hip_function {
    ($callback:ident) => {
        $callback! {
            hipBindTextureToMipmappedArray
            hipDestroyExternalMemory(memory)
            hipDestroyExternalSemaphore(semaphore)
            hipDeviceGetTexture1DLinearMaxWidth
            hipExternalMemoryGetMappedBuffer(address, memory, descriptor)
            hipExternalMemoryGetMappedMipmappedArray(array, memory, descriptor)
            hipFreeMipmappedArray(array)
            hipGLGetDevices
            hipGetMipmappedArrayLevel(level)
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
            hipImportExternalMemory(memory, descriptor)
            hipImportExternalSemaphore(semaphore, descriptor)
            hipMallocMipmappedArray(array, descriptor)
            hipMemGetHandleForAddressRange
            hipMemMapArrayAsync
            hipMipmappedArrayCreate
            hipMipmappedArrayDestroy(array)
            hipMipmappedArrayGetLevel(level)
            hipMipmappedArrayGetMemoryRequirements
            hipOccupancyMaxActiveClusters
            hipOccupancyMaxPotentialClusterSize
            hipProfilerStart
            hipProfilerStop
            hipSignalExternalSemaphoresAsync(semaphores, parameters)
            hipTexRefGetBorderColor(color, reference)
            hipTexRefGetMipMappedArray(array, reference)
            hipTexRefSetBorderColor(reference, color)
            hipTexRefSetMipmappedArray(reference, array)
            hipWaitExternalSemaphoresAsync(semaphores, parameters)
        }
    };
}
