//! Graphs: work and its order, kept to be run many times.
//!
//! | room | what is in it |
//! |---|---|
//! | this file | graphs, their nodes and dependencies |
//! | `memory` | memory that graphs allocate and free |
//! | `plan` | a graph in an order in which it can be run |
//! | `nodes` | adding nodes, and what they were given |
//! | `look` | asking a graph what it holds |
//! | `executable` | graphs ready to launch |
//! | [`capture`] | streams whose work goes to a graph |

pub(super) mod capture;
pub(super) mod executable;
pub(super) mod look;
pub(super) mod memory;
pub(super) mod nodes;
mod plan;

use std::{
    ffi::c_uint,
    ptr,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak},
};

use ferrowave_hip_abi::{hipGraph_t, hipGraphNode_t, hipGraphNodeType};

pub(super) use plan::Plan;

use super::{
    error::{Failure, out},
    handles::{self, Handles},
    operation::Operation,
};

/// A piece of a graph's work.
#[derive(Clone)]
pub(super) struct Node {
    /// Its handle.
    pub(super) id: usize,
    pub(super) operation: Operation,
    /// Handles of the nodes that it waits for.
    pub(super) dependencies: Vec<usize>,
    /// The node that it is a copy of.
    copy_of: Option<usize>,
    /// For a launch: the kernel as the program named it.
    named: usize,
    /// For a launch whose parameters were asked for: the address of each argument.
    arguments: Arc<[usize]>,
    /// For another graph: the handle of the copy that the node holds.
    child: usize,
}

impl Node {
    fn kind(&self) -> hipGraphNodeType {
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
            Operation::Nothing | Operation::Free(_) => hipGraphNodeType::hipGraphNodeTypeEmpty,
        }
    }
}

/// A graph.
#[derive(Default)]
pub(super) struct Graph(Mutex<Vec<Node>>);

/// Where a node's handle leads.
pub(super) struct NodeOf(Weak<Graph>);

/// Graphs by handle.
pub(super) static GRAPHS: LazyLock<Handles<Graph>> = LazyLock::new(Handles::new);

/// Nodes of graphs by handle.
pub(super) static NODES: LazyLock<Handles<NodeOf>> = LazyLock::new(Handles::new);

impl Graph {
    pub(super) fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        // Whole between statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a node that waits for others of this graph, and returns its handle.
    pub(super) fn add(self: &Arc<Self>, operation: Operation, dependencies: Vec<usize>) -> usize {
        let id = handles::unused();
        self.push(Node {
            id,
            operation,
            dependencies,
            copy_of: None,
            named: 0,
            arguments: Arc::new([]),
            child: 0,
        });
        id
    }

    fn push(self: &Arc<Self>, node: Node) {
        let reference = Arc::new(NodeOf(Arc::downgrade(self)));
        NODES.insert_at(node.id, reference);
        self.nodes().push(node);
    }

    /// Changes a node.
    fn change<R>(
        &self,
        id: usize,
        change: impl FnOnce(&mut Node) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mut nodes = self.nodes();
        let node = nodes.iter_mut().find(|node| node.id == id);
        change(node.ok_or_else(|| no_node(id))?)
    }

