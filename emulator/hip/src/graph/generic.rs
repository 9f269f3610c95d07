//! Nodes of any kind from one struct, which names the kind.

use ferrowave_hip_abi::{
    hipError_t, hipEvent_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t, hipGraphNodeParams,
    hipGraphNodeType, hipMemcpy3DParms,
};

use super::{
    executable::{
        hipGraphExecChildGraphNodeSetParams, hipGraphExecEventRecordNodeSetEvent,
        hipGraphExecEventWaitNodeSetEvent, hipGraphExecHostNodeSetParams,
        hipGraphExecKernelNodeSetParams, hipGraphExecMemcpyNodeSetParams,
        hipGraphExecMemsetNodeSetParams,
    },
    memory::{hipGraphAddMemAllocNode, hipGraphAddMemFreeNode},
    nodes::{
        hipGraphAddChildGraphNode, hipGraphAddEmptyNode, hipGraphAddEventRecordNode,
        hipGraphAddEventWaitNode, hipGraphAddHostNode, hipGraphAddKernelNode,
        hipGraphAddMemcpyNode, hipGraphAddMemsetNode, hipGraphEventRecordNodeSetEvent,
        hipGraphEventWaitNodeSetEvent, hipGraphHostNodeSetParams, hipGraphKernelNodeSetParams,
        hipGraphMemcpyNodeSetParams, hipGraphMemsetNodeSetParams,
    },
};
use crate::error::{Failure, present};

/// Offset of the copy in the parameters of a copy node, behind its flags and reserved words (`hipMemcpyNodeParams`).
const COPY: usize = 16;

/// The parameters of one kind of node, which the struct holds in place.
struct Parameters(*mut hipGraphNodeParams);

impl Parameters {
    /// Rejects a pointer that cannot be to a struct.
    fn new(parameters: *mut hipGraphNodeParams) -> Result<Self, Failure> {
        present(parameters, "nodeParams")?;
        match parameters.is_aligned() {
            true => Ok(Parameters(parameters)),
            false => Err(Failure::value(format_args!(
                "nodeParams is {parameters:p}, which is not aligned"
            ))),
        }
    }

    /// # Safety
    /// The struct is valid.
    unsafe fn kind(&self) -> hipGraphNodeType {
        // SAFETY: guaranteed by the caller.
        unsafe { (*self.0).r#type }
    }

    /// The parameters as the kind's own struct.
    fn of<T>(&self) -> *mut T {
        // SAFETY: an address in the struct, which is not read.
        unsafe { (&raw mut (*self.0).parameters).cast() }
    }

    fn copy(&self) -> *mut hipMemcpy3DParms {
        self.of::<u8>().wrapping_add(COPY).cast()
    }
}

fn unknown(kind: hipGraphNodeType) -> Failure {
    Failure::value(format_args!("type {} is no kind of node", kind.0))
}

pub(crate) unsafe fn hipGraphAddNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    parameters: *mut hipGraphNodeParams,
) -> Result<(), Failure> {
    use hipGraphNodeType as Kind;
    let p = Parameters::new(parameters)?;
    // SAFETY: the caller upholds HIP's contract: the struct is valid, and holds what its kind says.
    unsafe {
        match p.kind() {
            Kind::hipGraphNodeTypeKernel => hipGraphAddKernelNode(node, graph, list, count, p.of()),
            Kind::hipGraphNodeTypeMemcpy => {
                hipGraphAddMemcpyNode(node, graph, list, count, p.copy())
            }
            Kind::hipGraphNodeTypeMemset => hipGraphAddMemsetNode(node, graph, list, count, p.of()),
            Kind::hipGraphNodeTypeHost => hipGraphAddHostNode(node, graph, list, count, p.of()),
            Kind::hipGraphNodeTypeGraph => {
                hipGraphAddChildGraphNode(node, graph, list, count, *p.of::<hipGraph_t>())
            }
            Kind::hipGraphNodeTypeEmpty => hipGraphAddEmptyNode(node, graph, list, count),
            Kind::hipGraphNodeTypeWaitEvent => {
                hipGraphAddEventWaitNode(node, graph, list, count, *p.of::<hipEvent_t>())
            }
            Kind::hipGraphNodeTypeEventRecord => {
                hipGraphAddEventRecordNode(node, graph, list, count, *p.of::<hipEvent_t>())
            }
            Kind::hipGraphNodeTypeMemAlloc => {
                hipGraphAddMemAllocNode(node, graph, list, count, p.of())
            }
            Kind::hipGraphNodeTypeMemFree => {
                hipGraphAddMemFreeNode(node, graph, list, count, *p.of())
            }
            kind => Err(refused(kind, "added")),
        }
    }
}

