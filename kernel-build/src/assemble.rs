//! Assembles text to code objects, and disassembles them, with LLVM.

use std::{fmt::Write as _, fs, process::Command, sync::OnceLock};

use ferrowave_code_object::CodeObjectVersion;
use ferrowave_gpu::Gpu;

use crate::{
    Toolchain, ToolchainError,
    tool::{ToolError, file_error, link, run},
    version::version_for,
};

/// Why text could not be assembled, or a code object not disassembled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// No usable toolchain was found.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The assembler, linker or disassembler failed; its message is in the error.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

/// An instruction as LLVM prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembled {
    /// Its address, relative to the load address.
    pub address: u64,
    /// The symbol before it.
    pub symbol: String,
    /// The instruction, such as `v_add_f32_e32 v0, v1, v2`.
    pub text: String,
    /// Its dwords. A word that is not an instruction is listed alone.
    pub words: Vec<u32>,
}

/// Assembles AMDGPU assembly `text` (directives, kernels, `.amdhsa_kernel`, `.amdgpu_metadata`) to a linked code object
/// of the version that [`Build`](crate::Build) builds for the GPU, with the toolchain of [`Toolchain::TESTED_CHANNEL`].
///
/// # Errors
/// If the toolchain is missing, or the assembler or linker rejects the text.
pub fn assemble(gpu: Gpu, text: &str) -> Result<Vec<u8>, AssembleError> {
    Assembly::new(gpu, text).assemble(tested()?)
}

/// Disassembles a code object with the toolchain of [`Toolchain::TESTED_CHANNEL`].
///
/// # Errors
/// If the toolchain is missing, or `llvm-objdump` cannot read the file.
pub fn disassemble(code_object: &[u8]) -> Result<Vec<Disassembled>, AssembleError> {
    Ok(tested()?.disassemble(code_object)?)
}

/// Finds the toolchain once, because that takes longer than assembling.
fn tested() -> Result<&'static Toolchain, ToolchainError> {
    static TESTED: OnceLock<Toolchain> = OnceLock::new();
    if let Some(toolchain) = TESTED.get() {
        return Ok(toolchain);
    }
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL)?;
    Ok(TESTED.get_or_init(|| toolchain))
}

/// Assembly text, and the settings of its code object.
#[derive(Clone, Debug)]
pub struct Assembly<'a> {
    processor: &'a str,
    text: &'a str,
    version: CodeObjectVersion,
    features: String,
}

impl<'a> Assembly<'a> {
    /// `text` for `gpu`, as a code object of the version that is built for it, without target features.
    pub fn new(gpu: Gpu, text: &'a str) -> Self {
        Assembly {
            processor: gpu.name(),
            text,
            version: version_for(gpu),
            features: String::new(),
        }
    }

    /// Sets the version of the code object.
    #[must_use]
    pub fn version(mut self, version: CodeObjectVersion) -> Self {
        self.version = version;
        self
    }

    /// Sets the processor, such as `gfx11-generic`, instead of the GPU.
    #[must_use]
    pub fn processor(mut self, name: &'a str) -> Self {
        self.processor = name;
        self
    }

    /// Sets target features, such as `+xnack,-sramecc`.
    #[must_use]
    pub fn features(mut self, features: &str) -> Self {
        self.features = features.to_owned();
        self
    }

    /// Assembles and links.
    ///
    /// # Errors
    /// If the assembler or linker rejects the text. Line numbers in messages start at the first line of the text.
    pub fn assemble(&self, toolchain: &Toolchain) -> Result<Vec<u8>, AssembleError> {
        let dir = tempfile::tempdir().map_err(file_error(std::env::temp_dir()))?;
        let [ir, object, linked] =
            ["text.ll", "text.o", "text.elf"].map(|name| dir.path().join(name));
        fs::write(&ir, self.module()).map_err(file_error(&ir))?;
        let mut llc = Command::new(toolchain.llc());
        llc.arg(format!("-mcpu={}", self.processor))
            .arg("-filetype=obj");
        if !self.features.is_empty() {
            llc.arg(format!("-mattr={}", self.features));
        }
        run(llc.arg(&ir).arg("-o").arg(&object))?;
        link(toolchain, [&object], &linked)?;
        Ok(fs::read(&linked).map_err(file_error(&linked))?)
    }

    /// An IR module that contains only the text, as `module asm`: the sysroot has no `llvm-mc`, but `llc` assembles
    /// such a module.
    fn module(&self) -> String {
        let mut module = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
        for line in self.text.lines() {
            module.push_str("module asm \"");
            for &byte in line.as_bytes() {
                match byte {
                    b'"' | b'\\' | 0..0x20 | 0x7f.. => {
                        // Writing to a string does not fail.
                        let _ = write!(module, "\\{byte:02x}");
                    }
                    _ => module.push(byte.into()),
                }
            }
            module.push_str("\"\n");
        }
        let _ = write!(
            module,
            "!llvm.module.flags = !{{!0}}\n!0 = !{{i32 1, !\"amdhsa_code_object_version\", i32 {}}}\n",
            self.version as u32 * 100
        );
        module
    }
}

impl Toolchain {
    /// Disassembles the code sections of a code object.
    ///
    /// # Errors
    /// If `llvm-objdump` cannot read the file.
    pub fn disassemble(&self, code_object: &[u8]) -> Result<Vec<Disassembled>, ToolError> {
        let file = tempfile::NamedTempFile::new().map_err(file_error(std::env::temp_dir()))?;
        fs::write(file.path(), code_object).map_err(file_error(file.path()))?;
        let text = run(Command::new(self.llvm_objdump())
            // Without `--disassemble-zeroes` it skips runs of zeros, and their addresses.
            .args(["--disassemble", "--disassemble-zeroes"])
            .arg(file.path()))?;
        parse_listing(&text).map_err(|line| ToolError::Output {
            program: self.llvm_objdump(),
            line: line.to_owned(),
        })
    }
}

/// Parses `llvm-objdump`'s listing. The error is the line that could not be parsed.
fn parse_listing(listing: &str) -> Result<Vec<Disassembled>, &str> {
    let mut symbol = "";
    let mut instructions = Vec::new();
    for line in listing.lines() {
        // `0000000000001500 <name>:` starts a symbol; instructions are indented by a tab.
        let Some(instruction) = line.strip_prefix('\t') else {
            if let Some((_, name)) = line.split_once(" <")
                && let Some(name) = name.strip_suffix(">:")
            {
                symbol = name;
            }
            continue;
        };
        if instruction.starts_with('.') && !instruction.contains("//") {
            // A directive, such as the target's.
            continue;
        }
        let parsed = instruction.rsplit_once("//").and_then(|(text, place)| {
            let (address, words) = place.trim_start().split_once(':')?;
            // The target of a branch follows the words.
            let words = words.split('<').next()?;
            Some(Disassembled {
                address: u64::from_str_radix(address, 16).ok()?,
                symbol: symbol.to_owned(),
                text: text.trim_end().to_owned(),
                words: words
                    .split_whitespace()
                    .map(|word| u32::from_str_radix(word, 16).ok())
                    .collect::<Option<_>>()?,
            })
        });
        instructions.push(parsed.ok_or(line)?);
    }
    Ok(instructions)
}
