//! Modules: their kernels and variables, and invalid images.

use super::*;

#[test]
fn variables_and_attributes_are_as_the_code_object_says() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let module = load(code_object(Gpu::Gfx90a));
    // SAFETY: the result pointers are valid, and the texts are C strings; HIP checks the handles.
    unsafe {
        let (mut address, mut bytes) = (ptr::null_mut(), 0);
        succeeds(hipModuleGetGlobal(
            &mut address,
            &mut bytes,
            module,
            c"table".as_ptr(),
        ));
        assert_eq!(bytes, 16);
        assert_eq!(contents(address, 4), [10, 20, 30, 40]);
        succeeds(hipModuleGetGlobal(
            ptr::null_mut(),
            ptr::null_mut(),
            module,
            c"table".as_ptr(),
        ));

        let lds = kernel(module, c"lds");
        assert_eq!(lds, kernel(module, c"lds"));
        for (attribute, expect) in [
            (
                hipFunction_attribute::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                1024,
            ),
            (
                hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                64512,
            ),
            (
                hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                64,
            ),
            (
                hipFunction_attribute::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                0,
            ),
        ] {
            assert_eq!(
                result(|value| hipFuncGetAttribute(value, attribute, lds)),
                expect
            );
        }
        let mut value = 0;
        let unknown = hipFuncGetAttribute(&mut value, hipFunction_attribute(10), lds);
        fails(
            unknown,
            hipError_t::hipErrorInvalidValue,
            "10 is not a kernel attribute",
        );

        // With 16 KiB of LDS each, four workgroups fit in 64 KiB.
        let occupancy = |size, lds_bytes| {
            result(|n| hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(n, lds, size, lds_bytes))
        };
        assert_eq!(occupancy(64, 15 << 10), 4);
        assert_eq!(occupancy(64, 1 << 20), 0);
        // The kernel has 1 KiB itself. By their threads, 32 workgroups fit.
        let available = |workgroups| {
            let stub = lds.cast_const().cast();
            result(|bytes| hipOccupancyAvailableDynamicSMemPerBlock(bytes, stub, workgroups, 64))
        };
        assert_eq!([1, 4, 5].map(available), [63 << 10, 15 << 10, 23 * 512]);
        assert_eq!([32, 1000].map(available), [1 << 10; 2]);
        let mut bytes = 0;
        let stub = lds.cast_const().cast();
        for (workgroups, size, text) in [
            (0, 64, "0 workgroups"),
            (1, 0, "a block of 0 threads"),
            (1, 1 << 20, "a compute unit holds"),
        ] {
            let none = hipOccupancyAvailableDynamicSMemPerBlock(&mut bytes, stub, workgroups, size);
            fails(none, hipError_t::hipErrorInvalidValue, text);
        }
        let none = hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut value, lds, 0, 0);
        fails(
            none,
            hipError_t::hipErrorInvalidValue,
            "a block of 0 threads",
        );
    }
}

#[test]
fn names_that_are_not_there_are_not_found() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let module = load(code_object(Gpu::Gfx942));
    let (mut function, mut address) = (ptr::null_mut(), ptr::null_mut());
    let not_found = hipError_t::hipErrorNotFound;
    // SAFETY: the result pointers are valid, and the texts are C strings; HIP checks the handles.
    unsafe {
        let asked = hipModuleGetFunction(&mut function, module, c"sub".as_ptr());
        fails(
            asked,
            not_found,
            "no kernel `sub` in the module, which has: add, lds",
        );
        // A kernel is not a variable.
        let asked = hipModuleGetGlobal(&mut address, ptr::null_mut(), module, c"add".as_ptr());
        fails(asked, not_found, "no variable `add`");
        let asked = hipModuleGetFunction(&mut function, module, ptr::null());
        fails(asked, hipError_t::hipErrorInvalidValue, "name is null");
    }
    assert!(function.is_null() && address.is_null());
}

