//! The target of a code object: GPU, feature settings and version, from the ELF header.

use std::fmt;

use object::{LittleEndian as LE, elf, read::elf::FileHeader as _};

use ferrowave_gpu::Gpu;

use crate::CodeObjectError;

/// The version of the code object format (LLVM's `AMDGPUUsage`, table «AMDGPU ELF ABI version»).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CodeObjectVersion {
    /// ELF ABI version 2.
    V4 = 4,
    /// ELF ABI version 3.
    V5 = 5,
    /// ELF ABI version 4.
    V6 = 6,
}

impl CodeObjectVersion {
    /// All supported versions, oldest first.
    pub const ALL: [CodeObjectVersion; 3] = [
        CodeObjectVersion::V4,
        CodeObjectVersion::V5,
        CodeObjectVersion::V6,
    ];

    /// The value of `e_ident[EI_ABIVERSION]`.
    pub const fn abi_version(self) -> u8 {
        self as u8 - 2
    }

    pub(crate) fn names() -> String {
        Self::ALL
            .map(|version| (version as u8).to_string())
            .join(", ")
    }
}

impl fmt::Display for CodeObjectVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", *self as u8)
    }
}

/// The setting of a GPU feature that code is compiled for (LLVM's `AMDGPUUsage`, «Target Features»).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeatureSetting {
    /// The GPU does not have the feature.
    Unsupported,
    /// The code runs with the feature on or off.
    Any,
    /// The code runs only with the feature off.
    Off,
    /// The code runs only with the feature on.
    On,
}

impl FeatureSetting {
    /// Decodes the two bits of a feature in `e_flags`.
    const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => FeatureSetting::Unsupported,
            1 => FeatureSetting::Any,
            2 => FeatureSetting::Off,
            _ => FeatureSetting::On,
        }
    }

    /// Whether the code runs on a device with the feature `on` or off.
    pub const fn allows(self, on: bool) -> bool {
        match self {
            FeatureSetting::Unsupported | FeatureSetting::Any => true,
            FeatureSetting::Off => !on,
            FeatureSetting::On => on,
        }
    }
}

/// A generic target: code of the instructions that several GPUs have in common (LLVM's `AMDGPUUsage`, «Generic Processor
/// Versioning»).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GenericTarget {
    /// LLVM's processor name.
    pub name: &'static str,
    /// Its GPUs, as far as this project knows them.
    pub gpus: &'static [Gpu],
    /// The `EF_AMDGPU_MACH` value.
    mach: u8,
    /// The version from which on this project's GPUs are among the target's.
    version: u8,
}

impl GenericTarget {
    /// All that have GPUs which this project knows.
    pub const ALL: [GenericTarget; 3] = [
        GenericTarget {
            name: "gfx9-4-generic",
            gpus: &[Gpu::Gfx942, Gpu::Gfx950],
            mach: 0x5f,
            version: 1,
        },
        GenericTarget {
            name: "gfx11-generic",
            gpus: &[
                Gpu::Gfx1100,
                Gpu::Gfx1101,
                Gpu::Gfx1102,
                Gpu::Gfx1150,
                Gpu::Gfx1151,
            ],
            mach: 0x54,
            version: 1,
        },
        GenericTarget {
            name: "gfx12-generic",
            gpus: &[Gpu::Gfx1200, Gpu::Gfx1201],
            mach: 0x59,
            version: 1,
        },
    ];
}

/// The target of a code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The GPU; of a generic target, the oldest.
    pub gpu: Gpu,
    /// The generic target, if the code is not for a single GPU.
    pub generic: Option<GenericTarget>,
    /// Retry of memory accesses after a page fault. With it, code needs more registers.
    pub xnack: FeatureSetting,
    /// Error correction of SRAM. With it, D16 loads do not preserve the other half of the destination register.
    pub sramecc: FeatureSetting,
    /// The format of the code object.
    pub version: CodeObjectVersion,
}

