//! Executable graphs.

use std::{
    ffi::{c_char, c_uint, c_void},
    ptr,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use ferrowave_hip_abi::{
    HIP_MEMCPY3D, HIP_MEMSET_NODE_PARAMS, hipCtx_t, hipError_t, hipEvent_t, hipGraph_t,
    hipGraphExec_t, hipGraphExecUpdateResult as Update, hipGraphInstantiateFlagAutoFreeOnLaunch,
    hipGraphInstantiateFlags, hipGraphInstantiateParams, hipGraphNode_t, hipHostNodeParams,
    hipKernelNodeParams, hipMemcpy3DParms, hipMemcpyKind, hipMemsetParams, hipStream_t,
};

use super::{capture, memory, nodes};
use crate::{
    copy,
    error::{Failure, out, read},
    handles::Handles,
    objects::{
        graph::{Node, graph, graph_of},
        operation::{Operation, Work as _},
        owner::{AddressOwner, owner_of},
        plan::Plan,
        stream::stream,
        transfer::{Fill, Side, Transfer},
    },
    task::Task,
};

/// An executable graph.
pub(crate) struct Executable {
    flags: u64,
    state: Mutex<State>,
}

struct State {
    plan: Arc<Plan>,
    /// Its last launch; launches of the same graph run one after another.
    last: Option<Arc<Task>>,
}

/// Executable graphs by handle.
static EXECUTABLES: LazyLock<Handles<Executable>> = LazyLock::new(Handles::new);

impl Executable {
    fn state(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the step made from a node. Launches that have begun are not affected.
    fn change(
        &self,
        node: hipGraphNode_t,
        change: impl FnOnce(&mut Node, &mut bool) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut state = self.state();
        let step = Arc::make_mut(&mut state.plan).step(node.addr());
        let step = step.ok_or_else(|| {
            Failure::value(format_args!(
                "{:#x} is not a node that this graph was instantiated from",
                node.addr()
            ))
        })?;
        change(&mut step.node, &mut step.enabled)
    }
}

/// The executable graph of a handle.
fn executable(handle: hipGraphExec_t) -> Result<Arc<Executable>, Failure> {
    let found = EXECUTABLES.get(handle.addr());
    found.ok_or_else(|| {
        Failure::value(format_args!(
            "{:#x} is not an executable graph, or was destroyed",
            handle.addr()
        ))
    })
}

pub(crate) unsafe fn hipGraphInstantiate(
    executable: *mut hipGraphExec_t,
    graph: hipGraph_t,
    node: *mut hipGraphNode_t,
    log: *mut c_char,
    log_bytes: usize,
) -> Result<(), Failure> {
    if !node.is_null() {
        out!(node).set(ptr::null_mut());
    }
    if !log.is_null() && log_bytes > 0 {
        out!(log).set(0);
    }
    // SAFETY: the caller upholds the same contract.
    unsafe { hipGraphInstantiateWithFlags(executable, graph, 0) }
}

pub(crate) unsafe fn hipGraphInstantiateWithFlags(
    executable: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: u64,
) -> Result<(), Failure> {
    let executable = out!(executable);
    // HIP allows one flag at a time.
    if flags & !hipGraphInstantiateFlags != 0 || flags.count_ones() > 1 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be at most one of {hipGraphInstantiateFlags:#x}"
        )));
    }
    let graph = self::graph(graph)?;
    let plan = Arc::new(Plan::new(&graph)?);
    if graph.was_instantiated() {
        graph.refuse_memory("is instantiated once only")?;
    }
    let handle = EXECUTABLES.insert(Arc::new(Executable {
        flags,
        state: Mutex::new(State { plan, last: None }),
    }));
    executable.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(crate) unsafe fn hipGraphInstantiateWithParams(
    executable: *mut hipGraphExec_t,
    graph: hipGraph_t,
    parameters: *mut hipGraphInstantiateParams,
) -> Result<(), Failure> {
    let mut p = read!(parameters);
    // SAFETY: the caller upholds the same contract.
    let made = unsafe { hipGraphInstantiateWithFlags(executable, graph, p.flags) };
    p.errNode_out = ptr::null_mut();
    // hipGraphInstantiateSuccess, hipGraphInstantiateError
    p.result_out = u32::from(made.is_err());
    out!(parameters).set(p);
    made
}

