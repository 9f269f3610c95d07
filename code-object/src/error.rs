//! Errors in code objects.

use ferrowave_gpu::Gpu;

use crate::{CodeObjectVersion, GenericTarget, MAX_IMAGE_BYTES};

/// Why a code object is invalid, or cannot be loaded at the given address.
///
/// Each error gives the offending value and, where there is a choice, the allowed ones. Addresses are virtual addresses
/// of the ELF file, relative to the load address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeObjectError {
    /// The bytes do not start with the ELF magic.
    #[error("not an ELF file: it starts with {found:02x?}, not with 7f 45 4c 46")]
    NotElf {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// A structure of the ELF file lies outside the file or is inconsistent.
    #[error("malformed ELF file: {what}: {reason}")]
    Elf {
        /// What was being read.
        what: &'static str,
        /// The ELF reader's message.
        reason: String,
    },
    /// An ELF header field has a value that no code object for the supported GPUs has.
    #[error("not an AMD GPU code object: {field} is {found:#x}, expected {expected}")]
    Header {
        /// The field by its ELF name.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The allowed values.
        expected: &'static str,
    },
    /// The code object version is not supported.
    #[error(
        "code object version {} is not supported (ELF ABI version {abi_version}); supported are {}",
        version_name(*abi_version),
        CodeObjectVersion::names()
    )]
    Version {
        /// `e_ident[EI_ABIVERSION]`.
        abi_version: u8,
    },
    /// The machine number in `e_flags` is not that of a known GPU.
    #[error(
        "code object for {}: EF_AMDGPU_MACH is {mach:#04x}; known are {}",
        unknown_gpu(*mach),
        known_machs()
    )]
    UnknownMach {
        /// The low 8 bits of `e_flags`.
        mach: u8,
    },
    /// Only version 6 has generic targets, and each has a version of its own from 1 on.
    #[error(
        "code object {version} for {name} with generic version {found}: generic targets need code object v6 and generic \
         version {least} or later"
    )]
    GenericVersion {
        /// The generic target.
        name: &'static str,
        /// The code object's version.
        version: CodeObjectVersion,
        /// Its generic version.
        found: u8,
        /// The first that is supported.
        least: u8,
    },
    /// `e_flags` has bits set that are undefined for this version.
    #[error("e_flags {flags:#010x} has unknown bits {unknown:#010x}")]
    UnknownFlags {
        /// All of `e_flags`.
        flags: u32,
        /// The undefined bits.
        unknown: u32,
    },
    /// There is no loadable segment.
    #[error("the code object has no loadable segment (PT_LOAD)")]
    NoSegments,
    /// The image would be larger than [`MAX_IMAGE_BYTES`].
    #[error(
        "segment at address {address:#x} of {size:#x} bytes ends past the largest image of {MAX_IMAGE_BYTES:#x} bytes"
    )]
    ImageTooLarge {
        /// The segment's address.
        address: u64,
        /// Its size in memory, in bytes.
        size: u64,
    },
    /// A segment is larger in the file than in memory.
    #[error(
        "segment at address {address:#x} has {file_size:#x} bytes in the file but {memory_size:#x} in memory"
    )]
    SegmentSize {
        /// The segment's address.
        address: u64,
        /// Bytes in the file.
        file_size: u64,
        /// Bytes in memory.
        memory_size: u64,
    },
    /// A segment starts before the previous one ends. The ELF specification requires ascending order.
    #[error(
        "segment at address {address:#x} starts before the previous one ends ({previous_end:#x})"
    )]
    SegmentOverlap {
        /// The segment's address.
        address: u64,
        /// The previous segment's end.
        previous_end: u64,
    },
    /// A segment's alignment is not a power of two, or exceeds [`MAX_IMAGE_BYTES`].
    #[error(
        "segment at address {address:#x} is aligned to {align:#x}, expected a power of two up to {MAX_IMAGE_BYTES:#x}"
    )]
    SegmentAlign {
        /// The segment's address.
        address: u64,
        /// `p_align`.
        align: u64,
    },
    /// A dynamic table entry that changes relocations in a way that is not supported.
    #[error("dynamic table entry {tag} is not supported: relocations are read from DT_RELA only")]
    UnsupportedDynamicTag {
        /// The tag by its ELF name.
        tag: &'static str,
    },
    /// A dynamic table entry has a wrong value.
    #[error("dynamic table: {tag} is {found:#x}, expected {expected}")]
    Dynamic {
        /// The tag by its ELF name.
        tag: &'static str,
        /// Its value.
        found: u64,
        /// The expected value.
        expected: &'static str,
    },
    /// A relocation type that is not applied at load time.
    #[error(
        "relocation at address {address:#x} is of type {kind}, which is not supported; supported are {}",
        crate::RelocationKind::names()
    )]
    RelocationType {
        /// The relocation's address.
        address: u64,
        /// `r_type`.
        kind: u32,
    },
    /// A relocation that writes outside the loaded segments.
    #[error("relocation at address {address:#x} lies outside the loadable segments")]
    RelocationAddress {
        /// The relocation's address.
        address: u64,
    },
    /// A relocation names a symbol beyond the end of the symbol table.
    #[error("relocation at address {address:#x} names symbol {symbol}, but there are {count}")]
    RelocationSymbol {
        /// The relocation's address.
        address: u64,
        /// The symbol's index.
        symbol: u32,
        /// The number of symbols.
        count: usize,
    },
    /// A relocation needs a symbol that the code object does not define.
    #[error(
        "relocation at address {address:#x} needs symbol `{name}`, which the code object does not define"
    )]
    UndefinedSymbol {
        /// The relocation's address.
        address: u64,
        /// The symbol's name.
        name: String,
    },
    /// A relocated value does not fit in its field.
    #[error("relocation at address {address:#x}: value {value:#x} does not fit in 32 bits")]
    RelocationOverflow {
        /// The relocation's address.
        address: u64,
        /// The value.
        value: u64,
    },
    /// The buffer given to `load_image` does not have the image's size.
    #[error("the image takes {needed} bytes, the buffer for it has {given}")]
    ImageBuffer {
        /// The image's size in bytes.
        needed: u64,
        /// The buffer's size in bytes.
        given: usize,
    },
    /// The load address is misaligned, or the image would wrap around.
    #[error(
        "the image of {size:#x} bytes can't be loaded at {base:#x}: the address must be a multiple of {align:#x} and leave room for it"
    )]
    LoadAddress {
        /// The load address.
        base: u64,
        /// The required alignment.
        align: u64,
        /// The image's size in bytes.
        size: u64,
    },
    /// A symbol's name is not UTF-8 or lies outside the string table.
    #[error("symbol {index} has no readable name")]
    SymbolName {
        /// The symbol's index in its table.
        index: usize,
    },
    /// A symbol lies outside the image.
    #[error(
        "symbol `{name}` at address {address:#x} of {size:#x} bytes lies outside the image of {image_size:#x} bytes"
    )]
    SymbolRange {
        /// The symbol's name.
        name: String,
        /// The symbol's address.
        address: u64,
        /// The symbol's size in bytes.
        size: u64,
        /// The image's size in bytes.
        image_size: u64,
    },
    /// There is no `NT_AMDGPU_METADATA` note.
    #[error("the code object has no metadata (note NT_AMDGPU_METADATA of owner AMDGPU)")]
    NoMetadata,
    /// The metadata note exceeds the size limit.
    #[error("the metadata has {size} bytes, more than the largest accepted of {limit}")]
    MetadataTooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The metadata is not MessagePack.
    #[error("the metadata is not MessagePack: {reason}")]
    MetadataEncoding {
        /// The MessagePack reader's message.
        reason: String,
    },
    /// A metadata value is missing, or has a wrong type or range.
    #[error("metadata `{path}`: {reason}")]
    Metadata {
        /// Its path, for example `amdhsa.kernels[0].args[2].size`.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The metadata names a different GPU than the ELF header.
    #[error("the metadata is for `{target}`, the ELF header for {processor}")]
    TargetMismatch {
        /// `amdhsa.target`.
        target: String,
        /// The processor in `e_flags`.
        processor: &'static str,
    },
    /// Two kernels have the same name.
    #[error("the metadata lists kernel `{kernel}` twice")]
    DuplicateKernel {
        /// The kernel's name.
        kernel: String,
    },
    /// A kernel in the metadata has no descriptor symbol.
    #[error("kernel `{kernel}`: its descriptor `{symbol}` is not in the symbol table")]
    NoDescriptor {
        /// The kernel's name.
        kernel: String,
        /// The descriptor's symbol.
        symbol: String,
    },
    /// A kernel descriptor is not 64 bytes within a loadable segment, aligned to 64.
    #[error(
        "kernel `{kernel}`: its descriptor at address {address:#x} is not 64 bytes of a loadable segment, aligned to 64"
    )]
    DescriptorAddress {
        /// The kernel's name.
        kernel: String,
        /// The descriptor's address.
        address: u64,
    },
    /// A kernel descriptor field that must be 0 is not.
    #[error(
        "kernel `{kernel}`: kernel descriptor field {field} is {value:#x}, but must be 0 on {gpu}"
    )]
    DescriptorReserved {
        /// The kernel's name.
        kernel: String,
        /// The field by LLVM's name.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The GPU of the code object.
        gpu: Gpu,
    },
    /// A kernel descriptor field has an invalid value.
    #[error("kernel `{kernel}`: kernel descriptor field {field} is {value}, expected {expected}")]
    DescriptorValue {
        /// The kernel's name.
        kernel: String,
        /// The field by LLVM's name.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The allowed values.
        expected: &'static str,
    },
    /// A kernel's descriptor and metadata state different sizes of waves.
    #[error(
        "kernel `{kernel}` has waves of {descriptor} lanes in its descriptor (ENABLE_WAVEFRONT_SIZE32), but \
         `.wavefront_size` of its metadata is {metadata}"
    )]
    WaveSize {
        /// The kernel's name.
        kernel: String,
        /// The descriptor's size.
        descriptor: u32,
        /// The metadata's.
        metadata: u32,
    },
    /// A kernel's entry point is not in executable memory, or not a multiple of 256.
    #[error(
        "kernel `{kernel}` starts at address {entry:#x}, which is not an executable address that is a multiple of 256"
    )]
    Entry {
        /// The kernel's name.
        kernel: String,
        /// The address of its first instruction.
        entry: u64,
    },
}

