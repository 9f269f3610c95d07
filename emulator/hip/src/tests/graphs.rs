//! Graphs that are captured or built from nodes, changed, and launched many times.

use super::*;

/// Captures a stream.
fn capture(stream: hipStream_t, work: impl FnOnce()) -> hipGraph_t {
    // SAFETY: the result pointer is valid; HIP checks the handle.
    unsafe {
        let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
        succeeds(hipStreamBeginCapture(stream, mode));
        work();
        result(|graph| hipStreamEndCapture(stream, graph))
    }
}

fn ready(graph: hipGraph_t) -> hipGraphExec_t {
    // SAFETY: the result pointer is valid; HIP checks the handle.
    result(|executable| unsafe { hipGraphInstantiateWithFlags(executable, graph, 0) })
}

fn run(executable: hipGraphExec_t, stream: hipStream_t, times: usize) {
    // SAFETY: HIP checks the handles.
    unsafe {
        for _ in 0..times {
            succeeds(hipGraphLaunch(executable, stream));
        }
        succeeds(hipStreamSynchronize(stream));
    }
}

fn nodes(graph: hipGraph_t) -> Vec<hipGraphNode_t> {
    // SAFETY: the list has the stated capacity.
    unsafe {
        let count = result::<usize>(|count| hipGraphGetNodes(graph, ptr::null_mut(), count));
        let (mut nodes, mut room) = (vec![ptr::null_mut(); count], count);
        succeeds(hipGraphGetNodes(graph, nodes.as_mut_ptr(), &mut room));
        assert_eq!(room, count);
        nodes
    }
}

#[test]
fn captured_work_runs_when_it_is_launched_and_forks_come_back() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let (data, other) = (buffer(&[0; 64]), buffer(&[0; 64]));
    let (first, second) = (stream(), stream());
    // SAFETY: the result pointer is valid.
    let [fork, back] = [(); 2].map(|()| result::<hipEvent_t>(|e| unsafe { hipEventCreate(e) }));
    let graph = capture(first, || {
        succeeds(add(function, 1, &add_arguments(data, data, 1), first));
        // SAFETY: HIP checks the handles.
        unsafe {
            succeeds(hipEventRecord(fork, first));
            succeeds(hipStreamWaitEvent(second, fork, 0));
            succeeds(add(function, 1, &add_arguments(other, data, 100), second));
            succeeds(hipEventRecord(back, second));
            succeeds(hipStreamWaitEvent(first, back, 0));
        }
        succeeds(add(function, 1, &add_arguments(data, other, 1000), first));
    });
    assert_eq!(contents(data, 64), [0; 64]);
    assert_eq!(nodes(graph).len(), 3);
    let executable = ready(graph);
    // SAFETY: HIP checks the handle. The executable graph does not need the graph any more.
    succeeds(unsafe { hipGraphDestroy(graph) });
    run(executable, first, 1);
    assert_eq!(contents(data, 64), [1101; 64]);
    run(executable, second, 3);
    assert_eq!(contents(data, 64), [4404; 64]);
    // SAFETY: HIP checks the handle.
    succeeds(unsafe { hipGraphExecDestroy(executable) });
    let stale = hipError_t::hipErrorInvalidValue;
    // SAFETY: HIP checks the handles.
    fails(
        unsafe { hipGraphLaunch(executable, first) },
        stale,
        "not an executable graph",
    );
}

