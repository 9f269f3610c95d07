//! Textures: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

#[doc(hidden)]
#[macro_export]
macro_rules! __hip_functions_textures {
    ($next:ident $($rest:tt)*) => {
        $crate::$next! { $($rest)*
            /// Makes linear memory readable through the texture unit (`tex1Dfetch`): from a multiple of 256 on, 1, 2 or 4
            /// components of the same 8, 16 or 32 bits. `hipErrorNotSupported` on a GPU without images, for other resources,
            /// and for a border, anisotropy, levels and sRGB; `hipErrorInvalidValue` for other elements, for bytes that are
            /// not in one allocation, and for a view.
            optional fn hipCreateTextureObject(
                tex_object: *mut $crate::hipTextureObject_t,
                res_desc: *const $crate::hipResourceDesc,
                tex_desc: *const $crate::hipTextureDesc,
                res_view_desc: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// Frees what `hipCreateTextureObject` gave; nothing for null. `hipErrorInvalidValue` for anything else.
            optional fn hipDestroyTextureObject(texture_object: $crate::hipTextureObject_t) -> $crate::hipError_t;
        }
    };
}
