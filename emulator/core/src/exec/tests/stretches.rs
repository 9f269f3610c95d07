//! Code is compiled when waves reach it.

use std::{
    sync::{Arc, Barrier, Mutex},
    thread,
};

use ferrowave_gpu::Gpu;

use super::{assembled, wave};
use crate::exec::{
    Code, CodeMemory, Context, FaultKind, SimdLevel, Stop, Unobserved, Wave, code::Size, jit, run,
    simd::CHUNKS, words,
};
use crate::memory::{CodePlace, DeviceMemory};

const ADDRESS: u64 = 0x1000;

/// Functions, one per line and named `f0`, `f1` and so on, divided at byte offsets.
fn code(functions: &[&str], starts: &[u64]) -> Code {
    let functions = functions.iter().enumerate();
    let lines: Vec<_> = functions
        .map(|(number, f)| format!("f{number}:\n{f}"))
        .collect();
    let words = assembled(Gpu::Gfx942, &lines);
    let policy = jit::Policy::default();
    Code::divided(
        Gpu::Gfx942,
        SimdLevel::detect(),
        Size::of::<CHUNKS>(),
        ADDRESS,
        &words,
        starts,
        policy,
    )
}

/// Runs a wave from an address. Returns `s0`, or the fault.
fn run_from(code: &Code, start: u64, prepare: impl Fn(&mut Wave)) -> Result<u32, FaultKind> {
    let memory = DeviceMemory::new(0).view();
    let mut context = Context::new(code, &memory, &mut []);
    let mut wave = wave();
    prepare(&mut wave);
    wave.pc = code.index_of(start).expect("an instruction starts there");
    match run(&mut wave, &mut context, &mut 1000, &mut Unobserved) {
        Stop::Ended => Ok(wave.scalar(0)),
        _ => Err(context.take_fault().expect("a fault").kind),
    }
}

/// Three functions: the first jumps to the address in `s[2:3]`, the others add to `s0`. Literals make instructions of
/// two words.
const FUNCTIONS: [&str; 4] = [
    "s_mov_b32 s0, 0x12345\ns_setpc_b64 s[2:3]",
    "s_add_u32 s0, s0, 0x10000\ns_endpgm",
    "s_add_u32 s0, s0, 0x20000\ns_branch f1",
    "s_add_u32 s0, s0, 0x40000",
];
const STARTS: [u64; 3] = [12, 24, 36];

#[test]
fn a_stretch_is_ready_when_a_wave_gets_there() {
    let whole = code(&FUNCTIONS, &[]);
    let code = code(&FUNCTIONS, &STARTS);
    let start = |function: u64| ADDRESS + 12 * function;
    let jump = |target: u64| move |w: &mut Wave| w.set_scalar_pair(2, target);
    for (target, sum, ready) in [(1, 0x22345, 2), (2, 0x42345, 3)] {
        for code in [&whole, &code] {
            let ended = run_from(code, start(0), jump(start(target)));
            assert_eq!(ended, Ok(sum));
        }
        assert_eq!(code.ready_count(), ready);
    }
    assert_eq!(whole.ready_count(), 1);
    // The last function runs past the end of the code.
    let left = run_from(&code, start(0), jump(start(3)));
    assert_eq!(left, Err(FaultKind::LeftCode));
    // Jumps into an instruction, and out of the code.
    for target in [start(1) + 4, start(2) + 2, 8, u64::MAX] {
        let fault = Err(FaultKind::Jump { address: target });
        assert_eq!(run_from(&code, start(0), jump(target)), fault);
    }
}

#[test]
fn waves_run_on_into_the_next_function() {
    let functions = [
        "s_mov_b32 s0, 0x12345",
        "s_mov_b32 s1, 1\ns_nop 0",
        "s_add_u32 s0, s0, 0x10000\ns_getpc_b64 s[4:5]",
        "s_endpgm",
    ];
    let code = code(&functions, &[8, 16, 28]);
    assert_eq!(run_from(&code, ADDRESS, |_| ()), Ok(0x22345));
    assert_eq!(code.ready_count(), 4);
    // Addresses are consecutive, whatever the indices are.
    let offsets = [0, 8, 12, 16, 24, 28];
    for (number, offset) in offsets.into_iter().enumerate() {
        let index = code.index_of(ADDRESS + offset).expect("an instruction");
        assert_eq!(
            code.address_of(index),
            ADDRESS + offset,
            "instruction {number}"
        );
        assert_eq!(
            code.address_of(index + 1),
            ADDRESS + [8, 12, 16, 24, 28, 32][number]
        );
    }
    assert_eq!(code.indices(ADDRESS..ADDRESS + 8), 0..1);
    let second = code.index_of(ADDRESS + 8).expect("an instruction");
    assert_eq!(code.indices(ADDRESS + 8..ADDRESS + 16), second..second + 2);
}

