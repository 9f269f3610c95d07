//! Failed calls: error codes for C, details as text, and the thread's last error.

use std::{
    any::Any,
    cell::RefCell,
    ffi::{CStr, c_char, c_int, c_void},
    fmt::Display,
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
};

use ferrowave_hip_abi::{HipErrorRow, hipChannelFormatDesc, hipError_t, hiprtcResult};

use ferrowave_emulator::memory::MemoryError;

/// Why a call failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) code: hipError_t,
    /// What was wrong, with the value and the allowed ones.
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

    /// The same failure with another code, for a function whose code differs from that of most.
    pub(super) fn coded(self, code: hipError_t) -> Self {
        Failure { code, ..self }
    }

    /// The failure of a function that has no code of its own for pitches.
    pub(super) fn without_pitch(self) -> Self {
        match self.code {
            hipError_t::hipErrorInvalidPitchValue => self.coded(hipError_t::hipErrorInvalidValue),
            _ => self,
        }
    }

    pub(super) fn handle(what: &str, handle: usize) -> Self {
        Self::new(
            hipError_t::hipErrorInvalidHandle,
            format_args!("{handle:#x} is not the handle of a live {what}"),
        )
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        let code = match error {
            MemoryError::OutOfMemory { .. } => hipError_t::hipErrorOutOfMemory,
            MemoryError::NotAnAllocation { .. }
            | MemoryError::OutOfBounds { .. }
            | MemoryError::ReadOnly { .. } => hipError_t::hipErrorInvalidValue,
            MemoryError::Overlap { .. } => hipError_t::hipErrorHostMemoryAlreadyRegistered,
        };
        Self::new(code, error)
    }
}

/// The error state of a thread.
struct Last {
    /// The result of `hipGetLastError`: `hipSuccess`, or HIP's last error.
    code: hipError_t,
    /// Detail of the last failed call, including calls of hiprtc.
    detail: String,
}

thread_local! {
    static LAST: RefCell<Last> = const {
        RefCell::new(Last { code: hipError_t::hipSuccess, detail: String::new() })
    };
}

fn last<R>(access: impl FnOnce(&mut Last) -> R) -> Option<R> {
    // A destructor of the thread may call HIP after the error state is gone.
    LAST.try_with(|last| last.try_borrow_mut().ok().map(|mut last| access(&mut last)))
        .ok()
        .flatten()
}

/// Detail of the calling thread's last failed call; empty if none failed.
pub fn last_error_detail() -> String {
    last(|last| last.detail.clone()).unwrap_or_default()
}

/// The result of a function, and its form in C.
pub(super) trait Outcome {
    type C;

    fn into_c(self) -> Self::C;

    /// The result to return if the function panicked.
    fn panicked(message: &str) -> Self::C;
}

impl Outcome for Result<(), Failure> {
    type C = hipError_t;

    fn into_c(self) -> hipError_t {
        let Err(failure) = self else {
            return hipError_t::hipSuccess;
        };
        let code = failure.code;
        // HIP's header says that this code is not an error.
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

/// Results that have the same type in C, each with the result to return after a panic.
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

/// Why a hiprtc call failed.
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

/// For errors in arguments, which are checked as HIP's are.
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

/// Runs a function's body. Catches a panic, which must not unwind into C.
pub(super) fn guarded<O: Outcome>(body: impl FnOnce() -> O) -> O::C {
    // A panic poisons locks; all code that takes a lock expects that.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(outcome) => outcome.into_c(),
        Err(payload) => O::panicked(panic_message(&*payload)),
    }
}

/// Runs work that no call waits for. Catches a panic.
pub(super) fn guarded_work(work: impl FnOnce()) {
    // The panic hook has reported it; no call can return it.
    let _ = catch_unwind(AssertUnwindSafe(work));
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

/// Prints an error that no call can return to standard error.
pub(super) fn warn(what: impl Display) {
    say(format_args!("ferrowave: {what}\n"));
}

/// Writes to standard error. `eprint!` would panic where that is closed or full, and end the program.
pub(super) fn say(text: impl Display) {
    let _ = write!(io::stderr().lock(), "{text}");
}

/// No program has memory below: Linux maps nothing there (`vm.mmap_min_addr`). A pointer to it is null, or a number that
/// was passed as a pointer.
const FIRST_PAGE: usize = 4096;

/// Whether no program has memory at a pointer.
pub(super) fn is_absent<T>(pointer: *const T) -> bool {
    pointer.addr() < FIRST_PAGE
}

/// Refuses a pointer at which no program has memory; `name` names it in errors.
pub(super) fn present<T>(pointer: *const T, name: impl Display) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::value(format_args!("{name} is null")));
    }
    if is_absent(pointer) {
        return Err(Failure::value(format_args!(
            "{name} is {pointer:p}, which is no address of memory"
        )));
    }
    Ok(())
}

