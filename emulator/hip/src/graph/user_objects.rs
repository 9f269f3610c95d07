//! Objects of the program that graphs keep alive.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::Arc,
};

use ferrowave_hip_abi::{
    hipGraph_t, hipGraphUserObjectMove, hipHostFn_t, hipUserObject_t, hipUserObjectNoDestructorSync,
};

use crate::{
    error::{Failure, out},
    objects::{
        graph::graph,
        user_object::{USER_OBJECTS, UserObject},
    },
};

fn check_count(count: c_uint) -> Result<u64, Failure> {
    match count {
        1..=0x7fff_ffff => Ok(count.into()),
        other => Err(Failure::value(format_args!(
            "{other} references; expected 1 to {}",
            c_int::MAX
        ))),
    }
}

/// The object of a handle; `None` if it was destroyed, which the functions ignore as CLR does (`hip_graph.cpp`).
fn object(handle: hipUserObject_t) -> Result<Option<Arc<UserObject>>, Failure> {
    match handle.is_null() {
        true => Err(Failure::value("the user object is null")),
        false => Ok(USER_OBJECTS.get(handle.addr())),
    }
}

pub(crate) unsafe fn hipUserObjectCreate(
    object: *mut hipUserObject_t,
    data: *mut c_void,
    destroy: hipHostFn_t,
    count: c_uint,
    flags: c_uint,
) -> Result<(), Failure> {
    let object = out!(object);
    let count = check_count(count)?;
    if flags != hipUserObjectNoDestructorSync {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 1 (hipUserObjectNoDestructorSync)"
        )));
    }
    let destroy = destroy.ok_or_else(|| Failure::value("the destructor is null"))?;
    let data = data.expose_provenance();
    let handle = USER_OBJECTS.insert_with(|id| UserObject::new(id, destroy, data, count));
    object.set(ptr::without_provenance_mut(handle));
    Ok(())
}

pub(crate) unsafe fn hipUserObjectRetain(
    object: hipUserObject_t,
    count: c_uint,
) -> Result<(), Failure> {
    let (object, count) = (self::object(object)?, check_count(count)?);
    if let Some(object) = object {
        object.retain(count);
    }
    Ok(())
}

pub(crate) unsafe fn hipUserObjectRelease(
    object: hipUserObject_t,
    count: c_uint,
) -> Result<(), Failure> {
    let (object, count) = (self::object(object)?, check_count(count)?);
    if let Some(object) = object {
        object.release(count);
    }
    Ok(())
}

pub(crate) unsafe fn hipGraphRetainUserObject(
    graph: hipGraph_t,
    object: hipUserObject_t,
    count: c_uint,
    flags: c_uint,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    let (object, count) = (self::object(object)?, check_count(count)?);
    if flags & !hipGraphUserObjectMove != 0 {
        return Err(Failure::value(format_args!(
            "flags are {flags:#x}, but must be 0 or 1 (hipGraphUserObjectMove)"
        )));
    }
    let Some(object) = object else {
        return Ok(());
    };
    if flags == 0 {
        object.retain(count);
    }
    graph.user_objects.keep(&object, count);
    Ok(())
}

pub(crate) unsafe fn hipGraphReleaseUserObject(
    graph: hipGraph_t,
    object: hipUserObject_t,
    count: c_uint,
) -> Result<(), Failure> {
    let graph = self::graph(graph)?;
    let (object, count) = (self::object(object)?, check_count(count)?);
    if let Some(object) = object {
        graph.user_objects.release(&object, count);
    }
    Ok(())
}
