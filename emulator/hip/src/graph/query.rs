//! Queries of a graph.

use std::ptr;

use ferrowave_hip_abi::{hipGraph_t, hipGraphNode_t, hipGraphNodeType};

use crate::{
    error::{Failure, out, read},
    list::has_room,
    objects::graph::{Graph, graph, graph_of, with_node},
};

/// Writes a list of nodes up to the list's capacity, and null to the remaining elements. If `list` is null, writes only
/// their number.
///
/// # Safety
/// `count` is null, or points to the capacity of `list` unless `list` is null.
unsafe fn give(ids: &[usize], list: *mut hipGraphNode_t, count: *mut usize) -> Result<(), Failure> {
    if !list.is_null() {
        let room = read!(count);
        has_room(list, room, "the list of nodes")?;
        for index in 0..room {
            let id = ids.get(index).copied().unwrap_or_default();
            // SAFETY: guaranteed by the caller.
            unsafe {
                list.add(index)
                    .write_unaligned(ptr::without_provenance_mut(id));
            }
        }
        out!(count).set(room.min(ids.len()));
        return Ok(());
    }
    out!(count).set(ids.len());
    Ok(())
}

fn ids(graph: &Graph) -> Vec<usize> {
    graph.nodes().iter().map(|node| node.id).collect()
}

pub(crate) unsafe fn hipGraphGetNodes(
    graph: hipGraph_t,
    list: *mut hipGraphNode_t,
    count: *mut usize,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { give(&ids(&graph), list, count) }
}

pub(crate) unsafe fn hipGraphGetRootNodes(
    graph: hipGraph_t,
    list: *mut hipGraphNode_t,
    count: *mut usize,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    let nodes = graph.nodes();
    let roots = nodes.iter().filter(|node| node.dependencies.is_empty());
    let roots: Vec<_> = roots.map(|node| node.id).collect();
    // SAFETY: the caller upholds HIP's contract.
    unsafe { give(&roots, list, count) }
}

pub(crate) unsafe fn hipGraphGetEdges(
    graph: hipGraph_t,
    from: *mut hipGraphNode_t,
    to: *mut hipGraphNode_t,
    count: *mut usize,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    let nodes = graph.nodes();
    let edges: Vec<(usize, usize)> = nodes
        .iter()
        .flat_map(|node| node.dependencies.iter().map(|&from| (from, node.id)))
        .collect();
    if from.is_null() != to.is_null() {
        return Err(Failure::value("one of the two lists is null"));
    }
    let mut room = if count.is_null() { 0 } else { read!(count) };
    let (starts, ends): (Vec<_>, Vec<_>) = edges.into_iter().unzip();
    // SAFETY: the caller upholds HIP's contract; the first call changes the count.
    unsafe {
        give(&starts, from, count)?;
        if !to.is_null() {
            give(&ends, to, &raw mut room)?;
        }
    }
    Ok(())
}

pub(crate) unsafe fn hipGraphNodeGetType(
    node: hipGraphNode_t,
    kind: *mut hipGraphNodeType,
) -> Result<(), Failure> {
    let kind = out!(kind);
    kind.set(with_node(node, |node| Ok(node.kind()))?);
    Ok(())
}

pub(crate) unsafe fn hipGraphNodeGetDependencies(
    node: hipGraphNode_t,
    list: *mut hipGraphNode_t,
    count: *mut usize,
) -> Result<(), Failure> {
    let dependencies = with_node(node, |node| Ok(node.dependencies.clone()))?;
    // SAFETY: the caller upholds HIP's contract.
    unsafe { give(&dependencies, list, count) }
}

pub(crate) unsafe fn hipGraphNodeGetDependentNodes(
    node: hipGraphNode_t,
    list: *mut hipGraphNode_t,
    count: *mut usize,
) -> Result<(), Failure> {
    let graph = graph_of(node)?;
    let nodes = graph.nodes();
    let dependents = nodes
        .iter()
        .filter(|other| other.dependencies.contains(&node.addr()));
    let dependents: Vec<_> = dependents.map(|node| node.id).collect();
    // SAFETY: the caller upholds HIP's contract.
    unsafe { give(&dependents, list, count) }
}

pub(crate) unsafe fn hipGraphNodeFindInClone(
    found: *mut hipGraphNode_t,
    original: hipGraphNode_t,
    clone: hipGraph_t,
) -> Result<(), Failure> {
    let found = out!(found);
    let clone = graph(clone)?;
    let nodes = clone.nodes();
    let copy = nodes
        .iter()
        .find(|node| node.copy_of == Some(original.addr()));
    let copy = copy.ok_or_else(|| {
        Failure::value(format_args!(
            "no node of this graph is a copy of {:#x}",
            original.addr()
        ))
    })?;
    found.set(ptr::without_provenance_mut(copy.id));
    Ok(())
}
