//! The text that a kernel's `printf` prints.
//!
//! A message is a control word, the format, and the arguments: a word each, strings in as many words as they need (ROCm's
//! CLR, `rocclr/device/devhcprintf.cpp`).

use std::ffi::{CString, c_char, c_int};

/// Longest text of one conversion. A longer one, which only a mistaken width or precision asks for, is left out.
const MAX_CONVERSION: usize = 1 << 20;

/// Prints a message, to standard error if the control word is 1. Returns the number of bytes, or -1 for an unknown control
/// word.
pub(super) fn print(message: &[u64]) -> c_int {
    let (to_stderr, words) = match message {
        [0, words @ ..] => (false, words),
        [1, words @ ..] => (true, words),
        _ => return -1,
    };
    let text = format(words);
    match to_stderr {
        true => {
            // As with C's standard output below, a failure to write is not reported.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), &text);
        }
        false => to_stdout(&text),
    }
    c_int::try_from(text.len()).unwrap_or(c_int::MAX)
}

/// Prints through C's standard output, as CLR does, so that the order of the program's own output is kept.
fn to_stdout(text: &[u8]) {
    for part in text.split_inclusive(|&byte| byte == 0) {
        let length = part.len() - usize::from(part.ends_with(&[0]));
        // SAFETY: the format has a length and a text of that length, without a NUL.
        unsafe {
            libc::printf(
                c"%.*s".as_ptr(),
                length as c_int,
                part.as_ptr().cast::<c_char>(),
            );
            if length < part.len() {
                libc::putchar(0);
            }
        }
    }
}

/// The words of a message that are left.
struct Words<'a>(&'a [u64]);

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// A text that ends with a NUL, in whole words.
    fn text(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        while let Some(word) = self.next() {
            let bytes = word.to_le_bytes();
            let length = bytes.iter().position(|&byte| byte == 0);
            text.extend_from_slice(&bytes[..length.unwrap_or(8)]);
            if length.is_some() {
                break;
            }
        }
        text
    }
}

/// The text of a format and its arguments. It ends where an argument is missing or a conversion is unknown.
fn format(words: &[u64]) -> Vec<u8> {
    let mut words = Words(words);
    let format = words.text();
    let mut text = Vec::new();
    let mut rest = &format[..];
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let [b'%', after @ ..] = rest {
            text.push(b'%');
            rest = after;
            continue;
        }
        let Some(conversion) = Conversion::parse(rest) else {
            return text;
        };
        let Some(part) = conversion.format(&mut words) else {
            return text;
        };
        text.extend(part);
        rest = &rest[conversion.length..];
    }
    text.extend_from_slice(rest);
    text
}

/// A conversion after its percent sign.
struct Conversion {
    /// Flags, width and precision, as C has them.
    before: String,
    /// The bytes of an integer, by the modifiers.
    bytes: u32,
    kind: u8,
    /// Its length in the format.
    length: usize,
}

impl Conversion {
    fn parse(format: &[u8]) -> Option<Self> {
        let is_before = |byte: &u8| b"-+ #0123456789.*".contains(byte);
        let before = format.iter().take_while(|byte| is_before(byte)).count();
        let modifiers = format[before..].iter();
        let modifiers = modifiers
            .take_while(|byte| b"hljztL".contains(byte))
            .count();
        let bytes = match &format[before..before + modifiers] {
            b"hh" => 1,
            b"h" => 2,
            b"" | b"L" => 4,
            _ => 8,
        };
        Some(Conversion {
            before: String::from_utf8(format[..before].to_vec()).ok()?,
            bytes,
            kind: *format.get(before + modifiers)?,
            length: before + modifiers + 1,
        })
    }

    /// The converted argument.
    fn format(&self, words: &mut Words<'_>) -> Option<Vec<u8>> {
        // Widths and precisions from arguments become numbers of the format.
        let mut before = String::new();
        for character in self.before.chars() {
            match character {
                '*' => before.push_str(&(words.next()? as c_int).to_string()),
                other => before.push(other),
            }
        }
        let unused = 64 - 8 * self.bytes;
        Some(match self.kind {
            b'd' | b'i' => {
                let value = (words.next()? << unused) as i64 >> unused;
                // SAFETY: the conversion takes a `long long`.
                unsafe {
                    convert(&before, "lld", |to, room, format| {
                        libc::snprintf(to, room, format, value)
                    })
                }
            }
            b'o' | b'u' | b'x' | b'X' => {
                let value = words.next()? << unused >> unused;
                let kind = format!("ll{}", char::from(self.kind));
                // SAFETY: the conversion takes an `unsigned long long`.
                unsafe {
                    convert(&before, &kind, |to, room, format| {
                        libc::snprintf(to, room, format, value)
                    })
                }
            }
            b'c' => {
                let value = words.next()? as c_int;
                // SAFETY: the conversion takes an `int`.
                unsafe {
                    convert(&before, "c", |to, room, format| {
                        libc::snprintf(to, room, format, value)
                    })
                }
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let value = f64::from_bits(words.next()?);
                let kind = char::from(self.kind).to_string();
                // SAFETY: the conversion takes a `double`.
                unsafe {
                    convert(&before, &kind, |to, room, format| {
                        libc::snprintf(to, room, format, value)
                    })
                }
            }
            b'p' => {
                let value = words.next()? as usize;
                // SAFETY: the conversion takes a pointer, which it does not follow.
                unsafe {
                    convert(&before, "p", |to, room, format| {
                        libc::snprintf(to, room, format, value)
                    })
                }
            }
            b's' => {
                let value = CString::new(words.text()).ok()?;
                // SAFETY: the conversion takes a C string.
                unsafe {
                    convert(&before, "s", |to, room, format| {
                        libc::snprintf(to, room, format, value.as_ptr())
                    })
                }
            }
            b'n' => {
                words.next()?;
                Vec::new()
            }
            _ => return None,
        })
    }
}

