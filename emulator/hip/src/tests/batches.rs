//! Copies in batches.

use super::*;

const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;
const STREAM: hipMemcpySrcAccessOrder = hipMemcpySrcAccessOrder::hipMemcpySrcAccessOrderStream;

/// A batch of copies with attributes that begin at some of them.
struct Batch {
    to: Vec<*mut c_void>,
    from: Vec<*mut c_void>,
    sizes: Vec<usize>,
    attributes: Vec<hipMemcpyAttributes>,
    indices: Vec<usize>,
}

impl Batch {
    fn submit(&mut self, stream: hipStream_t, failed: &mut usize) -> hipError_t {
        // SAFETY: the lists have these lengths; HIP checks the addresses.
        unsafe {
            hipMemcpyBatchAsync(
                self.to.as_mut_ptr(),
                self.from.as_mut_ptr(),
                self.sizes.as_mut_ptr(),
                self.sizes.len(),
                self.attributes.as_mut_ptr(),
                self.indices.as_mut_ptr(),
                self.indices.len(),
                failed,
                stream,
            )
        }
    }
}

fn attributes(order: u32, flags: c_uint) -> hipMemcpyAttributes {
    hipMemcpyAttributes {
        srcAccessOrder: hipMemcpySrcAccessOrder(order),
        flags,
        ..hipMemcpyAttributes::ZERO
    }
}

#[test]
fn batches_are_copied_in_order_all_or_none() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let (a, b) = (buffer(&[1, 2, 3, 4]), buffer(&[0; 4]));
    let mut back = [0_u32; 4];
    let stream = stream();
    let host: *mut c_void = back.as_mut_ptr().cast();
    let mut batch = Batch {
        // The second reads what the first wrote; the third goes to the host.
        to: vec![b, b.wrapping_byte_add(8), host],
        from: vec![a, b, b],
        sizes: vec![8, 8, 16],
        attributes: vec![],
        indices: vec![],
    };
    let mut failed = 9;
    succeeds(batch.submit(stream, &mut failed));
    // SAFETY: the stream is valid.
    succeeds(unsafe { hipStreamSynchronize(stream) });
    assert_eq!((back, failed), ([1, 2, 1, 2], 9));
    batch.attributes = vec![attributes(1, 1), attributes(3, 0)];
    batch.indices = vec![0, 2];
    succeeds(batch.submit(stream, &mut failed));

    let wrong = |change: &dyn Fn(&mut Batch), code, text, at| {
        let mut wrong = Batch {
            to: batch.to.clone(),
            from: batch.from.clone(),
            sizes: batch.sizes.clone(),
            attributes: batch.attributes.clone(),
            indices: batch.indices.clone(),
        };
        // The first copy would change `a`, if any were done.
        wrong.to[0] = a;
        wrong.from[0] = a.wrapping_byte_add(8);
        change(&mut wrong);
        let mut failed = 9;
        fails(wrong.submit(stream, &mut failed), code, text);
        assert_eq!(failed, at, "{text}");
        assert_eq!(contents(a, 2), [1, 2]);
    };
    wrong(&|batch| batch.sizes[1] = 0, INVALID, "0 bytes", 1);
    wrong(
        &|batch| batch.sizes[2] = 17,
        INVALID,
        "not inside one allocation",
        2,
    );
    wrong(
        &|batch| batch.from[2] = ptr::null_mut(),
        INVALID,
        "source is null",
        2,
    );
    wrong(&|batch| batch.sizes.clear(), INVALID, "0 copies", 9);
    wrong(&|batch| batch.indices = vec![1, 2], INVALID, "must be 0", 9);
    wrong(&|batch| batch.indices = vec![0, 0], INVALID, "must rise", 9);
    wrong(&|batch| batch.indices = vec![0, 3], INVALID, "below 3", 9);
    wrong(
        &|batch| batch.indices = vec![0, 1, 2, 3],
        INVALID,
        "4 attributes",
        9,
    );
    wrong(
        &|batch| batch.attributes[1] = attributes(0, 0),
        INVALID,
        "is 0, but",
        9,
    );
    let unsupported = hipError_t::hipErrorNotSupported;
    wrong(
        &|batch| batch.attributes[0] = attributes(1, 0x200),
        unsupported,
        "0x200",
        9,
    );
}

