//! Assembles the code objects for the tests.

use std::{fs, process::Command, sync::OnceLock};

use ferrowave_gpu::{Family, Gpu};
use ferrowave_kernel_build::{Toolchain, assemble};

/// The pinned toolchain.
pub(crate) fn toolchain() -> Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN
        .get_or_init(|| {
            Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain")
        })
        .clone()
}

/// Assembles valid source.
pub(crate) fn assembled(gpu: Gpu, text: &str) -> Vec<u8> {
    assemble(gpu, text).unwrap_or_else(|error| panic!("{gpu}: {error}\n{text}"))
}

/// Replaces the only occurrence of some bytes by as many others.
pub(crate) fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut places = (0..=bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from));
    let at = places.next().expect("the bytes");
    assert_eq!(places.next(), None, "more than once");
    bytes[at..at + to.len()].copy_from_slice(to);
}

/// The source of a kernel, with some parts to choose.
pub(crate) struct Kernel {
    gpu: Gpu,
    name: String,
    code: String,
    descriptor: String,
    metadata: String,
    kernarg_size: u32,
}

impl Kernel {
    pub(crate) fn new(gpu: Gpu) -> Self {
        Kernel {
            gpu,
            name: "probe".to_owned(),
            code: "s_endpgm".to_owned(),
            descriptor: String::new(),
            metadata: String::new(),
            kernarg_size: 0,
        }
    }

    pub(crate) fn name(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    pub(crate) fn code(mut self, code: &str) -> Self {
        self.code = code.to_owned();
        self
    }

    /// Adds directives to `.amdhsa_kernel`.
    pub(crate) fn descriptor(mut self, directives: &str) -> Self {
        self.descriptor = directives.to_owned();
        self
    }

    /// Adds lines to the kernel's metadata, indented by four.
    pub(crate) fn metadata(mut self, lines: &str) -> Self {
        self.metadata = lines.to_owned();
        self
    }

    pub(crate) fn kernarg_size(mut self, bytes: u32) -> Self {
        self.kernarg_size = bytes;
        self
    }

    pub(crate) fn text(&self) -> String {
        let mut descriptor = self.descriptor.clone();
        // Required directives, unless the test gives them.
        for (directive, value) in [
            (".amdhsa_next_free_vgpr", 8),
            (".amdhsa_next_free_sgpr", 8),
            (".amdhsa_accum_offset", 8),
        ] {
            let has_it = directive != ".amdhsa_accum_offset"
                || self.gpu.family() == Family::Cdna && self.gpu != Gpu::Gfx908;
            if has_it && !descriptor.contains(directive) {
                descriptor += &format!("\n{directive} {value}");
            }
        }
        let is_wide = descriptor.contains(".amdhsa_wavefront_size32 0");
        let wave_size = match self.gpu.family() {
            Family::Rdna if !is_wide => 32,
            _ => 64,
        };
        let Kernel {
            name,
            code,
            metadata,
            kernarg_size,
            ..
        } = self;
        format!(
            ".text
.globl {name}
.protected {name}
.p2align 8
.type {name},@function
{name}:
{code}
.Lend_{name}:
.size {name}, .Lend_{name}-{name}
.rodata
.p2align 6
.amdhsa_kernel {name}
{descriptor}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {kernarg_size}
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: {wave_size}
    .sgpr_count: 14
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
{metadata}
...
.end_amdgpu_metadata
"
        )
    }
}

/// The output of `llvm-readobj` with an option.
pub(crate) fn readobj(bytes: &[u8], option: &str) -> String {
    tool(
        bytes,
        |toolchain| Command::new(toolchain.llvm_readobj()),
        &[option],
    )
}

/// The output of a tool of the toolchain for a code object.
pub(crate) fn tool(bytes: &[u8], tool: impl Fn(&Toolchain) -> Command, options: &[&str]) -> String {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), bytes).expect("writes");
    let output = tool(&toolchain())
        .args(options)
        .arg(file.path())
        .output()
        .expect("runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("text")
}
