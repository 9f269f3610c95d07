//! Calls that fail: the code for C, the text for people, and both kept for the thread.

use std::{
    any::Any,
    cell::RefCell,
    ffi::{CStr, c_char, c_int, c_void},
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

use ferrowave_hip_abi::{HipErrorRow, hipChannelFormatDesc, hipError_t, hiprtcResult};

use ferrowave_emulator::memory::MemoryError;

/// Why a call failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) code: hipError_t,
    /// What exactly was wrong, naming the value and what is allowed.
    pub(super) detail: String,
}

impl Failure {
    pub(super) fn new(code: hipError_t, detail: impl Display) -> Self {
        let detail = detail.to_string();
        Failure { code, detail }
    }

    pub(super) fn value(detail: impl Display) -> Self {
        Self::new(hipError_t::hipErrorInvalidValue, detail)
    }

    pub(super) fn handle(what: &str, handle: usize) -> Self {
        Self::new(
            hipError_t::hipErrorInvalidHandle,
            format_args!("{handle:#x} is no {what}, or one that was destroyed"),
        )
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        let code = match error {
            MemoryError::OutOfMemory { .. } => hipError_t::hipErrorOutOfMemory,
            MemoryError::NotAnAllocation { .. } | MemoryError::OutOfBounds { .. } => {
                hipError_t::hipErrorInvalidValue
            }
            MemoryError::Overlap { .. } => hipError_t::hipErrorHostMemoryAlreadyRegistered,
        };
        Self::new(code, error)
    }
}

/// What a thread's calls left behind.
struct Last {
    /// What `hipGetLastError` tells: `hipSuccess`, or the last error of HIP.
    code: hipError_t,
    /// The text of the last call that failed, one of hiprtc's among them.
    detail: String,
}

thread_local! {
    static LAST: RefCell<Last> = const {
        RefCell::new(Last { code: hipError_t::hipSuccess, detail: String::new() })
    };
}

fn last<R>(access: impl FnOnce(&mut Last) -> R) -> Option<R> {
    // A call may come from a destructor of the thread, after its last error is gone.
    LAST.try_with(|last| last.try_borrow_mut().ok().map(|mut last| access(&mut last)))
        .ok()
        .flatten()
}

/// The text of the calling thread's last call that failed; empty if none did.
pub fn last_error_detail() -> String {
    last(|last| last.detail.clone()).unwrap_or_default()
}

/// What a function returns, and what that is in C.
pub(super) trait Outcome {
    type C;

    fn into_c(self) -> Self::C;

    /// What to return instead when the function panicked.
    fn panicked(message: &str) -> Self::C;
}

impl Outcome for Result<(), Failure> {
    type C = hipError_t;

    fn into_c(self) -> hipError_t {
        let Err(failure) = self else {
            return hipError_t::hipSuccess;
        };
        let code = failure.code;
        // Its header says that this one is not actually an error.
        if code != hipError_t::hipErrorNotReady {
            last(|last| (last.code, last.detail) = (failure.code, failure.detail));
        }
        code
    }

    fn panicked(message: &str) -> hipError_t {
        let detail = format!("internal emulator error: {message}");
        Err(Failure::new(hipError_t::hipErrorUnknown, detail)).into_c()
    }
}

impl Outcome for hipError_t {
    type C = hipError_t;

    fn into_c(self) -> hipError_t {
        self
    }

    fn panicked(message: &str) -> hipError_t {
        Result::<(), Failure>::panicked(message)
    }
}

/// Results that are in C what they are here, and what a function returns instead that panicked.
macro_rules! plain {
    ($($type:ty: $panicked:expr;)*) => {$(
        impl Outcome for $type {
            type C = $type;

            fn into_c(self) -> $type {
                self
            }

            fn panicked(_: &str) -> $type {
                $panicked
            }
        }
    )*};
}

plain! {
    *const c_char: c"".as_ptr();
    (): ();
    c_int: -1;
    *mut *mut c_void: std::ptr::null_mut();
    usize: 0;
    u16: 0;
    f32: 0.0;
    hipChannelFormatDesc: hipChannelFormatDesc::ZERO;
}

