//! Buffered `printf` (clang's `-mprintf-kind=buffered`): kernels write messages to a buffer, and the host prints them when
//! the launch is over.
//!
//! The buffer begins with two dwords: the bytes that are taken, and the bytes that there are. A kernel takes room by an
//! atomic operation; a message for which there is none is lost, and its `printf` returns -1. A message is a control dword,
//! the format's hash or the format itself, and the arguments as in [`printf`]. The metadata (`amdhsa.printf`) has the
//! format of each hash (LLVM's `AMDGPUEmitPrintf.cpp`; ROCm's CLR, `rocclr/device/rocm/rocprintf.cpp`).

use super::{LaunchError, printf};
use crate::memory::{AllocationKind, DeviceMemory, MemoryError};
use crate::program::Kernel;

/// Size of the buffer: CLR has 4096 bytes (`PrintfDbg::WorkitemDebugSize`) for each work-item of the largest workgroup.
const BYTES: usize = 4096 * 1024;
/// Size of its two dwords.
const HEAD_BYTES: usize = 8;

/// Bits of the control dword. Those above are the message's length in bytes, with the dword itself.
const TO_STDERR: u32 = 1;
const HAS_HASH: u32 = 2;
const LENGTH_SHIFT: u32 = 2;

/// The buffer of a launch; freed on drop.
pub(super) struct PrintfBuffer<'a> {
    memory: &'a DeviceMemory,
    pub(super) base: u64,
    kernel: Kernel,
}

impl Drop for PrintfBuffer<'_> {
    fn drop(&mut self) {
        // `new` allocated it, and only this value knows the address.
        let _ = self.memory.free(self.base);
    }
}

impl<'a> PrintfBuffer<'a> {
    /// An empty buffer; `None` if the kernel's program has no formats, so that it prints nothing.
    pub(super) fn new(
        kernel: &Kernel,
        memory: &'a DeviceMemory,
    ) -> Result<Option<Self>, MemoryError> {
        if kernel.object().metadata().printf.is_empty() {
            return Ok(None);
        }
        let base = memory.allocate(BYTES, AllocationKind::Launch)?;
        let buffer = PrintfBuffer {
            memory,
            base,
            kernel: kernel.clone(),
        };
        let head = (((BYTES - HEAD_BYTES) as u64) << 32).to_le_bytes();
        memory.write(base, &head)?;
        Ok(Some(buffer))
    }

    /// Prints the messages of a launch that is over. An error if they are in OpenCL's form.
    pub(super) fn print(&self) -> Result<(), LaunchError> {
        let mut used = [0; 4];
        self.memory.read(self.base, &mut used)?;
        let used = (u32::from_le_bytes(used) as usize).min(BYTES - HEAD_BYTES);
        if used == 0 {
            return Ok(());
        }
        let mut bytes = vec![0; used];
        self.memory
            .read(self.base + HEAD_BYTES as u64, &mut bytes)?;
        let entries = &self.kernel.object().metadata().printf;
        let formats: Option<Vec<_>> = entries.iter().map(|entry| format_of(entry)).collect();
        let formats = formats.ok_or_else(|| LaunchError::OpenClPrintf {
            kernel: self.kernel.name().to_owned(),
        })?;
        for message in messages(&bytes, &formats) {
            printf::print(&message);
        }
        Ok(())
    }
}

/// The hash and the format of an entry of the metadata: `0:0:`, the hash in hexadecimal, a comma, the format. `None` for an
/// entry in OpenCL's form, which begins with a number from 1 on.
fn format_of(entry: &str) -> Option<(u64, Vec<u8>)> {
    let (hash, format) = entry.strip_prefix("0:0:")?.split_once(',')?;
    Some((u64::from_str_radix(hash, 16).ok()?, unescaped(format)))
}

