//! Memory that graphs allocate and free.

use super::*;

const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;

fn graph() -> hipGraph_t {
    // SAFETY: the result pointer is valid.
    result(|graph| unsafe { hipGraphCreate(graph, 0) })
}

fn ready(graph: hipGraph_t, flags: u64) -> hipGraphExec_t {
    // SAFETY: the result pointer is valid; HIP checks the handle.
    result(|executable| unsafe { hipGraphInstantiateWithFlags(executable, graph, flags) })
}

fn used(device: &TestDevice, attribute: hipGraphMemAttributeType) -> u64 {
    // SAFETY: the result pointer is valid, and has 64 bits.
    result(|value: *mut u64| unsafe {
        hipDeviceGetGraphMemAttribute(device.0, attribute, value.cast())
    })
}

const USED: hipGraphMemAttributeType = hipGraphMemAttributeType::hipGraphMemAttrUsedMemCurrent;
const USED_HIGH: hipGraphMemAttributeType = hipGraphMemAttributeType::hipGraphMemAttrUsedMemHigh;
const RESERVED: hipGraphMemAttributeType =
    hipGraphMemAttributeType::hipGraphMemAttrReservedMemCurrent;

/// Adds an allocation to a graph. Returns its node and address.
fn allocation(
    device: &TestDevice,
    graph: hipGraph_t,
    bytes: usize,
) -> (hipGraphNode_t, *mut c_void) {
    let mut parameters = hipMemAllocNodeParams {
        bytesize: bytes,
        ..hipMemAllocNodeParams::ZERO
    };
    parameters.poolProps.allocType = 1;
    parameters.poolProps.location.r#type = hipMemLocationType::hipMemLocationTypeDevice;
    parameters.poolProps.location.id = device.0;
    // SAFETY: result and parameter pointers are valid.
    let node = result(|node| unsafe {
        hipGraphAddMemAllocNode(node, graph, ptr::null(), 0, &mut parameters)
    });
    assert!(!parameters.dptr.is_null());
    (node, parameters.dptr)
}

/// Adds a memset of one word that depends on a node.
fn fill(
    graph: hipGraph_t,
    after: hipGraphNode_t,
    to: *mut c_void,
    value: c_uint,
) -> hipGraphNode_t {
    let parameters = hipMemsetParams {
        dst: to,
        elementSize: 4,
        height: 1,
        pitch: 0,
        value,
        width: 64,
    };
    // SAFETY: result, node and parameter pointers are valid.
    result(|node| unsafe { hipGraphAddMemsetNode(node, graph, &after, 1, &parameters) })
}

/// Asserts that a memset of the memory fails when it runs.
fn is_not_there(memory: *mut c_void) {
    // SAFETY: HIP checks the address.
    unsafe {
        succeeds(hipMemset(memory, 0, 4));
        fails(
            hipDeviceSynchronize(),
            INVALID,
            "are not inside one allocation",
        );
    }
}

