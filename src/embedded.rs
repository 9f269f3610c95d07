//! The code objects that the build script compiled.

use ferrowave_code_object::Gpu;

/// GPU and code object, for each GPU that `FERROWAVE_GPUS` named at build time (`gfx942` if it was not set).
pub static CODE_OBJECTS: &[(Gpu, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/code_objects.rs"));

/// The code object for a GPU, by LLVM's name, if it was built.
pub fn code_object(gpu: &str) -> Option<&'static [u8]> {
    CODE_OBJECTS
        .iter()
        .find(|(built, _)| built.name() == gpu)
        .map(|&(_, bytes)| bytes)
}
