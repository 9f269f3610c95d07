//! Microbenchmarks of AMD GPUs. Each kernel repeats one thing `iterations` times; the difference between two numbers of
//! iterations is the time of the thing itself.
//!
//! What is measured is written in assembly, because a compiler would change it. Each block of assembly waits for its own
//! loads, so that no register is overwritten later than the compiler knows.
#![no_std]
#![feature(abi_gpu_kernel, asm_experimental_arch, portable_simd, stdarch_amdgpu)]

#[cfg(not(ferrowave_family = "cdna"))]
use core::simd::u32x8;
use core::{
    arch::{
        amdgpu::{s_barrier, workgroup_id_x, workitem_id_x},
        asm,
    },
    panic::PanicInfo,
    simd::u32x4,
};

/// Work-items of a wave.
const LANES: u32 = if cfg!(ferrowave_family = "cdna") {
    64
} else {
    32
};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: ends the launch with an error.
    unsafe { asm!("s_trap 2", options(noreturn)) }
}

/// Waits for loads from the scalar cache, from LDS and from memory, and for stores.
#[cfg(not(ferrowave_family = "rdna4"))]
macro_rules! wait {
    (scalar) => {
        "s_waitcnt lgkmcnt(0)"
    };
    (lds) => {
        "s_waitcnt lgkmcnt(0)"
    };
    (load) => {
        "s_waitcnt vmcnt(0)"
    };
    (store) => {
        wait_for_stores!()
    };
}
#[cfg(ferrowave_family = "rdna4")]
macro_rules! wait {
    (scalar) => {
        "s_wait_kmcnt 0x0"
    };
    (lds) => {
        "s_wait_dscnt 0x0"
    };
    (load) => {
        "s_wait_loadcnt 0x0"
    };
    (store) => {
        "s_wait_storecnt 0x0"
    };
}

#[cfg(ferrowave_family = "cdna")]
macro_rules! wait_for_stores {
    () => {
        "s_waitcnt vmcnt(0)"
    };
}
#[cfg(ferrowave_family = "rdna3")]
macro_rules! wait_for_stores {
    () => {
        "s_waitcnt_vscnt null, 0x0"
    };
}

/// A barrier of the workgroup.
#[cfg(not(ferrowave_family = "rdna4"))]
macro_rules! barrier {
    () => {
        "s_barrier"
    };
}
#[cfg(ferrowave_family = "rdna4")]
macro_rules! barrier {
    () => {
        "s_barrier_signal -1\ns_barrier_wait -1"
    };
}

/// What makes an atomic operation return the old value.
#[cfg(any(
    ferrowave_gpu = "gfx908",
    ferrowave_gpu = "gfx90a",
    ferrowave_family = "rdna3"
))]
macro_rules! returning {
    () => {
        "glc"
    };
}
#[cfg(any(ferrowave_gpu = "gfx942", ferrowave_gpu = "gfx950"))]
macro_rules! returning {
    () => {
        "sc0"
    };
}
#[cfg(ferrowave_family = "rdna4")]
macro_rules! returning {
    () => {
        "th:TH_ATOMIC_RETURN"
    };
}

/// Repeats instructions 16, 64 or 128 times.
macro_rules! times {
    (16, $line:expr) => {
        concat!(
            $line, "\n", $line, "\n", $line, "\n", $line, "\n", $line, "\n", $line, "\n", $line,
            "\n", $line, "\n", $line, "\n", $line, "\n", $line, "\n", $line, "\n", $line, "\n",
            $line, "\n", $line, "\n", $line, "\n"
        )
    };
    (64, $line:expr) => {
        concat!(
            times!(16, $line),
            times!(16, $line),
            times!(16, $line),
            times!(16, $line)
        )
    };
    (128, $line:expr) => {
        concat!(times!(64, $line), times!(64, $line))
    };
}