#[test]
fn captures_that_go_wrong_are_ended_and_leave_the_stream_usable() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let data = buffer(&[1; 4]);
    let (first, second) = (stream(), stream());
    let mut graph = ptr::null_mut();
    let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let event: hipEvent_t = result(|event| hipEventCreate(event));
        // Waiting for a captured stream.
        succeeds(hipStreamBeginCapture(first, mode));
        let unsupported = hipError_t::hipErrorStreamCaptureUnsupported;
        fails(hipStreamSynchronize(first), unsupported, "is captured");
        let invalidated = hipError_t::hipErrorStreamCaptureInvalidated;
        fails(
            hipMemsetAsync(data, 0, 4, first),
            invalidated,
            "invalidated",
        );
        fails(
            hipStreamEndCapture(first, &mut graph),
            invalidated,
            "invalidated",
        );
        // Waiting for the default stream.
        succeeds(hipStreamBeginCapture(first, mode));
        let implicit = hipError_t::hipErrorStreamCaptureImplicit;
        fails(hipMemset(data, 0, 4), implicit, "default stream");
        fails(
            hipStreamEndCapture(first, &mut graph),
            invalidated,
            "invalidated",
        );
        // Using it without waiting.
        succeeds(hipStreamBeginCapture(first, mode));
        succeeds(hipMemsetAsync(data, 1, 4, ptr::null_mut()));
        succeeds(hipStreamSynchronize(ptr::null_mut()));
        succeeds(hipStreamEndCapture(first, &mut graph));
        assert!(nodes(graph).is_empty());
        run(ready(graph), first, 1);
        // A forked stream that is not joined.
        succeeds(hipStreamBeginCapture(first, mode));
        succeeds(hipEventRecord(event, first));
        succeeds(hipStreamWaitEvent(second, event, 0));
        succeeds(hipMemsetAsync(data, 0, 4, second));
        let unmatched = hipError_t::hipErrorStreamCaptureUnmatched;
        fails(
            hipStreamEndCapture(second, &mut graph),
            unmatched,
            "another stream",
        );
        let unjoined = hipError_t::hipErrorStreamCaptureUnjoined;
        fails(
            hipStreamEndCapture(first, &mut graph),
            unjoined,
            "was not joined",
        );
        assert!(graph.is_null());
        fails(
            hipEventSynchronize(event),
            hipError_t::hipErrorCapturedEvent,
            "captured",
        );
        for stream in [first, second] {
            succeeds(hipMemsetAsync(data, 0, 4, stream));
            succeeds(hipStreamSynchronize(stream));
        }
    }
    assert_eq!(contents(data, 2), [0, 1]);
}

#[test]
fn calls_that_a_capture_forbids_invalidate_it() {
    let device = TestDevice::new(Gpu::Gfx942);
    let (first, second) = (stream(), stream().addr());
    let (global, local, relaxed) = (
        hipStreamCaptureMode::hipStreamCaptureModeGlobal,
        hipStreamCaptureMode::hipStreamCaptureModeThreadLocal,
        hipStreamCaptureMode::hipStreamCaptureModeRelaxed,
    );
    let unsupported = hipError_t::hipErrorStreamCaptureUnsupported;
    let invalidated = hipError_t::hipErrorStreamCaptureInvalidated;
    let success = hipError_t::hipSuccess;
    // The codes of hipMalloc and of waiting for another stream, each in a capture, and whether each invalidates it.
    let try_both = |of_capture: hipStreamCaptureMode, of_thread, in_thread: bool| {
        let calls: [&(dyn Fn() -> hipError_t + Sync); 2] = [
            // SAFETY: the result pointer is valid.
            &|| unsafe { hipMalloc(&mut ptr::null_mut(), 16) },
            // SAFETY: HIP checks the handle.
            &|| unsafe { hipStreamSynchronize(ptr::without_provenance_mut(second)) },
        ];
        calls.map(|call| {
            // SAFETY: the result pointers are valid; HIP checks the handles.
            unsafe {
                succeeds(hipStreamBeginCapture(first, of_capture));
                let call = || {
                    let mut mode = of_thread;
                    succeeds(hipThreadExchangeStreamCaptureMode(&mut mode));
                    let code = call();
                    succeeds(hipThreadExchangeStreamCaptureMode(&mut mode));
                    code
                };
                let code = match in_thread {
                    false => call(),
                    true => std::thread::scope(|scope| {
                        let thread = scope.spawn(|| {
                            device.make_current();
                            call()
                        });
                        thread.join().expect("the thread ends without a panic")
                    }),
                };
                let ended = hipStreamEndCapture(first, &mut ptr::null_mut());
                (code, ended)
            }
        })
    };
    for (of_capture, of_thread, in_thread, forbidden) in [
        (global, global, false, true),
        (local, global, false, true),
        (local, local, false, true),
        (relaxed, global, false, false),
        (global, relaxed, false, false),
        (global, global, true, true),
        (global, local, true, false),
        (local, global, true, false),
    ] {
        let expected = match forbidden {
            true => (unsupported, invalidated),
            false => (success, success),
        };
        let found = try_both(of_capture, of_thread, in_thread);
        assert_eq!(
            found, [expected; 2],
            "{of_capture:?}, {of_thread:?}, another thread: {in_thread}"
        );
    }
}