#[test]
fn other_gpus_and_other_files_are_refused() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let mut module = ptr::null_mut();
    // SAFETY: result pointers, images and C strings are valid.
    unsafe {
        let other = code_object(Gpu::Gfx90a).as_ptr().cast();
        let no_binary = hipError_t::hipErrorNoBinaryForGpu;
        fails(
            hipModuleLoadData(&mut module, other),
            no_binary,
            "is for gfx90a, but the device is gfx942",
        );
        let retries = assemble(Gpu::Gfx942, "+xnack");
        let loaded = hipModuleLoadData(&mut module, retries.as_ptr().cast());
        fails(
            loaded,
            no_binary,
            "is for gfx942:xnack+, but the device is gfx942:sramecc+:xnack-",
        );

        let image = hipError_t::hipErrorInvalidImage;
        for (bytes, text) in [
            (
                &b"MZ with more behind it than a magic number"[..],
                "neither a code object nor",
            ),
            (
                &b"__CLANG_OFFLOAD_BUNDLE__\xff\xff\xff\xff\0\0\0\0"[..],
                "number of entries",
            ),
            (&b"CCOB\x07\0\x01\0\0\0\0\0\0\0\0\0"[..], "version 7"),
            (
                &b"CCOB\x03\0\x01\0\xff\xff\xff\xff\xff\xff\xff\xff"[..],
                "length",
            ),
        ] {
            let loaded = hipModuleLoadData(&mut module, bytes.as_ptr().cast());
            fails(loaded, image, text);
        }
        fails(
            hipModuleLoadData(&mut module, ptr::null()),
            hipError_t::hipErrorInvalidValue,
            "image is null",
        );

        let file = env::temp_dir().join(format!("ferrowave-hip-{}.elf", std::process::id()));
        std::fs::write(&file, code_object(Gpu::Gfx942)).unwrap();
        let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
        let loaded = hipModuleLoad(&mut module, path.as_ptr());
        std::fs::remove_file(&file).unwrap();
        succeeds(loaded);
        kernel(module, c"add");
        let empty = hipModuleLoad(&mut module, c"".as_ptr());
        fails(empty, hipError_t::hipErrorInvalidValue, "path is empty");
        let missing = hipModuleLoad(&mut module, path.as_ptr());
        fails(
            missing,
            hipError_t::hipErrorFileNotFound,
            file.to_str().unwrap(),
        );
    }
}

/// Ten threads launch a kernel that is not prepared yet while its module is unloaded. Each launch works, or its handle
/// is invalid.
#[test]
fn kernels_are_made_ready_while_their_module_is_unloaded() {
    let device = TestDevice::new(Gpu::Gfx942);
    let input: Vec<u32> = (0..128).collect();
    for _ in 0..10 {
        let module = load(code_object(Gpu::Gfx942));
        let function = kernel(module, c"add").addr();
        let gate = std::sync::Barrier::new(11);
        std::thread::scope(|scope| {
            for bias in 0..10 {
                let (device, input, gate) = (&device, &input, &gate);
                scope.spawn(move || {
                    device.make_current();
                    let (out, stream) = (allocate(512), stream());
                    let arguments = add_arguments(out, buffer(input), bias);
                    gate.wait();
                    let function = ptr::without_provenance_mut(function);
                    let launched = add(function, 2, &arguments, stream);
                    if launched != hipError_t::hipSuccess {
                        return fails(
                            launched,
                            hipError_t::hipErrorInvalidHandle,
                            "is not the handle of a live kernel",
                        );
                    }
                    // SAFETY: HIP checks the handle.
                    succeeds(unsafe { hipStreamSynchronize(stream) });
                    let sums: Vec<_> = input.iter().map(|number| number + bias).collect();
                    assert_eq!(contents(out, 128), sums);
                });
            }
            gate.wait();
            // SAFETY: HIP checks the handle.
            succeeds(unsafe { hipModuleUnload(module) });
        });
    }
}

/// Invalid and truncated files.
#[test]
fn files_that_are_cut_short_are_refused() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let good = code_object(Gpu::Gfx942);
    let bundle = ferrowave_code_object::write_bundle(&[("gfx942".to_owned(), good)]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = std::ffi::CString::new(file.path().to_str().unwrap()).unwrap();
    let mut module = ptr::null_mut();
    for whole in [good, &bundle] {
        for length in (0..whole.len()).step_by(61) {
            std::fs::write(file.path(), &whole[..length]).unwrap();
            // SAFETY: the result pointer is valid, and the text a C string.
            let loaded = unsafe { hipModuleLoad(&mut module, path.as_ptr()) };
            fails(
                loaded,
                hipError_t::hipErrorInvalidImage,
                path.to_str().unwrap(),
            );
        }
        std::fs::write(file.path(), whole).unwrap();
        // SAFETY: the result pointer is valid, and the text a C string.
        succeeds(unsafe { hipModuleLoad(&mut module, path.as_ptr()) });
        // A loaded module does not need its file.
        std::fs::write(file.path(), b"").unwrap();
        let out = allocate(256);
        let arguments = add_arguments(out, buffer(&[5; 64]), 1);
        succeeds(add(kernel(module, c"add"), 1, &arguments, ptr::null_mut()));
        assert_eq!(contents(out, 64), [6; 64]);
    }
}