/// Why a call failed that compiles or links at run time.
#[derive(Clone, Debug)]
pub(super) struct RtcFailure {
    pub(super) code: hiprtcResult,
    /// As in [`Failure`].
    pub(super) detail: String,
}

impl RtcFailure {
    pub(super) fn new(code: hiprtcResult, detail: impl Display) -> Self {
        let detail = detail.to_string();
        RtcFailure { code, detail }
    }

    pub(super) fn input(detail: impl Display) -> Self {
        Self::new(hiprtcResult::HIPRTC_ERROR_INVALID_INPUT, detail)
    }
}

/// For arguments, which are looked at as HIP's are.
impl From<Failure> for RtcFailure {
    fn from(failure: Failure) -> Self {
        RtcFailure::input(failure.detail)
    }
}

impl Outcome for Result<(), RtcFailure> {
    type C = hiprtcResult;

    fn into_c(self) -> hiprtcResult {
        let Err(failure) = self else {
            return hiprtcResult::HIPRTC_SUCCESS;
        };
        last(|last| last.detail = failure.detail);
        failure.code
    }

    fn panicked(message: &str) -> hiprtcResult {
        let detail = format!("internal emulator error: {message}");
        let code = hiprtcResult::HIPRTC_ERROR_INTERNAL_ERROR;
        Err(RtcFailure { code, detail }).into_c()
    }
}

/// Runs a function's body; what panics in it ends here, as C cannot unwind.
pub(super) fn guarded<O: Outcome>(body: impl FnOnce() -> O) -> O::C {
    // A panic poisons locks. The code that takes them expects that.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(outcome) => outcome.into_c(),
        Err(payload) => O::panicked(panic_message(&*payload)),
    }
}

