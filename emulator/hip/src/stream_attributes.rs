//! Attributes of streams. The policy by which threads wait is only stored: the emulator's threads sleep.

use std::{
    ffi::{c_int, c_uint, c_void},
    sync::atomic::{AtomicU32, Ordering},
};

use ferrowave_hip_abi::{hipError_t, hipStream_t, hipSynchronizationPolicy as Policy};

use super::{
    error::{Failure, out, read},
    graph::capture,
    objects::stream::{StreamRef, stream_or},
};

/// `hipLaunchAttributeSynchronizationPolicy`
const POLICY: c_uint = 3;
/// `hipLaunchAttributePriority`
const PRIORITY: c_uint = 8;

fn stream(handle: hipStream_t) -> Result<StreamRef, Failure> {
    stream_or(handle, hipError_t::hipErrorInvalidHandle)
}

/// Where a stream's policy is stored.
fn policy(stream: &StreamRef) -> &AtomicU32 {
    match &stream.object {
        Some(object) => &object.policy,
        None => &stream.device.default_policy,
    }
}

fn unknown(attribute: c_uint, allowed: &str) -> Failure {
    Failure::value(format_args!(
        "the attribute is {attribute}, but must be {allowed}"
    ))
}

pub(super) unsafe fn hipStreamSetAttribute(
    stream: hipStream_t,
    attribute: c_uint,
    value: *const c_void,
) -> Result<(), Failure> {
    let value = value.cast::<Policy>();
    let value = read!(value);
    let stream = self::stream(stream)?;
    capture::refuse_waiting(&stream)?;
    if attribute != POLICY {
        return Err(unknown(attribute, "3 (the policy by which threads wait)"));
    }
    let allowed = Policy::hipSyncPolicyAuto.0..=Policy::hipSyncPolicyBlockingSync.0;
    if !allowed.contains(&value.0) {
        return Err(Failure::value(format_args!(
            "the policy is {}, but must be from {} to {}",
            value.0,
            allowed.start(),
            allowed.end()
        )));
    }
    policy(&stream).store(value.0, Ordering::Relaxed);
    Ok(())
}

pub(super) unsafe fn hipStreamGetAttribute(
    stream: hipStream_t,
    attribute: c_uint,
    value: *mut c_void,
) -> Result<(), Failure> {
    let (policy, priority) = (value.cast::<Policy>(), value.cast::<c_int>());
    let (policy, priority) = (out!(policy), out!(priority));
    let stream = self::stream(stream)?;
    match attribute {
        POLICY => policy.set(Policy(self::policy(&stream).load(Ordering::Relaxed))),
        PRIORITY => priority.set(stream.priority()),
        _ => return Err(unknown(attribute, "3 (policy) or 8 (priority)")),
    }
    Ok(())
}

pub(super) unsafe fn hipStreamCopyAttributes(
    to: hipStream_t,
    from: hipStream_t,
) -> Result<(), Failure> {
    let (to, from) = (stream(to)?, stream(from)?);
    policy(&to).store(policy(&from).load(Ordering::Relaxed), Ordering::Relaxed);
    Ok(())
}