/// Loading any bytes returns a code. Most changes make it fail; some are harmless.
#[test]
fn corrupted_code_objects_are_refused_or_harmless() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let good = code_object(Gpu::Gfx942);
    let mut refused = 0;
    for index in (0..good.len()).step_by(7) {
        let mut bytes = good.to_vec();
        bytes[index] ^= 0xff;
        let mut module = ptr::null_mut();
        // SAFETY: the image's headers may be wrong; the read checks which memory is readable.
        match unsafe { hipModuleLoadData(&mut module, bytes.as_ptr().cast()) } {
            // SAFETY: HIP checks the handle.
            hipError_t::hipSuccess => succeeds(unsafe { hipModuleUnload(module) }),
            hipError_t::hipErrorInvalidImage | hipError_t::hipErrorNoBinaryForGpu => refused += 1,
            other => panic!("byte {index}: {other:?}: {}", last_error_detail()),
        }
    }
    assert!(refused > 20, "{refused}");
    // SAFETY: the result pointers are valid.
    unsafe {
        let (mut free, mut total) = (0, 0);
        succeeds(hipMemGetInfo(&mut free, &mut total));
        assert_eq!(free, total);
    }
}

#[test]
fn libraries_are_loaded_when_they_are_asked_for_a_kernel() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let object = code_object(Gpu::Gfx90a);
    let library = |image: &[u8], jit| {
        let (image, none) = (image.as_ptr().cast(), ptr::null_mut());
        let mut library = ptr::null_mut();
        let (jits, values) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the image outlives the library; there are no options.
        let code = unsafe {
            hipLibraryLoadData(
                &mut library,
                image,
                jits,
                none,
                jit,
                ptr::null_mut(),
                values,
                0,
            )
        };
        (code, library)
    };
    let invalid = hipError_t::hipErrorInvalidValue;
    // SAFETY: the result pointers are valid, and the names C strings; HIP checks the handles.
    unsafe {
        let find = |library, name: &CStr| {
            let mut kernel = ptr::null_mut();
            (
                hipLibraryGetKernel(&mut kernel, library, name.as_ptr()),
                kernel,
            )
        };
        // A wrong image is not looked at before.
        let (code, wrong) = library(b"\x7fELV0000", 0);
        succeeds(code);
        fails(find(wrong, c"add").0, hipError_t::hipErrorInvalidImage, "");
        succeeds(hipLibraryUnload(wrong));
        fails(library(object, 1).0, invalid, "1 options of the JIT");

        let (code, first) = library(object, 0);
        succeeds(code);
        let (code, second) = library(object, 0);
        succeeds(code);
        let module = load(object);
        assert_eq!(
            result(|count| hipLibraryGetKernelCount(count, first)),
            result(|count| hipModuleGetFunctionCount(count, module))
        );
        let (code, add_kernel) = find(first, c"add");
        succeeds(code);
        assert_eq!(find(first, c"add").1, add_kernel);
        assert_ne!(find(second, c"add").1, add_kernel);
        fails(
            find(first, c"none").0,
            hipError_t::hipErrorNotFound,
            "no kernel `none`",
        );
        fails(find(ptr::null_mut(), c"add").0, invalid, "library is null");
        // Any order; a shorter list has the first ones.
        let count = result(|count| hipLibraryGetKernelCount(count, first));
        let mut kernels = vec![ptr::null_mut(); count as usize + 1];
        let all = kernels.as_mut_ptr();
        succeeds(hipLibraryEnumerateKernels(all, count + 1, first));
        assert!(kernels[..count as usize].contains(&add_kernel));
        assert!(kernels[count as usize].is_null());
        succeeds(hipLibraryEnumerateKernels(all, 0, first));
        let name = CStr::from_ptr(result(|name| hipKernelGetName(name, add_kernel)));
        assert_eq!(name, c"add");
        assert_eq!(result(|of| hipKernelGetLibrary(of, add_kernel)), first);
        let of_module = kernel(module, c"add").cast();
        let none = hipKernelGetLibrary(&mut ptr::null_mut(), of_module);
        fails(none, invalid, "is of no library");
        let none = hipKernelGetName(&mut ptr::null(), ptr::null_mut());
        fails(none, invalid, "kernel is null");
        // Parameters, hidden ones left out.
        let parameter = |index| {
            let mut bytes = 0;
            let offset =
                result(|offset| hipKernelGetParamInfo(add_kernel, index, offset, &mut bytes));
            (offset, bytes)
        };
        assert_eq!([0, 1, 2].map(parameter), [(0, 8), (8, 8), (16, 4)]);
        let mut offset = 0;
        let third = hipKernelGetParamInfo(add_kernel, 3, &mut offset, ptr::null_mut());
        fails(third, invalid, "add has no parameter 3");
        // Attributes, which are also those of the function.
        let dynamic = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let function = result(|function| hipKernelGetFunction(function, add_kernel));
        succeeds(hipKernelSetAttribute(dynamic, 4096, add_kernel, device.0));
        let of_kernel = result(|value| hipKernelGetAttribute(value, dynamic, add_kernel, device.0));
        let of_function = result(|value| hipFuncGetAttribute(value, dynamic, function));
        assert_eq!((of_kernel, of_function), (4096, 4096));
        let set = |value| hipKernelSetAttribute(dynamic, value, add_kernel, device.0);
        fails(set(-1), invalid, "from 0 to 65536 bytes");
        let registers = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS;
        fails(
            hipKernelSetAttribute(registers, 0, add_kernel, device.0),
            invalid,
            "cannot be set",
        );
        fails(
            hipKernelGetAttribute(&mut 0, registers, add_kernel, 99),
            hipError_t::hipErrorInvalidDevice,
            "99",
        );
        let other = TestDevice::new(Gpu::Gfx90a);
        device.make_current();
        let missing = hipError_t::hipErrorMissingConfiguration;
        let elsewhere = hipKernelGetAttribute(&mut 0, registers, add_kernel, other.0);
        fails(elsewhere, missing, "is loaded on device");
        // The library is a module, too, always the same.
        let as_module = result(|module| hipLibraryGetModule(module, first));
        assert_eq!(
            result(|module| hipLibraryGetModule(module, first)),
            as_module
        );
        assert_eq!(kernel(as_module, c"add").cast(), add_kernel);
        let table = |library, name: &CStr| {
            let mut address = ptr::null_mut();
            hipLibraryGetGlobal(&mut address, ptr::null_mut(), library, name.as_ptr())
        };
        succeeds(table(first, c"table"));
        fails(table(first, c""), invalid, "name is empty");
        fails(
            table(ptr::null_mut(), c"table"),
            hipError_t::hipErrorInvalidHandle,
            "library",
        );
        // A kernel of a library is a function, and what `hipLaunchKernel` takes.
        let data = buffer(&[1; 64]);
        succeeds(add(
            add_kernel.cast(),
            1,
            &add_arguments(data, data, 1),
            ptr::null_mut(),
        ));
        let (mut out, mut bias) = (data, 5_u32);
        let mut arguments = [
            (&raw mut out).cast(),
            (&raw mut out).cast(),
            (&raw mut bias).cast(),
        ];
        let one = dim3 { x: 1, y: 1, z: 1 };
        let block = dim3 { x: 64, ..one };
        let stub = add_kernel.cast();
        succeeds(hipLaunchKernel(
            stub,
            one,
            block,
            arguments.as_mut_ptr(),
            0,
            ptr::null_mut(),
        ));
        assert_eq!(contents(data, 64), [7; 64]);

        succeeds(hipLibraryUnload(first));
        fails(
            hipModuleGetFunctionCount(&mut 0, as_module),
            hipError_t::hipErrorInvalidHandle,
            "live module",
        );
        fails(
            hipLibraryUnload(first),
            hipError_t::hipErrorInvalidHandle,
            "live library",
        );
        let gone = add(
            add_kernel.cast(),
            1,
            &add_arguments(data, data, 1),
            ptr::null_mut(),
        );
        fails(gone, hipError_t::hipErrorInvalidHandle, "live kernel");
        drop(device);
        fails(
            hipLibraryUnload(second),
            hipError_t::hipErrorInvalidHandle,
            "live library",
        );
    }
}