#[test]
fn memory_lives_from_one_node_to_another() {
    let device = TestDevice::new(Gpu::Gfx942);
    let (graph, stream) = (graph(), stream());
    let (allocates, memory) = allocation(&device, graph, 256);
    assert_eq!((used(&device, USED), used(&device, RESERVED)), (0, 0));
    let out = buffer(&[0; 64]);
    // SAFETY: result pointers and allocations are valid; HIP checks the handles.
    unsafe {
        // The memory does not exist before the graph runs.
        is_not_there(memory);
        let filled = fill(graph, allocates, memory, 42);
        let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
        let copied =
            result(|node| hipGraphAddMemcpyNode1D(node, graph, &filled, 1, out, memory, 256, kind));
        let freed = result(|node| hipGraphAddMemFreeNode(node, graph, &copied, 1, memory));
        fails(
            hipGraphAddMemFreeNode(&mut ptr::null_mut(), graph, ptr::null(), 0, memory),
            INVALID,
            "is freed in this graph already",
        );
        assert_eq!(
            result(|kind| hipGraphNodeGetType(allocates, kind)),
            hipGraphNodeType::hipGraphNodeTypeMemAlloc
        );
        assert_eq!(
            result(|kind| hipGraphNodeGetType(freed, kind)),
            hipGraphNodeType::hipGraphNodeTypeMemFree
        );
        let told: hipMemAllocNodeParams = result(|p| hipGraphMemAllocNodeGetParams(allocates, p));
        assert_eq!((told.dptr, told.bytesize), (memory, 256));
        assert_eq!(told.poolProps.location.id, device.0);
        let address = result(|p: *mut *mut c_void| hipGraphMemFreeNodeGetParams(freed, p.cast()));
        assert_eq!(address, memory);
        let mut to: *mut c_void = ptr::null_mut();
        let to = (&raw mut to).cast();
        fails(
            hipGraphMemFreeNodeGetParams(allocates, to),
            INVALID,
            "no such parameters",
        );

        let executable = ready(graph, 0);
        for _ in 0..3 {
            succeeds(hipGraphLaunch(executable, stream));
        }
        succeeds(hipStreamSynchronize(stream));
        assert_eq!(contents(out, 64), [42; 64]);
        assert_eq!((used(&device, USED), used(&device, USED_HIGH)), (0, 256));
        let not_supported = hipError_t::hipErrorNotSupported;
        fails(
            hipGraphClone(&mut ptr::null_mut(), graph),
            not_supported,
            "cannot be cloned",
        );
        fails(
            hipGraphDestroyNode(allocates),
            not_supported,
            "stays in its graph",
        );
        fails(
            hipGraphInstantiateWithFlags(&mut ptr::null_mut(), graph, 0),
            not_supported,
            "instantiated once only",
        );
        let other = self::graph();
        fails(
            hipGraphAddChildGraphNode(&mut ptr::null_mut(), other, ptr::null(), 0, graph),
            not_supported,
            "cannot be part of another graph",
        );
        // The address range is released with the graph and the executable graph.
        succeeds(hipGraphDestroy(graph));
        succeeds(hipGraphExecDestroy(executable));
        assert_eq!(used(&device, RESERVED), 0);
        let zero = 0_u64;
        let high = (&raw const zero).cast_mut().cast();
        succeeds(hipDeviceSetGraphMemAttribute(device.0, USED_HIGH, high));
        assert_eq!(used(&device, USED_HIGH), 0);
        fails(
            hipDeviceSetGraphMemAttribute(device.0, USED, high),
            INVALID,
            "cannot be set",
        );
        succeeds(hipDeviceGraphMemTrim(device.0));
    }
}

#[test]
fn memory_that_a_graph_leaves_is_freed_by_others() {
    let device = TestDevice::new(Gpu::Gfx90a);
    let (makes, stream) = (graph(), stream());
    let (allocates, memory) = allocation(&device, makes, 256);
    fill(makes, allocates, memory, 7);
    let frees = graph();
    // SAFETY: the allocations are valid; HIP checks the handles.
    unsafe {
        result::<hipGraphNode_t>(|node| {
            hipGraphAddMemFreeNode(node, frees, ptr::null(), 0, memory)
        });
        let (makes, frees) = (ready(makes, 0), ready(frees, 0));
        let launch = |executable| hipGraphLaunch(executable, stream);
        fails(launch(frees), INVALID, "was not allocated");
        // Freed by a graph, a stream, a call.
        let ways: [&dyn Fn() -> hipError_t; 3] =
            [&|| launch(frees), &|| hipFreeAsync(memory, stream), &|| {
                hipFree(memory)
            }];
        for free in ways {
            succeeds(launch(makes));
            fails(
                launch(makes),
                INVALID,
                "is still allocated from its last launch",
            );
            succeeds(hipStreamSynchronize(stream));
            assert_eq!(contents(memory, 64), [7; 64]);
            succeeds(free());
            fails(free(), INVALID, "was not allocated, or was freed before");
            succeeds(hipStreamSynchronize(stream));
            assert_eq!(used(&device, USED), 0);
            is_not_there(memory);
        }
    }
}

#[test]
fn memory_is_freed_before_the_next_launch_if_that_was_asked_for() {
    let device = TestDevice::new(Gpu::Gfx942);
    let (graph, stream) = (graph(), stream());
    let (allocates, memory) = allocation(&device, graph, 256);
    fill(graph, allocates, memory, 7);
    let executable = ready(graph, hipGraphInstantiateFlagAutoFreeOnLaunch);
    // SAFETY: HIP checks the handles.
    unsafe {
        for _ in 0..3 {
            succeeds(hipGraphLaunch(executable, stream));
        }
        succeeds(hipStreamSynchronize(stream));
        assert_eq!(contents(memory, 64), [7; 64]);
        assert_eq!((used(&device, USED), used(&device, USED_HIGH)), (256, 256));
        succeeds(hipFree(memory));
    }
    assert_eq!(used(&device, USED), 0);
}