pub(crate) unsafe fn hipGraphExecGetFlags(
    executable: hipGraphExec_t,
    flags: *mut u64,
) -> Result<(), Failure> {
    let flags = out!(flags);
    flags.set(self::executable(executable)?.flags);
    Ok(())
}

pub(crate) unsafe fn hipGraphExecDestroy(executable: hipGraphExec_t) -> Result<(), Failure> {
    self::executable(executable)?;
    drop(EXECUTABLES.remove(executable.addr()));
    Ok(())
}

pub(crate) unsafe fn hipGraphUpload(
    executable: hipGraphExec_t,
    stream: hipStream_t,
) -> Result<(), Failure> {
    self::executable(executable)?;
    self::stream(stream).map(drop)
}

pub(crate) unsafe fn hipGraphLaunch(
    executable: hipGraphExec_t,
    stream: hipStream_t,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    let stream = self::stream(stream)?;
    let mut state = executable.state();
    let run = Operation::Graph(state.plan.clone());
    let memory = memory::Changes::of(&state.plan);
    if memory.any() {
        capture::refuse(
            &stream,
            "a graph with memory cannot be part of another graph",
        )?;
    }
    if capture::add(&stream, &run)? {
        return Ok(());
    }
    let automatic = executable.flags & hipGraphInstantiateFlagAutoFreeOnLaunch != 0;
    let left = memory.before(automatic)?;
    if let Some(last) = state.last.take().filter(|last| !last.is_over()) {
        stream.wait_for(last);
    }
    for memory in left {
        memory.forget();
        stream.enqueue(Operation::FreeGraphs(memory))?;
    }
    let (task, _) = stream.enqueue(run)?;
    memory.done();
    state.last = Some(Arc::clone(&task));
    let is_pageable = state.plan.is_pageable();
    drop(state);
    // CLR's copies of pageable memory are done when the call that submits them returns, those of graphs, too. The memory may
    // be gone or be read soon.
    match is_pageable {
        true => task.wait(),
        false => Ok(()),
    }
}

pub(crate) unsafe fn hipGraphExecUpdate(
    executable: hipGraphExec_t,
    graph: hipGraph_t,
    node: *mut hipGraphNode_t,
    result: *mut Update,
) -> Result<(), Failure> {
    let tell = |failed: usize, why: Update| -> Result<(), Failure> {
        if !node.is_null() {
            out!(node).set(ptr::without_provenance_mut(failed));
        }
        if !result.is_null() {
            out!(result).set(why);
        }
        Ok(())
    };
    let refused = |detail: std::fmt::Arguments<'_>| {
        Failure::new(hipError_t::hipErrorGraphExecUpdateFailure, detail)
    };
    let executable = self::executable(executable)?;
    let new = Plan::new(&*self::graph(graph)?)?;
    let mut state = executable.state();
    if !state.plan.has_shape_of(&new) {
        let node = state.plan.first_difference(&new);
        tell(node, Update::hipGraphExecUpdateErrorTopologyChanged)?;
        return Err(refused(format_args!(
            "the graph's nodes or dependencies differ from those of the instantiated graph"
        )));
    }
    let mut plan = Plan::clone(&state.plan);
    for (step, new) in plan.steps.iter_mut().zip(new.steps) {
        if step.node.kind() != new.node.kind() {
            tell(new.node.id, Update::hipGraphExecUpdateErrorNodeTypeChanged)?;
            return Err(refused(format_args!(
                "a node of kind {} replaces one of kind {}",
                new.node.kind().0,
                step.node.kind().0
            )));
        }
        if new.node.operation.is_memory()
            && !memory::is_same(&new.node.operation, &step.node.operation)
        {
            tell(new.node.id, Update::hipGraphExecUpdateErrorNotSupported)?;
            return Err(refused(format_args!(
                "an update cannot change the memory that a graph allocates or frees"
            )));
        }
        if let (Operation::Transfer(old), Operation::Transfer(copy)) =
            (&step.node.operation, &new.node.operation)
            && old.kind != copy.kind
        {
            tell(
                new.node.id,
                Update::hipGraphExecUpdateErrorParametersChanged,
            )?;
            return Err(refused(format_args!(
                "a copy of kind {} replaces one of kind {}",
                copy.kind.0, old.kind.0
            )));
        }
        step.node.operation = new.node.operation;
    }
    state.plan = Arc::new(plan);
    tell(0, Update::hipGraphExecUpdateSuccess)
}

