//! Parses a whole code object, and checks its parts against each other.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, OnceLock},
};

use object::{
    LittleEndian as LE, elf,
    read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, SectionTable},
};

use ferrowave_gpu::{Gpu, Resources};

use crate::{
    CodeObjectError, KernelDescriptor, KernelMetadata, LineTables, Metadata, Relocation, Segment,
    Symbol, SymbolKind, Target, dynamic_symbols::DynamicSymbols, image::Image, symbols,
};

/// A kernel: metadata, descriptor and code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its metadata.
    pub metadata: Arc<KernelMetadata>,
    /// Its descriptor, from which the hardware sets up the waves.
    pub descriptor: KernelDescriptor,
    /// The descriptor's address, relative to the load address. On a GPU this is the kernel object that a dispatch
    /// packet names.
    pub descriptor_address: u64,
    /// Addresses of the code, relative to the load address: from the entry point to the end of its symbol, or, if
    /// that has no size, to the next function or the end of the section.
    pub code: Range<u64>,
}

impl Kernel {
    /// The compute unit's resources that a workgroup of `workgroup_size` work-items takes, with `dynamic_lds_bytes` of
    /// LDS from the launch.
    pub fn resources(&self, workgroup_size: u32, dynamic_lds_bytes: u32) -> Resources {
        Resources {
            vgprs: self.descriptor.vgprs(),
            sgprs: self.descriptor.sgprs(),
            lds_bytes: self
                .descriptor
                .group_segment_fixed_size
                .saturating_add(dynamic_lds_bytes),
            workgroup_size,
            wave_size: self.descriptor.wave_size(),
            in_one_compute_unit: !self.descriptor.wgp_mode,
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
    /// Indices of the function symbols, by address, at most one per address.
    functions: Vec<usize>,
    text: Vec<Range<u64>>,
    metadata: Metadata,
    kernels: Vec<Kernel>,
    /// Shared, so that clones read them only once.
    lines: Arc<OnceLock<LineTables>>,
}

impl CodeObject {
    /// Parses a code object from a copy of `bytes`.
    ///
    /// # Errors
    /// If the bytes are not a code object v4 to v6 for one of [`Gpu::ALL`](ferrowave_gpu::Gpu::ALL), or are
    /// inconsistent.
    pub fn parse(bytes: &[u8]) -> Result<Self, CodeObjectError> {
        // Checks the header before the copy, so that a large file of another kind costs nothing.
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

    /// Like [`Self::parse`], without keeping the file: [`Self::bytes`] is empty. Line tables are read immediately.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_and_leave(bytes: &[u8]) -> Result<Self, CodeObjectError> {
        Ok(CodeObject {
            lines: Arc::new(LineTables::new(bytes).into()),
            ..Self::read(bytes)?
        })
    }

    /// Parses everything, without keeping the file or reading line tables.
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
        // If a name occurs twice, the exported symbol is the one that a host can look up.
        let mut by_name = HashMap::new();
        for exported in [false, true] {
            for (index, symbol) in symbols.iter().enumerate() {
                if symbol.exported == exported {
                    by_name.insert(symbol.name.clone(), index);
                }
            }
        }

        let functions = functions(&symbols);

        let metadata = read_metadata(bytes, program_headers, target.gpu)?;
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

    /// The GPU, features and version that the code object is built for.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The whole file; empty after [`Self::parse_and_leave`].
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The metadata, merged from all metadata notes.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The kernels, in the order of the metadata.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels
            .iter()
            .find(|kernel| kernel.metadata.name == name)
    }

    /// The kernel whose code contains `address`.
    pub fn kernel_at(&self, address: u64) -> Option<&Kernel> {
        self.kernels
            .iter()
            .find(|kernel| kernel.code.contains(&address))
    }

    /// Symbols with an address, except labels, in address order.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The symbol with this name. An exported symbol takes precedence.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        Some(&self.symbols[*self.by_name.get(name)?])
    }

    /// The exported global variable with this name (`hipModuleGetGlobal`).
    pub fn global(&self, name: &str) -> Option<&Symbol> {
        self.symbol(name)
            .filter(|symbol| symbol.exported && symbol.kind == SymbolKind::Variable)
    }

