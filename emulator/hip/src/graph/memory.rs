//! Memory that graphs allocate and free.
//!
//! Its address is assigned when the allocation node is added, and stays the same for every launch. The memory exists
//! only from when the allocation node has run until it is freed: by a node of this or another graph, by a call, or by
//! the next launch of a graph instantiated with `hipGraphInstantiateFlagAutoFreeOnLaunch`.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::Arc,
};

use ferrowave_hip_abi::{
    hipDeviceptr_t, hipError_t, hipGraph_t, hipGraphMemAttributeType as Attribute, hipGraphNode_t,
    hipMemAllocNodeParams, hipMemLocation, hipMemLocationType, hipMemPoolProps,
};

use super::nodes::{add, other_kind};
use crate::{
    error::{Failure, out, read},
    objects::{
        graph::{Graph, graph, graph_of, with_node},
        graph_memory::GraphMemory,
        operation::Operation,
        plan::Plan,
    },
    runtime::{Device, Runtime},
};

/// `hipMemAllocationTypePinned`.
const PINNED: u32 = 1;

/// The effect of one launch on memory: allocations that remain after it, and frees of memory that existed before it.
pub(super) struct Changes {
    leaves: Vec<GraphMemory>,
    frees: Vec<GraphMemory>,
    /// All allocations of the launch.
    allocates: Vec<GraphMemory>,
}

impl Changes {
    pub(super) fn of(plan: &Plan) -> Self {
        let enabled = || plan.steps.iter().filter(|step| step.enabled);
        let allocates: Vec<_> = enabled()
            .filter_map(|step| match &step.node.operation {
                Operation::Allocate(memory) => Some(memory.clone()),
                _ => None,
            })
            .collect();
        let freed: Vec<_> = enabled()
            .filter_map(|step| match &step.node.operation {
                Operation::FreeGraphs(memory) => Some(memory.clone()),
                _ => None,
            })
            .collect();
        let is_among =
            |list: &[GraphMemory], memory: &GraphMemory| list.iter().any(|other| other.is(memory));
        let leaves = allocates.iter().filter(|memory| !is_among(&freed, memory));
        Changes {
            leaves: leaves.cloned().collect(),
            frees: freed
                .into_iter()
                .filter(|memory| !is_among(&allocates, memory))
                .collect(),
            allocates,
        }
    }

    /// Whether the launch allocates or frees memory.
    pub(super) fn any(&self) -> bool {
        !self.allocates.is_empty() || !self.frees.is_empty()
    }

    /// The memory to free before a launch if `automatic` is set. An error if the launch is not allowed.
    pub(super) fn before(&self, automatic: bool) -> Result<Vec<GraphMemory>, Failure> {
        let is_there = |memory: &&GraphMemory| memory.is_allocated();
        if let Some(missing) = self.frees.iter().find(|memory| !is_there(memory)) {
            return Err(missing.not_allocated());
        }
        let there: Vec<_> = self.allocates.iter().filter(is_there).cloned().collect();
        match there.first() {
            Some(memory) if !automatic => Err(Failure::value(format_args!(
                "{:p}, which the graph allocates, is still allocated from its last launch; free it, or instantiate the \
                 graph with hipGraphInstantiateFlagAutoFreeOnLaunch",
                memory.address()
            ))),
            _ => Ok(there),
        }
    }

    /// Records that a launch was submitted.
    pub(super) fn done(&self) {
        for memory in &self.leaves {
            memory.will_be_allocated();
        }
        for memory in &self.frees {
            memory.forget();
        }
    }
}

/// Whether two operations both allocate, or both free, the same memory.
pub(super) fn is_same(one: &Operation, other: &Operation) -> bool {
    match (one, other) {
        (Operation::Allocate(one), Operation::Allocate(other))
        | (Operation::FreeGraphs(one), Operation::FreeGraphs(other)) => one.is(other),
        _ => false,
    }
}

/// The device of an allocation, if it can be allocated there. The list of accesses is not looked at, as in CLR: other devices
/// reach the memory if they have peer access.
fn device_of(parameters: &hipMemAllocNodeParams) -> Result<Arc<Device>, Failure> {
    let properties = parameters.poolProps;
    if properties.allocType != PINNED {
        return Err(Failure::value(format_args!(
            "poolProps.allocType is {}, but must be {PINNED} (hipMemAllocationTypePinned)",
            properties.allocType
        )));
    }
    if properties.location.r#type != hipMemLocationType::hipMemLocationTypeDevice {
        return Err(Failure::value(format_args!(
            "poolProps.location.type is {}, but must be 1 (hipMemLocationTypeDevice)",
            properties.location.r#type.0
        )));
    }
    let device = Runtime::get().device(properties.location.id);
    let device = device.map_err(|failure| failure.coded(hipError_t::hipErrorInvalidValue))?;
    Ok(device)
}

pub(crate) unsafe fn hipGraphAddMemAllocNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    parameters: *mut hipMemAllocNodeParams,
) -> Result<(), Failure> {
    let mut given = read!(parameters);
    if given.bytesize == 0 {
        return Err(Failure::value("bytesize is 0"));
    }
    let device = device_of(&given)?;
    let accesses = (given.accessDescs.expose_provenance(), given.accessDescCount);
    let memory = GraphMemory::new(&device, given.bytesize, accesses)?;
    given.dptr = memory.address();
    // SAFETY: the caller upholds HIP's contract.
    unsafe { add(node, graph, list, count, || Ok(Operation::Allocate(memory))) }?;
    out!(parameters).set(given);
    Ok(())
}

