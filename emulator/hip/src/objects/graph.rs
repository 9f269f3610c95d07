//! Graphs, their nodes and dependencies.

use std::{
    ffi::c_int,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use ferrowave_hip_abi::{
    HIP_MEMCPY3D, hipAccessPolicyWindow, hipError_t, hipGraph_t, hipGraphNode_t, hipGraphNodeType,
    hipMemcpy3DParms,
};

use super::{operation::Operation, user_object::Held};
use crate::{
    error::Failure,
    handles::{self, Handles},
    list::list,
};

/// A node of a graph.
#[derive(Clone)]
pub(crate) struct Node {
    /// Its handle.
    pub(crate) id: usize,
    pub(crate) operation: Operation,
    /// Handles of the nodes that it depends on.
    pub(crate) dependencies: Vec<usize>,
    /// The node that it was copied from.
    pub(crate) copy_of: Option<usize>,
    /// For a launch: the kernel handle that the program passed.
    pub(crate) named: usize,
    /// For a launch whose parameters were queried: the address of each argument.
    pub(crate) arguments: Arc<[usize]>,
    /// For a child graph: the handle of the node's copy.
    pub(crate) child: usize,
    /// For a launch: the attribute that was set last.
    pub(crate) attribute: Option<Attribute>,
    /// For a copy that a struct described: the struct.
    pub(crate) described: Option<Described>,
}

/// A program's struct for a copy.
#[derive(Clone, Copy)]
pub(crate) enum Described {
    Runtime(hipMemcpy3DParms),
    Driver(HIP_MEMCPY3D),
}

// SAFETY: the addresses are given back to the program, and not used.
unsafe impl Send for Described {}

// SAFETY: as above.
unsafe impl Sync for Described {}

/// An attribute of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attribute {
    Window(hipAccessPolicyWindow),
    Cooperative(c_int),
    Priority(c_int),
}

impl Node {
    pub(crate) fn kind(&self) -> hipGraphNodeType {
        match self.operation {
            Operation::Launch(_) => hipGraphNodeType::hipGraphNodeTypeKernel,
            Operation::Transfer(_) => hipGraphNodeType::hipGraphNodeTypeMemcpy,
            Operation::Fill(_) => hipGraphNodeType::hipGraphNodeTypeMemset,
            Operation::Host(_) | Operation::Callback(_) => hipGraphNodeType::hipGraphNodeTypeHost,
            Operation::Graph(_) => hipGraphNodeType::hipGraphNodeTypeGraph,
            Operation::Wait(_) => hipGraphNodeType::hipGraphNodeTypeWaitEvent,
            Operation::Record(_) => hipGraphNodeType::hipGraphNodeTypeEventRecord,
            Operation::Allocate(_) => hipGraphNodeType::hipGraphNodeTypeMemAlloc,
            Operation::FreeGraphs(_) => hipGraphNodeType::hipGraphNodeTypeMemFree,
            Operation::Value(_) => hipGraphNodeType::hipGraphNodeTypeBatchMemOp,
            Operation::Nothing | Operation::Free(_) => hipGraphNodeType::hipGraphNodeTypeEmpty,
        }
    }
}

/// A graph.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Mutex<Vec<Node>>,
    is_instantiated: AtomicBool,
    /// References to objects of the program.
    pub(crate) user_objects: Held,
}

/// The graph that contains a node.
pub(crate) struct NodeOf(Weak<Graph>);

/// Graphs by handle.
pub(crate) static GRAPHS: LazyLock<Handles<Graph>> = LazyLock::new(Handles::new);

/// Nodes of graphs by handle.
pub(crate) static NODES: LazyLock<Handles<NodeOf>> = LazyLock::new(Handles::new);

impl Graph {
    pub(crate) fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        // A poisoned lock is ignored: the state is valid between statements.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that it is instantiated. Returns whether it was before.
    pub(crate) fn was_instantiated(&self) -> bool {
        self.is_instantiated.swap(true, Ordering::Relaxed)
    }

    /// Adds a node with dependencies in this graph, and returns its handle.
    pub(crate) fn add(self: &Arc<Self>, operation: Operation, dependencies: Vec<usize>) -> usize {
        let id = handles::unused();
        self.push(Node {
            id,
            operation,
            dependencies,
            copy_of: None,
            named: 0,
            arguments: Arc::new([]),
            child: 0,
            attribute: None,
            described: None,
        });
        id
    }

