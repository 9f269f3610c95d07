//! Integers smaller than a register.

/// An integer of at most two bytes.
pub(super) trait Small: Copy + Default + 'static {
    fn from_half(half: u16) -> Self;
    fn to_half(self) -> u16;
}

macro_rules! small {
    ($($ty:ty),*) => {$(
        impl Small for $ty {
            fn from_half(half: u16) -> Self {
                half as $ty
            }

            fn to_half(self) -> u16 {
                self as u16
            }
        }
    )*};
}

small!(u8, i8, u16, i16);
