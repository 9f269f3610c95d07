//! Any bytes give a code object or an error, and a code object can be used.
#![no_main]

use ferrowave_code_object::{CodeObject, MAX_IMAGE_BYTES, Metadata, parameters};
use ferrowave_gpu::Gpu;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Also parses the bytes as a metadata note, which the fuzzer reaches sooner than through a whole file.
    let _ = Metadata::parse(bytes, Gpu::Gfx942);
    let Ok(object) = CodeObject::parse(bytes) else {
        return;
    };
    assert!(object.image_size() <= MAX_IMAGE_BYTES);
    for kernel in object.kernels() {
        let _ = object.lines().frames(kernel.code.start);
        let _ = object.lines().frames(kernel.code.end);
        let _ = object.file_bytes(kernel.code.start, kernel.code.end - kernel.code.start);
        let _ = object.kernel_at(kernel.code.start);
        let _ = kernel.descriptor.accum_vgprs();
        let _ = parameters(bytes, kernel.code.start);
    }
    for symbol in object.symbols() {
        let _ = object.function_at(symbol.address);
        let _ = object.file_bytes(symbol.address, symbol.size);
    }
    if object.image_size() <= 1 << 20 {
        let mut image = vec![0; object.image_size() as usize];
        let _ = object.load_image(object.image_align(), &mut image);
    }
});
