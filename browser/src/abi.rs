//! The functions that a page calls.
//!
//! The page calls [`ferrowave_start`] once. It asks for memory with [`ferrowave_allocate`], writes a request and the bytes that go
//! with it, and calls [`ferrowave_answer`]. The answer is valid until the next call.

use std::{
    alloc::{Layout, alloc_zeroed, set_alloc_error_hook},
    cell::RefCell,
    io::{self, Write as _},
    ptr,
};

use rayon::ThreadPoolBuilder;

use crate::{Answer, Session};

/// Where an answer is.
#[repr(C)]
pub(crate) struct Place {
    text: *const u8,
    text_bytes: usize,
    data: *const u8,
    data_bytes: usize,
}

struct State {
    session: Session,
    answer: Answer,
    place: Place,
}

thread_local! {
    static STATE: RefCell<State> = const {
        RefCell::new(State {
            session: Session::new(),
            answer: Answer { text: String::new(), data: Vec::new() },
            place: Place { text: ptr::null(), text_bytes: 0, data: ptr::null(), data_bytes: 0 },
        })
    };
}

/// Prepares the module for requests.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ferrowave_start() {
    set_alloc_error_hook(tell_of_no_memory);
    // Where a page has no workers for threads, the emulator has no pool, and rayon must not look for threads. Only a second
    // call would fail.
    let _ = ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global();
}

/// Says the same as Rust's own hook, but at once: several threads may have no memory at the same time.
fn tell_of_no_memory(layout: Layout) {
    let mut line = [0; 64];
    let mut left = &mut line[..];
    let _ = writeln!(left, "memory allocation of {} bytes failed", layout.size());
    let left = left.len();
    let _ = io::stderr().write_all(&line[..line.len() - left]);
}

/// Memory for `bytes`, which [`ferrowave_answer`] takes back; null if there is not that much.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ferrowave_allocate(bytes: usize) -> *mut u8 {
    match Layout::array::<u8>(bytes) {
        // An empty vector has no memory.
        Ok(_) if bytes == 0 => ptr::dangling_mut(),
        // SAFETY: the size is not zero.
        Ok(layout) => unsafe { alloc_zeroed(layout) },
        Err(_) => ptr::null_mut(),
    }
}

/// Answers a request, with the bytes that go with it.
///
/// # Safety
/// Both places are from [`ferrowave_allocate`] with these lengths. They belong to the callee.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ferrowave_answer(
    text: *mut u8,
    text_bytes: usize,
    data: *mut u8,
    data_bytes: usize,
) -> *const Place {
    // SAFETY: the caller guarantees allocations of these sizes.
    let (text, data) = unsafe {
        (
            Vec::from_raw_parts(text, text_bytes, text_bytes),
            Vec::from_raw_parts(data, data_bytes, data_bytes),
        )
    };
    STATE.with_borrow_mut(|state| {
        state.answer = state.session.answer(&text, data);
        // What kernels have printed without an end of line.
        // SAFETY: null stands for all open files.
        unsafe { libc::fflush(ptr::null_mut()) };
        state.place = Place {
            text: state.answer.text.as_ptr(),
            text_bytes: state.answer.text.len(),
            data: state.answer.data.as_ptr(),
            data_bytes: state.answer.data.len(),
        };
        ptr::from_ref(&state.place)
    })
}