#[test]
fn a_capture_ends_with_its_stream() {
    let device = TestDevice::new(Gpu::Gfx942);
    let data = buffer(&[1; 4]);
    let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
    let default_stream_is_usable = || {
        // SAFETY: the result pointer is valid.
        let status = result(|status| unsafe { hipStreamIsCapturing(ptr::null_mut(), status) });
        assert_eq!(status, hipStreamCaptureStatus::hipStreamCaptureStatusNone);
    };
    // SAFETY: result pointers and the allocation are valid; HIP checks the handles.
    unsafe {
        // The stream is destroyed; another one has joined.
        let (first, second) = (stream(), stream());
        let event: hipEvent_t = result(|event| hipEventCreate(event));
        succeeds(hipStreamBeginCapture(first, mode));
        succeeds(hipEventRecord(event, first));
        succeeds(hipStreamWaitEvent(second, event, 0));
        succeeds(hipStreamDestroy(first));
        default_stream_is_usable();
        succeeds(hipMemsetAsync(data, 0, 4, second));
        // The thread ends.
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                device.make_current();
                succeeds(hipStreamBeginCapture(hipStreamPerThread, mode));
                let implicit = hipError_t::hipErrorStreamCaptureImplicit;
                let mut status = hipStreamCaptureStatus::hipStreamCaptureStatusNone;
                fails(
                    hipStreamIsCapturing(ptr::null_mut(), &mut status),
                    implicit,
                    "default stream",
                );
            });
            // Unlike the scope's end, this waits until the thread's own variables are gone.
            thread.join().expect("the thread ends without a panic");
        });
        default_stream_is_usable();
        assert_eq!(contents(data, 2), [0, 1]);
        // The device is reset during two captures.
        succeeds(hipStreamBeginCapture(second, mode));
        succeeds(hipStreamBeginCapture(hipStreamPerThread, mode));
        succeeds(hipDeviceReset());
        default_stream_is_usable();
        // A thread's own stream is created again, once.
        let id = || result::<u64>(|id| hipStreamGetId(hipStreamPerThread, id));
        assert_eq!(id(), id());
        let status = result(|status| hipStreamIsCapturing(hipStreamPerThread, status));
        assert_eq!(status, hipStreamCaptureStatus::hipStreamCaptureStatusNone);
    }
}

#[test]
fn a_capture_goes_on_without_a_stream_that_joined_it() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let data = buffer(&[0; 2]);
    let first = stream();
    // SAFETY: result pointers and the allocation are valid; HIP checks the handles.
    unsafe {
        // Work in two streams, of which the second is destroyed, with its events, while the first is captured.
        let fork_and_destroy = |joins: bool| {
            let second = stream();
            let [fork, back] = [(); 2].map(|()| result::<hipEvent_t>(|e| hipEventCreate(e)));
            succeeds(hipEventRecord(fork, first));
            succeeds(hipStreamWaitEvent(second, fork, 0));
            succeeds(hipMemsetAsync(data.byte_add(4), 2, 4, second));
            succeeds(hipEventRecord(back, second));
            if joins {
                succeeds(hipStreamWaitEvent(first, back, 0));
            }
            succeeds(hipStreamDestroy(second));
            succeeds(hipEventDestroy(fork));
            succeeds(hipEventDestroy(back));
        };
        let graph = capture(first, || {
            succeeds(hipMemsetAsync(data, 1, 4, first));
            fork_and_destroy(true);
        });
        assert_eq!(nodes(graph).len(), 2);
        run(ready(graph), first, 1);
        assert_eq!(contents(data, 2), [0x0101_0101, 0x0202_0202]);

        // What it captured must be joined nevertheless.
        let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
        succeeds(hipStreamBeginCapture(first, mode));
        succeeds(hipMemsetAsync(data, 1, 4, first));
        fork_and_destroy(false);
        fails(
            hipStreamEndCapture(first, &mut ptr::null_mut()),
            hipError_t::hipErrorStreamCaptureUnjoined,
            "was not joined",
        );
    }
}

#[test]
fn a_device_that_is_removed_takes_its_captures_with_it() {
    let first = TestDevice::new(Gpu::Gfx942);
    let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let stream = stream();
        succeeds(hipStreamBeginCapture(stream, mode));
        let graph = result(|graph| {
            let (mut status, null) = (hipStreamCaptureStatus(0), ptr::null_mut());
            hipStreamGetCaptureInfo_v2(
                stream,
                &mut status,
                null,
                graph,
                ptr::null_mut(),
                null.cast(),
            )
        });
        assert!(nodes(graph).is_empty());
        drop(first);
        let mut count = 0;
        let invalid = hipError_t::hipErrorInvalidValue;
        fails(
            hipGraphGetNodes(graph, ptr::null_mut(), &mut count),
            invalid,
            "graph",
        );
    }
}

