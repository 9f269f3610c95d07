//! Adding nodes, and their parameters.

#![expect(clippy::too_many_arguments, reason = "HIP's signatures")]

use std::{ffi::c_void, ptr, sync::Arc};

use ferrowave_hip_abi::{
    HIP_MEMCPY3D, HIP_MEMSET_NODE_PARAMS, dim3, hipCtx_t, hipError_t, hipEvent_t, hipGraph_t,
    hipGraphNode_t, hipGraphNodeType, hipHostNodeParams, hipKernelNodeParams, hipMemcpy3DParms,
    hipMemcpyKind, hipMemsetParams,
};

use crate::{
    callback::host_call,
    context, copy,
    error::{Failure, out, read},
    fill,
    objects::{
        event::{Event, event},
        graph::{Described, GRAPHS, Graph, Node, graph, listed, with_node},
        launch::{Launch, Shape},
        operation::Operation,
        plan::Plan,
        transfer::Fill,
    },
    registry,
};

/// Rejects an invalid context; null is the current one.
pub(super) fn check_context(ctx: hipCtx_t) -> Result<(), Failure> {
    if ctx.is_null() {
        return Ok(());
    }
    context::context(ctx).map(drop)
}

/// The launch that a struct describes, and the kernel handle that the program passed.
///
/// # Safety
/// The pointer is null, or points to a valid struct with lists as HIP requires.
pub(super) unsafe fn launch(
    parameters: *const hipKernelNodeParams,
) -> Result<(Operation, usize), Failure> {
    let p = read!(parameters);
    let function = registry::kernel(p.func)?;
    let shape = Shape::new(p.gridDim, p.blockDim, p.sharedMemBytes as usize);
    // SAFETY: guaranteed by the caller.
    let launch = unsafe { Launch::new(function, shape, p.kernelParams, p.extra) }?;
    Ok((Operation::Launch(Arc::new(launch)), p.func.addr()))
}

/// The memset that a struct describes.
///
/// # Safety
/// The pointer is null, or points to a valid struct.
pub(super) unsafe fn memset(parameters: *const hipMemsetParams) -> Result<Operation, Failure> {
    fill(read!(parameters))
}

/// The same for a struct of the driver's interface.
///
/// # Safety
/// The pointer is null, or points to a valid struct.
pub(super) unsafe fn driver_memset(
    parameters: *const HIP_MEMSET_NODE_PARAMS,
) -> Result<Operation, Failure> {
    let p = read!(parameters);
    fill(hipMemsetParams {
        dst: p.dst,
        pitch: p.pitch,
        value: p.value,
        elementSize: p.elementSize,
        width: p.width,
        height: p.height,
    })
}

fn fill(p: hipMemsetParams) -> Result<Operation, Failure> {
    if p.height == 0 {
        return Err(Failure::value("height is 0, but must be 1 or more"));
    }
    if ![1, 2, 4].contains(&p.elementSize) {
        return Err(Failure::value(format_args!(
            "elements of {} bytes, but they must have 1, 2 or 4",
            p.elementSize
        )));
    }
    let extent = (p.width, p.height);
    let fill = fill::rows(p.dst, p.pitch, extent, p.value, p.elementSize as usize)?;
    Ok(Operation::Fill(fill))
}

