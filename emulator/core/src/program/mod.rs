//! Loaded code objects: the image in global memory, and the code, which is compiled when waves reach it.

mod names;

pub use names::{Names, SourceLine, SymbolizedInstruction};

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    ops::Range,
    sync::Arc,
};

use ferrowave_code_object::{self as code_object, CodeObject, CodeObjectError, SymbolKind};
use ferrowave_gpu::{Gpu, GpuLimits};

use crate::exec::{
    self, Code, CodeMemory, Formatter, MatrixSettingError, MatrixSums, SimdLevel, Unsupported,
};
use crate::memory::{CodePlace, DeviceMemory, MemoryError, Writes};

/// The largest supported alignment of an image in bytes: segments are aligned to pages.
const MAX_ALIGNMENT: u64 = 1 << 21;

/// Why a code object cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is malformed or of an unknown kind.
    #[error(transparent)]
    CodeObject(#[from] CodeObjectError),
    /// It is for another GPU.
    #[error("the code object is for {object}, but the device is {device}")]
    WrongGpu {
        /// The code object's GPU or generic target.
        object: &'static str,
        /// The device's.
        device: Gpu,
    },
    /// An invalid setting for the sums of matrix instructions in the environment.
    #[error(transparent)]
    MatrixSetting(#[from] MatrixSettingError),
    /// Not enough memory for it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Its executable code spans several segments.
    #[error(
        "the code object has executable code at {first:#x} and {second:#x} in different segments, which is not supported"
    )]
    ScatteredCode {
        /// A code section's address.
        first: u64,
        /// Another code section's address.
        second: u64,
    },
}

/// A code object in a device's memory. It stays there while the program or one of its kernels exists.
#[derive(Clone, Debug)]
pub struct Program(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    object: CodeObject,
    memory: Arc<DeviceMemory>,
    base: u64,
    /// The device's GPU, which may be one of several that the code object is for.
    gpu: Gpu,
    /// The code, once for each size of waves that its kernels have.
    code: Vec<(u32, Code)>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Only this value knows the address as an allocation's start.
        let _ = self.memory.free(self.base);
    }
}

impl CodeMemory for DeviceMemory {
    fn read(&self, address: u64, words: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * words];
        // The image exists as long as its program. If reading fails, there are no instructions.
        let read = self.read(address, &mut bytes);
        read.map_or_else(|_| Vec::new(), |()| exec::words(&bytes))
    }

    fn code_at(&self, address: u64) -> Option<Arc<CodePlace>> {
        self.code(address)
    }
}

/// A kernel of a loaded program.
#[derive(Clone, Debug)]
pub struct Kernel {
    loaded: Arc<Loaded>,
    index: usize,
}

impl Program {
    /// Loads a code object for a device's GPU. Keeps only the image, not `bytes`.
    pub fn load(
        bytes: &[u8],
        gpu: Gpu,
        memory: &Arc<DeviceMemory>,
        level: SimdLevel,
    ) -> Result<Self, LoadError> {
        let object = CodeObject::parse_and_leave(bytes)?;
        MatrixSums::from_environment()?;
        if !object.target().runs_on(gpu) {
            return Err(LoadError::WrongGpu {
                object: object.target().processor(),
                device: gpu,
            });
        }
        let text = code_range(&object)?;
        // `parse` limits the image to `MAX_IMAGE_BYTES`, so its size fits.
        let size = object.image_size() as usize;
        let segments: Vec<_> = object
            .segments()
            .iter()
            .map(|segment| {
                let writes = match (segment.executable, segment.writable) {
                    // It is decoded once.
                    (true, _) => Writes::Refused,
                    (false, true) => Writes::Allowed,
                    (false, false) => Writes::Reported,
                };
                let (address, size) = (segment.address, segment.memory_size);
                (address as usize, size as usize, writes)
            })
            .collect();
        // The image is aligned to `MAX_ALIGNMENT` at most, even if the file asks for more.
        let alignment = (object.image_align().min(MAX_ALIGNMENT) as usize).next_power_of_two();
        let base = memory.allocate_image(size, alignment, &segments)?;
        let written = object.write_image(bytes, base, |offset, bytes| {
            memory.write(base + offset, bytes).map_err(LoadError::from)
        });
        if let Err(error) = written {
            memory.free(base)?;
            return Err(error);
        }
        let formatters = object
            .functions()
            .filter_map(|symbol| Formatter::named(base + symbol.address, &symbol.name))
            .collect();
        let place = Arc::new(CodePlace {
            address: base + text.start,
            // An image has at most `MAX_IMAGE_BYTES`.
            words: ((text.end - text.start) / 4) as u32,
            starts: starts(&object, text.start),
        });
        memory.set_code(base, &place);
        let formatters: Box<[Formatter]> = formatters;
        let code_of = |lanes: u32| {
            let memory = Arc::clone(memory) as Arc<_>;
            let code = Code::new(gpu, level, lanes, Arc::clone(&place), memory);
            (lanes, code.with_formatters(formatters.clone()))
        };
        let kernels = object.kernels().iter();
        let mut sizes: Vec<_> = kernels.map(|k| k.metadata.wavefront_size).collect();
        if sizes.is_empty() {
            sizes.push(GpuLimits::of(gpu).wave_size);
        }
        sizes.sort_unstable();
        sizes.dedup();
        let code = sizes.into_iter().map(code_of).collect();
        Ok(Program(Arc::new(Loaded {
            object,
            memory: Arc::clone(memory),
            base,
            gpu,
            code,
        })))
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        let index = self
            .0
            .object
            .kernels()
            .iter()
            .position(|k| k.metadata.name == name)?;
        Some(Kernel {
            loaded: Arc::clone(&self.0),
            index,
        })
    }

