//! A code object as a whole: its parts, joined and checked against each other.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, OnceLock},
};

use object::{
    LittleEndian as LE, elf,
    read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, SectionTable},
};

use ferrowave_gpu::Resources;

use crate::{
    CodeObjectError, KernelDescriptor, KernelMetadata, LineTables, Metadata, Relocation, Segment,
    Symbol, SymbolKind, Target, dynamic_symbols::DynamicSymbols, image::Image, symbols,
};

/// A kernel: metadata, descriptor and code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// What the metadata says.
    pub metadata: Arc<KernelMetadata>,
    /// What the hardware starts it from.
    pub descriptor: KernelDescriptor,
    /// The descriptor's address, relative to the load address. On a GPU this is the kernel object that a dispatch
    /// packet names.
    pub descriptor_address: u64,
    /// Addresses of the code from the entry point to the end of its symbol, relative to the load address; where no
    /// symbol says, to the next function's start or the section's end.
    pub code: Range<u64>,
}

impl Kernel {
    /// What a workgroup of `workgroup_size` work-items takes of a compute unit when the launch adds
    /// `dynamic_lds_bytes` of LDS.
    pub fn resources(&self, workgroup_size: u32, dynamic_lds_bytes: u32) -> Resources {
        Resources {
            vgprs: self.descriptor.vgprs(),
            sgprs: self.descriptor.sgprs(),
            lds_bytes: self
                .descriptor
                .group_segment_fixed_size
                .saturating_add(dynamic_lds_bytes),
            workgroup_size,
        }
    }
}

/// A linked code object, parsed and checked.
#[derive(Clone, Debug)]
pub struct CodeObject {
    bytes: Arc<[u8]>,
    target: Target,
    image: Image,
    symbols: Vec<Symbol>,
    by_name: HashMap<String, usize>,
    /// Indices of the function symbols, by address and at most one an address.
    functions: Vec<usize>,
    text: Vec<Range<u64>>,
    metadata: Metadata,
    kernels: Vec<Kernel>,
    /// Shared, so that a clone does not read them again.
    lines: Arc<OnceLock<LineTables>>,
}

impl CodeObject {
    /// Parses a code object from a copy of `bytes`.
    ///
    /// # Errors
    /// If the bytes are not a code object v4 to v6 for one of [`Gpu::ALL`](ferrowave_gpu::Gpu::ALL), or contradict themselves.
    pub fn parse(bytes: &[u8]) -> Result<Self, CodeObjectError> {
        // Before the copy, so that a large file of another kind costs nothing.
        parse_header(bytes)?;
        Self::parse_shared(bytes.into())
    }