#[test]
fn a_graph_is_built_looked_at_and_changed() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"add");
    let (data, stream) = (buffer(&[9; 64]), stream());
    let mut host = [0_u32; 64];
    let mut bias = 3_u32;
    let (mut out, mut input) = (data, data);
    let mut parameters = [
        (&raw mut out).cast::<c_void>(),
        (&raw mut input).cast(),
        (&raw mut bias).cast(),
    ];
    let launch = hipKernelNodeParams {
        func: function.cast(),
        gridDim: dim3 { x: 1, y: 1, z: 1 },
        blockDim: dim3 { x: 64, y: 1, z: 1 },
        kernelParams: parameters.as_mut_ptr(),
        ..hipKernelNodeParams::ZERO
    };
    let fill = |value| hipMemsetParams {
        dst: data,
        elementSize: 4,
        height: 1,
        value,
        width: 64,
        ..hipMemsetParams::ZERO
    };
    let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
    // SAFETY: result and parameter pointers are valid; HIP checks the handles.
    unsafe {
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let memset: hipGraphNode_t =
            result(|node| hipGraphAddMemsetNode(node, graph, ptr::null(), 0, &fill(10)));
        let kernel: hipGraphNode_t =
            result(|node| hipGraphAddKernelNode(node, graph, &memset, 1, &launch));
        let copy: hipGraphNode_t = result(|node| {
            let to = host.as_mut_ptr().cast();
            hipGraphAddMemcpyNode1D(node, graph, ptr::null(), 0, to, data, 256, kind)
        });
        succeeds(hipGraphAddDependencies(graph, &kernel, &copy, 1));
        let invalid = hipError_t::hipErrorInvalidValue;
        fails(
            hipGraphAddDependencies(graph, &kernel, &copy, 1),
            invalid,
            "already",
        );
        let roots = result::<usize>(|n| hipGraphGetRootNodes(graph, ptr::null_mut(), n));
        let edges =
            result::<usize>(|n| hipGraphGetEdges(graph, ptr::null_mut(), ptr::null_mut(), n));
        assert_eq!((roots, edges), (1, 2));
        let kinds = [memset, kernel, copy]
            .map(|node| result::<hipGraphNodeType>(|kind| hipGraphNodeGetType(node, kind)).0);
        assert_eq!(kinds, [2, 0, 1]);
        let given: hipKernelNodeParams = result(|p| hipGraphKernelNodeGetParams(kernel, p));
        assert_eq!(given.func, function.cast());
        assert_eq!(
            (*given.kernelParams.add(2)).cast::<u32>().read_unaligned(),
            3
        );

        let executable = ready(graph);
        run(executable, stream, 1);
        assert_eq!(host, [13; 64]);
        // Changes the executable graph, by the original graph's nodes.
        (&raw mut bias).write(4);
        succeeds(hipGraphExecKernelNodeSetParams(executable, kernel, &launch));
        succeeds(hipGraphExecMemsetNodeSetParams(
            executable,
            memset,
            &fill(20),
        ));
        fails(
            hipGraphExecMemsetNodeSetParams(executable, kernel, &fill(20)),
            invalid,
            "no such parameters",
        );
        let rows = hipMemsetParams {
            height: 2,
            pitch: 128,
            width: 32,
            ..fill(20)
        };
        let changed = hipGraphExecMemsetNodeSetParams(executable, memset, &rows);
        fails(
            changed,
            invalid,
            "[256, 1, 1] bytes, rows and layers cannot become",
        );
        // What is no kind of copy is not the copy's.
        let to = host.as_mut_ptr().cast();
        let none = hipMemcpyKind(9);
        fails(
            hipGraphExecMemcpyNodeSetParams1D(executable, copy, to, data, 256, none),
            invalid,
            "9 is not a kind",
        );
        run(executable, stream, 1);
        assert_eq!(host, [24; 64]);
        succeeds(hipGraphNodeSetEnabled(executable, kernel, 0));
        run(executable, stream, 1);
        assert_eq!(host, [20; 64]);
        // The graph has not changed. A clone of it updates the executable graph.
        let clone: hipGraph_t = result(|clone| hipGraphClone(clone, graph));
        let twin: hipGraphNode_t = result(|node| hipGraphNodeFindInClone(node, memset, clone));
        succeeds(hipGraphMemsetNodeSetParams(twin, &fill(30)));
        succeeds(hipGraphNodeSetEnabled(executable, kernel, 1));
        let why: hipGraphExecUpdateResult =
            result(|why| hipGraphExecUpdate(executable, clone, ptr::null_mut(), why));
        assert_eq!(why, hipGraphExecUpdateResult::hipGraphExecUpdateSuccess);
        run(executable, stream, 1);
        assert_eq!(host, [33; 64]);
        succeeds(hipGraphDestroyNode(twin));
        let failure = hipError_t::hipErrorGraphExecUpdateFailure;
        let mut why = hipGraphExecUpdateResult::hipGraphExecUpdateSuccess;
        let updated = hipGraphExecUpdate(executable, clone, ptr::null_mut(), &mut why);
        fails(updated, failure, "nodes or dependencies differ");
        assert_eq!(
            why,
            hipGraphExecUpdateResult::hipGraphExecUpdateErrorTopologyChanged
        );
        // A child graph.
        let outer: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let child: hipGraphNode_t =
            result(|node| hipGraphAddChildGraphNode(node, outer, ptr::null(), 0, graph));
        let inside: hipGraph_t = result(|graph| hipGraphChildGraphNodeGetGraph(child, graph));
        assert_eq!(nodes(inside).len(), 3);
        host = [0; 64];
        run(ready(outer), stream, 2);
        assert_eq!(host, [13; 64]);
        succeeds(hipGraphDestroy(outer));
        fails(hipGraphDestroy(inside), invalid, "not a graph");
        succeeds(hipGraphDestroy(graph));
        fails(hipGraphDestroyNode(memset), invalid, "not a node");
    }
    drop(device);
}