pub(crate) unsafe fn hipGraphMemAllocNodeGetParams(
    node: hipGraphNode_t,
    parameters: *mut hipMemAllocNodeParams,
) -> Result<(), Failure> {
    let parameters = out!(parameters);
    with_node(node, |node| {
        let Operation::Allocate(memory) = &node.operation else {
            return Err(other_kind(node));
        };
        // The list is the program's own, as in CLR.
        let (list, count) = memory.accesses();
        parameters.set(hipMemAllocNodeParams {
            poolProps: hipMemPoolProps {
                allocType: PINNED,
                location: hipMemLocation {
                    r#type: hipMemLocationType::hipMemLocationTypeDevice,
                    id: memory.device.ordinal,
                },
                ..hipMemPoolProps::ZERO
            },
            accessDescs: ptr::with_exposed_provenance(list),
            accessDescCount: count,
            bytesize: memory.bytes(),
            dptr: memory.address(),
        });
        Ok(())
    })
}

pub(crate) unsafe fn hipGraphAddMemFreeNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    address: *mut c_void,
) -> Result<(), Failure> {
    let freed_in = self::graph(graph)?;
    let work = || free_in(&freed_in, address);
    // SAFETY: the caller upholds HIP's contract.
    unsafe { add(node, graph, list, count, work) }.map(drop)
}

/// A free of a graph's memory as an operation of `graph`, which must not free it already.
pub(crate) fn free_in(graph: &Graph, address: *mut c_void) -> Result<Operation, Failure> {
    let memory = GraphMemory::find(address).ok_or_else(|| {
        Failure::value(format_args!(
            "{address:p} is not the memory of a graph (hipGraphAddMemAllocNode, or hipMallocAsync in a capture)"
        ))
    })?;
    let frees_it = |operation: &Operation| match operation {
        Operation::FreeGraphs(freed) => freed.is(&memory),
        _ => false,
    };
    if graph.nodes().iter().any(|node| frees_it(&node.operation)) {
        return Err(Failure::value(format_args!(
            "{address:p} is freed in this graph already"
        )));
    }
    Ok(Operation::FreeGraphs(memory))
}

pub(crate) unsafe fn hipDrvGraphAddMemFreeNode(
    node: *mut hipGraphNode_t,
    graph: hipGraph_t,
    list: *const hipGraphNode_t,
    count: usize,
    address: hipDeviceptr_t,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds the same contract.
    unsafe { hipGraphAddMemFreeNode(node, graph, list, count, address) }
}

pub(crate) unsafe fn hipGraphMemFreeNodeGetParams(
    node: hipGraphNode_t,
    address: *mut c_void,
) -> Result<(), Failure> {
    let address = address.cast::<*mut c_void>();
    let address = out!(address);
    with_node(node, |node| {
        let Operation::FreeGraphs(memory) = &node.operation else {
            return Err(other_kind(node));
        };
        address.set(memory.address());
        Ok(())
    })
}

/// Rejects removing a node that allocates or frees memory.
pub(super) fn refuse_to_destroy(node: hipGraphNode_t) -> Result<(), Failure> {
    let graph = graph_of(node)?;
    let nodes = graph.nodes();
    let found = nodes.iter().find(|other| other.id == node.addr());
    match found.is_some_and(|node| node.operation.is_memory()) {
        true => Err(Failure::new(
            hipError_t::hipErrorNotSupported,
            "a node that allocates or frees memory stays in its graph",
        )),
        false => Ok(()),
    }
}

fn unknown(attribute: Attribute) -> Failure {
    Failure::value(format_args!(
        "{} is not an attribute of graph memory; expected 0 to 3",
        attribute.0
    ))
}

pub(crate) unsafe fn hipDeviceGetGraphMemAttribute(
    device: c_int,
    attribute: Attribute,
    value: *mut c_void,
) -> Result<(), Failure> {
    let value = value.cast::<u64>();
    let value = out!(value);
    let memories = &Runtime::get().device(device)?.graph_memories;
    let count = match attribute {
        Attribute::hipGraphMemAttrUsedMemCurrent => memories.used.now(),
        Attribute::hipGraphMemAttrUsedMemHigh => memories.used.high(),
        Attribute::hipGraphMemAttrReservedMemCurrent => memories.reserved.now(),
        Attribute::hipGraphMemAttrReservedMemHigh => memories.reserved.high(),
        _ => return Err(unknown(attribute)),
    };
    value.set(count);
    Ok(())
}

pub(crate) unsafe fn hipDeviceSetGraphMemAttribute(
    device: c_int,
    attribute: Attribute,
    value: *mut c_void,
) -> Result<(), Failure> {
    let value = value.cast::<u64>();
    let memories = &Runtime::get().device(device)?.graph_memories;
    let count = match attribute {
        Attribute::hipGraphMemAttrUsedMemHigh => &memories.used,
        Attribute::hipGraphMemAttrReservedMemHigh => &memories.reserved,
        Attribute::hipGraphMemAttrUsedMemCurrent | Attribute::hipGraphMemAttrReservedMemCurrent => {
            return Err(Failure::value(
                "current values cannot be set; only the maxima can, to 0",
            ));
        }
        _ => return Err(unknown(attribute)),
    };
    // Read only if it is used: as in CLR, other attributes may come with any pointer.
    let value = read!(value);
    if value != 0 {
        return Err(Failure::value(format_args!(
            "the maximum can only be set to 0, not to {value}"
        )));
    }
    count.reset_high();
    Ok(())
}

/// Has no effect: unallocated memory takes no space, and graphs keep their addresses.
pub(crate) unsafe fn hipDeviceGraphMemTrim(device: c_int) -> Result<(), Failure> {
    Runtime::get().device(device).map(drop)
}