impl CodeObjectError {
    /// Wraps an error of `object`, naming the structure being read.
    pub(crate) fn elf(what: &'static str) -> impl FnOnce(object::read::Error) -> Self {
        move |error| CodeObjectError::Elf {
            what,
            reason: error.to_string(),
        }
    }
}

fn version_name(abi_version: u8) -> String {
    match abi_version {
        0 => "2".to_owned(),
        1 => "3".to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// The GPU of a machine number, if it is one that users have and this project does not know (LLVM's `AMDGPUUsage`, table
/// «AMDGPU ELF e_flags»).
fn unknown_gpu(mach: u8) -> String {
    let name = match mach {
        0x2c => "gfx900",
        0x2f => "gfx906",
        0x33 => "gfx1010",
        0x35 => "gfx1012",
        0x36 => "gfx1030",
        0x37 => "gfx1031",
        0x38 => "gfx1032",
        0x3d => "gfx1035",
        0x44 => "gfx1103",
        0x49 => "gfx1250",
        0x51 => "gfx9-generic",
        0x52 => "gfx10-1-generic",
        0x53 => "gfx10-3-generic",
        _ => return "an unknown GPU".to_owned(),
    };
    format!("{name}, which is not supported")
}

fn known_machs() -> String {
    let generic = GenericTarget::ALL.map(|generic| generic.name);
    format!(
        "{} and {}",
        Gpu::ALL
            .map(|gpu| format!("{:#04x} ({gpu})", gpu.mach()))
            .join(", "),
        generic.join(", ")
    )
}