/// The host function call that a struct describes.
///
/// # Safety
/// The pointer is null, or points to a valid struct.
pub(super) unsafe fn host(parameters: *const hipHostNodeParams) -> Result<Operation, Failure> {
    let p = read!(parameters);
    Ok(Operation::Host(host_call(p.r#fn, p.userData)?))
}

/// The event of a handle, with the code that functions of graphs have for an invalid one.
pub(super) fn event_or_value(handle: hipEvent_t) -> Result<Arc<Event>, Failure> {
    event(handle).map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))
}

/// Adds a node to the graph of a handle.
///
/// # Safety
/// `list` is null or has `count` nodes; `node` is null or valid for a write.
pub(super) unsafe fn add(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    operation: impl FnOnce() -> Result<Operation, Failure>,
) -> Result<(Arc<Graph>, usize), Failure> {
    let node = out!(node);
    let graph = self::graph(graph)?;
    // SAFETY: guaranteed by the caller.
    let dependencies = unsafe { listed(&graph, list, count) }?;
    let id = graph.add(operation()?, dependencies);
    node.set(ptr::without_provenance_mut(id));
    Ok((graph, id))
}

/// Adds a node to the graph of a handle, and completes it.
///
/// # Safety
/// As [`add`].
unsafe fn add_with(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    operation: Operation,
    complete: impl FnOnce(&mut Node),
) -> Result<(), Failure> {
    // SAFETY: guaranteed by the caller.
    let (graph, id) = unsafe { add(node, graph, list, count, || Ok(operation)) }?;
    graph.change(id, |node| {
        complete(node);
        Ok(())
    })
}

/// Functions that add a node with an operation made from their other arguments.
macro_rules! adds {
    ($($name:ident($($argument:ident: $type:ty),*) = $operation:expr;)*) => {$(
        pub(in crate) unsafe fn $name(
            node: *mut hipGraphNode_t,
            graph: hipGraph_t,
            list: *const hipGraphNode_t,
            count: usize,
            $($argument: $type,)*
        ) -> Result<(), Failure> {
            // SAFETY: the caller upholds HIP's contract.
            unsafe { add(node, graph, list, count, || $operation) }.map(drop)
        }
    )*};
}

adds! {
    hipGraphAddEmptyNode() = Ok(Operation::Nothing);
    hipGraphAddMemcpyNode1D(to: *mut c_void, from: *const c_void, bytes: usize, kind: hipMemcpyKind)
        = copy::bytes(to, from, bytes, kind).map(Operation::Transfer);
    hipGraphAddMemcpyNodeFromSymbol(
        to: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: hipMemcpyKind
    ) = copy::from_symbol(to, symbol, bytes, offset, kind).map(Operation::Transfer);
    hipGraphAddMemcpyNodeToSymbol(
        symbol: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: hipMemcpyKind
    ) = copy::to_symbol(symbol, from, bytes, offset, kind).map(Operation::Transfer);
    hipGraphAddMemsetNode(parameters: *const hipMemsetParams) = memset(parameters);
    hipDrvGraphAddMemsetNode(parameters: *const HIP_MEMSET_NODE_PARAMS, ctx: hipCtx_t)
        = check_context(ctx).and_then(|()| driver_memset(parameters));
    hipGraphAddHostNode(parameters: *const hipHostNodeParams) = host(parameters);
    hipGraphAddEventRecordNode(of: hipEvent_t) = event_or_value(of).map(Operation::Record);
    hipGraphAddEventWaitNode(of: hipEvent_t) = event_or_value(of).map(Operation::Wait);
}

pub(crate) unsafe fn hipGraphAddMemcpyNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipMemcpy3DParms,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    unsafe {
        let operation = Operation::Transfer(copy::from_3d(parameters)?);
        let described = Some(Described::Runtime(*parameters));
        add_with(node, graph, list, count, operation, |node| {
            node.described = described;
        })
    }
}

pub(crate) unsafe fn hipDrvGraphAddMemcpyNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    parameters: *const HIP_MEMCPY3D,
    ctx: hipCtx_t,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    unsafe {
        let transfer = check_context(ctx)
            .and_then(|()| copy::from_driver_3d(parameters))
            .map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))?;
        let described = Some(Described::Driver(*parameters));
        let operation = Operation::Transfer(transfer);
        add_with(node, graph, list, count, operation, |node| {
            node.described = described;
        })
    }
}

pub(crate) unsafe fn hipGraphAddKernelNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipKernelNodeParams,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    unsafe {
        let (operation, named) = launch(parameters)?;
        add_with(node, graph, list, count, operation, |node| {
            node.named = named;
        })
    }
}

pub(crate) unsafe fn hipGraphAddChildGraphNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    child: hipGraph_t,
) -> Result<(), Failure> {
    let child = self::graph(child)?;
    child.refuse_memory("cannot be part of another graph")?;
    let copy = child.copy();
    let plan = Plan::new(&copy)?;
    // SAFETY: the caller upholds HIP's contract.
    let (graph, id) = unsafe {
        add(node, graph, list, count, || {
            Ok(Operation::Graph(Arc::new(plan)))
        })
    }?;
    let handle = GRAPHS.insert(copy);
    graph.change(id, |node| {
        node.child = handle;
        Ok(())
    })
}

pub(super) fn other_kind(node: &Node) -> Failure {
    Failure::value(format_args!(
        "the node is of kind {}, which has no such parameters",
        node.kind().0
    ))
}

/// Replaces a node's operation by another of the same kind, which for a copy is not empty.
pub(super) fn replace(node: &mut Node, operation: Operation) -> Result<(), Failure> {
    if matches!(&operation, Operation::Transfer(transfer) if transfer.bytes() == 0) {
        return Err(Failure::value("the copy of a node must not be empty"));
    }
    let changed = Node {
        operation,
        ..node.clone()
    };
    if changed.kind() != node.kind() {
        return Err(other_kind(node));
    }
    *node = changed;
    node.arguments = Arc::new([]);
    node.described = None;
    Ok(())
}