/// The text that C's `snprintf` makes of one conversion.
///
/// # Safety
/// `call` calls `snprintf` with its arguments and one more, of the type of the conversion.
unsafe fn convert(
    before: &str,
    kind: &str,
    call: impl Fn(*mut c_char, usize, *const c_char) -> c_int,
) -> Vec<u8> {
    let Ok(format) = CString::new(format!("%{before}{kind}")) else {
        return Vec::new();
    };
    let length = usize::try_from(call(std::ptr::null_mut(), 0, format.as_ptr())).unwrap_or(0);
    if length > MAX_CONVERSION {
        return Vec::new();
    }
    let mut text = vec![0_u8; length + 1];
    call(text.as_mut_ptr().cast(), text.len(), format.as_ptr());
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a text, as ROCm's device library packs them.
    fn packed(text: &str) -> Vec<u64> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((text.len() + 8) / 8 * 8, 0);
        let words = bytes.as_chunks().0;
        words.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    fn formatted(format: &str, arguments: &[&[u64]]) -> String {
        let mut words = packed(format);
        words.extend(arguments.iter().copied().flatten());
        String::from_utf8(super::format(&words)).unwrap()
    }

    #[test]
    fn conversions_are_those_of_c() {
        let minus_one = -1_i64 as u64;
        let cases: &[(&str, &[&[u64]], &str)] = &[
            ("plain", &[], "plain"),
            ("100%% of %d", &[&[7]], "100% of 7"),
            (
                "%d %u %x",
                &[&[0xffff_ffff], &[minus_one], &[minus_one]],
                "-1 4294967295 ffffffff",
            ),
            (
                "%ld %llx %zu",
                &[&[minus_one], &[minus_one], &[1 << 40]],
                "-1 ffffffffffffffff 1099511627776",
            ),
            ("%hhd %hu", &[&[0x1ff], &[0x1_ffff]], "-1 65535"),
            (
                "[%5d|%-5d|%05d|%+d]",
                &[&[42], &[42], &[42], &[42]],
                "[   42|42   |00042|+42]",
            ),
            ("[%*d|%-*d]", &[&[4], &[1], &[4], &[1]], "[   1|1   ]"),
            (
                "%.2f %e %g",
                &[
                    &[1.5_f64.to_bits()],
                    &[0.5_f64.to_bits()],
                    &[1e10_f64.to_bits()],
                ],
                "1.50 5.000000e-01 1e+10",
            ),
            (
                "%s and %s!",
                &[&packed("short"), &packed("exactly8")],
                "short and exactly8!",
            ),
            (
                "[%.3s|%8s]",
                &[&packed("abcdef"), &packed("abc")],
                "[abc|     abc]",
            ),
            ("%c%c", &[&[104], &[105]], "hi"),
            ("%p", &[&[0x1234]], "0x1234"),
            ("a%nb", &[&[1]], "ab"),
            ("%f", &[&[f64::NAN.to_bits()]], "nan"),
        ];
        for (format, arguments, expected) in cases {
            assert_eq!(formatted(format, arguments), *expected, "{format}");
        }
    }

    #[test]
    fn a_message_that_is_wrong_ends_early() {
        assert_eq!(formatted("a %d b %d c", &[&[1]]), "a 1 b ");
        assert_eq!(formatted("a %q b", &[&[1]]), "a ");
        assert_eq!(formatted("a %", &[&[1]]), "a ");
        assert_eq!(formatted("[%*d]", &[&[1 << 30], &[1]]), "[]");
        assert_eq!(format(&[u64::MAX]), [0xff; 8]);
        assert!(format(&[]).is_empty());
        assert_eq!(print(&[2, 0]), -1);
    }
}