/// A node's parameters as `hipGraphAddNode` takes them, `offset` bytes into the part that depends on the kind.
fn any<T>(r#type: hipGraphNodeType, offset: usize, of_kind: T) -> hipGraphNodeParams {
    let mut whole = hipGraphNodeParams {
        r#type,
        ..hipGraphNodeParams::ZERO
    };
    assert!(offset + size_of::<T>() <= size_of_val(&whole.parameters));
    let to = (&raw mut whole.parameters).cast::<u8>();
    // SAFETY: the value fits.
    unsafe { to.add(offset).cast::<T>().write_unaligned(of_kind) };
    whole
}

#[test]
fn one_function_adds_and_changes_nodes_of_all_kinds() {
    use hipGraphNodeType as Kind;
    let device = TestDevice::new(Gpu::Gfx90a);
    let (first, second, stream) = (buffer(&[1; 64]), buffer(&[2; 64]), stream());
    let fill = |value| {
        let parameters = hipMemsetParams {
            dst: first,
            elementSize: 4,
            height: 1,
            value,
            width: 64,
            ..hipMemsetParams::ZERO
        };
        any(Kind::hipGraphNodeTypeMemset, 0, parameters)
    };
    let pitched = |ptr| hipPitchedPtr {
        ptr,
        pitch: 256,
        xsize: 256,
        ysize: 1,
    };
    // The flags and reserved words of hipMemcpyNodeParams take 16 bytes.
    let copy = hipMemcpy3DParms {
        srcPtr: pitched(first),
        dstPtr: pitched(second),
        extent: hipExtent {
            width: 256,
            height: 1,
            depth: 1,
        },
        kind: hipMemcpyKind::hipMemcpyDeviceToDevice,
        ..hipMemcpy3DParms::ZERO
    };
    let invalid = hipError_t::hipErrorInvalidValue;
    // SAFETY: result and parameter pointers are valid; HIP checks the handles.
    unsafe {
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let add = |dependency: &[hipGraphNode_t], mut parameters| -> hipGraphNode_t {
            let (list, count) = (dependency.as_ptr(), dependency.len());
            result(|node| hipGraphAddNode(node, graph, list, count, &mut parameters))
        };
        let memset = add(&[], fill(5));
        let empty = add(&[memset], any(Kind::hipGraphNodeTypeEmpty, 0, 0_u64));
        let copied = add(&[empty], any(Kind::hipGraphNodeTypeMemcpy, 16, copy));
        let event: hipEvent_t = result(|event| hipEventCreate(event));
        let record = add(&[copied], any(Kind::hipGraphNodeTypeEventRecord, 0, event));
        let kinds = [memset, empty, copied, record]
            .map(|node| result::<Kind>(|kind| hipGraphNodeGetType(node, kind)).0);
        assert_eq!(kinds, [2, 5, 1, 7]);
        let executable = ready(graph);
        run(executable, stream, 1);
        assert_eq!(contents(second, 64), [5; 64]);
        succeeds(hipEventQuery(event));

        // The executable graph changes alone, then the graph.
        succeeds(hipGraphExecNodeSetParams(executable, memset, &mut fill(6)));
        run(executable, stream, 1);
        assert_eq!(contents(second, 64), [6; 64]);
        succeeds(hipGraphNodeSetParams(memset, &mut fill(7)));
        run(ready(graph), stream, 1);
        assert_eq!(contents(second, 64), [7; 64]);

        let of_another = hipGraphNodeSetParams(copied, &mut fill(8));
        fails(of_another, invalid, "no such parameters");
        let mut node = ptr::null_mut();
        let mut add = |kind| {
            let mut parameters = any(Kind(kind), 0, 0_u64);
            hipGraphAddNode(&mut node, graph, ptr::null(), 0, &mut parameters)
        };
        fails(add(99), invalid, "type 99 is no kind of node");
        let semaphore = hipError_t::hipErrorNotSupported;
        fails(add(9), semaphore, "nodes of kind 9 cannot be added");
        let null = hipGraphAddNode(&mut node, graph, ptr::null(), 0, ptr::null_mut());
        fails(null, invalid, "nodeParams is null");
    }
    drop(device);
}

