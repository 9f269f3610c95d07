//! Textures, texture references and surfaces: rows of [`for_each_hip_function!`](crate::for_each_hip_function).

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
            /// Binds linear memory to a reference of the program, whose texture object device code then finds. `offset` may be null
            /// if the address is a multiple of 256. What was bound before is unbound. `hipErrorInvalidSymbol` for a variable that the
            /// program has not registered; otherwise the codes of `hipCreateTextureObject`.
            optional fn hipBindTexture(
                offset: *mut usize,
                texref: *const $crate::textureReference,
                address: *const ::core::ffi::c_void,
                desc: *const $crate::hipChannelFormatDesc,
                size: usize,
            ) -> $crate::hipError_t;
            /// As `hipBindTexture`, for rows.
            optional fn hipBindTexture2D(
                offset: *mut usize,
                texref: *const $crate::textureReference,
                address: *const ::core::ffi::c_void,
                desc: *const $crate::hipChannelFormatDesc,
                width: usize,
                height: usize,
                pitch: usize,
            ) -> $crate::hipError_t;
            /// As `hipBindTexture`, for an array, read as elements of `desc`.
            optional fn hipBindTextureToArray(
                texref: *const $crate::textureReference,
                array: $crate::hipArray_const_t,
                desc: *const $crate::hipChannelFormatDesc,
            ) -> $crate::hipError_t;
            /// Destroys the texture object of a reference.
            optional fn hipUnbindTexture(texref: *const $crate::textureReference) -> $crate::hipError_t;
            /// The offset that device code adds to a texture's coordinates: 0.
            optional fn hipGetTextureAlignmentOffset(
                offset: *mut usize,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The reference of a symbol: its address.
            optional fn hipGetTextureReference(
                texref: *mut *const $crate::textureReference,
                symbol: *const ::core::ffi::c_void,
            ) -> $crate::hipError_t;
            /// A reference of a module, which lives as long as it. `hipErrorNotFound` if it has none of that name.
            optional fn hipModuleGetTexRef(
                texref: *mut *mut $crate::textureReference,
                module: $crate::hipModule_t,
                name: *const ::core::ffi::c_char,
            ) -> $crate::hipError_t;
            /// The memory that is bound to a reference.
            optional fn hipTexRefGetAddress(
                address: *mut $crate::hipDeviceptr_t,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The address mode of dimension 0 or 1.
            optional fn hipTexRefGetAddressMode(
                mode: *mut ::core::ffi::c_uint,
                texref: *const $crate::textureReference,
                dim: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// The array that is bound to a reference.
            optional fn hipTexRefGetArray(
                array: *mut $crate::hipArray_t,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The filter mode.
            optional fn hipTexRefGetFilterMode(
                mode: *mut ::core::ffi::c_uint,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// 1 for elements as stored, 2 for normalized coordinates, 16 for sRGB.
            optional fn hipTexRefGetFlags(
                flags: *mut ::core::ffi::c_uint,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The format and number of channels.
            optional fn hipTexRefGetFormat(
                format: *mut $crate::hipArray_Format,
                channels: *mut ::core::ffi::c_int,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The maximum anisotropy.
            optional fn hipTexRefGetMaxAnisotropy(
                anisotropy: *mut ::core::ffi::c_int,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The filter mode between levels. As in CLR, it returns `hipErrorInvalidValue`, too.
            optional fn hipTexRefGetMipmapFilterMode(
                mode: *mut ::core::ffi::c_uint,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The bias of levels. As in CLR, it returns `hipErrorInvalidValue`, too.
            optional fn hipTexRefGetMipmapLevelBias(
                bias: *mut f32,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// The lowest and highest level. As in CLR, it returns `hipErrorInvalidValue`, too.
            optional fn hipTexRefGetMipmapLevelClamp(
                low: *mut f32,
                high: *mut f32,
                texref: *const $crate::textureReference,
            ) -> $crate::hipError_t;
            /// Binds linear memory to a reference of a module. `hipErrorNotFound` for others.
            optional fn hipTexRefSetAddress(
                offset: *mut usize,
                texref: *mut $crate::textureReference,
                address: $crate::hipDeviceptr_t,
                bytes: usize,
            ) -> $crate::hipError_t;
            /// As `hipTexRefSetAddress`, for rows.
            optional fn hipTexRefSetAddress2D(
                texref: *mut $crate::textureReference,
                desc: *const $crate::HIP_ARRAY_DESCRIPTOR,
                address: $crate::hipDeviceptr_t,
                pitch: usize,
            ) -> $crate::hipError_t;
            /// Sets the address mode of a dimension, 0 to 2.
            optional fn hipTexRefSetAddressMode(
                texref: *mut $crate::textureReference,
                dim: ::core::ffi::c_int,
                mode: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipTexRefSetAddress`, for an array, whose format the reference takes; `flags` must be 1.
            optional fn hipTexRefSetArray(
                texref: *mut $crate::textureReference,
                array: $crate::hipArray_const_t,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Sets the filter mode.
            optional fn hipTexRefSetFilterMode(
                texref: *mut $crate::textureReference,
                mode: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// As `hipTexRefGetFlags` returns them.
            optional fn hipTexRefSetFlags(
                texref: *mut $crate::textureReference,
                flags: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Sets the format and number of channels.
            optional fn hipTexRefSetFormat(
                texref: *mut $crate::textureReference,
                format: $crate::hipArray_Format,
                channels: ::core::ffi::c_int,
            ) -> $crate::hipError_t;
            /// Sets the maximum anisotropy. Binding refuses all but 0.
            optional fn hipTexRefSetMaxAnisotropy(
                texref: *mut $crate::textureReference,
                anisotropy: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Sets the filter mode between levels.
            optional fn hipTexRefSetMipmapFilterMode(
                texref: *mut $crate::textureReference,
                mode: ::core::ffi::c_uint,
            ) -> $crate::hipError_t;
            /// Sets the bias of levels. Binding refuses all but 0.
            optional fn hipTexRefSetMipmapLevelBias(
                texref: *mut $crate::textureReference,
                bias: f32,
            ) -> $crate::hipError_t;
            /// Sets the lowest and highest level, which binding ignores.
            optional fn hipTexRefSetMipmapLevelClamp(
                texref: *mut $crate::textureReference,
                low: f32,
                high: f32,
            ) -> $crate::hipError_t;
        }
    };
}
