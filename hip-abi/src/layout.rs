//! Structs whose layout is checked where they stand.

/// Defines a C struct, each field with its offset in bytes, and fails to compile where Rust puts one elsewhere.
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
            /// All fields 0 and all texts empty.
            // SAFETY: every field is an integer, a raw pointer or an array of them, for which 0 is a value.
            pub const ZERO: Self = unsafe { core::mem::zeroed() };
        }
    };
}

pub(crate) use c_struct;
