//! Arrays, and copies to and from them.

use super::*;

const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;

/// Channels of elements of 32 unsigned bits.
fn words(channels: usize) -> hipChannelFormatDesc {
    let bits = |channel| if channel < channels { 32 } else { 0 };
    hipChannelFormatDesc {
        x: bits(0),
        y: bits(1),
        z: bits(2),
        w: bits(3),
        f: hipChannelFormatKind::hipChannelFormatKindUnsigned,
    }
}

fn array(channels: usize, [width, height, depth]: [usize; 3], flags: c_uint) -> hipArray_t {
    let extent = hipExtent {
        width,
        height,
        depth,
    };
    // SAFETY: the pointers are valid.
    result(|array| unsafe { hipMalloc3DArray(array, &words(channels), extent, flags) })
}

/// The first row of an array.
fn row(array: hipArray_t, count: usize) -> Vec<u32> {
    let mut row = vec![0; count];
    // SAFETY: the vector has that many words; HIP checks the array.
    succeeds(unsafe { hipMemcpyAtoH(row.as_mut_ptr().cast(), array, 0, 4 * count) });
    row
}

#[test]
fn arrays_say_what_they_are() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let two = array(2, [5, 3, 0], hipArraySurfaceLoadStore);
    // SAFETY: result pointers are valid or null; HIP checks the handles.
    unsafe {
        let (mut desc, mut extent, mut flags) = (hipChannelFormatDesc::ZERO, hipExtent::ZERO, 9);
        succeeds(hipArrayGetInfo(&mut desc, &mut extent, &mut flags, two));
        assert_eq!([desc.x, desc.y, desc.z, desc.w], [32, 32, 0, 0]);
        assert_eq!([extent.width, extent.height, extent.depth], [5, 3, 0]);
        assert_eq!(flags, hipArraySurfaceLoadStore);
        let of = result(|of| hipArrayGetDescriptor(of, two));
        assert_eq!(
            (of.Width, of.Height, of.Format.0, of.NumChannels),
            (5, 3, 3, 2)
        );
        assert_eq!(result(|of| hipGetChannelDesc(of, two)).y, 32);
        let kind = result(|kind: *mut c_uint| {
            let attribute = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE;
            hipPointerGetAttribute(kind.cast(), attribute, two.cast())
        });
        assert_eq!(kind, hipMemoryType::hipMemoryTypeArray.0);

        let half = HIP_ARRAY_DESCRIPTOR {
            Width: 7,
            Height: 0,
            Format: hipArray_Format::HIP_AD_FORMAT_HALF,
            NumChannels: 4,
        };
        let one = result(|array| hipArrayCreate(array, &half));
        let of = result(|of| hipArray3DGetDescriptor(of, one));
        assert_eq!((of.Width, of.Height, of.Depth, of.Flags), (7, 0, 0, 0));
        assert_eq!(result(|of| hipGetChannelDesc(of, one)).w, 16);
        succeeds(hipArrayDestroy(one));
        let gone = hipError_t::hipErrorContextIsDestroyed;
        fails(hipArrayDestroy(one), gone, "live array");
        fails(hipFreeArray(ptr::null_mut()), INVALID, "null");
        fails(
            hipArrayGetInfo(&mut desc, ptr::null_mut(), ptr::null_mut(), one),
            hipError_t::hipErrorInvalidHandle,
            "live array",
        );
        let mut none = ptr::null_mut();
        let mut wrong = |desc: &hipChannelFormatDesc, width, height, flags, text| {
            fails(
                hipMallocArray(&mut none, desc, width, height, flags),
                INVALID,
                text,
            );
        };
        wrong(&words(3), 4, 4, 0, "not 3");
        wrong(&words(0), 4, 4, 0, "0, 0, 0 and 0 bits");
        wrong(
            &hipChannelFormatDesc { y: 16, ..words(1) },
            4,
            4,
            0,
            "32, 16, 0 and 0 bits",
        );
        wrong(
            &hipChannelFormatDesc { z: 32, ..words(1) },
            4,
            4,
            0,
            "32, 0, 32 and 0 bits",
        );
        wrong(&words(1), 0, 4, 0, "0 × 4 × 0 elements does not exist");
        wrong(&words(1), 4, 0, hipArrayTextureGather, "cannot be gathered");
        wrong(&words(1), 4, 4, 4, "flags are 0x4");
        for size in [16385, usize::MAX / 2] {
            wrong(&words(4), size, 4, 0, "larger than images can be");
            wrong(&words(4), 4, size, 0, "larger than images can be");
        }
        // Memory of an array is freed with it, and by nothing else.
        let before = result(|free| hipMemGetInfo(free, &mut 0));
        let large = array(4, [1024, 16, 4], 0);
        assert_eq!(
            result(|free| hipMemGetInfo(free, &mut 0)),
            before - (1 << 20)
        );
        succeeds(hipFreeArray(large));
        assert_eq!(result(|free| hipMemGetInfo(free, &mut 0)), before);
    }
    let _without = TestDevice::new(Gpu::Gfx942);
    // SAFETY: the pointers are valid.
    let none = unsafe { hipMallocArray(&mut ptr::null_mut(), &words(1), 4, 4, 0) };
    fails(
        none,
        hipError_t::hipErrorNotSupported,
        "gfx942 has no images",
    );
}

