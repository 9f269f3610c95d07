//! Panics of Rust kernels. The crate `ferrowave-panic` leaves them in registers before its trap.
//!
//! The GPU formats nothing. The message is a [`std::fmt::Arguments`]: a template, and values with the functions that
//! would format them. The template's encoding is that of the pinned toolchain (`library/core/src/fmt/mod.rs`). The
//! mangled name of a value's function gives the value's type; unknown types read as `…`.

use std::fmt;

use super::{Context, PRIVATE_APERTURE, Wave, scratch};

/// `s[0:1]` at the trap: `rpanic` and two zeros.
const MARK: u64 = u64::from_le_bytes(*b"rpanic\0\0");
/// Longest message or name; the rest is cut off.
const MOST_BYTES: u64 = 4096;

/// A panic of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The message.
    pub message: String,
    /// The source file.
    pub file: String,
    /// The line in the file.
    pub line: u32,
    /// The column in the line.
    pub column: u32,
    /// The first lane that panicked.
    pub lane: u8,
    /// All lanes that panicked together, one bit each.
    pub lanes: u64,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Panic {
            message,
            file,
            line,
            column,
            ..
        } = self;
        write!(f, "panicked at {file}:{line}:{column}: {message}")
    }
}

/// A function that formats values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Formatter {
    address: u64,
    /// Number of references around the value's type.
    references: usize,
    /// The mangled letter of the type, or `D` for a trait object.
    of: u8,
    debug: bool,
}

impl Formatter {
    pub(super) fn address(self) -> u64 {
        self.address
    }

    /// The function at `address`, if its name is that of `fmt` for a known type.
    pub(crate) fn named(address: u64, name: &str) -> Option<Self> {
        let debug = name.contains("5Debug");
        if !debug && !name.contains("7Display3fmt") {
            return None;
        }
        let own = ["3fmt3num3imp", "3fmt5float", "4core3fmt"];
        let behind = own.iter().find_map(|path| Some(name.split_once(path)?.1))?;
        let of = behind.trim_start_matches('R');
        let letter = *of.as_bytes().first()?;
        let known = b"abcdefhijlmstxyD".contains(&letter) && of[1..].starts_with("NtB");
        let references = behind.len() - of.len();
        // Neither type has a size, so there must be a reference.
        let sized = !matches!(letter, b'e' | b'D') || references > 0;
        (known && sized).then_some(Formatter {
            address,
            references,
            of: letter,
            debug,
        })
    }
}

/// The panic of a wave at `s_trap 2`, if it is a panic.
pub(super) fn at_trap(w: &Wave, c: &Context<'_>) -> Option<Panic> {
    if w.scalar_pair(0) != MARK || w.active() == 0 {
        return None;
    }
    let lane = w.active().trailing_zeros() as u8;
    let memory = Memory { w, c, lane };
    let (text, values) = (w.scalar_pair(8), w.scalar_pair(10));
    let message = match values & 1 {
        1 => memory.text(text, values >> 1),
        _ => memory.message(text, values),
    };
    Some(Panic {
        message: message.unwrap_or_else(|| "(the message cannot be read)".to_owned()),
        file: memory
            .text(w.scalar_pair(2), u64::from(w.scalar(4)))
            .unwrap_or_default(),
        line: w.scalar(5),
        column: w.scalar(6),
        lane,
        lanes: w.active(),
    })
}

/// Memory as a lane reads it at flat addresses.
struct Memory<'a> {
    w: &'a Wave,
    c: &'a Context<'a>,
    lane: u8,
}

