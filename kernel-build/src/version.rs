//! Which version of code objects is built.

use ferrowave_code_object::CodeObjectVersion;
use ferrowave_gpu::Gpu;

/// LLVM's option for the version (`AMDGPUBaseInfo.cpp`). Link-time optimization generates all code in the last crate, so
/// that `core` and other dependencies have this version, too.
pub(crate) const OPTION: &str = "amdhsa-code-object-version";

/// The version to build for a GPU: one that every ROCm from 6.0 on with this GPU loads.
///
/// ROCR 6.1.2 loads versions up to 5, and 6.2 is the first to load 6, LLVM's default (`AmdHsaCode::GetCodeObjectVersion`
/// in `amd_hsa_code.cpp`). ROCR 6.2.4 does not know gfx950 yet, so gfx950 has the default. ROCR knows gfx1100 since 5.5,
/// gfx1150 and gfx1151 since 6.1 (`isa.cpp`). ROCm supports gfx1200 and gfx1201 from 6.4.1 on, which loads version 6, too.
pub(crate) const fn version_for(gpu: Gpu) -> CodeObjectVersion {
    match gpu {
        Gpu::Gfx908
        | Gpu::Gfx90a
        | Gpu::Gfx942
        | Gpu::Gfx1100
        | Gpu::Gfx1101
        | Gpu::Gfx1102
        | Gpu::Gfx1150
        | Gpu::Gfx1151 => CodeObjectVersion::V5,
        Gpu::Gfx950 | Gpu::Gfx1200 | Gpu::Gfx1201 => CodeObjectVersion::V6,
    }
}
