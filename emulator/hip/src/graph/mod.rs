//! Graphs: work and its dependencies, recorded to be launched many times.
//!
//! | module | contents |
//! |---|---|
//! | this file | creating and copying graphs, and their dependencies |
//! | `memory` | memory that graphs allocate and free |
//! | `nodes` | adding nodes, and their parameters |
//! | `query` | queries of a graph |
//! | `executable` | executable graphs |
//! | [`capture`] | stream capture |
//! | `dot` | graphs as Graphviz draws them |
//! | `user_objects` | objects of the program that graphs keep alive |

pub(super) mod attributes;
pub(super) mod capture;
pub(super) mod dot;
pub(super) mod executable;
pub(super) mod generic;
pub(super) mod memory;
pub(super) mod nodes;
pub(super) mod query;
pub(super) mod user_objects;

use std::{ffi::c_uint, ptr, sync::Arc};

use ferrowave_hip_abi::{hipGraph_t, hipGraphNode_t};

use super::{
    error::{Failure, out},
    list::list,
    objects::graph::{GRAPHS, Graph, Node, forget, graph, graph_of, listed},
};

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
    // Captures that use the graph, and its copies in other graphs, stay valid.
    drop(GRAPHS.remove(graph.addr()));
    Ok(())
}

pub(super) unsafe fn hipGraphClone(
    clone: *mut hipGraph_t,
    original: hipGraph_t,
) -> Result<(), Failure> {
    let clone = out!(clone);
    let original = graph(original)?;
    original.refuse_memory("cannot be cloned")?;
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
    // SAFETY: the caller upholds HIP's contract.
    for (from, to) in unsafe { edges(&graph, from, to, count) }? {
        if from == to {
            return Err(Failure::value(format_args!(
                "node {to:#x} cannot depend on itself"
            )));
        }
        // As in HIP, a longer cycle is found when the graph is instantiated.
        graph.change(to, |node| {
            if node.dependencies.contains(&from) {
                return Err(Failure::value(format_args!(
                    "node {to:#x} depends on {from:#x} already"
                )));
            }
            node.dependencies.push(from);
            Ok(())
        })?;
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
    // SAFETY: guaranteed by the caller.
    let (from, to) = unsafe { (list(from, count, "from")?, list(to, count, "to")?) };
    let pairs = from.into_iter().zip(to);
    pairs
        .map(|(from, to)| {
            // SAFETY: both are lists of one node.
            let (from, to) = unsafe { (listed(graph, &from, 1)?, listed(graph, &to, 1)?) };
            Ok((from[0], to[0]))
        })
        .collect()
}

pub(super) unsafe fn hipGraphRemoveDependencies(
    graph: hipGraph_t,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    // SAFETY: the caller upholds HIP's contract.
    for (from, to) in unsafe { edges(&graph, from, to, count) }? {
        graph.change(to, |node| {
            if !node.dependencies.contains(&from) {
                return Err(Failure::value(format_args!(
                    "node {to:#x} does not depend on {from:#x}"
                )));
            }
            node.dependencies.retain(|&id| id != from);
            Ok(())
        })?;
    }
    Ok(())
}