/// Replaces the copy of a step by one of the same kind of copy.
fn replace_copy(node: &mut Node, transfer: Transfer) -> Result<(), Failure> {
    if let Operation::Transfer(old) = &node.operation
        && old.kind != transfer.kind
    {
        return Err(Failure::value(format_args!(
            "the copy is of kind {}, which cannot become {}",
            old.kind.0, transfer.kind.0
        )));
    }
    nodes::replace(node, Operation::Transfer(transfer))
}

/// A number that is no kind of copy is `hipErrorInvalidValue` here, as in CLR: it differs from the node's kind.
fn other_kind(failure: Failure) -> Failure {
    match failure.code {
        hipError_t::hipErrorInvalidMemcpyDirection => {
            failure.coded(hipError_t::hipErrorInvalidValue)
        }
        _ => failure,
    }
}

/// Checks that a side of a copy or memset stays on its device.
fn check_same_device(old: Side, new: Side) -> Result<(), Failure> {
    let device = |side: Side| match owner_of(side.address) {
        Ok(AddressOwner::Device(device, _)) => Ok(Some(device.ordinal)),
        Ok(AddressOwner::Host) => Ok(None),
        Err(failure) => Err(failure),
    };
    match (device(old)?, device(new)?) {
        (Some(old), Some(new)) if old != new => Err(Failure::value(format_args!(
            "the node's memory is on device {old}, the new one on device {new}"
        ))),
        _ => Ok(()),
    }
}

/// Replaces the memset of a step. It stays on its device, and one of several rows has the old one's size
/// (`GraphMemsetNode::SetParamsInternal` in CLR's `hip_graph_internal.hpp`).
fn replace_fill(node: &mut Node, fill: Fill) -> Result<(), Failure> {
    let size = |fill: &Fill| {
        let (_, extent, _, element_bytes) = fill.parts();
        [
            extent.width.saturating_mul(element_bytes),
            extent.height,
            extent.depth,
        ]
    };
    if let Operation::Fill(old) = &node.operation {
        check_same_device(old.parts().0, fill.parts().0)?;
    }
    if let Operation::Fill(old) = &node.operation
        && size(&fill)[1] > 1
        && size(&fill) != size(old)
    {
        return Err(Failure::value(format_args!(
            "the memset of {:?} bytes, rows and layers cannot become one of {:?}",
            size(old),
            size(&fill)
        )));
    }
    nodes::replace(node, Operation::Fill(fill))
}

/// Functions that replace a step's operation by one made from their other arguments.
macro_rules! sets {
    ($($name:ident($($argument:ident: $type:ty),*) = $operation:expr;)*) => {$(
        pub(in crate) unsafe fn $name(
            executable: hipGraphExec_t,
            node: hipGraphNode_t,
            $($argument: $type,)*
        ) -> Result<(), Failure> {
            let executable = self::executable(executable)?;
            // SAFETY: the caller upholds HIP's contract.
            let operation = unsafe { $operation }?;
            executable.change(node, |node, _| match operation {
                Operation::Transfer(transfer) => replace_copy(node, transfer),
                Operation::Fill(fill) => replace_fill(node, fill),
                operation => nodes::replace(node, operation),
            })
        }
    )*};
}

sets! {
    hipGraphExecMemcpyNodeSetParams(parameters: *mut hipMemcpy3DParms)
        = copy::from_3d(parameters).map(Operation::Transfer);
    hipDrvGraphExecMemcpyNodeSetParams(parameters: *const HIP_MEMCPY3D, ctx: hipCtx_t)
        = nodes::check_context(ctx).and_then(|()| copy::from_driver_3d(parameters)).map(Operation::Transfer);
    hipGraphExecMemsetNodeSetParams(parameters: *const hipMemsetParams) = nodes::memset(parameters);
    hipDrvGraphExecMemsetNodeSetParams(parameters: *const HIP_MEMSET_NODE_PARAMS, ctx: hipCtx_t)
        = nodes::check_context(ctx).and_then(|()| nodes::driver_memset(parameters));
    hipGraphExecHostNodeSetParams(parameters: *const hipHostNodeParams) = nodes::host(parameters);
}