    /// A copy with handles of its own.
    pub(super) fn copy(&self) -> Arc<Self> {
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

    /// Handles of the nodes that no other waits for.
    fn leaves(&self) -> Vec<usize> {
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
        let nodes = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        nodes.iter().for_each(forget);
    }
}

/// Takes a node's handle away, and that of the graph that it holds.
fn forget(node: &Node) {
    NODES.remove(node.id);
    GRAPHS.remove(node.child);
}

fn no_node(id: usize) -> Failure {
    // HIP's code for a node or graph that is none is not that of other handles.
    Failure::value(format_args!(
        "{id:#x} is no node, or one that was destroyed"
    ))
}

/// The graph of a handle.
pub(super) fn graph(handle: hipGraph_t) -> Result<Arc<Graph>, Failure> {
    let found = GRAPHS.get(handle.addr());
    found.ok_or_else(|| {
        Failure::value(format_args!(
            "{:#x} is no graph, or one that was destroyed",
            handle.addr()
        ))
    })
}

/// The graph of a node's handle.
fn graph_of(node: hipGraphNode_t) -> Result<Arc<Graph>, Failure> {
    let found = NODES.get(node.addr());
    found
        .and_then(|node| node.0.upgrade())
        .ok_or_else(|| no_node(node.addr()))
}

/// Looks at a node, or changes it.
fn with_node<R>(
    node: hipGraphNode_t,
    with: impl FnOnce(&mut Node) -> Result<R, Failure>,
) -> Result<R, Failure> {
    graph_of(node)?.change(node.addr(), with)
}

/// The nodes of a list, which must be of a graph.
///
/// # Safety
/// `list` is null or has `count` nodes.
unsafe fn listed(
    graph: &Graph,
    list: *const hipGraphNode_t,
    count: usize,
) -> Result<Vec<usize>, Failure> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if list.is_null() {
        return Err(Failure::value(format_args!(
            "the list of {count} nodes is null"
        )));
    }
    let nodes = graph.nodes();
    let mut ids = Vec::new();
    for index in 0..count {
        // SAFETY: the caller's promise.
        let id = unsafe { list.add(index).read_unaligned() }.addr();
        if !nodes.iter().any(|node| node.id == id) {
            return Err(Failure::value(format_args!(
                "{id:#x} is no node of this graph"
            )));
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

pub(super) unsafe fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> Result<(), Failure> {
    let graph = out!(graph);
    if flags != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0"
        )));
    }
    let handle = GRAPHS.insert(Arc::new(Graph::default()));
    graph.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(super) unsafe fn hipGraphDestroy(graph: hipGraph_t) -> Result<(), Failure> {
    self::graph(graph)?;
    // What is captured or copied into others goes on.
    drop(GRAPHS.remove(graph.addr()));
    Ok(())
}

pub(super) unsafe fn hipGraphClone(
    clone: *mut hipGraph_t,
    original: hipGraph_t,
) -> Result<(), Failure> {
    let clone = out!(clone);
    let original = graph(original)?;
    memory::refuse_memory(&original, "cannot be cloned")?;
    let copy = original.copy();
    clone.set(ptr::without_provenance_mut(GRAPHS.insert(copy)));
    Ok(())
}

pub(super) unsafe fn hipGraphDestroyNode(node: hipGraphNode_t) -> Result<(), Failure> {
    memory::refuse_to_destroy(node)?;
    let graph = graph_of(node)?;
    let gone: Vec<_> = {
        let mut nodes = graph.nodes();
        for other in nodes.iter_mut() {
            other.dependencies.retain(|&id| id != node.addr());
        }
        let is_it = |other: &mut Node| other.id == node.addr();
        nodes.extract_if(.., is_it).collect()
    };
    for node in gone {
        forget(&node);
    }
    Ok(())
}

pub(super) unsafe fn hipGraphAddDependencies(
    graph: hipGraph_t,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    // SAFETY: HIP's contract.
    for (from, to) in unsafe { edges(&graph, from, to, count) }? {
        let before = graph.nodes().clone();
        graph.change(to, |node| {
            if !node.dependencies.contains(&from) {
                node.dependencies.push(from);
            }
            Ok(())
        })?;
        if Plan::new(&graph).is_err() {
            *graph.nodes() = before;
            return Err(Failure::value(format_args!(
                "node {to:#x} would wait for itself through {from:#x}"
            )));
        }
    }
    Ok(())
}

/// Pairs of nodes of a graph.
///
/// # Safety
/// Each list is null or has `count` nodes.
unsafe fn edges(
    graph: &Graph,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> Result<Vec<(usize, usize)>, Failure> {
    let mut edges = Vec::new();
    if count > 0 && (from.is_null() || to.is_null()) {
        return Err(Failure::value(format_args!(
            "a list of {count} nodes is null"
        )));
    }
    for index in 0..count {
        // SAFETY: the caller's promise.
        let (from, to) = unsafe {
            (
                listed(graph, from.add(index), 1)?,
                listed(graph, to.add(index), 1)?,
            )
        };
        edges.push((from[0], to[0]));
    }
    Ok(edges)
}

pub(super) unsafe fn hipGraphRemoveDependencies(
    graph: hipGraph_t,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    // SAFETY: HIP's contract.
    for (from, to) in unsafe { edges(&graph, from, to, count) }? {
        graph.change(to, |node| {
            node.dependencies.retain(|&id| id != from);
            Ok(())
        })?;
    }
    Ok(())
}