    /// The names of all kernels.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.0
            .object
            .kernels()
            .iter()
            .map(|kernel| kernel.metadata.name.as_str())
    }

    /// Address and length in bytes of a global variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        let symbol = self.0.object.global(name)?;
        (symbol.kind == SymbolKind::Variable).then_some((self.0.base + symbol.address, symbol.size))
    }

    /// The code object, without the file's bytes.
    pub fn object(&self) -> &CodeObject {
        &self.0.object
    }

    /// All instructions in the code that the emulator cannot run; a wave that reaches one faults.
    pub fn unsupported(&self) -> Vec<Unsupported> {
        let first = self.0.code.first();
        first.map_or_else(Vec::new, |(_, code)| code.unsupported())
    }
}

/// The offsets in the text at which stretches of code start: at kernels, and at functions outside of kernels.
fn starts(object: &CodeObject, text: u64) -> Vec<u64> {
    let mut kernels: Vec<_> = object.kernels().iter().map(|k| k.code.clone()).collect();
    kernels.sort_by_key(|code| code.start);
    let is_part = |address: u64| {
        let after = kernels.partition_point(|code| code.start <= address);
        kernels[..after]
            .last()
            .is_some_and(|code| code.contains(&address))
    };
    let functions = object.functions().map(|function| function.address);
    let functions = functions.filter(|&address| !is_part(address));
    let all = functions.chain(kernels.iter().map(|code| code.start));
    all.filter_map(|address| address.checked_sub(text))
        .collect()
}

/// The address range of the executable code, from the first to the last section.
fn code_range(object: &CodeObject) -> Result<Range<u64>, LoadError> {
    let ranges = object.text_ranges();
    let (Some(start), Some(end)) = (
        ranges.iter().map(|r| r.start).min(),
        ranges.iter().map(|r| r.end).max(),
    ) else {
        return Ok(0..0);
    };
    let together = object
        .segments()
        .iter()
        .any(|s| s.address <= start && end <= s.address + s.memory_size);
    if !together {
        let last = ranges.iter().map(|r| r.start).max().unwrap_or(start);
        return Err(LoadError::ScatteredCode {
            first: start,
            second: last,
        });
    }
    Ok(start..end)
}

impl Kernel {
    /// The code object's description of the kernel.
    pub fn description(&self) -> &code_object::Kernel {
        &self.loaded.object.kernels()[self.index]
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.description().metadata.name
    }

    /// The GPU that it runs on.
    pub fn gpu(&self) -> Gpu {
        self.loaded.gpu
    }

    /// The lanes of its waves.
    pub fn wave_size(&self) -> u32 {
        self.description().metadata.wavefront_size
    }

    /// The code of its program, for waves of its size.
    pub fn code(&self) -> &Code {
        let lanes = self.wave_size();
        let mut all = self.loaded.code.iter();
        // `load` makes a code for the size of each kernel.
        let found = all.find(|(size, _)| *size == lanes);
        &found.unwrap_or(&self.loaded.code[0]).1
    }

    /// The memory into which its program is loaded.
    pub fn memory(&self) -> &Arc<DeviceMemory> {
        &self.loaded.memory
    }

    /// The address of its descriptor.
    pub(crate) fn descriptor_address(&self) -> u64 {
        self.loaded.base + self.description().descriptor_address
    }

    /// The address of its first instruction.
    pub(crate) fn entry(&self) -> u64 {
        self.loaded.base + self.description().code.start
    }

    /// The indices of its own instructions.
    pub fn instructions(&self) -> Range<u32> {
        let own = &self.description().code;
        let entry = self.entry();
        self.code().indices(entry..entry + (own.end - own.start))
    }

    /// A hash of name, GPU and instructions, to distinguish kernels.
    pub fn identity(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.name(), self.gpu()).hash(&mut hasher);
        let own = &self.description().code;
        let entry = self.entry();
        let words = self.code().words(entry..entry + (own.end - own.start));
        words.hash(&mut hasher);
        hasher.finish()
    }

    /// The offset of an instruction from the load address of the code object. For an instruction of another code
    /// object, reached by a jump: its address.
    pub(crate) fn offset_of(&self, index: u32) -> u64 {
        let address = self.code().address_of(index);
        match self.code().is_own(index) {
            true => address - self.loaded.base,
            false => address,
        }
    }

    pub(crate) fn object(&self) -> &CodeObject {
        &self.loaded.object
    }
}