#[test]
fn kernel_nodes_keep_the_attribute_that_was_set_last() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let function = kernel(load(code_object(Gpu::Gfx90a)), c"lds");
    let launch = hipKernelNodeParams {
        func: function.cast(),
        gridDim: dim3 { x: 1, y: 1, z: 1 },
        blockDim: dim3 { x: 64, y: 1, z: 1 },
        ..hipKernelNodeParams::ZERO
    };
    let (window, cooperative, priority) = (1, 2, 8);
    let invalid = hipError_t::hipErrorInvalidValue;
    // SAFETY: result and parameter pointers are valid; HIP checks the handles.
    unsafe {
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let [node, other]: [hipGraphNode_t; 2] = std::array::from_fn(|_| {
            result(|node| hipGraphAddKernelNode(node, graph, ptr::null(), 0, &launch))
        });
        let empty: hipGraphNode_t =
            result(|node| hipGraphAddEmptyNode(node, graph, ptr::null(), 0));
        let set = |node, attribute, value: i32| {
            hipGraphKernelNodeSetAttribute(node, attribute, (&raw const value).cast())
        };
        let get = |node, attribute| {
            result::<i32>(|value| hipGraphKernelNodeGetAttribute(node, attribute, value.cast()))
        };
        assert_eq!(get(node, priority), 0);
        succeeds(set(node, priority, -1));
        assert_eq!(get(node, priority), -1);
        succeeds(hipGraphKernelNodeCopyAttributes(node, other));
        assert_eq!(get(other, priority), -1);
        // Copies of the graph have it too.
        let clone: hipGraph_t = result(|clone| hipGraphClone(clone, graph));
        let twin: hipGraphNode_t = result(|found| hipGraphNodeFindInClone(found, node, clone));
        assert_eq!(get(twin, priority), -1);

        fails(set(node, priority, 2), invalid, "from -1 (high) to 1 (low)");
        fails(
            set(node, 3, 0),
            invalid,
            "attribute 3 is not one of a kernel node",
        );
        fails(set(empty, cooperative, 1), invalid, "no such parameters");
        succeeds(set(node, cooperative, 1));
        let mut value = 0_i32;
        let value = (&raw mut value).cast();
        let old = hipGraphKernelNodeGetAttribute(node, priority, value);
        fails(old, invalid, "the node has attribute 2, not 8");
        fails(
            hipGraphKernelNodeCopyAttributes(node, other),
            hipError_t::hipErrorInvalidContext,
            "different attributes",
        );
        let wide = hipAccessPolicyWindow {
            hitRatio: 0.5,
            num_bytes: 1,
            ..hipAccessPolicyWindow::ZERO
        };
        let wide = hipGraphKernelNodeSetAttribute(node, window, (&raw const wide).cast());
        fails(wide, invalid, "accessPolicyMaxWindowSize");
    }
    drop(device);
}