/// Kernels that repeat a block of assembly without memory.
macro_rules! repeat {
    ($($(#[$doc:meta])* $name:ident: $lines:expr, [$($operand:tt)*];)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// It only changes registers.
        #[unsafe(no_mangle)]
        pub unsafe extern "gpu-kernel" fn $name(iterations: u32) {
            for _ in 0..iterations {
                // SAFETY: changes registers only.
                unsafe { asm!($lines, $($operand)* options(nostack)) };
            }
        }
    )*};
}

repeat! {
    /// 64 vector instructions that need each other's result.
    fma_short: times!(64, "v_fma_f32 {d}, {d}, {d}, {d}"), [d = inout(vgpr32) 0_u32 => _,];
    /// 128 of them: the difference is 64 instructions of known duration, which gives the clock.
    fma_long: times!(128, "v_fma_f32 {d}, {d}, {d}, {d}"), [d = inout(vgpr32) 0_u32 => _,];
    /// 64 independent f64 instructions.
    fma_double: times!(64, "v_fma_f64 {d}, {s}, {s}, {s}"), [d = inout(vgpr64) 0_u64 => _, s = in(vgpr64) 0_u64,];
    /// 64 independent 32-bit integer products.
    integer_product: times!(64, "v_mul_lo_u32 {d}, {s}, {s}"), [d = inout(vgpr32) 0_u32 => _, s = in(vgpr32) 0_u32,];
    /// 64 independent transcendental instructions.
    transcendental: times!(64, "v_rcp_f32 {d}, {s}"), [d = inout(vgpr32) 0_u32 => _, s = in(vgpr32) 0_u32,];
    /// 16 pauses of 64 cycles.
    sleep: times!(16, "s_sleep 1"), [];
    /// 16 barriers of the workgroup.
    barrier: times!(16, barrier!()), [];
}

// gfx908's matrix instructions need accumulation registers, which Rust's assembly does not know.
#[cfg(all(ferrowave_family = "cdna", not(ferrowave_gpu = "gfx908")))]
repeat! {
    /// 16 matrix instructions that add to the same sum.
    matrix: times!(16, "v_mfma_f32_16x16x4f32 {d}, {s}, {s}, {d}"),
        [d = inout(vgpr128) u32x4::splat(0) => _, s = in(vgpr32) 0_u32,];
}

#[cfg(ferrowave_family = "rdna3")]
repeat! {
    /// 16 matrix instructions that add to the same sum.
    matrix: times!(16, "v_wmma_f32_16x16x16_f16 {d}, {s}, {s}, {d}"),
        [d = inout(vgpr256) u32x8::splat(0) => _, s = in(vgpr256) u32x8::splat(0),];
}

#[cfg(ferrowave_family = "rdna4")]
repeat! {
    /// 16 matrix instructions that add to the same sum.
    matrix: times!(16, "v_wmma_f32_16x16x16_f16 {d}, {s}, {s}, {d}"),
        [d = inout(vgpr256) u32x8::splat(0) => _, s = in(vgpr128) u32x4::splat(0),];
}

/// 16 loads of the scalar cache, each with the address that the one before has loaded.
///
/// # Safety
/// `list` starts with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn scalar_latency(list: *const u32, iterations: u32) {
    let mut at = 0_u32;
    for _ in 0..iterations {
        // SAFETY: loads the zero, as the caller promises.
        unsafe {
            asm!(
                times!(16, concat!("s_load_dword {at}, {list}, {at}\n", wait!(scalar))),
                at = inout(sgpr32) at,
                list = in(sgpr64) list,
                options(nostack, readonly)
            );
        }
    }
}

/// 16 loads from LDS, each with the address that the one before has loaded.
///
/// # Safety
/// The launch has 4 bytes of LDS.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn lds_latency(iterations: u32) {
    let mut at = 0_u32;
    // SAFETY: as the caller promises.
    unsafe { asm!("ds_write_b32 {at}, {at}", wait!(lds), at = in(vgpr32) at, options(nostack)) };
    for _ in 0..iterations {
        // SAFETY: loads the zero that was written.
        unsafe {
            asm!(
                times!(16, concat!("ds_read_b32 {at}, {at}\n", wait!(lds))),
                at = inout(vgpr32) at,
                options(nostack)
            );
        }
    }
}