/// Replaces a node's launch.
pub(super) fn replace_launch(
    node: &mut Node,
    (mut operation, named): (Operation, usize),
) -> Result<(), Failure> {
    // The parameters do not state whether a launch is cooperative, so this does not change.
    if let (Operation::Launch(old), Operation::Launch(new)) = (&node.operation, &mut operation)
        && old.cooperative
    {
        *new = Arc::new(new.to_cooperative()?);
    }
    replace(node, operation)?;
    node.named = named;
    Ok(())
}

pub(crate) unsafe fn hipGraphKernelNodeGetParams(
    node: hipGraphNode_t,
    parameters: *mut hipKernelNodeParams,
) -> Result<(), Failure> {
    let parameters = out!(parameters);
    with_node(node, |node| {
        let Operation::Launch(launch) = &node.operation else {
            return Err(other_kind(node));
        };
        let explicit = launch.function.kernel.description().metadata.args.iter();
        let explicit = explicit.filter(|argument| !argument.value_kind.is_hidden());
        // The launch keeps a copy of the argument bytes, whether they came from pointers or from a buffer.
        let kernarg = launch.kernarg.as_ptr().expose_provenance();
        let addresses = explicit.map(|argument| kernarg + argument.offset as usize);
        let (grid, block) = (launch.shape.grid, launch.shape.block);
        let three = |[x, y, z]: [u32; 3]| dim3 { x, y, z };
        let shape = launch.shape;
        node.arguments = addresses.collect();
        parameters.set(hipKernelNodeParams {
            blockDim: three(block),
            extra: ptr::null_mut(),
            func: ptr::without_provenance_mut(node.named),
            gridDim: three(grid),
            kernelParams: node.arguments.as_ptr().cast_mut().cast(),
            sharedMemBytes: shape.dynamic_lds_bytes,
        });
        Ok(())
    })
}

pub(crate) unsafe fn hipGraphKernelNodeSetParams(
    node: hipGraphNode_t,
    parameters: *const hipKernelNodeParams,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    let launch = unsafe { launch(parameters) }?;
    with_node(node, |node| replace_launch(node, launch))
}

/// Functions that replace a node's operation by one made from their other arguments.
macro_rules! sets {
    ($($name:ident($($argument:ident: $type:ty),*) = $operation:expr;)*) => {$(
        pub(in crate) unsafe fn $name(node: hipGraphNode_t, $($argument: $type,)*) -> Result<(), Failure> {
            // SAFETY: the caller upholds HIP's contract.
            let operation = unsafe { $operation }?;
            with_node(node, |node| replace(node, operation))
        }
    )*};
}

sets! {
    hipGraphMemsetNodeSetParams(parameters: *const hipMemsetParams) = memset(parameters);
    hipGraphHostNodeSetParams(parameters: *const hipHostNodeParams) = host(parameters);
}

pub(crate) unsafe fn hipGraphMemcpyNodeSetParams(
    node: hipGraphNode_t,
    parameters: *const hipMemcpy3DParms,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    let (transfer, described) = unsafe { (copy::from_3d(parameters)?, *parameters) };
    with_node(node, |node| {
        replace(node, Operation::Transfer(transfer))?;
        node.described = Some(Described::Runtime(described));
        Ok(())
    })
}

pub(crate) unsafe fn hipDrvGraphMemcpyNodeSetParams(
    node: hipGraphNode_t,
    parameters: *const HIP_MEMCPY3D,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    let (transfer, described) = unsafe { (copy::from_driver_3d(parameters)?, *parameters) };
    with_node(node, |node| {
        replace(node, Operation::Transfer(transfer))?;
        node.described = Some(Described::Driver(described));
        Ok(())
    })
}

/// Rejects a copy of memory to itself, as CLR does where a linear copy is changed (`hip_graph.cpp`).
pub(super) fn refuse_same(to: *mut c_void, from: *const c_void) -> Result<(), Failure> {
    match to.addr() == from.addr() {
        true => Err(Failure::value(format_args!(
            "target and source are both {to:p}"
        ))),
        false => Ok(()),
    }
}

pub(crate) unsafe fn hipGraphMemcpyNodeSetParams1D(
    node: hipGraphNode_t,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    refuse_same(to, from)?;
    let transfer = copy::bytes(to, from, bytes, kind)?;
    with_node(node, |node| replace(node, Operation::Transfer(transfer)))
}

pub(crate) unsafe fn hipGraphMemcpyNodeSetParamsFromSymbol(
    node: hipGraphNode_t,
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    let transfer = copy::from_symbol(to, symbol, bytes, offset, kind)?;
    with_node(node, |node| replace(node, Operation::Transfer(transfer)))
}

pub(crate) unsafe fn hipGraphMemcpyNodeSetParamsToSymbol(
    node: hipGraphNode_t,
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    let transfer = copy::to_symbol(symbol, from, bytes, offset, kind)?;
    with_node(node, |node| replace(node, Operation::Transfer(transfer)))
}