/// A pointer to a result, which is not null.
pub(super) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// Unless it is null, `pointer` is valid for a write of a `T` until the call ends.
    pub(super) unsafe fn new(pointer: *mut T, name: &str) -> Result<Self, Failure> {
        present(pointer, name)?;
        Ok(Out(pointer))
    }

    pub(super) fn set(self, value: T) {
        // SAFETY: valid by `new`'s contract. The write is unaligned, because C callers may neglect alignment.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// The result pointer in an argument of the enclosing function.
macro_rules! out {
    ($pointer:ident) => {
        // SAFETY: HIP's contract: null or the address of a variable of that type.
        unsafe { $crate::error::Out::new($pointer, stringify!($pointer)) }?
    };
}

pub(super) use out;

/// Reads the value that an argument of the enclosing function points to.
macro_rules! read {
    ($pointer:ident) => {{
        $crate::error::present($pointer, stringify!($pointer))?;
        // SAFETY: HIP's contract: null or the address of such a variable, possibly unaligned.
        unsafe { $pointer.read_unaligned() }
    }};
}

pub(super) use read;

/// A C string that a caller passed; `what` names it in errors.
///
/// # Safety
/// `name` is null or a C string.
pub(super) unsafe fn text<'a>(name: *const c_char, what: &str) -> Result<&'a CStr, Failure> {
    present(name, what)?;
    // SAFETY: the caller guarantees a C string.
    Ok(unsafe { CStr::from_ptr(name) })
}

/// As [`text`], where null means none.
///
/// # Safety
/// As [`text`].
pub(super) unsafe fn optional_text<'a>(
    name: *const c_char,
    what: &str,
) -> Result<Option<&'a CStr>, Failure> {
    if name.is_null() {
        return Ok(None);
    }
    // SAFETY: guaranteed by the caller.
    unsafe { text(name, what) }.map(Some)
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

pub(super) unsafe fn hipExtSetLoggingParams(
    _level: usize,
    _bytes: usize,
    _mask: usize,
) -> Result<(), Failure> {
    Ok(())
}

pub(super) unsafe fn hipExtEnableLogging() -> Result<(), Failure> {
    Ok(())
}

pub(super) use hipExtEnableLogging as hipExtDisableLogging;

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
        return Err(Failure::value(format_args!(
            "{} is not an error code",
            error.0
        )));
    };
    text.set(part(row).as_ptr());
    Ok(())
}

pub(super) unsafe fn hipGetErrorName(error: hipError_t) -> *const c_char {
    // As CLR does (`hip_error.cpp`).
    let row = error.row().or(hipError_t::hipErrorUnknown.row());
    row.map_or(c"", |row| row.name).as_ptr()
}

pub(super) unsafe fn hipGetErrorString(error: hipError_t) -> *const c_char {
    error
        .row()
        .map_or(c"unknown error", |row| row.meaning)
        .as_ptr()
}

pub(super) unsafe fn ferrowaveGetLastErrorDetail(text: *mut c_char, bytes: usize) -> usize {
    let detail = last_error_detail();
    if let (false, Some(room)) = (is_absent(text), bytes.checked_sub(1)) {
        // SAFETY: the caller guarantees `bytes` bytes at `text`.
        unsafe { copy_text(&detail, text, room) }
    }
    detail.len()
}

/// Writes the first `room` bytes of `from` and a NUL.
///
/// # Safety
/// `to` is valid for writes of `room` + 1 bytes.
pub(super) unsafe fn copy_text(from: &str, to: *mut c_char, room: usize) {
    // Cut between characters, so that the text stays UTF-8.
    let bytes = &from.as_bytes()[..from.floor_char_boundary(room)];
    // SAFETY: writes at most `room` + 1 bytes.
    unsafe {
        to.cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        to.add(bytes.len()).write(0);
    }
}

/// The error for a device ordinal that does not exist.
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
        // SAFETY: the function takes no pointers.
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
                // SAFETY: the call has written a NUL-terminated text.
                let written = unsafe { CStr::from_ptr(text.as_ptr()) };
                assert_eq!(written.to_str(), Ok(expect));
            }
        }
        // SAFETY: the pointer is null, with no capacity.
        let whole = unsafe { ferrowaveGetLastErrorDetail(std::ptr::null_mut(), 0) };
        assert_eq!(whole, 7);
    }

    #[test]
    fn unknown_codes_have_a_name_too() {
        // SAFETY: the functions take no pointers and return static texts.
        let names = unsafe {
            [hipError_t(700), hipError_t(4711)].map(|code| CStr::from_ptr(hipGetErrorName(code)))
        };
        assert_eq!(names, [c"hipErrorIllegalAddress", c"hipErrorUnknown"]);
    }
}