/// The text with its escape sequences replaced, those that CLR knows (`Kernel::InitPrintf` in `devkernel.cpp`).
fn unescaped(format: &str) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = format.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, length) = match (first, after) {
            (b'\\', [b'a', ..]) => (7, 2),
            (b'\\', [b'b', ..]) => (8, 2),
            (b'\\', [b'f', ..]) => (12, 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b'v', ..]) => (11, 2),
            // A colon, which separates the parts of an entry.
            (b'\\', [b'7', b'2', ..]) => (b':', 3),
            _ => (*first, 1),
        };
        text.push(byte);
        rest = &rest[length..];
    }
    text
}

/// The messages in the used part of a buffer, as [`printf::print`] takes them. A message with a length that cannot be right is
/// the last: its wave was ended before it wrote the message, or something else wrote to the buffer.
fn messages(mut bytes: &[u8], formats: &[(u64, Vec<u8>)]) -> Vec<Vec<u64>> {
    let mut messages = Vec::new();
    while let Some((control, rest)) = bytes.split_first_chunk::<4>() {
        let control = u32::from_le_bytes(*control);
        let length = (control >> LENGTH_SHIFT) as usize;
        let Some(mut body) = length.checked_sub(4).and_then(|length| rest.get(..length)) else {
            break;
        };
        bytes = &rest[body.len()..];
        let mut message = vec![u64::from(control & TO_STDERR)];
        if control & HAS_HASH != 0 {
            let Some((hash, arguments)) = body.split_first_chunk::<8>() else {
                break;
            };
            let hash = u64::from_le_bytes(*hash);
            let Some((_, format)) = formats.iter().find(|(of, _)| *of == hash) else {
                // As for CLR: a format that is not in the metadata is empty.
                continue;
            };
            let mut format = format.clone();
            format.resize(format.len() / 8 * 8 + 8, 0);
            message.extend(words(&format));
            body = arguments;
        }
        message.extend(words(body));
        messages.push(message);
    }
    messages
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let words = bytes.as_chunks().0.iter();
    words.map(|word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(control: u32, body: &[u8]) -> Vec<u8> {
        let length = 4 + body.len() as u32;
        let mut bytes = (length << LENGTH_SHIFT | control).to_le_bytes().to_vec();
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn formats_come_from_the_metadata() {
        let entry = r"0:0:ad3abc2b5ab2ac5f,%d\72 a:b, \\n\n";
        let format = (0xad3a_bc2b_5ab2_ac5f, b"%d: a:b, \\\n\n".to_vec());
        assert_eq!(format_of(entry), Some(format));
        // OpenCL's form: number, number of arguments, their sizes, format.
        assert_eq!(format_of("1:2:4:8:%d %s"), None);
        assert_eq!(format_of("0:0:no hash"), None);
        assert_eq!(format_of("0:0:xyz,%d"), None);
    }

    #[test]
    fn messages_are_apart() {
        let formats = [(7, b"%d and".to_vec()), (9, b"exactly8".to_vec())];
        let mut arguments = 7_u64.to_le_bytes().to_vec();
        arguments.extend(1234_u64.to_le_bytes());
        let mut buffer = message(HAS_HASH, &arguments);
        buffer.extend(message(TO_STDERR, b"own %d\n\0"));
        buffer.extend(message(HAS_HASH, &8_u64.to_le_bytes()));
        buffer.extend(message(HAS_HASH | TO_STDERR, &9_u64.to_le_bytes()));
        let word = |text: &[u8; 8]| u64::from_le_bytes(*text);
        let expected = [
            vec![0, word(b"%d and\0\0"), 1234],
            vec![1, word(b"own %d\n\0")],
            vec![1, word(b"exactly8"), 0],
        ];
        assert_eq!(messages(&buffer, &formats), expected);
        // What lies behind a message that was not written, or that is cut off, is not read.
        for rest in [&[0; 64][..], &[0xff; 64], &[1, 0, 0], &message(2, &[1; 7])] {
            let mut longer = buffer.clone();
            longer.extend_from_slice(rest);
            assert_eq!(messages(&longer, &formats), expected);
        }
        assert!(messages(&buffer[..15], &formats).is_empty());
    }
}
