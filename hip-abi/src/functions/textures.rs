//! Textures and surfaces: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_textures {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Creates a texture of an array, of linear memory (`tex1Dfetch`) or of rows. Memory must be aligned to 256
            /// bytes, and so must be the distance of rows. Elements have 1, 2 or 4 channels of the same 8, 16 or 32
            /// bits. A view changes an array's format. All axes have the first address mode; the border is 0.
            /// `hipErrorNotSupported` on a GPU without images, for mipmapped arrays, anisotropy, a bias of levels, and on
            /// gfx90a for linear filters of arrays with a depth. `hipErrorInvalidValue` for other elements and modes, a
            /// range that is not in one allocation, sizes that images do not have, and a view of memory.
            optional fn hipCreateTextureObject(
                tex_object: *mut $crate::hipTextureObject_t,
                res_desc: *const $crate::hipResourceDesc,
                tex_desc: *const $crate::hipTextureDesc,
                res_view_desc: *const $crate::hipResourceViewDesc,
            ) -> $crate::hipError_t;
            /// Destroys a texture of `hipCreateTextureObject`; null is ignored. `hipErrorInvalidValue` for others.
            optional fn hipDestroyTextureObject(texture_object: $crate::hipTextureObject_t) -> $crate::hipError_t;
            /// Gets the memory of a texture.
            optional fn hipGetTextureObjectResourceDesc(
                res_desc: *mut $crate::hipResourceDesc,
                texture_object: $crate::hipTextureObject_t,
            ) -> $crate::hipError_t;
            /// Gets the view of a texture's array; zeros if it has none.
            optional fn hipGetTextureObjectResourceViewDesc(
                res_view_desc: *mut $crate::hipResourceViewDesc,
                texture_object: $crate::hipTextureObject_t,
            ) -> $crate::hipError_t;
            /// Gets how a texture is sampled.
            optional fn hipGetTextureObjectTextureDesc(
                tex_desc: *mut $crate::hipTextureDesc,
                texture_object: $crate::hipTextureObject_t,
            ) -> $crate::hipError_t;
            /// As `hipCreateTextureObject`, with the driver's descriptions.
            optional fn hipTexObjectCreate(
                tex_object: *mut $crate::hipTextureObject_t,
                res_desc: *const $crate::HIP_RESOURCE_DESC,
                tex_desc: *const $crate::HIP_TEXTURE_DESC,
                res_view_desc: *const $crate::HIP_RESOURCE_VIEW_DESC,
            ) -> $crate::hipError_t;
            /// As `hipDestroyTextureObject`.
            optional fn hipTexObjectDestroy(tex_object: $crate::hipTextureObject_t) -> $crate::hipError_t;
            /// As `hipGetTextureObjectResourceDesc`, with the driver's description.
            optional fn hipTexObjectGetResourceDesc(
                res_desc: *mut $crate::HIP_RESOURCE_DESC,
                tex_object: $crate::hipTextureObject_t,
            ) -> $crate::hipError_t;
            /// As `hipGetTextureObjectResourceViewDesc`, with the driver's description.
            optional fn hipTexObjectGetResourceViewDesc(
                res_view_desc: *mut $crate::HIP_RESOURCE_VIEW_DESC,
                tex_object: $crate::hipTextureObject_t,
            ) -> $crate::hipError_t;
            /// As `hipGetTextureObjectTextureDesc`, with the driver's description.
            optional fn hipTexObjectGetTextureDesc(
                tex_desc: *mut $crate::HIP_TEXTURE_DESC,
                tex_object: $crate::hipTextureObject_t,
            ) -> $crate::hipError_t;
            /// Creates a surface of an array that was made for surfaces, or with no flags. `hipErrorNotSupported` on a GPU
            /// without images, `hipErrorInvalidValue` for other memory.
            optional fn hipCreateSurfaceObject(
                surface_object: *mut $crate::hipSurfaceObject_t,
                res_desc: *const $crate::hipResourceDesc,
            ) -> $crate::hipError_t;
            /// Destroys a surface of `hipCreateSurfaceObject`; null is ignored. `hipErrorInvalidValue` for others.
            optional fn hipDestroySurfaceObject(surface_object: $crate::hipSurfaceObject_t) -> $crate::hipError_t;
        }
    };
}