/// Runs work that no call waits for; a panic in it ends here.
pub(super) fn guarded_work(work: impl FnOnce()) {
    // The panic hook has reported it, and no call can return it.
    let _ = catch_unwind(AssertUnwindSafe(work));
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

/// Says on standard error what no call can return.
pub(super) fn warn(what: impl Display) {
    eprintln!("ferrowave: {what}");
}

/// A place for a result, not null.
pub(super) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// Unless it is null, `pointer` is valid for a write of a `T` until the call ends.
    pub(super) unsafe fn new(pointer: *mut T, name: &str) -> Result<Self, Failure> {
        if pointer.is_null() {
            return Err(Failure::value(format_args!("{name} is null")));
        }
        Ok(Out(pointer))
    }

    pub(super) fn set(self, value: T) {
        // SAFETY: `new`'s caller promised that it is valid; C callers may neglect alignment.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// The place for a result that an argument of the surrounding function points to.
macro_rules! out {
    ($pointer:ident) => {
        // SAFETY: HIP's callers pass null or the address of a variable of that type.
        unsafe { $crate::error::Out::new($pointer, stringify!($pointer)) }?
    };
}

pub(super) use out;

/// What an argument of the surrounding function points to.
macro_rules! read {
    ($pointer:ident) => {{
        if $pointer.is_null() {
            return Err($crate::error::Failure::value(concat!(
                stringify!($pointer),
                " is null"
            )));
        }
        // SAFETY: HIP's callers pass null or the address of a variable of that type; they may neglect alignment.
        unsafe { $pointer.read_unaligned() }
    }};
}

pub(super) use read;

/// A text that a caller passed; `what` names it in errors.
///
/// # Safety
/// `name` is null or a C string.
pub(super) unsafe fn text<'a>(name: *const c_char, what: &str) -> Result<&'a CStr, Failure> {
    if name.is_null() {
        return Err(Failure::value(format_args!("{what} is null")));
    }
    // SAFETY: the caller promises a C string.
    Ok(unsafe { CStr::from_ptr(name) })
}

pub(super) unsafe fn hipGetLastError() -> hipError_t {
    last(|last| {
        last.detail.clear();
        std::mem::replace(&mut last.code, hipError_t::hipSuccess)
    })
    .unwrap_or(hipError_t::hipSuccess)
}

pub(super) unsafe fn hipPeekAtLastError() -> hipError_t {
    last(|last| last.code).unwrap_or(hipError_t::hipSuccess)
}

pub(super) use hipGetLastError as hipExtGetLastError;

pub(super) unsafe fn hipDrvGetErrorName(
    error: hipError_t,
    text: *mut *const c_char,
) -> Result<(), Failure> {
    described(error, text, |row| row.name)
}

pub(super) unsafe fn hipDrvGetErrorString(
    error: hipError_t,
    text: *mut *const c_char,
) -> Result<(), Failure> {
    described(error, text, |row| row.meaning)
}

fn described(
    error: hipError_t,
    text: *mut *const c_char,
    part: impl FnOnce(&'static HipErrorRow) -> &'static CStr,
) -> Result<(), Failure> {
    let text = out!(text);
    let Some(row) = error.row() else {
        text.set(std::ptr::null());
        return Err(Failure::value(format_args!("{} is no error code", error.0)));
    };
    text.set(part(row).as_ptr());
    Ok(())
}

pub(super) unsafe fn hipGetErrorName(error: hipError_t) -> *const c_char {
    error
        .row()
        .map_or(c"unrecognized error code", |row| row.name)
        .as_ptr()
}

pub(super) unsafe fn hipGetErrorString(error: hipError_t) -> *const c_char {
    error
        .row()
        .map_or(c"unrecognized error code", |row| row.meaning)
        .as_ptr()
}

pub(super) unsafe fn ferrowaveGetLastErrorDetail(text: *mut c_char, bytes: usize) -> usize {
    let detail = last_error_detail();
    if let (false, Some(room)) = (text.is_null(), bytes.checked_sub(1)) {
        // SAFETY: the caller promises `bytes` bytes at `text`.
        unsafe { copy_text(&detail, text, room) }
    }
    detail.len()
}

/// Writes the first `room` bytes of `from` and a NUL.
///
/// # Safety
/// `to` is valid for writes of `room` + 1 bytes.
pub(super) unsafe fn copy_text(from: &str, to: *mut c_char, room: usize) {
    // Cut between characters, so that it stays UTF-8.
    let bytes = &from.as_bytes()[..from.floor_char_boundary(room)];
    // SAFETY: at most `room` bytes and one more.
    unsafe {
        to.cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        to.add(bytes.len()).write(0);
    }
}

/// A device's number in words.
pub(super) fn no_such_device(ordinal: c_int, count: usize) -> Failure {
    let detail = match count {
        1 => format!("there is no device {ordinal}, only device 0"),
        _ => format!("there is no device {ordinal} among {count}"),
    };
    Failure::new(hipError_t::hipErrorInvalidDevice, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_at_the_boundary() {
        let code = guarded(|| -> Result<(), Failure> { panic!("no {}", "cells") });
        assert_eq!(code, hipError_t::hipErrorUnknown);
        assert_eq!(last_error_detail(), "internal emulator error: no cells");
        // SAFETY: takes no pointers.
        assert_eq!(unsafe { hipGetLastError() }, hipError_t::hipErrorUnknown);
        assert_eq!(last_error_detail(), "");
    }

    #[test]
    fn details_are_cut_to_the_room_there_is() {
        guarded(|| -> Result<(), Failure> { Err(Failure::value("0é2345")) });
        let mut text = [c_char::MAX; 8];
        for (bytes, expect) in [(0, ""), (1, ""), (3, "0"), (4, "0é"), (8, "0é2345")] {
            // SAFETY: `bytes` is at most the array's length.
            let whole = unsafe { ferrowaveGetLastErrorDetail(text.as_mut_ptr(), bytes) };
            assert_eq!(whole, 7);
            if bytes > 0 {
                // SAFETY: just written with a NUL.
                let written = unsafe { CStr::from_ptr(text.as_ptr()) };
                assert_eq!(written.to_str(), Ok(expect));
            }
        }
        // SAFETY: null with no room.
        let whole = unsafe { ferrowaveGetLastErrorDetail(std::ptr::null_mut(), 0) };
        assert_eq!(whole, 7);
    }

    #[test]
    fn unknown_codes_have_a_name_too() {
        // SAFETY: takes no pointers, returns static texts.
        let names = unsafe {
            [hipError_t(700), hipError_t(4711)].map(|code| CStr::from_ptr(hipGetErrorName(code)))
        };
        assert_eq!(
            names,
            [c"hipErrorIllegalAddress", c"unrecognized error code"]
        );
    }
}