#[test]
fn the_hosts_memory_is_read_in_stream_order_or_during_the_call() {
    unsafe extern "C" fn write(word: *mut c_void) {
        // SAFETY: the test passes the address of a word, which it does not use meanwhile.
        unsafe { word.cast::<u32>().write(2) }
    }
    let _device = TestDevice::new(Gpu::Gfx90a);
    let data = buffer(&[0]);
    let stream = stream();
    for (order, expected) in [(1, 2), (3, 2)] {
        let word = Box::into_raw(Box::new(1_u32)).cast();
        let mut batch = Batch {
            to: vec![data],
            from: vec![word],
            sizes: vec![4],
            attributes: vec![attributes(order, 0)],
            indices: vec![0],
        };
        // SAFETY: the word lives until the stream is done.
        unsafe {
            succeeds(hipLaunchHostFunc(stream, Some(write), word));
            succeeds(batch.submit(stream, &mut 0));
            word.cast::<u32>().write(3);
            succeeds(hipStreamSynchronize(stream));
            drop(Box::from_raw(word.cast::<u32>()));
        }
        assert_eq!(contents(data, 1), [expected], "order {order}");
    }
    // The source may change as soon as the call returns.
    let mut word = 7_u32;
    let mut batch = Batch {
        to: vec![data],
        from: vec![(&raw mut word).cast()],
        sizes: vec![4],
        attributes: vec![attributes(2, 0)],
        indices: vec![0],
    };
    succeeds(batch.submit(stream, &mut 0));
    word = 8;
    // SAFETY: the stream is valid.
    succeeds(unsafe { hipStreamSynchronize(stream) });
    assert_eq!((contents(data, 1)[0], word), (7, 8));
}

#[test]
fn batches_copy_layers_and_arrays() {
    let _device = TestDevice::new(Gpu::Gfx908);
    let words: Vec<u32> = (0..24).collect();
    let from = buffer(&words);
    let to = buffer(&[0; 24]);
    let stream = stream();
    let memory = |place, row, rows| hipMemcpy3DOperand {
        r#type: hipMemcpy3DOperandType::hipMemcpyOperandTypePointer,
        place,
        layout: [row, rows, 0],
    };
    let extent = |width, height, depth| hipExtent {
        width,
        height,
        depth,
    };
    let copy = |src, dst, extent| hipMemcpy3DBatchOp {
        src,
        dst,
        extent,
        srcAccessOrder: STREAM,
        flags: 0,
    };
    // SAFETY: the lists are valid; HIP checks what they describe.
    unsafe {
        let desc = hipChannelFormatDesc {
            x: 32,
            f: hipChannelFormatKind::hipChannelFormatKindUnsigned,
            ..hipChannelFormatDesc::ZERO
        };
        let array: hipArray_t = result(|array| hipMallocArray(array, &desc, 4, 3, 0));
        let image = |x, y| hipMemcpy3DOperand {
            r#type: hipMemcpy3DOperandType::hipMemcpyOperandTypeArray,
            place: array.cast(),
            layout: [x, y, 0],
        };
        let all = |ops: &mut [hipMemcpy3DBatchOp], failed: &mut usize, flags| {
            hipMemcpy3DBatchAsync(ops.len(), ops.as_mut_ptr(), failed, flags, stream)
        };
        // Two bytes of two rows of two layers, where layers have three rows of eight bytes. Then, with rows of four
        // elements, an array, and from its second element and row on two by two elements back.
        let mut ops = [
            copy(memory(from, 8, 3), memory(to, 0, 0), extent(2, 2, 2)),
            copy(memory(from, 0, 0), image(0, 0), extent(4, 3, 1)),
            copy(image(1, 1), memory(to.byte_add(8), 0, 0), extent(2, 2, 1)),
        ];
        let mut failed = 9;
        succeeds(all(&mut ops, &mut failed, 0));
        succeeds(hipStreamSynchronize(stream));
        assert_eq!(contents(to, 7), [2 << 16, 6 | 8 << 16, 5, 6, 9, 10, 0]);
        assert_eq!(failed, 9);

        fails(all(&mut ops, &mut failed, 1), INVALID, "flags 0x1");
        fails(all(&mut [], &mut failed, 0), INVALID, "0 copies");
        assert_eq!(failed, 9);
        ops[1].extent.height = 4;
        fails(
            all(&mut ops, &mut failed, 0),
            INVALID,
            "not inside the copy's target",
        );
        assert_eq!(failed, 1);
        ops[0].extent.depth = 0;
        fails(all(&mut ops, &mut failed, 0), INVALID, "2 × 2 × 0");
        assert_eq!(failed, 0);
        ops[0].src.r#type = hipMemcpy3DOperandType(3);
        ops[0].extent.depth = 1;
        fails(all(&mut ops, &mut failed, 0), INVALID, "type 3");
        ops[0] = copy(image(0, 0), memory(to, 0, 0), extent(1, 1, 1));
        ops[0].src.place = ptr::null_mut();
        let handle = hipError_t::hipErrorInvalidHandle;
        fails(all(&mut ops, &mut failed, 0), handle, "array");
        succeeds(hipFreeArray(array));
    }
}
