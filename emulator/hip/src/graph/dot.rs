//! Graphs as Graphviz draws them.

use std::{
    ffi::{c_char, c_uint},
    fmt::Write as _,
    fs,
};

use ferrowave_hip_abi::{hipError_t, hipGraph_t};

use crate::{
    error::{Failure, text},
    objects::graph::graph,
};

/// Writes a graph's nodes, with the names and arguments of their operations, and its edges to a file. With flags (what to
/// describe), nodes have more lines.
pub(crate) unsafe fn hipGraphDebugDotPrint(
    graph: hipGraph_t,
    path: *const c_char,
    flags: c_uint,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    // SAFETY: the caller upholds HIP's contract.
    let path = unsafe { text(path, "path") }?.to_string_lossy();
    let mut dot = String::from("digraph graph {\n");
    for node in graph.nodes().iter() {
        let (name, rows) = node.operation.described();
        let mut label = name;
        if flags != 0 {
            for (key, value) in rows {
                // Writing to a string does not fail.
                let _ = write!(label, "\n{key}: {value}");
            }
        }
        // Graphviz reads the escapes of Rust's texts.
        let _ = writeln!(dot, "    \"{:#x}\" [shape=box, label={label:?}];", node.id);
        for from in &node.dependencies {
            let _ = writeln!(dot, "    \"{from:#x}\" -> \"{:#x}\";", node.id);
        }
    }
    dot.push_str("}\n");
    fs::write(&*path, dot).map_err(|error| {
        Failure::new(
            hipError_t::hipErrorOperatingSystem,
            format_args!("{path} cannot be written: {error}"),
        )
    })
}