/// The target ID as in offload bundles, for example `gfx90a:sramecc+:xnack-`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.processor())?;
        for (name, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match setting {
                FeatureSetting::On => write!(f, ":{name}+")?,
                FeatureSetting::Off => write!(f, ":{name}-")?,
                FeatureSetting::Any | FeatureSetting::Unsupported => {}
            }
        }
        Ok(())
    }
}

// Fields of e_flags: LLVM's `AMDGPUUsage`, tables «AMDGPU ELF Header e_flags» for Code Object V4 and V5, and for V6.
const MACH_MASK: u32 = 0xff;
const XNACK_SHIFT: u32 = 8;
const SRAMECC_SHIFT: u32 = 10;
const KNOWN_MASK: u32 = 0xfff;
/// Only in v6, and only of generic targets.
const GENERIC_VERSION_SHIFT: u32 = 24;

impl Target {
    /// LLVM's name of the processor: a GPU's or a generic target's.
    pub fn processor(&self) -> &'static str {
        self.generic.map_or(self.gpu.name(), |generic| generic.name)
    }

    /// Whether the code runs on a GPU, as far as its instructions are concerned.
    pub fn runs_on(&self, gpu: Gpu) -> bool {
        match self.generic {
            Some(generic) => generic.gpus.contains(&gpu),
            None => self.gpu == gpu,
        }
    }

    /// Parses the ELF header. Anything but a code object for one of [`Gpu::ALL`] is an error.
    pub(crate) fn parse(header: &elf::FileHeader64<LE>) -> Result<Self, CodeObjectError> {
        let ident = header.e_ident();
        check("EI_CLASS", ident.class.0.into(), &[2], "2 (64-bit)")?;
        check("EI_DATA", ident.data.0.into(), &[1], "1 (little endian)")?;
        check("EI_VERSION", ident.version.0.into(), &[1], "1")?;
        check(
            "e_machine",
            header.e_machine(LE).0.into(),
            &[224],
            "0xe0 (EM_AMDGPU)",
        )?;
        check(
            "EI_OSABI",
            ident.os_abi.0.into(),
            &[64],
            "0x40 (ELFOSABI_AMDGPU_HSA)",
        )?;
        let version = CodeObjectVersion::ALL
            .into_iter()
            .find(|version| version.abi_version() == ident.abi_version)
            .ok_or(CodeObjectError::Version {
                abi_version: ident.abi_version,
            })?;
        check(
            "e_type",
            header.e_type(LE).0.into(),
            &[3],
            "3 (ET_DYN, a linked code object)",
        )?;

        let flags = header.e_flags(LE).0;
        let mach = (flags & MACH_MASK) as u8;
        let generic = GenericTarget::ALL
            .into_iter()
            .find(|generic| generic.mach == mach);
        let gpu = match generic {
            Some(generic) => generic.gpus.first().copied(),
            None => Gpu::ALL.into_iter().find(|gpu| gpu.mach() == mach),
        };
        let gpu = gpu.ok_or(CodeObjectError::UnknownMach { mach })?;
        let known = match generic {
            Some(generic) => {
                let found = (flags >> GENERIC_VERSION_SHIFT) as u8;
                if version < CodeObjectVersion::V6 || found < generic.version {
                    return Err(CodeObjectError::GenericVersion {
                        name: generic.name,
                        version,
                        found,
                        least: generic.version,
                    });
                }
                KNOWN_MASK | 0xff << GENERIC_VERSION_SHIFT
            }
            None => KNOWN_MASK,
        };
        if flags & !known != 0 {
            return Err(CodeObjectError::UnknownFlags {
                flags,
                unknown: flags & !known,
            });
        }
        Ok(Target {
            gpu,
            generic,
            xnack: FeatureSetting::from_bits(flags >> XNACK_SHIFT),
            sramecc: FeatureSetting::from_bits(flags >> SRAMECC_SHIFT),
            version,
        })
    }
}

fn check(
    field: &'static str,
    found: u64,
    allowed: &[u64],
    expected: &'static str,
) -> Result<(), CodeObjectError> {
    if allowed.contains(&found) {
        return Ok(());
    }
    Err(CodeObjectError::Header {
        field,
        found,
        expected,
    })
}
