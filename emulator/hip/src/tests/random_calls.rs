//! Calls functions of the table in a random order, with arguments that a confused program could pass: live, destroyed and
//! foreign handles, null, addresses below the first page, sizes that are too large, text that is no name. Each seed is a
//! child process, which must survive, end in time, and run a kernel on another device afterwards.
//!
//! A C library cannot know the length of a caller's memory. So host memory is long enough for all sizes that come with
//! it, and memory that other calls may have freed is only passed to functions that free.

use std::{
    any::type_name,
    collections::HashMap,
    io::{Read as _, Seek as _, Write as _},
    mem::MaybeUninit,
    time::{Duration, Instant},
};

use ferrowave_hip_abi::{for_each_hip_function, for_each_hiprtc_function};
use rand::{RngExt as _, SeedableRng as _, seq::IndexedRandom as _};
use rand_pcg::Pcg64Mcg;

use super::*;

/// The child's seed, as a number.
const SEED: &str = "FERROWAVE_TEST_CALLS_SEED";
/// Calls with one seed.
const CALLS: usize = 20_000;
const TIME: Duration = Duration::from_secs(120);

/// Numbers are below this, unless all memory of the call is the device's. A call accesses at most a box of that many
/// elements of 16 bytes in each direction.
const SMALL: u64 = 64;
/// Bytes of host memory behind each argument.
const ROOM: usize = 16 << 20;
/// Words at its beginning that each call finds filled.
const FILLED: usize = 256;
/// Arguments of the longest function.
const ARGUMENTS: usize = 16;

/// Calls that may wait forever, as on a GPU, or that end the device on which everything else lives.
const LEFT_OUT: [&str; 6] = [
    "hipStreamWaitValue32",
    "hipStreamWaitValue64",
    "hipStreamBatchMemOp",
    "hipDeviceReset",
    "hipDevicePrimaryCtxReset",
    "ferrowaveRemoveDevice",
];

/// Parts of the names of functions after which an address is no longer valid.
const FREES: [&str; 6] = [
    "Free",
    "Destroy",
    "Release",
    "Unmap",
    "Unregister",
    "Unload",
];

extern "C" fn callback() -> c_int {
    0
}

/// The C type at the end of a pointer's type, and the number of pointers to it.
fn pointee(name: &str) -> (&str, usize) {
    let depth = name.matches('*').count();
    let base = name.rsplit(' ').next().unwrap_or_default();
    (base.rsplit("::").next().unwrap_or_default(), depth)
}

struct Driver {
    rng: Pcg64Mcg,
    device: TestDevice,
    /// Host memory, one for each argument.
    rooms: Vec<&'static mut [u64]>,
    /// Device memory that stays allocated.
    buffers: Vec<usize>,
    texts: Vec<&'static CStr>,
    /// What calls returned: handles by their type, and addresses as `c_void`.
    made: HashMap<String, Vec<usize>>,
    /// Rooms that the current call may write a handle or an address to, with the type and what was there.
    results: Vec<(String, usize, u64)>,
    /// The current call: its name, whether it frees, whether its numbers may be large, and its arguments so far.
    name: &'static str,
    frees: bool,
    large: bool,
    arguments: usize,
}

impl Driver {
    fn new(seed: u64) -> Self {
        let device = TestDevice::new(Gpu::Gfx942);
        let module = load(code_object(Gpu::Gfx942));
        let made = [
            ("ihipModule_t", module.expose_provenance()),
            (
                "ihipModuleSymbol_t",
                kernel(module, c"add").expose_provenance(),
            ),
            ("ihipStream_t", stream().expose_provenance()),
        ];
        let long = std::ffi::CString::new(vec![b'x'; 5000]).expect("no NUL");
        Driver {
            rng: Pcg64Mcg::seed_from_u64(seed),
            device,
            rooms: (0..ARGUMENTS).map(|_| vec![0; ROOM / 8].leak()).collect(),
            buffers: (0..3).map(|_| allocate(ROOM).expose_provenance()).collect(),
            texts: vec![
                c"add",
                c"",
                c"table",
                c"gfx942",
                c"-O3",
                c"/nonexistent/file",
                c"0000:00:00.0",
                c"\xff\xfe",
                Box::leak(long.into_boxed_c_str()),
            ],
            made: made
                .map(|(kind, handle)| (kind.to_owned(), vec![handle]))
                .into(),
            results: Vec::new(),
            name: "",
            frees: false,
            large: false,
            arguments: 0,
        }
    }