    fn push(self: &Arc<Self>, node: Node) {
        let reference = Arc::new(NodeOf(Arc::downgrade(self)));
        NODES.insert_at(node.id, reference);
        self.nodes().push(node);
    }

    /// Changes a node.
    pub(crate) fn change<R>(
        &self,
        id: usize,
        change: impl FnOnce(&mut Node) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mut nodes = self.nodes();
        let node = nodes.iter_mut().find(|node| node.id == id);
        change(node.ok_or_else(|| no_node(id))?)
    }

    /// Copies the graph; the nodes get new handles.
    pub(crate) fn copy(&self) -> Arc<Self> {
        let nodes = self.nodes().clone();
        let ids: Vec<_> = nodes.iter().map(|_| handles::unused()).collect();
        let renamed = |old: &usize| {
            let index = nodes.iter().position(|node| node.id == *old);
            index.map(|index| ids[index])
        };
        let copy = Arc::new(Graph::default());
        for (node, &id) in nodes.iter().zip(&ids) {
            copy.push(Node {
                id,
                dependencies: node.dependencies.iter().filter_map(renamed).collect(),
                copy_of: Some(node.id),
                ..node.clone()
            });
        }
        copy
    }

    /// Rejects a graph that allocates or frees memory, because its copy would share the memory.
    pub(crate) fn refuse_memory(&self, why: &str) -> Result<(), Failure> {
        match self.nodes().iter().any(|node| node.operation.is_memory()) {
            true => Err(Failure::new(
                hipError_t::hipErrorNotSupported,
                format_args!("the graph allocates or frees memory, and {why}"),
            )),
            false => Ok(()),
        }
    }

    /// Handles of the nodes that no other node depends on.
    pub(crate) fn leaves(&self) -> Vec<usize> {
        let nodes = self.nodes();
        let waited: Vec<_> = nodes
            .iter()
            .flat_map(|node| node.dependencies.iter().copied())
            .collect();
        let ids = nodes.iter().map(|node| node.id);
        ids.filter(|id| !waited.contains(id)).collect()
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let nodes = self.nodes.get_mut().unwrap_or_else(PoisonError::into_inner);
        nodes.iter().for_each(forget);
    }
}

/// Removes a node's handle and that of its child graph.
pub(crate) fn forget(node: &Node) {
    NODES.remove(node.id);
    GRAPHS.remove(node.child);
}

fn no_node(id: usize) -> Failure {
    // HIP's code for a stale node or graph differs from that for other handles.
    Failure::value(format_args!("{id:#x} is not a node, or was destroyed"))
}

/// The graph of a handle.
pub(crate) fn graph(handle: hipGraph_t) -> Result<Arc<Graph>, Failure> {
    let found = GRAPHS.get(handle.addr());
    found.ok_or_else(|| {
        Failure::value(format_args!(
            "{:#x} is not a graph, or was destroyed",
            handle.addr()
        ))
    })
}

/// The graph of a node's handle.
pub(crate) fn graph_of(node: hipGraphNode_t) -> Result<Arc<Graph>, Failure> {
    let found = NODES.get(node.addr());
    found
        .and_then(|node| node.0.upgrade())
        .ok_or_else(|| no_node(node.addr()))
}

/// Accesses a node.
pub(crate) fn with_node<R>(
    node: hipGraphNode_t,
    with: impl FnOnce(&mut Node) -> Result<R, Failure>,
) -> Result<R, Failure> {
    graph_of(node)?.change(node.addr(), with)
}

/// The nodes of a list, which must belong to `graph`.
///
/// # Safety
/// `list` is null or has `count` nodes.
pub(crate) unsafe fn listed(
    graph: &Graph,
    list: *const hipGraphNode_t,
    count: usize,
) -> Result<Vec<usize>, Failure> {
    // SAFETY: guaranteed by the caller.
    let list = unsafe { self::list(list, count, "the list of nodes") }?;
    let nodes = graph.nodes();
    let mut ids = Vec::new();
    for id in list.into_iter().map(|node| node.addr()) {
        if !nodes.iter().any(|node| node.id == id) {
            return Err(Failure::value(format_args!(
                "{id:#x} is not a node of this graph"
            )));
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}
