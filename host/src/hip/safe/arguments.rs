//! A kernel's arguments as bytes.

use bytemuck::{NoUninit, Pod};

use super::DeviceBuffer;

/// The arguments of a launch, in the layout in which the kernel reads them.
///
/// They are given one by one, each aligned like its type, and a launch checks each of them:
/// ```
/// # use ferrowave_host::hip::Arguments;
/// let (output, input) = (0x7f00_u64, 0x7e00_u64);
/// let arguments = Arguments::new().value(output).value(input).value(64_u32);
/// assert_eq!(arguments.bytes().len(), 20);
/// ```
/// or all in one `#[repr(C)]` struct, whose size a launch checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    bytes: Vec<u8>,
    /// The place of each argument; empty if they are in one struct.
    list: Vec<Argument>,
}

/// The place of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its offset in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
}

impl Arguments {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// All arguments, in one struct.
    pub fn from_struct<T: NoUninit>(arguments: &T) -> Self {
        Arguments {
            bytes: bytemuck::bytes_of(arguments).to_vec(),
            list: Vec::new(),
        }
    }

    /// All arguments, as the bytes of the kernel's argument segment.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Arguments {
            bytes,
            list: Vec::new(),
        }
    }

    /// Adds an argument by value.
    #[must_use]
    pub fn value<T: NoUninit>(mut self, value: T) -> Self {
        let offset = self.bytes.len().next_multiple_of(align_of::<T>());
        self.bytes.resize(offset, 0);
        self.bytes.extend_from_slice(bytemuck::bytes_of(&value));
        // A kernel's arguments are kilobytes at most. A launch rejects longer ones by their length.
        let short = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        self.list.push(Argument {
            offset: short(offset),
            size: short(size_of::<T>()),
        });
        self
    }

    /// Adds a pointer to a buffer's first element.
    #[must_use]
    pub fn buffer<T: Pod>(self, buffer: &DeviceBuffer<T>) -> Self {
        self.value(buffer.address())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The place of each argument; empty if they are in one struct, or there are none.
    pub fn list(&self) -> &[Argument] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_is_aligned_as_its_type() {
        let arguments = Arguments::new()
            .value(1_u8)
            .value(2_u64)
            .value(3_u16)
            .value(4.0_f32);
        let at = |offset, size| Argument { offset, size };
        assert_eq!(arguments.list(), [at(0, 1), at(8, 8), at(16, 2), at(20, 4)]);
        let mut bytes = [0; 24];
        (bytes[0], bytes[8], bytes[16]) = (1, 2, 3);
        bytes[20..].copy_from_slice(&4.0_f32.to_le_bytes());
        assert_eq!(arguments.bytes(), bytes);
    }
}
