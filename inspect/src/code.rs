//! Disassembles a range of a code object.

use std::ops::Range;

use ferrowave_code_object::CodeObject;
use ferrowave_isa::{Instruction, decode};

/// An instruction, or a word that does not decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Its address, relative to the load address.
    pub address: u64,
    /// Its dwords, with literals.
    pub words: Vec<u32>,
    /// Its text as LLVM prints it, or `.long` and the word if it does not decode.
    pub text: String,
    /// The instruction, or `None` if the word does not decode.
    pub instruction: Option<Instruction>,
}

impl CodeLine {
    /// The target address of a branch with an immediate offset.
    pub fn branch_target(&self) -> Option<u64> {
        let instruction = self.instruction?;
        let next = self.address.wrapping_add(instruction.size.into());
        Some(next.wrapping_add_signed(4 * instruction.branch_words()?))
    }
}

/// Decodes the instructions in an address range, for example one of [`CodeObject::text_ranges`] or a kernel's code.
///
/// # Errors
/// If the file does not contain the range.
pub fn code(object: &CodeObject, range: Range<u64>) -> Result<Vec<CodeLine>, String> {
    let gpu = object.target().gpu;
    let bytes = object
        .file_bytes(range.start, range.end - range.start)
        .ok_or_else(|| format!("its code at {:#x} is not in the file", range.start))?;
    let words: Vec<u32> = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&word| u32::from_le_bytes(word))
        .collect();
    let mut lines = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let address = range.start + 4 * at as u64;
        let instruction = decode(gpu, &words[at..], address).ok();
        let (text, length) = match &instruction {
            Some(instruction) => {
                let length = usize::from(instruction.size) / 4;
                (instruction.text(gpu).to_string(), length.max(1))
            }
            None => (format!(".long {:#010x}", words[at]), 1),
        };
        lines.push(CodeLine {
            address,
            words: words[at..words.len().min(at + length)].to_vec(),
            text,
            instruction,
        });
        at += length;
    }
    Ok(lines)
}