impl Memory<'_> {
    fn byte(&self, address: u64) -> Option<u8> {
        let address = if address >> 32 == PRIVATE_APERTURE >> 32 {
            scratch::address(self.w, self.lane, address as u32)?
        } else {
            address
        };
        let end = address.checked_add(1)?;
        let memory = self.c.memory;
        // SAFETY: the byte may be read.
        memory
            .allows(address, end, false)
            .then(|| unsafe { self.c.moves.read::<u8>(address) })
    }

    fn number(&self, address: u64, bytes: u64) -> Option<u64> {
        (0..bytes).try_fold(0, |number, at| {
            Some(number | u64::from(self.byte(address.checked_add(at)?)?) << (8 * at))
        })
    }

    fn text(&self, address: u64, bytes: u64) -> Option<String> {
        let bytes: Option<Vec<u8>> = (0..bytes.min(MOST_BYTES))
            .map(|at| self.byte(address.checked_add(at)?))
            .collect();
        Some(String::from_utf8_lossy(&bytes?).into_owned())
    }

    /// The template at `at`, filled with the values at `values`.
    fn message(&self, mut at: u64, values: u64) -> Option<String> {
        let mut message = String::new();
        let mut next = 0;
        for _ in 0..MOST_BYTES {
            let piece = self.byte(at)?;
            at += 1;
            match piece {
                0 => break,
                1..0x80 => {
                    message += &self.text(at, u64::from(piece))?;
                    at += u64::from(piece);
                }
                0x80 => {
                    let bytes = self.number(at, 2)?;
                    message += &self.text(at + 2, bytes)?;
                    at += 2 + bytes;
                }
                _ => {
                    // Flags, width, precision, and the number of the value.
                    let options =
                        u64::from(piece & 1) * 4 + u64::from(piece & 2) + u64::from(piece & 4) / 2;
                    at += options;
                    if piece & 8 != 0 {
                        next = self.number(at, 2)?;
                        at += 2;
                    }
                    let argument = values.checked_add(16 * next)?;
                    let (value, function) =
                        (self.number(argument, 8)?, self.number(argument + 8, 8)?);
                    message += &self
                        .value(value, function, 0)
                        .unwrap_or_else(|| "…".to_owned());
                    next += 1;
                }
            }
        }
        Some(message)
    }

    /// A value as the function at `function` would format it.
    fn value(&self, mut at: u64, function: u64, depth: u32) -> Option<String> {
        let formatter = self.c.code.formatter(function)?;
        let unsized_value = matches!(formatter.of, b'e' | b'D');
        for _ in usize::from(unsized_value)..formatter.references {
            at = self.number(at, 8)?;
        }
        let signed = |bytes: u64| {
            let unused = 64 - 8 * bytes as u32;
            Some(((self.number(at, bytes)? << unused) as i64 >> unused).to_string())
        };
        let unsigned = |bytes: u64| Some(self.number(at, bytes)?.to_string());
        match formatter.of {
            b'a' => signed(1),
            b's' => signed(2),
            b'l' => signed(4),
            b'x' | b'i' => signed(8),
            b'h' => unsigned(1),
            b't' => unsigned(2),
            b'm' => unsigned(4),
            b'y' | b'j' => unsigned(8),
            b'b' => Some((self.byte(at)? != 0).to_string()),
            b'c' => Some(char::from_u32(self.number(at, 4)? as u32)?.to_string()),
            b'f' => {
                let value = f32::from_bits(self.number(at, 4)? as u32);
                Some(if formatter.debug {
                    format!("{value:?}")
                } else {
                    value.to_string()
                })
            }
            b'd' => {
                let value = f64::from_bits(self.number(at, 8)?);
                Some(if formatter.debug {
                    format!("{value:?}")
                } else {
                    value.to_string()
                })
            }
            b'e' => {
                let text = self.text(self.number(at, 8)?, self.number(at + 8, 8)?)?;
                Some(if formatter.debug {
                    format!("{text:?}")
                } else {
                    text
                })
            }
            // In a trait object's table, `fmt` follows the three entries that every table has.
            b'D' if depth < 4 => {
                let (data, table) = (self.number(at, 8)?, self.number(at + 8, 8)?);
                self.value(data, self.number(table + 24, 8)?, depth + 1)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are from a code object of the pinned toolchain.
    #[test]
    fn functions_are_known_by_their_names() {
        let of = |name: &str| {
            Formatter::named(0, name).map(|f| (f.references, char::from(f.of), f.debug))
        };
        let core = "NtCshJz5755DdyR_4core3fmt";
        assert_eq!(
            of(&format!("_RNvXsi_NtNt{core}3num3impjNtB9_7Display3fmt")),
            Some((0, 'j', false))
        );
        assert_eq!(
            of(&format!("_RNvXs1g_{core}RmNtB6_5Debug3fmtCsdUYayIczwgr_1k")),
            Some((1, 'm', true))
        );
        assert_eq!(
            of(&format!("_RNvXs1i_{core}ReNtB6_7Display3fmtB8_")),
            Some((1, 'e', false))
        );
        assert_eq!(
            of(&format!("_RNvXs1g_{core}RDNtB6_5DebugEL_Bx_3fmtB8_")),
            Some((1, 'D', true))
        );
        for other in [
            "_RNvNtCshJz5755DdyR_4core9panicking9panic_fmt",
            "scale",
            "_RNvXs_NtC1k3VecNtB_5Debug3fmt",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