#[test]
fn rows_and_layers_go_where_they_belong() {
    let _device = TestDevice::new(Gpu::Gfx90a);
    let kind = hipMemcpyKind::hipMemcpyDefault;
    let image = array(1, [4, 3, 0], 0);
    let source: Vec<u32> = (0..100).collect();
    let from = source.as_ptr().cast::<c_void>();
    let mut out = [0_u32; 24];
    let to = out.as_mut_ptr().cast::<c_void>();
    // SAFETY: the memory has the rows; HIP checks arrays and bounds.
    unsafe {
        // Rows of a wider picture, all of the array.
        succeeds(hipMemcpy2DToArray(image, 0, 0, from, 40, 16, 3, kind));
        succeeds(hipMemcpy2DFromArray(to, 16, image, 0, 0, 16, 3, kind));
        assert_eq!(out[..12], [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]);
        // A part of it, in a stream.
        let stream = stream();
        succeeds(hipMemcpy2DToArrayAsync(
            image, 4, 1, from, 400, 8, 1, kind, stream,
        ));
        succeeds(hipMemcpy2DFromArrayAsync(
            to, 24, image, 4, 1, 8, 2, kind, stream,
        ));
        succeeds(hipStreamSynchronize(stream));
        assert_eq!((out[0], out[1], out[6], out[7]), (0, 1, 21, 22));
        // To another array, of the whole array, and of bytes of its first row.
        let other = array(1, [8, 8, 0], 0);
        succeeds(hipMemcpy2DArrayToArray(
            other, 8, 7, image, 4, 2, 8, 1, kind,
        ));
        succeeds(hipMemcpy2DFromArray(to, 8, other, 8, 7, 8, 1, kind));
        assert_eq!(out[..2], [21, 22]);
        succeeds(hipMemcpyToArray(image, 0, 0, from, 48, kind));
        succeeds(hipMemcpyFromArray(to, image, 0, 0, 48, kind));
        assert_eq!(out[..12], source[..12]);
        let data = buffer(&[50, 51, 52, 53]);
        succeeds(hipMemcpyDtoA(image, 8, data, 8));
        succeeds(hipMemcpyAtoD(data, image, 4, 12));
        assert_eq!(contents(data, 4), [1, 50, 51, 53]);
        succeeds(hipMemcpyHtoA(image, 0, from.wrapping_byte_add(240), 4));
        succeeds(hipMemcpyAtoA(other, 4, image, 0, 8));
        assert_eq!(
            (row(image, 4), row(other, 3)[1..].to_vec()),
            (vec![60, 1, 50, 51], vec![60, 1])
        );

        fails(
            hipMemcpy2DToArray(image, 4, 0, from, 40, 16, 1, kind),
            INVALID,
            "byte 4 on",
        );
        fails(
            hipMemcpy2DToArray(image, 0, 1, from, 40, 16, 3, kind),
            INVALID,
            "row 1",
        );
        fails(
            hipMemcpyHtoA(image, 12, from, 8),
            INVALID,
            "not inside the copy's target",
        );
        fails(
            hipMemcpyAtoH(to, image, usize::MAX, 8),
            INVALID,
            "copy's source",
        );
        let pitch = hipError_t::hipErrorInvalidPitchValue;
        fails(
            hipMemcpy2DToArray(image, 0, 0, from, 12, 16, 1, kind),
            pitch,
            "12 bytes",
        );
        fails(
            hipMemcpy2DToArray(image, 0, 0, ptr::null(), 16, 16, 1, kind),
            INVALID,
            "null",
        );
        let null = ptr::null_mut();
        let handle = hipError_t::hipErrorInvalidHandle;
        fails(
            hipMemcpy2DToArray(null, 0, 0, from, 16, 16, 1, kind),
            handle,
            "array",
        );
        // The driver's functions have another code.
        let data = allocate(64);
        let described = hip_Memcpy2D {
            srcMemoryType: hipMemoryType::hipMemoryTypeArray,
            dstMemoryType: hipMemoryType::hipMemoryTypeDevice,
            dstDevice: data,
            WidthInBytes: 8,
            Height: 1,
            ..hip_Memcpy2D::ZERO
        };
        fails(hipMemcpyParam2D(&described), INVALID, "array");
        let narrow = hip_Memcpy2D {
            srcMemoryType: hipMemoryType::hipMemoryTypeDevice,
            srcDevice: data,
            srcPitch: 7,
            dstMemoryType: hipMemoryType::hipMemoryTypeHost,
            dstHost: to,
            WidthInBytes: 8,
            Height: 2,
            ..hip_Memcpy2D::ZERO
        };
        fails(hipMemcpyParam2D(&narrow), INVALID, "pitch is 7 bytes");
        let narrow = HIP_MEMCPY3D {
            srcMemoryType: narrow.srcMemoryType,
            srcDevice: data,
            dstMemoryType: narrow.dstMemoryType,
            dstHost: to,
            dstPitch: 7,
            WidthInBytes: 8,
            Height: 2,
            Depth: 1,
            ..HIP_MEMCPY3D::ZERO
        };
        fails(hipDrvMemcpy3D(&narrow), INVALID, "pitch is 7 bytes");
        for copied in [
            hipMemcpyAtoH(to, null, 0, 8),
            hipMemcpyAtoHAsync(to, null, 0, 8, ptr::null_mut()),
            hipMemcpyHtoA(null, 0, from, 8),
            hipMemcpyHtoAAsync(null, 0, from, 8, ptr::null_mut()),
            hipMemcpyAtoD(data, null, 0, 8),
            hipMemcpyDtoA(null, 0, data, 8),
            hipMemcpyAtoA(image, 0, null, 0, 8),
        ] {
            fails(copied, INVALID, "array");
        }
    }
}