/// Kernels with 64 independent loads from LDS, lanes `stride` bytes apart.
macro_rules! lds_read {
    ($($name:ident: $class:ident, $value:expr, $line:literal;)*) => {$(
        /// 64 independent loads from LDS of all waves, lanes `stride` bytes apart, within `bytes` bytes.
        ///
        /// # Safety
        /// The launch has `bytes` bytes of LDS, a power of two.
        #[unsafe(no_mangle)]
        pub unsafe extern "gpu-kernel" fn $name(stride: u32, bytes: u32, iterations: u32) {
            let at = (workitem_id_x() * stride) & (bytes - 1);
            for _ in 0..iterations {
                // SAFETY: within the LDS, as the caller promises. The loads are done at the end.
                unsafe {
                    asm!(
                        concat!(times!(64, $line), wait!(lds)),
                        at = in(vgpr32) at,
                        d = inout($class) $value => _,
                        options(nostack)
                    );
                }
            }
        }
    )*};
}

lds_read! {
    lds_read_b32: vgpr32, 0_u32, "ds_read_b32 {d}, {at}";
    lds_read_b64: vgpr64, 0_u64, "ds_read_b64 {d}, {at}";
    lds_read_b128: vgpr128, u32x4::splat(0), "ds_read_b128 {d}, {at}";
}

/// 16 additions to a word of memory, each after the old value of the one before has returned.
///
/// # Safety
/// `memory` has a word.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn atomic_latency(memory: *mut u32, iterations: u32) {
    if workitem_id_x() > 0 {
        return;
    }
    for _ in 0..iterations {
        // SAFETY: adds zero to the word.
        unsafe {
            asm!(
                times!(
                    16,
                    concat!(
                        "global_atomic_add {d}, {zero}, {zero}, {memory} ",
                        returning!(),
                        "\n",
                        wait!(load)
                    )
                ),
                zero = in(vgpr32) 0_u32,
                memory = in(sgpr64) memory,
                d = out(vgpr32) _,
                options(nostack)
            );
        }
    }
}

/// Reads `bytes` bytes with all work-items, then follows with one wave a list in memory, 16 steps in an iteration: each
/// word is the offset in bytes of the next, from `start` on.
///
/// # Safety
/// `memory` has `bytes` bytes, and the list stays inside.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn load_latency(
    memory: *const u32,
    bytes: u32,
    start: u32,
    iterations: u32,
) {
    // One word of each line of 64 bytes.
    let mut offset = workitem_id_x() * 64;
    while offset < bytes {
        // SAFETY: inside, as the caller promises.
        unsafe {
            asm!(
                "global_load_dword {d}, {offset}, {memory}",
                wait!(load),
                offset = in(vgpr32) offset,
                memory = in(sgpr64) memory,
                d = out(vgpr32) _,
                options(nostack, readonly)
            );
        }
        offset += 1024 * 64;
    }
    s_barrier();
    if workitem_id_x() >= LANES {
        return;
    }
    let mut at = start;
    for _ in 0..iterations {
        // SAFETY: inside, as the caller promises.
        unsafe {
            asm!(
                times!(16, concat!("global_load_dword {at}, {at}, {memory}\n", wait!(load))),
                at = inout(vgpr32) at,
                memory = in(sgpr64) memory,
                options(nostack, readonly)
            );
        }
    }
}

/// The offsets of a work-item's eight accesses of 16 bytes in an iteration. `shared_by` workgroups in a row access the
/// same `region` bytes, a power of two, again and again.
struct Offsets {
    start: u32,
    own: u32,
    step: u32,
    region: u32,
}

impl Offsets {
    fn new(region: u32, shared_by: u32, threads: u32) -> Self {
        Offsets {
            start: workgroup_id_x() / shared_by * region,
            own: workitem_id_x() * 16,
            step: threads * 16,
            region,
        }
    }

    fn next(&mut self) -> [u32; 8] {
        let mut all = [0; 8];
        for offset in &mut all {
            *offset = self.start + (self.own & (self.region - 1));
            self.own += self.step;
        }
        all
    }
}