#[test]
fn a_capture_can_continue_a_graph() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let data = buffer(&[0; 64]);
    let stream = stream();
    let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
    let graph = capture(stream, || {
        succeeds(add(function, 1, &add_arguments(data, data, 1), stream));
    });
    let first = nodes(graph);
    let null = ptr::null_mut();
    // SAFETY: the lists have one node; the result pointers are valid.
    unsafe {
        succeeds(hipStreamBeginCaptureToGraph(
            stream,
            graph,
            first.as_ptr(),
            null,
            1,
            mode,
        ));
        succeeds(add(function, 1, &add_arguments(data, data, 10), stream));
        assert_eq!(result(|same| hipStreamEndCapture(stream, same)), graph);
        // Waiting for the device ends a capture, but the program keeps its graph.
        succeeds(hipStreamBeginCaptureToGraph(
            stream,
            graph,
            ptr::null(),
            null,
            0,
            mode,
        ));
        let unsupported = hipError_t::hipErrorStreamCaptureUnsupported;
        fails(hipDeviceSynchronize(), unsupported, "is captured");
        let mut none = ptr::null_mut();
        let invalidated = hipError_t::hipErrorStreamCaptureInvalidated;
        fails(
            hipStreamEndCapture(stream, &mut none),
            invalidated,
            "invalidated",
        );
        let value = hipError_t::hipErrorInvalidValue;
        let begun = hipStreamBeginCaptureToGraph(stream, graph, first.as_ptr(), null, 0, mode);
        fails(begun, value, "a list of 0 dependencies");
    }
    assert_eq!(nodes(graph).len(), 2);
    run(ready(graph), stream, 1);
    assert_eq!(contents(data, 64), [11; 64]);
}

#[test]
fn a_child_graph_is_what_it_is_when_the_graph_is_made_ready() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let data = buffer(&[0; 64]);
    let stream = stream();
    let adds = |bias: u32| {
        capture(stream, || {
            succeeds(add(function, 1, &add_arguments(data, data, bias), stream));
        })
    };
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let child = adds(1);
        let node: hipGraphNode_t =
            result(|node| hipGraphAddChildGraphNode(node, graph, ptr::null(), 0, child));
        let inside: hipGraph_t = result(|inside| hipGraphChildGraphNodeGetGraph(node, inside));
        let end = nodes(inside)[0];
        let more = adds(10);
        let last: hipGraphNode_t =
            result(|last| hipGraphAddChildGraphNode(last, inside, &end, 1, more));
        assert_eq!(nodes(inside), [end, last]);
        let executable = ready(graph);
        run(executable, stream, 1);
        assert_eq!(contents(data, 64), [11; 64]);
        // The executable graph's child can become another of the same kind.
        let unknown = hipError_t::hipErrorUnknown;
        let set = hipGraphExecChildGraphNodeSetParams(executable, node, adds(100));
        fails(set, unknown, "differ");
        let other = capture(stream, || {
            succeeds(add(function, 1, &add_arguments(data, data, 1000), stream));
        });
        let one: hipGraphNode_t = nodes(other)[0];
        let after = adds(5000);
        let _: hipGraphNode_t =
            result(|last| hipGraphAddChildGraphNode(last, other, &one, 1, after));
        succeeds(hipGraphExecChildGraphNodeSetParams(executable, node, other));
        run(executable, stream, 1);
        assert_eq!(contents(data, 64), [6011; 64]);
    }
}

#[test]
fn a_cycle_is_found_when_the_graph_is_made_ready() {
    let _device = TestDevice::new(Gpu::Gfx942);
    // SAFETY: the result pointers and lists are valid.
    unsafe {
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let [a, b]: [hipGraphNode_t; 2] =
            [(); 2].map(|()| result(|node| hipGraphAddEmptyNode(node, graph, ptr::null(), 0)));
        let value = hipError_t::hipErrorInvalidValue;
        let itself = hipGraphAddDependencies(graph, &a, &a, 1);
        fails(itself, value, "cannot depend on itself");
        succeeds(hipGraphAddDependencies(graph, &a, &b, 1));
        succeeds(hipGraphAddDependencies(graph, &b, &a, 1));
        let mut executable = ptr::null_mut();
        let made = hipGraphInstantiateWithFlags(&mut executable, graph, 0);
        fails(made, value, "2 nodes of the graph wait for each other");
        succeeds(hipGraphRemoveDependencies(graph, &b, &a, 1));
        fails(
            hipGraphRemoveDependencies(graph, &b, &a, 1),
            value,
            "does not depend",
        );
        ready(graph);
    }
}