    /// Undoes what keeps most calls from doing something: another current device, and a capture that forbids calls.
    fn return_to_start(&self) {
        self.device.make_current();
        let mut mode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
        // SAFETY: the pointer is valid.
        succeeds(unsafe { hipThreadExchangeStreamCaptureMode(&mut mode) });
    }

    fn begin(&mut self, name: &'static str) {
        self.name = name;
        self.frees = FREES.iter().any(|part| name.contains(part));
        self.large = self.rng.random_ratio(1, 4);
        self.arguments = 0;
        self.results.clear();
    }

    fn one_of(&mut self, kind: &str) -> usize {
        let made = self.made.get(kind);
        made.and_then(|list| list.choose(&mut self.rng))
            .copied()
            .unwrap_or_default()
    }

    /// A number for a size, a count, a flag or a device.
    fn number(&mut self) -> u64 {
        let large = [
            1 << 20,
            1 << 31,
            1 << 40,
            u64::MAX,
            u64::MAX >> 1,
            i32::MAX as u64,
        ];
        match self.rng.random_range(0..10) {
            0..5 => self.rng.random_range(0..4),
            5..8 => 1 << self.rng.random_range(0..6),
            8 if self.large => *large.choose(&mut self.rng).expect("not empty"),
            _ => self.rng.random_range(0..SMALL),
        }
    }

    fn handle(&mut self, kind: &str) -> usize {
        match self.rng.random_range(0..10) {
            0 => self.rng.random_range(0..4),
            1 => usize::MAX & !7,
            2 => {
                let kinds: Vec<String> = self.made.keys().cloned().collect();
                let mut handles = kinds.iter().filter(|kind| *kind != "c_void");
                let other = handles.nth(self.rng.random_range(0..kinds.len()));
                other.map_or(0, |other| self.one_of(other))
            }
            _ => self.one_of(kind),
        }
    }

    /// The address of the current argument's room, filled with zeros, small numbers, or handles of a type.
    fn room(&mut self, kind: &str, depth: usize) -> usize {
        let fill = self.rng.random_range(0..3);
        let mut words = [0; FILLED];
        for word in &mut words {
            *word = match fill {
                0 => 0,
                1 if depth > 1 && nulls::is_handle(kind) => self.handle(kind) as u64,
                _ => self.rng.random_range(0..SMALL),
            };
        }
        let room = &mut self.rooms[self.arguments];
        room[..FILLED].copy_from_slice(&words);
        let address = room.as_mut_ptr().expose_provenance();
        if depth > 1 {
            self.results
                .push((kind.to_owned(), self.arguments, words[0]));
        }
        address
    }

    fn address(&mut self, name: &str) -> usize {
        let (kind, depth) = pointee(name);
        if nulls::is_handle(kind) && depth == 1 {
            return self.handle(kind);
        }
        match self.rng.random_range(0..12) {
            0 => 0,
            1 => self.rng.random_range(1..4096),
            _ if depth == 1 && kind == "c_void" && self.frees => {
                let address = self.one_of(kind);
                if let Some(list) = self.made.get_mut(kind) {
                    list.retain(|&other| other != address);
                }
                address
            }
            _ if depth == 1 && name.starts_with("*const") && matches!(kind, "i8" | "u8") => {
                let text = self.texts.choose(&mut self.rng);
                text.map_or(0, |text| text.as_ptr().expose_provenance())
            }
            2..5 if depth == 1 && kind == "c_void" && self.name.contains("Load") => {
                code_object(Gpu::Gfx942).as_ptr().expose_provenance()
            }
            choice if depth == 1 && kind == "c_void" && (self.large || choice < 8) => {
                let buffer = *self.buffers.choose(&mut self.rng).expect("not empty");
                buffer + self.rng.random_range(0..4)
            }
            _ if self.large && depth == 1 => 0,
            _ => self.room(kind, depth),
        }
    }

    /// An argument of any type in the table.
    fn argument<T>(&mut self) -> T {
        let name = type_name::<T>();
        let mut value = MaybeUninit::<T>::zeroed();
        let pointer = value.as_mut_ptr();
        // SAFETY: zero is valid for all types in the table: integers, floats, pointers, optional functions, and structs
        // of these. Other values are given to pointers, integers and enumerations, for which any value is valid, and to
        // functions, which read none of their arguments.
        unsafe {
            if name.starts_with('*') {
                let address = self.address(name);
                pointer.cast::<usize>().write(address);
            } else if name.starts_with("core::option::Option<") {
                if self.rng.random_ratio(1, 2) {
                    pointer
                        .cast::<usize>()
                        .write((callback as *const ()).addr());
                }
            } else {
                let words = size_of::<T>() / 4;
                let mut number = self.number();
                if size_of::<T>() == 8 {
                    pointer.cast::<u64>().write(number);
                } else {
                    for word in 0..words {
                        pointer
                            .cast::<u32>()
                            .add(word)
                            .write_unaligned(number as u32);
                        number = self.number();
                    }
                }
            }
        }
        self.arguments += 1;
        // SAFETY: see above.
        unsafe { value.assume_init() }
    }