pub(crate) unsafe fn hipGraphNodeSetParams(
    node: hipGraphNode_t,
    parameters: *mut hipGraphNodeParams,
) -> Result<(), Failure> {
    use hipGraphNodeType as Kind;
    let p = Parameters::new(parameters)?;
    // SAFETY: the caller upholds HIP's contract: the struct is valid, and holds what its kind says.
    unsafe {
        match p.kind() {
            Kind::hipGraphNodeTypeKernel => hipGraphKernelNodeSetParams(node, p.of()),
            Kind::hipGraphNodeTypeMemcpy => hipGraphMemcpyNodeSetParams(node, p.copy()),
            Kind::hipGraphNodeTypeMemset => hipGraphMemsetNodeSetParams(node, p.of()),
            Kind::hipGraphNodeTypeHost => hipGraphHostNodeSetParams(node, p.of()),
            Kind::hipGraphNodeTypeWaitEvent => {
                hipGraphEventWaitNodeSetEvent(node, *p.of::<hipEvent_t>())
            }
            Kind::hipGraphNodeTypeEventRecord => {
                hipGraphEventRecordNodeSetEvent(node, *p.of::<hipEvent_t>())
            }
            kind => Err(refused(kind, "changed")),
        }
    }
}

pub(crate) unsafe fn hipGraphExecNodeSetParams(
    executable: hipGraphExec_t,
    node: hipGraphNode_t,
    parameters: *mut hipGraphNodeParams,
) -> Result<(), Failure> {
    use hipGraphNodeType as Kind;
    let p = Parameters::new(parameters)?;
    // SAFETY: the caller upholds HIP's contract: the struct is valid, and holds what its kind says.
    unsafe {
        match p.kind() {
            Kind::hipGraphNodeTypeKernel => {
                hipGraphExecKernelNodeSetParams(executable, node, p.of())
            }
            Kind::hipGraphNodeTypeMemcpy => {
                hipGraphExecMemcpyNodeSetParams(executable, node, p.copy())
            }
            Kind::hipGraphNodeTypeMemset => {
                hipGraphExecMemsetNodeSetParams(executable, node, p.of())
            }
            Kind::hipGraphNodeTypeHost => hipGraphExecHostNodeSetParams(executable, node, p.of()),
            Kind::hipGraphNodeTypeGraph => {
                hipGraphExecChildGraphNodeSetParams(executable, node, *p.of::<hipGraph_t>())
            }
            Kind::hipGraphNodeTypeWaitEvent => {
                hipGraphExecEventWaitNodeSetEvent(executable, node, *p.of::<hipEvent_t>())
            }
            Kind::hipGraphNodeTypeEventRecord => {
                hipGraphExecEventRecordNodeSetEvent(executable, node, *p.of::<hipEvent_t>())
            }
            kind => Err(refused(kind, "changed")),
        }
    }
}

/// The error for a kind that a function does not take, with CLR's codes.
fn refused(kind: hipGraphNodeType, done: &str) -> Failure {
    use hipGraphNodeType as Kind;
    match kind {
        Kind::hipGraphNodeTypeGraph
        | Kind::hipGraphNodeTypeMemAlloc
        | Kind::hipGraphNodeTypeMemFree
        | Kind::hipGraphNodeTypeExtSemaphoreSignal
        | Kind::hipGraphNodeTypeExtSemaphoreWait => Failure::new(
            hipError_t::hipErrorNotSupported,
            format_args!("nodes of kind {} cannot be {done} by this function", kind.0),
        ),
        kind => unknown(kind),
    }
}