#[test]
fn pageable_memory_is_copied_when_the_launch_returns() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let (data, stream) = (buffer(&[0; 64]), stream());
    let mut host = [0_u32; 64];
    let parameters = HIP_MEMSET_NODE_PARAMS {
        dst: data,
        pitch: 0,
        value: 7,
        elementSize: 4,
        width: 64,
        height: 1,
    };
    // SAFETY: result and parameter pointers are valid; HIP checks the handles.
    unsafe {
        let context = result(|context| hipCtxGetCurrent(context));
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let memset: hipGraphNode_t = result(|node| {
            hipDrvGraphAddMemsetNode(node, graph, ptr::null(), 0, &parameters, context)
        });
        let copy: hipGraphNode_t = result(|node| {
            let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
            let to = (&raw mut host).cast();
            hipGraphAddMemcpyNode1D(node, graph, &memset, 1, to, data, 256, kind)
        });
        succeeds(hipGraphLaunch(ready(graph), stream));
        assert_eq!(host, [7; 64]);
        let same = hipGraphMemcpyNodeSetParams1D(
            copy,
            data,
            data,
            256,
            hipMemcpyKind::hipMemcpyDeviceToDevice,
        );
        let value = hipError_t::hipErrorInvalidValue;
        fails(same, value, "target and source are both");
    }
}

#[test]
fn dependencies_that_a_program_replaces_need_not_be_joined() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let (data, stream) = (buffer(&[0; 64]), stream());
    let graph = capture(stream, || {
        succeeds(add(function, 1, &add_arguments(data, data, 1), stream));
        // SAFETY: an empty list may be null.
        unsafe {
            let set = hipStreamSetCaptureDependencies;
            succeeds(hipStreamUpdateCaptureDependencies(
                stream,
                ptr::null_mut(),
                0,
                set,
            ));
            succeeds(hipMemsetAsync(data, 0, 256, stream));
        }
    });
    assert_eq!(nodes(graph).len(), 2);
}

#[test]
fn user_objects_live_as_long_as_their_references() {
    unsafe extern "C" fn destroyed(count: *mut c_void) {
        // SAFETY: the test passes a counter that lives long enough.
        unsafe { *count.cast::<u32>() += 1 };
    }
    let _device = TestDevice::new(Gpu::Gfx942);
    let mut count = 0_u32;
    let counter = &raw mut count;
    // SAFETY: the result pointers are valid; HIP checks the handles.
    unsafe {
        let make = |references| -> hipUserObject_t {
            result(|object| {
                hipUserObjectCreate(object, counter.cast(), Some(destroyed), references, 1)
            })
        };
        let graph: hipGraph_t = result(|graph| hipGraphCreate(graph, 0));
        let (given, shared) = (make(1), make(2));
        succeeds(hipGraphRetainUserObject(
            graph,
            given,
            1,
            hipGraphUserObjectMove,
        ));
        succeeds(hipGraphRetainUserObject(graph, shared, 3, 0));
        succeeds(hipUserObjectRelease(shared, 2));
        succeeds(hipGraphReleaseUserObject(graph, shared, 2));
        assert_eq!(counter.read(), 0);
        succeeds(hipGraphDestroy(graph));
        assert_eq!(counter.read(), 2);
        // Calls for an object that is gone do nothing.
        succeeds(hipUserObjectRetain(given, 1));
        succeeds(hipUserObjectRelease(given, 1));
        assert_eq!(counter.read(), 2);
        let value = hipError_t::hipErrorInvalidValue;
        fails(hipUserObjectRelease(ptr::null_mut(), 1), value, "is null");
        let object = make(1);
        fails(hipUserObjectRelease(object, 0), value, "0 references");
        succeeds(hipUserObjectRelease(object, 1));
        assert_eq!(counter.read(), 3);
    }
}

#[test]
fn a_graph_is_written_for_graphviz() {
    let _device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let data = buffer(&[0; 64]);
    let stream = stream();
    let graph = capture(stream, || {
        succeeds(add(function, 1, &add_arguments(data, data, 1), stream));
        // SAFETY: HIP checks the address.
        succeeds(unsafe { hipMemsetAsync(data, 0, 8, stream) });
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.dot");
    let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
    // SAFETY: the path is a C string.
    succeeds(unsafe { hipGraphDebugDotPrint(graph, path.as_ptr(), 1) });
    let text = std::fs::read_to_string(&file).unwrap();
    let [first, second] = nodes(graph)[..] else {
        panic!("two nodes");
    };
    for part in [
        "label=\"add\\ngrid: ",
        "label=\"fill\\nbytes: 8\"",
        &format!("\"{:#x}\" -> \"{:#x}\";", first.addr(), second.addr()),
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let missing = c"/no/such/folder/graph.dot";
    // SAFETY: as above.
    let code = unsafe { hipGraphDebugDotPrint(graph, missing.as_ptr(), 0) };
    fails(
        code,
        hipError_t::hipErrorOperatingSystem,
        "/no/such/folder/graph.dot",
    );
}