pub(crate) unsafe fn hipGraphEventRecordNodeSetEvent(
    node: hipGraphNode_t,
    of: hipEvent_t,
) -> Result<(), Failure> {
    let event = event_or_value(of)?;
    with_node(node, |node| replace(node, Operation::Record(event)))
}

pub(crate) unsafe fn hipGraphEventWaitNodeSetEvent(
    node: hipGraphNode_t,
    of: hipEvent_t,
) -> Result<(), Failure> {
    let event = event_or_value(of)?;
    with_node(node, |node| replace(node, Operation::Wait(event)))
}

/// Gives the program's struct, as CLR does, or for a copy that others described an equivalent one, with the positions in the
/// addresses.
pub(crate) unsafe fn hipGraphMemcpyNodeGetParams(
    node: hipGraphNode_t,
    parameters: *mut hipMemcpy3DParms,
) -> Result<(), Failure> {
    let parameters = out!(parameters);
    with_node(node, |node| match (&node.operation, node.described) {
        (_, Some(Described::Runtime(described))) => {
            parameters.set(described);
            Ok(())
        }
        (Operation::Transfer(transfer), _) => {
            parameters.set(copy::to_3d(transfer));
            Ok(())
        }
        _ => Err(other_kind(node)),
    })
}

/// As [`hipGraphMemcpyNodeGetParams`].
pub(crate) unsafe fn hipDrvGraphMemcpyNodeGetParams(
    node: hipGraphNode_t,
    parameters: *mut HIP_MEMCPY3D,
) -> Result<(), Failure> {
    let parameters = out!(parameters);
    with_node(node, |node| match (&node.operation, node.described) {
        (_, Some(Described::Driver(described))) => {
            parameters.set(described);
            Ok(())
        }
        (Operation::Transfer(transfer), _) => {
            parameters.set(copy::to_driver_3d(transfer));
            Ok(())
        }
        _ => Err(other_kind(node)),
    })
}

pub(crate) unsafe fn hipGraphMemsetNodeGetParams(
    node: hipGraphNode_t,
    parameters: *mut hipMemsetParams,
) -> Result<(), Failure> {
    let parameters = out!(parameters);
    with_node(node, |node| match &node.operation {
        Operation::Fill(fill) => {
            parameters.set(described(fill));
            Ok(())
        }
        _ => Err(other_kind(node)),
    })
}

fn described(fill: &Fill) -> hipMemsetParams {
    let (to, extent, value, element_bytes) = fill.parts();
    hipMemsetParams {
        dst: ptr::with_exposed_provenance_mut(to.address as usize),
        elementSize: element_bytes as u32,
        height: extent.height,
        pitch: to.pitch,
        value,
        width: extent.width,
    }
}

pub(crate) unsafe fn hipGraphHostNodeGetParams(
    node: hipGraphNode_t,
    parameters: *mut hipHostNodeParams,
) -> Result<(), Failure> {
    let parameters = out!(parameters);
    with_node(node, |node| match &node.operation {
        Operation::Host(call) => {
            parameters.set(hipHostNodeParams {
                r#fn: Some(call.function),
                userData: ptr::with_exposed_provenance_mut(call.data),
            });
            Ok(())
        }
        _ => Err(other_kind(node)),
    })
}

pub(crate) unsafe fn hipGraphChildGraphNodeGetGraph(
    node: hipGraphNode_t,
    child: *mut hipGraph_t,
) -> Result<(), Failure> {
    let child = out!(child);
    with_node(node, |node| {
        if node.kind() != hipGraphNodeType::hipGraphNodeTypeGraph || node.child == 0 {
            return Err(other_kind(node));
        }
        child.set(ptr::without_provenance_mut(node.child));
        Ok(())
    })
}

/// Returns the event of a node that has one.
fn event_of(
    node: hipGraphNode_t,
    event: *mut hipEvent_t,
    kind: hipGraphNodeType,
) -> Result<(), Failure> {
    let event = out!(event);
    with_node(node, |node| match &node.operation {
        Operation::Record(of) | Operation::Wait(of) if node.kind() == kind => {
            event.set(ptr::without_provenance_mut(of.id));
            Ok(())
        }
        _ => Err(other_kind(node)),
    })
}

pub(crate) unsafe fn hipGraphEventRecordNodeGetEvent(
    node: hipGraphNode_t,
    event: *mut hipEvent_t,
) -> Result<(), Failure> {
    event_of(node, event, hipGraphNodeType::hipGraphNodeTypeEventRecord)
}

pub(crate) unsafe fn hipGraphEventWaitNodeGetEvent(
    node: hipGraphNode_t,
    event: *mut hipEvent_t,
) -> Result<(), Failure> {
    event_of(node, event, hipGraphNodeType::hipGraphNodeTypeWaitEvent)
}
