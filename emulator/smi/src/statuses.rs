//! Shared by the libraries that answer queries: the statuses of a header.

/// Defines `Status`, what a function returns: constants with their numbers, names in the header and meanings.
macro_rules! statuses {
    ($(#[$of_type:meta])* $($constant:ident = $number:literal, $name:literal: $meaning:literal;)*) => {
        $(#[$of_type])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Status(pub u32);

        impl Status {
            $(#[doc = concat!($meaning, ".")] pub const $constant: Status = Status($number);)*

            /// Its name and meaning; `None` if it is none of these.
            pub fn text(self) -> Option<&'static std::ffi::CStr> {
                $(if self.0 == $number {
                    return std::ffi::CStr::from_bytes_with_nul(concat!($name, ": ", $meaning, "\0").as_bytes()).ok();
                })*
                None
            }
        }
    };
}

pub(crate) use statuses;
