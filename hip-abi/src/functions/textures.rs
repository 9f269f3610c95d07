//! Textures: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_textures {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Creates a texture of linear memory (`tex1Dfetch`), which must be aligned to 256 bytes. Elements have 1,
            /// 2 or 4 channels of the same 8, 16 or 32 bits. `hipErrorNotSupported` on a GPU without images, for other
            /// resources, and for border, anisotropy, mipmap levels and sRGB. `hipErrorInvalidValue` for other
            /// elements, for a range that is not in one allocation, and for a resource view.
            optional fn hipCreateTextureObject(
                tex_object: *mut $crate::hipTextureObject_t,
                res_desc: *const $crate::hipResourceDesc,
                tex_desc: *const $crate::hipTextureDesc,
                res_view_desc: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Destroys a texture of `hipCreateTextureObject`; null is ignored. `hipErrorInvalidValue` for others.
            optional fn hipDestroyTextureObject(texture_object: $crate::hipTextureObject_t) -> $crate::hipError_t;
        }
    };
}
