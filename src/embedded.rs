//! The code objects that the build script compiled.

use ferrowave_gpu::Gpu;

/// GPU and code object, for each GPU that `FERROWAVE_GPUS` named at build time (`gfx942` if it was not set).
pub static CODE_OBJECTS: &[(Gpu, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/code_objects.rs"));

/// The code object for a GPU, by LLVM's name, if it was built.
pub fn code_object(gpu: &str) -> Option<&'static [u8]> {
    CODE_OBJECTS
        .iter()
        .find(|(built, _)| built.name() == gpu)
        .map(|&(_, bytes)| bytes)
}

/// The compiler of the kernels, with its LLVM.
pub const TOOLCHAIN: &str = env!("FERROWAVE_TOOLCHAIN");

/// The commit that this was built from, with `-dirty` if tracked files were changed; none outside of a repository.
pub const COMMIT: Option<&str> = option_env!("FERROWAVE_COMMIT");
