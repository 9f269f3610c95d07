//! Attributes of kernel nodes. A node keeps the one that was set last; the emulator runs all kernels alike.

use std::ffi::{c_int, c_uint, c_void};

use ferrowave_hip_abi::{hipAccessPolicyWindow, hipError_t, hipGraphNode_t};

use super::nodes::other_kind;
use crate::{
    error::{Failure, present},
    objects::{
        graph::{Attribute, Node, with_node},
        operation::Operation,
    },
};

/// `hipLaunchAttributeAccessPolicyWindow`
const WINDOW: c_uint = 1;
/// `hipLaunchAttributeCooperative`
const COOPERATIVE: c_uint = 2;
/// `hipLaunchAttributePriority`
const PRIORITY: c_uint = 8;

/// `hipAccessPropertyPersisting`
const PERSISTING: c_uint = 2;

impl Attribute {
    const fn id(&self) -> c_uint {
        match self {
            Attribute::Window(_) => WINDOW,
            Attribute::Cooperative(_) => COOPERATIVE,
            Attribute::Priority(_) => PRIORITY,
        }
    }

    /// Reads an attribute.
    ///
    /// # Safety
    /// `value` has the attribute's type.
    unsafe fn read(id: c_uint, value: *const c_void) -> Result<Self, Failure> {
        present(value, "value")?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            match id {
                WINDOW => window(value.cast::<hipAccessPolicyWindow>().read_unaligned()),
                COOPERATIVE => Ok(Attribute::Cooperative(
                    value.cast::<c_int>().read_unaligned(),
                )),
                PRIORITY => match value.cast::<c_int>().read_unaligned() {
                    priority @ -1..=1 => Ok(Attribute::Priority(priority)),
                    priority => Err(Failure::value(format_args!(
                        "the priority is {priority}, but must be from -1 (high) to 1 (low)"
                    ))),
                },
                _ => Err(unknown(id)),
            }
        }
    }

    /// Writes the attribute.
    ///
    /// # Safety
    /// `value` is null or has the attribute's type.
    unsafe fn write(&self, value: *mut c_void) -> Result<(), Failure> {
        present(value, "value")?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            match *self {
                Attribute::Window(window) => value
                    .cast::<hipAccessPolicyWindow>()
                    .write_unaligned(window),
                Attribute::Cooperative(number) | Attribute::Priority(number) => {
                    value.cast::<c_int>().write_unaligned(number);
                }
            }
        }
        Ok(())
    }

    /// The value of an attribute that was not set.
    fn unset(id: c_uint) -> Result<Self, Failure> {
        match id {
            WINDOW => Ok(Attribute::Window(hipAccessPolicyWindow::ZERO)),
            COOPERATIVE => Ok(Attribute::Cooperative(0)),
            PRIORITY => Ok(Attribute::Priority(0)),
            _ => Err(unknown(id)),
        }
    }
}

fn unknown(id: c_uint) -> Failure {
    Failure::value(format_args!(
        "attribute {id} is not one of a kernel node: {WINDOW} (access policy window), {COOPERATIVE} (cooperative), \
         {PRIORITY} (priority)"
    ))
}

/// AMD's devices have no such windows: `accessPolicyMaxWindowSize` is 0.
fn window(window: hipAccessPolicyWindow) -> Result<Attribute, Failure> {
    let complaint = if !(0.0..=1.0).contains(&window.hitRatio) {
        "hitRatio must be from 0 to 1"
    } else if window.missProp == PERSISTING {
        "missProp must not be hipAccessPropertyPersisting"
    } else if window.num_bytes > 0 {
        "num_bytes is more than the device's accessPolicyMaxWindowSize, which is 0"
    } else {
        return Ok(Attribute::Window(window));
    };
    Err(Failure::value(complaint))
}

/// Rejects nodes that are no launches.
fn check_kernel(node: &Node) -> Result<(), Failure> {
    match node.operation {
        Operation::Launch(_) => Ok(()),
        _ => Err(other_kind(node)),
    }
}

pub(crate) unsafe fn hipGraphKernelNodeSetAttribute(
    node: hipGraphNode_t,
    attribute: c_uint,
    value: *const c_void,
) -> Result<(), Failure> {
    // SAFETY: the caller upholds HIP's contract.
    let attribute = unsafe { Attribute::read(attribute, value) }?;
    with_node(node, |node| {
        check_kernel(node)?;
        node.attribute = Some(attribute);
        Ok(())
    })
}

/// As CLR does, fails for another attribute than the one that was set.
pub(crate) unsafe fn hipGraphKernelNodeGetAttribute(
    node: hipGraphNode_t,
    attribute: c_uint,
    value: *mut c_void,
) -> Result<(), Failure> {
    let unset = Attribute::unset(attribute)?;
    with_node(node, |node| {
        check_kernel(node)?;
        let found = node.attribute.unwrap_or(unset);
        if found.id() != attribute {
            return Err(Failure::value(format_args!(
                "the node has attribute {}, not {attribute}",
                found.id()
            )));
        }
        // SAFETY: the caller upholds HIP's contract.
        unsafe { found.write(value) }
    })
}

pub(crate) unsafe fn hipGraphKernelNodeCopyAttributes(
    from: hipGraphNode_t,
    to: hipGraphNode_t,
) -> Result<(), Failure> {
    let copied = with_node(from, |node| {
        check_kernel(node)?;
        Ok(node.attribute)
    })?;
    with_node(to, |node| {
        check_kernel(node)?;
        let id = |attribute: Option<Attribute>| attribute.map(|attribute| attribute.id());
        // As CLR does (`GraphKernelNode::CopyAttr` in `hip_graph_internal.hpp`).
        if node.attribute.is_some() && id(node.attribute) != id(copied) {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidContext,
                "the nodes have different attributes",
            ));
        }
        node.attribute = copied;
        Ok(())
    })
}
