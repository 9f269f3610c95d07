//! The code objects that the build script compiled.

use ferrowave_gpu::Gpu;

/// The code object of each GPU that `FERROWAVE_GPUS` named at build time (`gfx942` if it was not set).
pub static CODE_OBJECTS: &[(Gpu, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/code_objects.rs"));

/// The code object for the GPU that LLVM calls `gpu`, if it was built.
pub fn code_object(gpu: &str) -> Option<&'static [u8]> {
    CODE_OBJECTS
        .iter()
        .find(|(built, _)| built.name() == gpu)
        .map(|&(_, bytes)| bytes)
}

/// The compiler that built the kernels, and its LLVM version.
pub const TOOLCHAIN: &str = env!("FERROWAVE_TOOLCHAIN");

/// The commit of this build, with `-dirty` if tracked files were changed; `None` outside of a repository.
pub const COMMIT: Option<&str> = option_env!("FERROWAVE_COMMIT");