#[test]
fn captured_allocations_become_nodes() {
    let device = TestDevice::new(Gpu::Gfx942);
    let function = kernel(load(code_object(Gpu::Gfx942)), c"add");
    let (stream, data) = (stream(), buffer(&[1; 64]));
    // SAFETY: result pointers and allocations are valid; HIP checks the handles.
    unsafe {
        let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
        succeeds(hipStreamBeginCapture(stream, mode));
        let memory: *mut c_void = result(|address| hipMallocAsync(address, 256, stream));
        succeeds(add(function, 1, &add_arguments(memory, data, 10), stream));
        succeeds(add(function, 1, &add_arguments(data, memory, 100), stream));
        fails(
            hipFreeAsync(data, stream),
            INVALID,
            "is not the memory of a graph",
        );
        succeeds(hipFreeAsync(memory, stream));
        let graph = result(|graph| hipStreamEndCapture(stream, graph));
        let executable = ready(graph, 0);
        for _ in 0..2 {
            succeeds(hipGraphLaunch(executable, stream));
        }
        succeeds(hipStreamSynchronize(stream));
        assert_eq!(contents(data, 64), [221; 64]);
        // Work that runs after the free cannot access the memory.
        succeeds(add(function, 1, &add_arguments(data, memory, 0), stream));
        let illegal = hipError_t::hipErrorIllegalAddress;
        fails(hipStreamSynchronize(stream), illegal, "which was freed");
        assert_eq!(used(&device, USED), 0);
    }
}

#[test]
fn allocations_that_cannot_be_are_refused() {
    let device = TestDevice::new(Gpu::Gfx942);
    let graph = graph();
    let good = || {
        let mut parameters = hipMemAllocNodeParams {
            bytesize: 64,
            ..hipMemAllocNodeParams::ZERO
        };
        parameters.poolProps.allocType = 1;
        parameters.poolProps.location.r#type = hipMemLocationType::hipMemLocationTypeDevice;
        parameters.poolProps.location.id = device.0;
        parameters
    };
    let refused = |mut parameters: hipMemAllocNodeParams, code, text| {
        // SAFETY: result and parameter pointers are valid.
        let result = unsafe {
            hipGraphAddMemAllocNode(&mut ptr::null_mut(), graph, ptr::null(), 0, &mut parameters)
        };
        fails(result, code, text);
    };
    let access = hipMemAccessDesc {
        location: hipMemLocation {
            r#type: hipMemLocationType::hipMemLocationTypeDevice,
            id: device.0 + 1,
        },
        flags: hipMemAccessFlags::hipMemAccessFlagsProtReadWrite,
    };
    let with = |change: &dyn Fn(&mut hipMemAllocNodeParams)| {
        let mut parameters = good();
        change(&mut parameters);
        parameters
    };
    refused(with(&|p| p.bytesize = 0), INVALID, "bytesize is 0");
    refused(
        with(&|p| p.bytesize = usize::MAX),
        hipError_t::hipErrorOutOfMemory,
        "out of device memory",
    );
    refused(
        with(&|p| p.poolProps.allocType = 0),
        INVALID,
        "allocType is 0",
    );
    refused(
        with(&|p| p.poolProps.location.r#type.0 = 0),
        INVALID,
        "location.type is 0",
    );
    refused(
        with(&|p| p.poolProps.location.id = 1 << 20),
        INVALID,
        "1048576",
    );
    // Accesses are not looked at.
    let mut others = with(&|p| {
        p.accessDescs = &access;
        p.accessDescCount = 1;
    });
    // SAFETY: the graph and the parameters are valid.
    succeeds(unsafe {
        hipGraphAddMemAllocNode(&mut ptr::null_mut(), graph, ptr::null(), 0, &mut others)
    });
    let own = buffer(&[0]);
    for address in [own, ptr::null_mut()] {
        // SAFETY: the result pointer is valid.
        let result =
            unsafe { hipGraphAddMemFreeNode(&mut ptr::null_mut(), graph, ptr::null(), 0, address) };
        fails(result, INVALID, "is not the memory of a graph");
    }
}