    /// Like [`Self::parse`], without a copy.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_shared(shared: Arc<[u8]>) -> Result<Self, CodeObjectError> {
        Ok(CodeObject {
            bytes: Arc::clone(&shared),
            ..Self::read(&shared)?
        })
    }

    /// Like [`Self::parse`], without keeping the file: [`Self::bytes`] is empty. Line tables are read now.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_and_leave(bytes: &[u8]) -> Result<Self, CodeObjectError> {
        Ok(CodeObject {
            lines: Arc::new(LineTables::new(bytes).into()),
            ..Self::read(bytes)?
        })
    }

    /// All but what is kept of `bytes`.
    fn read(bytes: &[u8]) -> Result<Self, CodeObjectError> {
        let header = parse_header(bytes)?;
        let target = Target::parse(header)?;
        let program_headers = header
            .program_headers(LE, bytes)
            .map_err(CodeObjectError::elf("program headers"))?;
        let sections = symbols::sections(bytes, header)?;
        let dynamic_symbols = DynamicSymbols::parse(bytes, &sections)?;

        let mut image = Image::parse(bytes, program_headers)?;
        image.read_relocations(bytes, program_headers, &dynamic_symbols)?;
        let symbols = symbols::read(bytes, &sections, &dynamic_symbols, &image)?;
        // Should a name stand twice, the exported symbol is the one that a host means.
        let mut by_name = HashMap::new();
        for exported in [false, true] {
            for (index, symbol) in symbols.iter().enumerate() {
                if symbol.exported == exported {
                    by_name.insert(symbol.name.clone(), index);
                }
            }
        }

        let functions = functions(&symbols);

        let metadata = read_metadata(bytes, program_headers)?;
        check_target(&metadata, target)?;
        let text = text_ranges(&sections, &image);
        let mut object = CodeObject {
            target,
            image,
            symbols,
            by_name,
            functions,
            text,
            kernels: Vec::new(),
            metadata: Metadata::default(),
            bytes: Arc::default(),
            lines: Arc::default(),
        };
        object.kernels = object.join_kernels(bytes, &metadata)?;
        object.metadata = metadata;
        Ok(object)
    }

    /// What it is made for.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The file as it was given; nothing after [`Self::parse_and_leave`].
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The metadata note (all of them, if there are several).
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The kernels, in the metadata's order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel that a host asks for by `name`.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels
            .iter()
            .find(|kernel| kernel.metadata.name == name)
    }

    /// The kernel whose code holds `address`.
    pub fn kernel_at(&self, address: u64) -> Option<&Kernel> {
        self.kernels
            .iter()
            .find(|kernel| kernel.code.contains(&address))
    }

    /// Symbols with an address, without labels, in the order of their addresses.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The symbol of a name; of several, an exported one.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        Some(&self.symbols[*self.by_name.get(name)?])
    }

    /// The global variable that a host may ask for by `name` (`hipModuleGetGlobal`).
    pub fn global(&self, name: &str) -> Option<&Symbol> {
        self.symbol(name)
            .filter(|symbol| symbol.exported && symbol.kind == SymbolKind::Variable)
    }

    /// The functions, in the order of their addresses, and at most one an address.
    pub fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.functions.iter().map(|&index| &self.symbols[index])
    }

    /// The function whose code holds `address`.
    pub fn function_at(&self, address: u64) -> Option<&Symbol> {
        let after = self
            .functions
            .partition_point(|&index| self.symbols[index].address <= address);
        let symbol = &self.symbols[*self.functions.get(after.checked_sub(1)?)?];
        (address - symbol.address < symbol.size.max(1)).then_some(symbol)
    }

    /// Addresses of machine code: the sections marked executable, or the segments if the file has no sections.
    pub fn text_ranges(&self) -> &[Range<u64>] {
        &self.text
    }

    /// The `size` bytes at `address` as they stand in the file, before relocation;
    /// `None` if no one segment has all of them in the file, and after [`Self::parse_and_leave`].
    pub fn file_bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.bytes.get(self.image.file_range(address, size)?)
    }

    /// Source lines of the code, read when first asked for.
    pub fn lines(&self) -> &LineTables {
        self.lines.get_or_init(|| LineTables::new(&self.bytes))
    }

    /// The parts of the image, in the order of their addresses.
    pub fn segments(&self) -> &[Segment] {
        &self.image.segments
    }

    /// Relocations that loading applies.
    pub fn relocations(&self) -> &[Relocation] {
        &self.image.relocations
    }

    /// The size of the image in bytes, at most [`crate::MAX_IMAGE_BYTES`].
    pub fn image_size(&self) -> u64 {
        self.image.size
    }

    /// What the load address has to be a multiple of, in bytes: a power of two.
    pub fn image_align(&self) -> u64 {
        self.image.align
    }

    /// Makes the image that belongs at `base_address` in `memory`, whose length must be [`Self::image_size`].
    ///
    /// # Errors
    /// If the buffer has another length, the file was not kept, the address does not suit, or a relocation needs a symbol that is not defined
    /// or a value that does not fit. `memory` may have been written to then.
    pub fn load_image(&self, base_address: u64, memory: &mut [u8]) -> Result<(), CodeObjectError> {
        if u64::try_from(memory.len()) != Ok(self.image.size) {
            return Err(CodeObjectError::ImageBuffer {
                needed: self.image.size,
                given: memory.len(),
            });
        }
        // Gaps and what the file does not fill are zero, whatever the buffer held.
        memory.fill(0);
        self.write_image(&self.bytes, base_address, |offset, bytes| {
            memory[offset as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        })
    }

    /// Like [`Self::load_image`], of the file's bytes, which need not have been kept, into memory that only `write` reaches
    /// and that is zero: it gets offsets in the image and bytes, which all lie inside it.
    ///
    /// # Errors
    /// Those of `write`, and as [`Self::load_image`].
    pub fn write_image<E: From<CodeObjectError>>(
        &self,
        file: &[u8],
        base_address: u64,
        write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.image.write(file, base_address, write)
    }

    fn join_kernels(
        &self,
        bytes: &[u8],
        metadata: &Metadata,
    ) -> Result<Vec<Kernel>, CodeObjectError> {
        let mut names = HashMap::new();
        metadata
            .kernels
            .iter()
            .map(|kernel| {
                if names.insert(kernel.name.as_str(), ()).is_some() {
                    return Err(CodeObjectError::DuplicateKernel {
                        kernel: kernel.name.clone(),
                    });
                }
                self.join_kernel(bytes, kernel)
            })
            .collect()
    }

    fn join_kernel(
        &self,
        bytes: &[u8],
        metadata: &Arc<KernelMetadata>,
    ) -> Result<Kernel, CodeObjectError> {
        let kernel = || metadata.name.clone();
        let address = self
            .symbol(&metadata.symbol)
            .ok_or_else(|| CodeObjectError::NoDescriptor {
                kernel: kernel(),
                symbol: metadata.symbol.clone(),
            })?
            .address;
        let bytes: &[u8; KernelDescriptor::BYTES] = self
            .image
            .file_range(address, KernelDescriptor::BYTES as u64)
            .and_then(|range| bytes.get(range))
            .filter(|_| address % KernelDescriptor::BYTES as u64 == 0)
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| CodeObjectError::DescriptorAddress {
                kernel: kernel(),
                address,
            })?;
        let descriptor = KernelDescriptor::parse(bytes, self.target.gpu, &metadata.name)?;

        let entry = address.wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
        // The register for the program's start holds the address without its low 8 bits.
        let after = self.text.partition_point(|range| range.start <= entry);
        let section = self.text[..after]
            .last()
            .filter(|range| range.contains(&entry))
            .filter(|_| entry % 256 == 0)
            .ok_or_else(|| CodeObjectError::Entry {
                kernel: kernel(),
                entry,
            })?;
        Ok(Kernel {
            code: entry..self.code_end(entry, section.end),
            metadata: Arc::clone(metadata),
            descriptor,
            descriptor_address: address,
        })
    }

    /// Where the code that starts at `entry` ends, at the latest at `section_end`.
    fn code_end(&self, entry: u64, section_end: u64) -> u64 {
        let from = self
            .functions
            .partition_point(|&index| self.symbols[index].address < entry);
        let end = self.functions[from..].iter().find_map(|&index| {
            let symbol = &self.symbols[index];
            match symbol.address {
                address if address > entry => Some(address),
                address => (symbol.size > 0).then_some(address + symbol.size),
            }
        });
        end.map_or(section_end, |end| end.min(section_end))
    }
}