#[test]
fn modules_have_managed_variables() {
    let device = TestDevice::new(Gpu::Gfx90a);
    // As clang writes `__managed__ int value[2] = {7, 8}`, and a kernel that sets the first to 9.
    let variable = "\
.data
.globl value
.protected value
.p2align 3
.type value,@object
value:
  .quad 0
.size value, 8
.globl value.managed
.type value.managed,@object
value.managed:
  .long 7, 8
.size value.managed, 8
";
    let kernel_text = "\
lds:
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, value@rel32@lo+4
  s_addc_u32 s5, s5, value@rel32@hi+12
  s_load_dwordx2 s[4:5], s[4:5], 0x0
  v_mov_b32_e32 v0, 0
  v_mov_b32_e32 v1, 9
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v1, s[4:5]
";
    let object = assemble_with(Gpu::Gfx90a, "", |text| {
        let text = text.replace(".data\n", variable);
        text.replace("lds:\n", kernel_text)
    });
    // SAFETY: the result pointers are valid; the managed memory has two words.
    unsafe {
        let (mut free, mut left) = (0, 0);
        succeeds(hipMemGetInfo(&mut free, ptr::null_mut()));
        let module = load(&object);
        let mut bytes = 0;
        let words: *mut u32 =
            result(|address| hipModuleGetGlobal(address, &mut bytes, module, c"value".as_ptr()))
                .cast();
        assert_eq!((bytes, *words, *words.add(1)), (8, 7, 8));
        let of = result(|of| hipPointerGetAttributes(of, words.cast()));
        assert_eq!((of.isManaged, of.device), (1, device.0));
        let launch = Launch {
            function: kernel(module, c"lds"),
            grid: [1; 3],
            block: [32, 2, 1],
            lds_bytes: 0,
            stream: ptr::null_mut(),
            arguments: &[],
        };
        succeeds(launch.run());
        succeeds(hipDeviceSynchronize());
        assert_eq!((*words, *words.add(1)), (9, 8));
        // A library has such variables, too.
        let mut library = ptr::null_mut();
        let (image, none) = (object.as_ptr().cast(), ptr::null_mut());
        let (values, options) = (ptr::null_mut(), ptr::null_mut());
        let jit = ptr::null_mut();
        succeeds(hipLibraryLoadData(
            &mut library,
            image,
            jit,
            none,
            0,
            options,
            values,
            0,
        ));
        let mut managed = |name: &CStr| {
            let mut address = ptr::null_mut();
            let code = hipLibraryGetManaged(&mut address, &mut bytes, library, name.as_ptr());
            (code, address)
        };
        let (code, of_library) = managed(c"value");
        succeeds(code);
        assert_ne!(of_library, words.cast());
        assert_eq!(*of_library.cast::<u32>().add(1), 8);
        let global =
            |address| hipLibraryGetGlobal(address, ptr::null_mut(), library, c"value".as_ptr());
        assert_eq!(result(global), of_library);
        fails(
            managed(c"value.managed").0,
            hipError_t::hipErrorNotFound,
            "no variable `value.managed`",
        );
        succeeds(hipLibraryUnload(library));
        // The memory goes with the module.
        succeeds(hipModuleUnload(module));
        succeeds(hipMemGetInfo(&mut left, ptr::null_mut()));
        assert_eq!(left, free);
        let gone = hipError_t::hipErrorNotFound;
        fails(
            hipModuleUnload(module),
            gone,
            "not the handle of a live module",
        );
    }
}

#[test]
fn kernels_tell_the_gpus_version() {
    for (gpu, version) in [(Gpu::Gfx908, 90), (Gpu::Gfx942, 94)] {
        let _device = TestDevice::new(gpu);
        let function = kernel(load(code_object(gpu)), c"add");
        let ask = |attribute| {
            // SAFETY: the result pointer and the kernel are valid.
            result(|value| unsafe { hipFuncGetAttribute(value, attribute, function) })
        };
        let binary = ask(hipFunction_attribute::HIP_FUNC_ATTRIBUTE_BINARY_VERSION);
        let ptx = ask(hipFunction_attribute::HIP_FUNC_ATTRIBUTE_PTX_VERSION);
        assert_eq!((binary, ptx), (version, version));
    }
}

#[test]
fn programs_with_textures_start_without_an_error() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let null = ptr::null_mut();
    // SAFETY: the functions take null.
    unsafe {
        hipGetLastError();
        __hipRegisterTexture(ptr::null_mut(), null, null.cast(), null.cast(), 1, 0, 0);
        __hipRegisterSurface(ptr::null_mut(), null, null.cast(), null.cast(), 1, 0);
        succeeds(hipGetLastError());
    }
}
