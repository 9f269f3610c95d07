//! Compares the computed occupancy with LLVM's for kernels that use given numbers of registers and amounts of LDS.

use std::{fmt::Write as _, fs, process::Command};

use ferrowave_gpu::{Gpu, GpuLimits, Limiter, Occupancy, Resources};
use ferrowave_kernel_build::Toolchain;

/// What `llc` prints of a kernel.
#[derive(Debug, Default)]
struct Printed {
    sgprs: u32,
    vgprs: u32,
    lds_bytes: u32,
    occupancy: u32,
}

/// Compiles a kernel for each (highest VGPR, highest SGPR, LDS bytes, workgroup size).
fn llc(gpu: Gpu, kernels: &[(u32, u32, u32, u32)]) -> Vec<Printed> {
    let toolchain = Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
    let mut module = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    for (index, (vgpr, sgpr, lds, size)) in kernels.iter().enumerate() {
        if *lds > 0 {
            writeln!(
                module,
                "@lds{index} = internal addrspace(3) global [{lds} x i8] poison"
            )
            .expect("a string");
        }
        writeln!(
            module,
            "define amdgpu_kernel void @kernel{index}(i32 %i) #{index} {{
  call void asm sideeffect \"\", \"~{{v{vgpr}}},~{{s{sgpr}}}\"()"
        )
        .expect("a string");
        if *lds > 0 {
            writeln!(
                module,
                "  %p = getelementptr i8, ptr addrspace(3) @lds{index}, i32 %i
  store volatile i8 1, ptr addrspace(3) %p"
            )
            .expect("a string");
        }
        writeln!(
            module,
            "  ret void\n}}\nattributes #{index} = {{ \"amdgpu-flat-work-group-size\"=\"{size},{size}\" }}"
        )
        .expect("a string");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("kernels.ll");
    fs::write(&path, module).expect("writes");
    let output = Command::new(toolchain.llc())
        .arg(format!("-mcpu={gpu}"))
        .args(["-o", "-"])
        .arg(&path)
        .output()
        .expect("llc runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let mut printed = Vec::new();
    let mut current = Printed::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let number = |name: &str| -> Option<u32> {
            let rest = line
                .strip_prefix("; ")?
                .strip_prefix(name)?
                .strip_prefix(": ")?;
            Some(rest.split(' ').next()?.parse().expect("a number"))
        };
        if let Some(count) = number("TotalNumSgprs") {
            current.sgprs = count;
        } else if let Some(count) = number("NumVgprs") {
            // Where there are accumulation VGPRs, their sum follows.
            current.vgprs = count;
        } else if let Some(count) = number("TotalNumVgprs") {
            current.vgprs = count;
        } else if let Some(bytes) = number("LDSByteSize") {
            current.lds_bytes = bytes;
        } else if let Some(waves) = number("Occupancy") {
            current.occupancy = waves;
            printed.push(std::mem::take(&mut current));
        }
    }
    assert_eq!(printed.len(), kernels.len());
    printed
}

fn check(gpu: Gpu, kernels: &[(u32, u32, u32, u32)]) {
    for (kernel, printed) in kernels.iter().zip(llc(gpu, kernels)) {
        let occupancy = Occupancy::of(
            gpu,
            Resources {
                vgprs: printed.vgprs,
                sgprs: printed.sgprs,
                lds_bytes: printed.lds_bytes,
                workgroup_size: kernel.3,
                wave_size: GpuLimits::of(gpu).wave_size,
                in_one_compute_unit: false,
            },
        );
        assert_eq!(
            occupancy.waves_per_simd, printed.occupancy,
            "{gpu} {kernel:?}: {printed:?} {occupancy:?}"
        );
    }
}

#[test]
fn by_vector_registers() {
    for gpu in Gpu::ALL {
        // Both sides of each boundary between two occupancies.
        let mut kernels = Vec::new();
        for vgpr in 0..256 {
            kernels.push((vgpr, 8, 0, 64));
        }
        check(gpu, &kernels);
    }
}

#[test]
fn by_scalar_registers() {
    for gpu in Gpu::ALL {
        let kernels: Vec<_> = (0..102).map(|sgpr| (8, sgpr, 0, 64)).collect();
        check(gpu, &kernels);
    }
}

#[test]
fn by_lds() {
    for gpu in Gpu::ALL {
        let most = GpuLimits::of(gpu).lds_bytes;
        let mut kernels = Vec::new();
        for size in [256, 512, 1024] {
            for lds in [
                1,
                512,
                513,
                4096,
                8192,
                8193,
                16384,
                20480,
                32768,
                32769,
                65536,
                most / 2,
                most,
            ] {
                kernels.push((8, 8, lds, size));
            }
        }
        check(gpu, &kernels);
    }
}

#[test]
fn what_limits_is_named() {
    let check = |gpu,
                 (vgprs, sgprs, lds_bytes, workgroup_size),
                 workgroups,
                 waves,
                 limited_by: &[Limiter]| {
        let occupancy = Occupancy::of(
            gpu,
            Resources {
                vgprs,
                sgprs,
                lds_bytes,
                workgroup_size,
                wave_size: GpuLimits::of(gpu).wave_size,
                in_one_compute_unit: false,
            },
        );
        assert_eq!(
            occupancy,
            Occupancy {
                workgroups_per_compute_unit: workgroups,
                waves_per_simd: waves,
                limited_by: limited_by.to_vec()
            }
        );
    };
    use Limiter::*;
    // By hand: gfx908 holds 10 waves per SIMD, 40 in all, here of one wave per workgroup.
    check(Gpu::Gfx908, (24, 16, 0, 64), 40, 10, &[WaveSlots, Vgprs]);
    // 112 allocated and 16 for the trap handler.
    check(Gpu::Gfx908, (8, 102, 0, 64), 24, 6, &[Sgprs]);
    // 129 registers are allocated as 136: 3 waves per SIMD.
    check(Gpu::Gfx942, (129, 16, 0, 256), 3, 3, &[Vgprs]);
    check(Gpu::Gfx942, (512, 16, 0, 256), 1, 1, &[Vgprs]);
    check(Gpu::Gfx942, (513, 16, 0, 256), 0, 0, &[Vgprs]);
    check(Gpu::Gfx908, (257, 16, 0, 256), 0, 0, &[Vgprs]);
    check(Gpu::Gfx942, (8, 16, 33 << 10, 256), 1, 1, &[Lds]);
    check(Gpu::Gfx950, (8, 16, 33 << 10, 256), 4, 4, &[Lds]);
    check(Gpu::Gfx942, (8, 16, (64 << 10) + 1, 256), 0, 0, &[Lds]);
    check(Gpu::Gfx950, (8, 16, 160 << 10, 256), 1, 1, &[Lds]);
    // Workgroups of two waves: the 16 barriers limit them, although a SIMD has free wave slots.
    check(Gpu::Gfx908, (8, 16, 0, 128), 16, 8, &[Workgroups]);
    // A wave with one work-item uses as much as a full one.
    check(Gpu::Gfx942, (8, 16, 0, 1), 32, 8, &[WaveSlots]);
    check(Gpu::Gfx942, (8, 16, 0, 0), 0, 0, &[WorkgroupSize]);
    check(Gpu::Gfx942, (8, 16, 0, 1025), 0, 0, &[WorkgroupSize]);
    // RDNA, waves of 32 lanes: 16 on each of the four SIMDs of a workgroup processor, which has 128 KiB of LDS.
    check(Gpu::Gfx1100, (97, 16, 0, 256), 6, 12, &[Vgprs]);
    check(Gpu::Gfx1102, (97, 16, 0, 256), 4, 8, &[Vgprs]);
    check(Gpu::Gfx1100, (8, 128, 0, 32), 64, 16, &[WaveSlots]);
    check(
        Gpu::Gfx1100,
        (8, 16, 64 << 10, 1024),
        2,
        16,
        &[WaveSlots, Lds],
    );
    check(Gpu::Gfx1100, (8, 16, (64 << 10) + 1, 1024), 0, 0, &[Lds]);
    check(
        Gpu::Gfx942,
        (u32::MAX, u32::MAX, u32::MAX, 64),
        0,
        0,
        &[Vgprs, Sgprs, Lds],
    );
}

/// A wave of 64 lanes takes two registers of 32 lanes for each; in CU mode, half of a workgroup processor is what a
/// workgroup has. By hand.
#[test]
fn rdna_has_two_sizes_of_waves_and_two_modes() {
    let of = |vgprs, lds_bytes, workgroup_size, wave_size, in_one_compute_unit| {
        let resources = Resources {
            vgprs,
            sgprs: 128,
            lds_bytes,
            workgroup_size,
            wave_size,
            in_one_compute_unit,
        };
        let occupancy = Occupancy::of(Gpu::Gfx1100, resources);
        (
            occupancy.workgroups_per_compute_unit,
            occupancy.waves_per_simd,
        )
    };
    // 97 registers are 120 of 1536, or 108 of 768.
    assert_eq!(of(97, 0, 256, 32, false), (6, 12));
    assert_eq!(of(97, 0, 256, 64, false), (7, 7));
    // 40 KiB: three workgroups in the 128 KiB of both compute units, and one in the 64 KiB of each.
    assert_eq!(of(8, 40 << 10, 256, 32, false), (3, 6));
    assert_eq!(of(8, 40 << 10, 256, 32, true), (2, 4));
}