    /// Keeps what the call has made.
    fn end(&mut self) {
        for (kind, room, before) in std::mem::take(&mut self.results) {
            let after = self.rooms[room][0];
            let after = after as usize;
            let stays = |&start: &usize| (start..start + ROOM).contains(&after);
            if after as u64 != before && after >= 4096 && !self.buffers.iter().any(stays) {
                self.made.entry(kind).or_default().push(after);
            }
        }
    }
}

macro_rules! functions {
    ($(
        $(#[$meta:meta])*
        $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {
        &[$((stringify!($name), |driver: &mut Driver| {
            driver.begin(stringify!($name));
            $(let $argument: $type = driver.argument();)*
            print!("{}", stringify!($name));
            $(print!(" {:?}", $argument);)*
            println!();
            let _ = std::io::stdout().flush();
            // SAFETY: memory is absent or long enough; handles may be any.
            let _ = unsafe { $name($($argument),*) };
            driver.end();
        })),*]
    };
}

type Function = (&'static str, fn(&mut Driver));

#[test]
fn the_child_calls_at_random() {
    let Some(seed) = env::var_os(SEED) else {
        return;
    };
    let seed = seed.to_str().and_then(|seed| seed.parse().ok());
    let mut driver = Driver::new(seed.expect("a seed"));
    let hip: &[Function] = for_each_hip_function!(functions);
    let hiprtc: &[Function] = for_each_hiprtc_function!(functions);
    let all: Vec<_> = [hip, hiprtc]
        .into_iter()
        .flatten()
        .filter(|(name, _)| !LEFT_OUT.contains(name))
        .collect();
    for call in 0..CALLS {
        if call % 16 == 0 {
            driver.return_to_start();
        }
        let (_, function) = all.choose(&mut driver.rng).expect("not empty");
        function(&mut driver);
    }
    // Another device, on another thread: the calls may have left this one's current device and captures in any state.
    let check = std::thread::spawn(|| {
        let _device = TestDevice::new(Gpu::Gfx942);
        let module = load(code_object(Gpu::Gfx942));
        let out = buffer(&[0; 64]);
        let arguments = add_arguments(out, buffer(&[5; 64]), 2);
        succeeds(add(kernel(module, c"add"), 1, &arguments, ptr::null_mut()));
        // SAFETY: the function takes no pointers.
        succeeds(unsafe { hipDeviceSynchronize() });
        assert_eq!(contents(out, 64), [7; 64]);
    });
    check.join().expect("the device works");
    println!("survived");
}

#[test]
fn calls_at_random_end_no_process() {
    (0..4).for_each(seed_ends_no_process);
}

#[test]
#[ignore = "takes a minute"]
fn many_calls_at_random_end_no_process() {
    (4..150).for_each(seed_ends_no_process);
}

fn seed_ends_no_process(seed: u64) {
    // `hipGraphDebugDotPrint` writes files.
    let directory = tempfile::tempdir().expect("a temporary folder");
    let mut said = tempfile::tempfile().expect("a temporary file");
    let output = || said.try_clone().expect("a second handle");
    let mut child = child("tests::random_calls::the_child_calls_at_random")
        .env(SEED, seed.to_string())
        .current_dir(&directory)
        .stdout(output())
        .stderr(output())
        .spawn()
        .expect("the child starts");
    let start = Instant::now();
    let mut status = None;
    while status.is_none() && start.elapsed() < TIME {
        std::thread::sleep(Duration::from_millis(10));
        status = child.try_wait().expect("the child can be waited for");
    }
    // Ends it if it hangs, and does nothing if it has ended.
    let _ = child.kill();
    let _ = child.wait();
    let mut text = Vec::new();
    said.rewind().expect("the file can be read");
    said.read_to_end(&mut text).expect("the file can be read");
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        status.is_some_and(|status| status.success()) && text.contains("survived"),
        "seed {seed}: {status:?} after\n{}",
        lines[lines.len().saturating_sub(20)..].join("\n")
    );
}