/// Indices of the functions among `symbols`; of several at one address, the longest.
fn functions(symbols: &[Symbol]) -> Vec<usize> {
    let mut functions: Vec<usize> = Vec::new();
    for (index, symbol) in symbols.iter().enumerate() {
        if symbol.kind != SymbolKind::Function {
            continue;
        }
        match functions.last_mut() {
            Some(last) if symbols[*last].address == symbol.address => {
                if symbols[*last].size < symbol.size {
                    *last = index;
                }
            }
            _ => functions.push(index),
        }
    }
    functions
}

pub(crate) fn parse_header(bytes: &[u8]) -> Result<&elf::FileHeader64<LE>, CodeObjectError> {
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err(CodeObjectError::NotElf {
            found: bytes[..bytes.len().min(4)].to_vec(),
        });
    }
    match object::from_bytes::<elf::FileHeader64<LE>>(bytes) {
        Ok((header, _)) => Ok(header),
        Err(()) => Err(CodeObjectError::Elf {
            what: "header",
            reason: format!("the file has {} bytes, the header 64", bytes.len()),
        }),
    }
}

/// `NT_AMDGPU_METADATA`, from LLVM's `AMDGPUUsage`, table «AMDGPU Code Object V3 ELF Note Records».
const NT_AMDGPU_METADATA: u32 = 32;

fn read_metadata(
    bytes: &[u8],
    program_headers: &[elf::ProgramHeader64<LE>],
) -> Result<Metadata, CodeObjectError> {
    let mut metadata: Option<Metadata> = None;
    let error = CodeObjectError::elf;
    for header in program_headers {
        let Some(mut notes) = header.notes(LE, bytes).map_err(error("notes"))? else {
            continue;
        };
        while let Some(note) = notes.next().map_err(error("notes"))? {
            if note.name() != b"AMDGPU" || note.n_type(LE).0 != NT_AMDGPU_METADATA {
                continue;
            }
            let more = Metadata::parse(note.desc())?;
            match &mut metadata {
                Some(metadata) => metadata.merge(more),
                None => metadata = Some(more),
            }
        }
    }
    metadata.ok_or(CodeObjectError::NoMetadata)
}

/// The GPU stands in the ELF flags and in the metadata; where they differ, one is wrong.
fn check_target(metadata: &Metadata, target: Target) -> Result<(), CodeObjectError> {
    let Some(text) = &metadata.target else {
        return Ok(());
    };
    // `amdgcn-amd-amdhsa--gfx90a:sramecc+`: the processor follows the last dash, its features a colon.
    // The features may end in a dash themselves (`xnack-`).
    let processor = text.split(':').next().unwrap_or(text);
    let processor = processor.rsplit('-').next().unwrap_or(processor);
    if processor == target.gpu.name() {
        return Ok(());
    }
    Err(CodeObjectError::TargetMismatch {
        target: text.clone(),
        gpu: target.gpu,
    })
}

fn text_ranges(
    sections: &SectionTable<'_, elf::FileHeader64<LE>>,
    image: &Image,
) -> Vec<Range<u64>> {
    let mut ranges: Vec<_> = if sections.is_empty() {
        image
            .segments
            .iter()
            .filter(|segment| segment.executable)
            .map(|segment| segment.address..segment.address + segment.file_range.len() as u64)
            .collect()
    } else {
        let executable = elf::SHF_ALLOC.0 | elf::SHF_EXECINSTR.0;
        sections
            .iter()
            .filter(|section| section.sh_flags(LE).0 & executable == executable)
            .map(|section| (section.sh_addr(LE), section.sh_size(LE)))
            // A section that no segment has in the file is not in the image, whatever its flags.
            .filter(|&(address, size)| image.file_range(address, size).is_some())
            .map(|(address, size)| address..address + size)
            .collect()
    };
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    // Sections that overlap become one, so that an address is found by binary search.
    ranges.dedup_by(|next, kept| {
        let overlap = next.start < kept.end;
        if overlap {
            kept.end = kept.end.max(next.end);
        }
        overlap
    });
    ranges
}