/// Replaces a child graph by one with the same kinds of nodes and the same dependencies.
pub(crate) unsafe fn hipGraphExecChildGraphNodeSetParams(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    child: hipGraph_t,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    let child = graph(child)?;
    child.refuse_memory("cannot be part of another graph")?;
    let new = Plan::new(&child)?;
    executable.change(node, |node, _| {
        let old = graph(ptr::without_provenance_mut(node.child))?;
        if !Plan::new(&old)?.is_like(&new) {
            // CLR's code (`hipGraphExecChildGraphNodeSetParams` in `hip_graph.cpp`).
            return Err(Failure::new(
                hipError_t::hipErrorUnknown,
                "the graph's nodes or dependencies differ from those of the node's graph",
            ));
        }
        nodes::replace(node, Operation::Graph(Arc::new(new)))
    })
}

pub(crate) unsafe fn hipGraphExecKernelNodeSetParams(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    parameters: *const hipKernelNodeParams,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    // SAFETY: the caller upholds HIP's contract.
    let launch = unsafe { nodes::launch(parameters) }?;
    executable.change(node, |node, _| nodes::replace_launch(node, launch))
}

pub(crate) unsafe fn hipGraphExecMemcpyNodeSetParams1D(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    nodes::refuse_same(to, from)?;
    let transfer = copy::bytes(to, from, bytes, kind).map_err(other_kind)?;
    executable.change(node, |node, _| replace_copy(node, transfer))
}

pub(crate) unsafe fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    let transfer = copy::from_symbol(to, symbol, bytes, offset, kind).map_err(other_kind)?;
    executable.change(node, |node, _| {
        if let Operation::Transfer(old) = &node.operation {
            check_same_device(old.parts().0, transfer.parts().0)?;
        }
        replace_copy(node, transfer)
    })
}

pub(crate) unsafe fn hipGraphExecMemcpyNodeSetParamsToSymbol(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    let transfer = copy::to_symbol(symbol, from, bytes, offset, kind).map_err(other_kind)?;
    executable.change(node, |node, _| {
        if let Operation::Transfer(old) = &node.operation {
            check_same_device(old.parts().1, transfer.parts().1)?;
        }
        replace_copy(node, transfer)
    })
}

pub(crate) unsafe fn hipGraphExecEventRecordNodeSetEvent(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    of: hipEvent_t,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    let event = nodes::event_or_value(of)?;
    executable.change(node, |node, _| {
        nodes::replace(node, Operation::Record(event))
    })
}

pub(crate) unsafe fn hipGraphExecEventWaitNodeSetEvent(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    of: hipEvent_t,
) -> Result<(), Failure> {
    let executable = self::executable(executable)?;
    let event = nodes::event_or_value(of)?;
    executable.change(node, |node, _| nodes::replace(node, Operation::Wait(event)))
}

/// Only launches, copies and memsets can be disabled, while the graph has their nodes.
fn check_can_be_disabled(node: &Node) -> Result<(), Failure> {
    graph_of(ptr::without_provenance_mut(node.id))?;
    match node.operation {
        Operation::Launch(_) | Operation::Transfer(_) | Operation::Fill(_) => Ok(()),
        _ => Err(nodes::other_kind(node)),
    }
}

pub(crate) unsafe fn hipGraphNodeSetEnabled(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    enabled: c_uint,
) -> Result<(), Failure> {
    self::executable(executable)?.change(node, |node, is_enabled| {
        check_can_be_disabled(node)?;
        *is_enabled = enabled != 0;
        Ok(())
    })
}

pub(crate) unsafe fn hipGraphNodeGetEnabled(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    enabled: *mut c_uint,
) -> Result<(), Failure> {
    let enabled = out!(enabled);
    self::executable(executable)?.change(node, |node, is_enabled| {
        check_can_be_disabled(node)?;
        enabled.set(c_uint::from(*is_enabled));
        Ok(())
    })
}