#[test]
fn structs_describe_copies_of_arrays() {
    let _device = TestDevice::new(Gpu::Gfx908);
    let source: Vec<u32> = (0..48).collect();
    // SAFETY: the memory has the rows and layers; HIP checks the arrays.
    unsafe {
        // 3 layers of 2 rows of 4 elements of two words; the middle two elements of the last two layers return.
        let cube = array(2, [4, 2, 3], 0);
        let memory = |address: *mut u32, width, rows| hipPitchedPtr {
            ptr: address.cast(),
            pitch: width,
            xsize: width,
            ysize: rows,
        };
        let all = memory(source.as_ptr().cast_mut(), 32, 2);
        let extent = |width, height, depth| hipExtent {
            width,
            height,
            depth,
        };
        let kind = hipMemcpyKind::hipMemcpyDefault;
        let fill = hipMemcpy3DParms {
            srcPtr: all,
            dstArray: cube,
            extent: extent(4, 2, 3),
            kind,
            ..hipMemcpy3DParms::ZERO
        };
        succeeds(hipMemcpy3D(&fill));
        let mut out = [0_u32; 8];
        let part = hipMemcpy3DParms {
            srcArray: cube,
            srcPos: hipPos { x: 1, y: 1, z: 1 },
            dstPtr: memory(out.as_mut_ptr(), 16, 1),
            extent: extent(2, 1, 2),
            kind,
            ..hipMemcpy3DParms::ZERO
        };
        succeeds(hipMemcpy3DAsync(&part, ptr::null_mut()));
        succeeds(hipStreamSynchronize(ptr::null_mut()));
        assert_eq!(out, [26, 27, 28, 29, 42, 43, 44, 45]);
        // A node gives the struct back, also in a copy of its graph.
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let node: hipGraphNode_t =
            result(|node| hipGraphAddMemcpyNode(node, graph, ptr::null(), 0, &part));
        let clone: hipGraph_t = result(|clone| hipGraphClone(clone, graph));
        let cloned: hipGraphNode_t = result(|found| hipGraphNodeFindInClone(found, node, clone));
        for node in [node, cloned] {
            let given: hipMemcpy3DParms = result(|given| hipGraphMemcpyNodeGetParams(node, given));
            assert_eq!((given.srcArray, given.dstArray), (cube, ptr::null_mut()));
            assert_eq!((given.srcPos.x, given.srcPos.z), (1, 1));
            assert_eq!(given.dstPtr.ptr, part.dstPtr.ptr);
            assert_eq!((given.extent.width, given.extent.depth), (2, 2));
        }
        succeeds(hipGraphMemcpyNodeSetParams(node, &fill));
        let given: hipMemcpy3DParms = result(|given| hipGraphMemcpyNodeGetParams(node, given));
        assert_eq!((given.srcArray, given.dstArray), (ptr::null_mut(), cube));
        // The driver's struct of the same copy has no arrays, but addresses.
        let driver: HIP_MEMCPY3D = result(|given| hipDrvGraphMemcpyNodeGetParams(node, given));
        assert_eq!((driver.WidthInBytes, driver.Depth), (32, 3));
        succeeds(hipGraphDestroy(clone));
        succeeds(hipGraphDestroy(graph));
        let both = hipMemcpy3DParms {
            srcPtr: all,
            ..part
        };
        fails(hipMemcpy3D(&both), INVALID, "one of them");
        let wide = hipMemcpy3DParms {
            extent: extent(4, 1, 2),
            ..part
        };
        fails(hipMemcpy3D(&wide), INVALID, "not inside the copy's source");
        let single = array(1, [4, 2, 3], 0);
        let unlike = hipMemcpy3DParms {
            dstArray: single,
            dstPtr: hipPitchedPtr::ZERO,
            ..part
        };
        fails(hipMemcpy3D(&unlike), INVALID, "elements of 8 bytes");
        // Layers of one row are layers for the runtime API, and rows for the driver's.
        let lines = array(1, [4, 0, 3], hipArrayLayered);
        let into = hipMemcpy3DParms {
            srcPtr: memory(source.as_ptr().cast_mut(), 16, 1),
            dstArray: lines,
            dstPos: hipPos { x: 0, y: 0, z: 1 },
            extent: extent(4, 1, 2),
            kind,
            ..hipMemcpy3DParms::ZERO
        };
        succeeds(hipMemcpy3D(&into));
        let back = hip_Memcpy2D {
            srcMemoryType: hipMemoryType::hipMemoryTypeArray,
            srcArray: lines,
            srcXInBytes: 4,
            srcY: 2,
            dstMemoryType: hipMemoryType::hipMemoryTypeHost,
            dstHost: out.as_mut_ptr().cast(),
            WidthInBytes: 8,
            Height: 1,
            ..hip_Memcpy2D::ZERO
        };
        succeeds(hipMemcpyParam2D(&back));
        assert_eq!(out[..2], [5, 6]);
        let driver = HIP_MEMCPY3D {
            srcMemoryType: hipMemoryType::hipMemoryTypeArray,
            srcArray: cube,
            srcZ: 2,
            dstMemoryType: hipMemoryType::hipMemoryTypeArray,
            dstArray: single,
            WidthInBytes: 16,
            Height: 2,
            Depth: 1,
            ..HIP_MEMCPY3D::ZERO
        };
        succeeds(hipDrvMemcpy3D(&driver));
        assert_eq!(row(single, 4), [32, 33, 34, 35]);
    }
}