    /// The functions in address order, at most one per address.
    pub fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.functions.iter().map(|&index| &self.symbols[index])
    }

    /// The function whose code contains `address`.
    pub fn function_at(&self, address: u64) -> Option<&Symbol> {
        let after = self
            .functions
            .partition_point(|&index| self.symbols[index].address <= address);
        let symbol = &self.symbols[*self.functions.get(after.checked_sub(1)?)?];
        (address - symbol.address < symbol.size.max(1)).then_some(symbol)
    }

    /// Addresses of machine code: the executable sections, or the executable segments if the file has no sections.
    pub fn text_ranges(&self) -> &[Range<u64>] {
        &self.text
    }

    /// The `size` bytes at `address` before relocation. `None` if no single segment has all of them in the file, or
    /// after [`Self::parse_and_leave`].
    pub fn file_bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.bytes.get(self.image.file_range(address, size)?)
    }

    /// The line tables, read on first use.
    pub fn lines(&self) -> &LineTables {
        self.lines.get_or_init(|| LineTables::new(&self.bytes))
    }

    /// The segments of the image, in address order.
    pub fn segments(&self) -> &[Segment] {
        &self.image.segments
    }

    /// The relocations to apply when loading.
    pub fn relocations(&self) -> &[Relocation] {
        &self.image.relocations
    }

    /// The size of the image in bytes, at most [`crate::MAX_IMAGE_BYTES`].
    pub fn image_size(&self) -> u64 {
        self.image.size
    }

    /// The alignment of the load address, in bytes: a power of two.
    pub fn image_align(&self) -> u64 {
        self.image.align
    }

    /// Writes the image for `base_address` to `memory`, whose length must be [`Self::image_size`].
    ///
    /// # Errors
    /// If the buffer has another length, the file was not kept, the address is misaligned or the image would wrap
    /// around, a relocation names an undefined symbol, or a value does not fit. `memory` may then be partly written.
    pub fn load_image(&self, base_address: u64, memory: &mut [u8]) -> Result<(), CodeObjectError> {
        if u64::try_from(memory.len()) != Ok(self.image.size) {
            return Err(CodeObjectError::ImageBuffer {
                needed: self.image.size,
                given: memory.len(),
            });
        }
        // Gaps between segments, and bytes that the file does not provide, are zero.
        memory.fill(0);
        self.write_image(&self.bytes, base_address, |offset, bytes| {
            memory[offset as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        })
    }

    /// Like [`Self::load_image`], for zeroed memory that `write` fills. `file` is the code object's bytes, which need
    /// not have been kept. `write` takes an offset in the image, and bytes that lie within it.
    ///
    /// # Errors
    /// The errors of `write`, and those of [`Self::load_image`].
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
        if descriptor.wave_size() != metadata.wavefront_size {
            return Err(CodeObjectError::WaveSize {
                kernel: kernel(),
                descriptor: descriptor.wave_size(),
                metadata: metadata.wavefront_size,
            });
        }

        let entry = address.wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
        // The low 8 bits of the entry address are not stored in the program start register (`COMPUTE_PGM_LO`), so they
        // must be 0.
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

    /// The end of the code that starts at `entry`, at most `section_end`.
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

/// Indices of the function symbols. If several have one address, the longest is taken.
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

/// `NT_AMDGPU_METADATA`: LLVM's `AMDGPUUsage`, table «AMDGPU Code Object V3 ELF Note Records».
const NT_AMDGPU_METADATA: u32 = 32;

fn read_metadata(
    bytes: &[u8],
    program_headers: &[elf::ProgramHeader64<LE>],
    gpu: Gpu,
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
            let more = Metadata::parse(note.desc(), gpu)?;
            match &mut metadata {
                Some(metadata) => metadata.merge(more),
                None => metadata = Some(more),
            }
        }
    }
    metadata.ok_or(CodeObjectError::NoMetadata)
}

/// Checks that the metadata names the GPU of the ELF flags.
fn check_target(metadata: &Metadata, target: Target) -> Result<(), CodeObjectError> {
    let Some(text) = &metadata.target else {
        return Ok(());
    };
    // In `amdgcn-amd-amdhsa--gfx90a:sramecc+`, features follow a colon and may end in a dash themselves (`xnack-`).
    let processor = text.split(':').next().unwrap_or(text);
    // Names of generic targets have dashes too; the triple ends with an environment, which is usually empty.
    let expected = target.processor();
    let before = processor.strip_suffix(expected);
    if before.is_some_and(|before| before.is_empty() || before.ends_with('-')) {
        return Ok(());
    }
    Err(CodeObjectError::TargetMismatch {
        target: text.clone(),
        processor: expected,
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
            // A section without contents in a segment is not in the image, whatever its flags.
            .filter(|&(address, size)| image.file_range(address, size).is_some())
            .map(|(address, size)| address..address + size)
            .collect()
    };
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    // Merges overlapping sections, so that binary search finds the range of an address.
    ranges.dedup_by(|next, kept| {
        let overlap = next.start < kept.end;
        if overlap {
            kept.end = kept.end.max(next.end);
        }
        overlap
    });
    ranges
}
