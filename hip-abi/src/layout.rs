//! C structs whose layout is checked at compile time.

/// Defines a C struct. Each field states its offset in bytes, which is checked at compile time.
macro_rules! c_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident of $bytes:literal bytes {
            $($(#[$field_meta:meta])* $offset:literal $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        const _: () = {
            assert!(size_of::<$name>() == $bytes);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
        };

        impl $name {
            /// All fields zero.
            // SAFETY: every field is an integer, a raw pointer or an array of these, for which 0 is valid.
            pub const ZERO: Self = unsafe { core::mem::zeroed() };
        }
    };
}

pub(crate) use c_struct;