/// Reads a region, first `warm` times eight accesses whose time cancels, then eight in an iteration.
///
/// # Safety
/// `memory` has `region` bytes for each `shared_by` workgroups of the grid, and less than 4 GiB.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn read(
    memory: *const u8,
    region: u32,
    shared_by: u32,
    threads: u32,
    warm: u32,
    iterations: u32,
) {
    macro_rules! read {
        ($offsets:expr) => {
            let [a, b, c, d, e, f, g, h] = $offsets;
            // SAFETY: inside, as the caller promises. The loads are done at the end.
            unsafe {
                asm!(
                    "global_load_dwordx4 {to_a}, {a}, {memory}",
                    "global_load_dwordx4 {to_b}, {b}, {memory}",
                    "global_load_dwordx4 {to_c}, {c}, {memory}",
                    "global_load_dwordx4 {to_d}, {d}, {memory}",
                    "global_load_dwordx4 {to_e}, {e}, {memory}",
                    "global_load_dwordx4 {to_f}, {f}, {memory}",
                    "global_load_dwordx4 {to_g}, {g}, {memory}",
                    "global_load_dwordx4 {to_h}, {h}, {memory}",
                    wait!(load),
                    a = in(vgpr32) a, b = in(vgpr32) b, c = in(vgpr32) c, d = in(vgpr32) d,
                    e = in(vgpr32) e, f = in(vgpr32) f, g = in(vgpr32) g, h = in(vgpr32) h,
                    memory = in(sgpr64) memory,
                    to_a = inout(vgpr128) u32x4::splat(0) => _,
                    to_b = inout(vgpr128) u32x4::splat(0) => _,
                    to_c = inout(vgpr128) u32x4::splat(0) => _,
                    to_d = inout(vgpr128) u32x4::splat(0) => _,
                    to_e = inout(vgpr128) u32x4::splat(0) => _,
                    to_f = inout(vgpr128) u32x4::splat(0) => _,
                    to_g = inout(vgpr128) u32x4::splat(0) => _,
                    to_h = inout(vgpr128) u32x4::splat(0) => _,
                    options(nostack, readonly)
                );
            }
        };
    }
    let mut offsets = Offsets::new(region, shared_by, threads);
    for _ in 0..warm {
        read!(offsets.next());
    }
    for _ in 0..iterations {
        read!(offsets.next());
    }
}

/// As `read`, with stores.
///
/// # Safety
/// As `read`.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn write(
    memory: *mut u8,
    region: u32,
    shared_by: u32,
    threads: u32,
    warm: u32,
    iterations: u32,
) {
    macro_rules! write {
        ($offsets:expr) => {
            let [a, b, c, d, e, f, g, h] = $offsets;
            // SAFETY: inside, as the caller promises.
            unsafe {
                asm!(
                    "global_store_dwordx4 {a}, {value}, {memory}",
                    "global_store_dwordx4 {b}, {value}, {memory}",
                    "global_store_dwordx4 {c}, {value}, {memory}",
                    "global_store_dwordx4 {d}, {value}, {memory}",
                    "global_store_dwordx4 {e}, {value}, {memory}",
                    "global_store_dwordx4 {f}, {value}, {memory}",
                    "global_store_dwordx4 {g}, {value}, {memory}",
                    "global_store_dwordx4 {h}, {value}, {memory}",
                    wait!(store),
                    a = in(vgpr32) a, b = in(vgpr32) b, c = in(vgpr32) c, d = in(vgpr32) d,
                    e = in(vgpr32) e, f = in(vgpr32) f, g = in(vgpr32) g, h = in(vgpr32) h,
                    memory = in(sgpr64) memory,
                    value = in(vgpr128) u32x4::splat(0),
                    options(nostack)
                );
            }
        };
    }
    let mut offsets = Offsets::new(region, shared_by, threads);
    for _ in 0..warm {
        write!(offsets.next());
    }
    for _ in 0..iterations {
        write!(offsets.next());
    }
}