#[test]
fn what_is_refused_is_refused_when_it_is_reached() {
    let functions = ["s_endpgm", "s_setreg_b32 hwreg(HW_REG_HW_ID), s0\ns_endpgm"];
    let code = code(&functions, &[4]);
    assert_eq!(run_from(&code, ADDRESS, |_| ()), Ok(0));
    assert_eq!(code.ready_count(), 1);
    let refused = code.unsupported();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].offset, 4);
    assert_eq!(code.ready_count(), 1, "asking makes nothing ready");
    let fault = run_from(&code, ADDRESS + 4, |_| ());
    let what = refused[0].what.clone();
    assert!(what.contains("does not run `s_setreg_b32"), "{what}");
    assert_eq!(fault, Err(FaultKind::Unsupported { what }));
}

#[test]
fn threads_that_come_together_get_the_same() {
    for _ in 0..20 {
        let code = code(&FUNCTIONS, &STARTS);
        let gate = Barrier::new(10);
        thread::scope(|scope| {
            let threads = [0; 10].map(|_| {
                scope.spawn(|| {
                    gate.wait();
                    let jump = |w: &mut Wave| w.set_scalar_pair(2, ADDRESS + 24);
                    run_from(&code, ADDRESS, jump)
                })
            });
            for thread in threads {
                assert_eq!(thread.join().expect("no panic"), Ok(0x42345));
            }
        });
        assert_eq!(code.ready_count(), 3);
    }
}

/// The code objects of a device.
#[derive(Default)]
struct Loaded(Mutex<Vec<(Arc<CodePlace>, Vec<u32>)>>);

impl Loaded {
    fn load(&self, address: u64, line: &str) -> Arc<CodePlace> {
        let words = words(&assembled(Gpu::Gfx942, &[line]));
        let place = Arc::new(CodePlace {
            address,
            words: words.len() as u32,
            starts: vec![],
        });
        self.0.lock().unwrap().push((Arc::clone(&place), words));
        place
    }

    fn unload(&self, address: u64) {
        self.0
            .lock()
            .unwrap()
            .retain(|(place, _)| place.address != address);
    }
}

impl CodeMemory for Loaded {
    fn read(&self, address: u64, words: usize) -> Vec<u32> {
        let place = self.code_at(address).expect("it is loaded");
        let loaded = self.0.lock().unwrap();
        let (_, code) = loaded.iter().find(|(p, _)| Arc::ptr_eq(p, &place)).unwrap();
        let first = ((address - place.address) / 4) as usize;
        code[first..first + words].to_vec()
    }

    fn code_at(&self, address: u64) -> Option<Arc<CodePlace>> {
        let loaded = self.0.lock().unwrap();
        let holds = |place: &CodePlace| {
            (place.address..place.address + 4 * u64::from(place.words)).contains(&address)
        };
        let found = loaded.iter().find(|(place, _)| holds(place));
        found.map(|(place, _)| Arc::clone(place))
    }
}

/// rocFFT's kernels call functions of the program that uses it in this way.
#[test]
fn pointers_to_functions_lead_into_other_code_objects() {
    const OTHER: u64 = 0x8000;
    let memory = Arc::new(Loaded::default());
    let place = memory.load(
        ADDRESS,
        "s_mov_b32 s0, 0x12345\ns_swappc_b64 s[30:31], s[2:3]\ns_add_u32 s0, s0, 0x10000\n\
         s_endpgm\ns_swappc_b64 s[30:31], s[2:3]",
    );
    let code = Code::new(
        Gpu::Gfx942,
        SimdLevel::detect(),
        64,
        place,
        Arc::clone(&memory) as Arc<_>,
    );
    let call = |start: u64, target: u64| {
        run_from(&code, ADDRESS + start, move |w| {
            w.set_scalar_pair(2, target);
        })
    };
    let own = code.facts().len();
    let unloaded = Err(FaultKind::Jump { address: OTHER });
    assert_eq!(call(0, OTHER), unloaded);
    // The loop's branch is relative, in the other code.
    memory.load(
        OTHER,
        "s_movk_i32 s4, 2\nl:\ns_add_u32 s0, s0, 0x20000\ns_sub_u32 s4, s4, 1\n\
         s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 l\ns_setpc_b64 s[30:31]",
    );
    assert_eq!(call(0, OTHER), Ok(0x62345));
    assert_eq!(call(0, OTHER), Ok(0x62345));
    // A jump into an instruction.
    let inside = Err(FaultKind::Jump { address: OTHER + 8 });
    assert_eq!(call(0, OTHER + 8), inside);
    // Code loaded later at the same address is a different code.
    memory.unload(OTHER);
    assert_eq!(call(0, OTHER), unloaded);
    memory.load(OTHER, "s_add_u32 s0, s0, 0x80000\ns_setpc_b64 s[30:31]");
    assert_eq!(call(0, OTHER), Ok(0xa2345));
    // Code that does not return; the return address is in the first code.
    memory.load(OTHER + 0x1000, "s_mov_b32 s0, s30\ns_endpgm");
    assert_eq!(call(24, OTHER + 0x1000), Ok(ADDRESS as u32 + 28));
    memory.load(OTHER + 0x2000, "s_nop 0");
    assert_eq!(call(0, OTHER + 0x2000), Err(FaultKind::LeftCode));
    assert_eq!(code.facts().len(), own, "indices of the first code alone");
}
