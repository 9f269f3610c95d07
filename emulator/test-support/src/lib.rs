//! Small assembly kernels for the tests of the emulator and of its observers.

mod lds_reads;

pub use lds_reads::{LDS_BYTES, LDS_READS, LdsReads};

use std::sync::Arc;

use ferrowave_check::{self as check, Checked, Finding, Options};
use ferrowave_emulator::dispatch::{LaunchConfig, Limits};
use ferrowave_emulator::exec::SimdLevel;
use ferrowave_emulator::memory::{AllocationKind, DeviceMemory};
use ferrowave_emulator::program::{Kernel, Program};
use ferrowave_gpu::{Family, Gpu};

/// A kernel `k(a: *mut u32, b: *mut u32)` and a launch of it.
///
/// At entry `s[0:1]` = arguments, `s2` = workgroup, `v0` = work-item. The prologue loads `s[4:5]` = a, `s[6:7]` = b.
#[derive(Clone, Copy)]
pub struct Small<'a> {
    /// The target GPU.
    pub gpu: Gpu,
    /// The instructions between the load of the arguments and `s_endpgm`.
    pub body: &'a str,
    /// Work-items per workgroup.
    pub threads: u32,
    /// Workgroups.
    pub workgroups: u32,
    /// LDS per workgroup in bytes.
    pub lds_bytes: u32,
    /// Private memory per work-item in bytes, from gfx942 on.
    pub private_bytes: u32,
    /// For each buffer: its size in bytes, and how many of these the host writes.
    pub buffers: [(usize, usize); 2],
    /// Whether the second buffer is freed before the launch.
    pub free_b: bool,
    /// Lanes of a wave; 32 only on RDNA.
    pub wave_size: u32,
    /// Whether the waves of a workgroup are on one of the two compute units of RDNA's workgroup processor.
    pub in_one_compute_unit: bool,
}

impl<'a> Small<'a> {
    /// One wave, with buffers of 4096 bytes that the host has written.
    pub const fn new(gpu: Gpu, body: &'a str) -> Self {
        Small {
            gpu,
            body,
            threads: 64,
            workgroups: 1,
            lds_bytes: 1024,
            private_bytes: 0,
            buffers: [(4096, 4096), (4096, 4096)],
            free_b: false,
            wave_size: 64,
            in_one_compute_unit: false,
        }
    }

    /// One wave of 32 lanes on RDNA.
    pub const fn wave32(gpu: Gpu, body: &'a str) -> Self {
        Small {
            threads: 32,
            wave_size: 32,
            ..Small::new(gpu, body)
        }
    }

    /// The same kernel with `threads` work-items per workgroup.
    pub const fn threads(self, threads: u32) -> Self {
        Small { threads, ..self }
    }

    /// The same kernel with `workgroups` workgroups.
    pub const fn workgroups(self, workgroups: u32) -> Self {
        Small { workgroups, ..self }
    }

    fn text(&self) -> String {
        let Small {
            body,
            lds_bytes,
            private_bytes,
            wave_size,
            ..
        } = *self;
        let (load, wait) = match self.gpu {
            Gpu::Gfx1200 | Gpu::Gfx1201 => ("s_load_b128", "s_wait_kmcnt 0"),
            _ => ("s_load_dwordx4", "s_waitcnt lgkmcnt(0)"),
        };
        let of_gpu = match (self.gpu, self.gpu.family()) {
            (_, Family::Rdna) => format!(
                ".amdhsa_wavefront_size32 {}\n  .amdhsa_workgroup_processor_mode {}",
                u8::from(wave_size == 32),
                u8::from(!self.in_one_compute_unit)
            ),
            (Gpu::Gfx908, _) => String::new(),
            _ => ".amdhsa_accum_offset 64".to_owned(),
        };
        // Only with architected scratch does the directive have this name.
        let private = match private_bytes {
            0 => String::new(),
            _ => format!(
                ".amdhsa_private_segment_fixed_size {private_bytes}\n  .amdhsa_enable_private_segment 1"
            ),
        };
        format!(
            "
.text
.globl k
.p2align 8
.type k,@function
k:
  {load} s[4:7], s[0:1], 0x0
  {wait}
{body}
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_group_segment_fixed_size {lds_bytes}
  .amdhsa_next_free_vgpr 128
  .amdhsa_next_free_sgpr 48
  {private}
  {of_gpu}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
      - {{ .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }}
    .kernarg_segment_size: 16
    .group_segment_fixed_size: {lds_bytes}
    .private_segment_fixed_size: {private_bytes}
    .kernarg_segment_align: 8
    .wavefront_size: {wave_size}
    .sgpr_count: 48
    .vgpr_count: 128
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
"
        )
    }

    /// Its code object.
    pub fn object(&self) -> Vec<u8> {
        ferrowave_kernel_build::assemble(self.gpu, &self.text()).expect("LLVM assembles it")
    }

    /// Launches it with checks. Also returns the contents of the first buffer afterwards.
    pub fn launch(&self, options: &Options) -> (Checked, Vec<u8>) {
        self.run(|kernel, config| {
            let checked = check::launch(kernel, config, options).expect("it begins");
            let (buffer, _) = config.kernarg.split_first_chunk().expect("two buffers");
            let mut bytes = vec![0; self.buffers[0].0];
            let memory = kernel.memory();
            memory
                .read(u64::from_le_bytes(*buffer), &mut bytes)
                .expect("inside the buffer");
            (checked, bytes)
        })
    }

    /// Loads it, allocates its buffers and calls `launch`.
    pub fn run<R>(&self, launch: impl FnOnce(&Kernel, &LaunchConfig<'_>) -> R) -> R {
        let object = self.object();
        let memory = Arc::new(DeviceMemory::with_account(1 << 28));
        let program =
            Program::load(&object, self.gpu, &memory, SimdLevel::detect()).expect("it loads");
        let kernel = program.kernel("k").expect("the kernel");
        let buffers = self.buffers.map(|(bytes, written)| {
            let buffer = memory
                .allocate(bytes, AllocationKind::Device)
                .expect("room");
            memory
                .fill(buffer, &[0], written)
                .expect("inside the buffer");
            buffer
        });
        if self.free_b {
            memory.free(buffers[1]).expect("it is allocated");
        }
        let kernarg: Vec<u8> = buffers.iter().flat_map(|b| b.to_le_bytes()).collect();
        let config = LaunchConfig {
            grid: [self.workgroups, 1, 1],
            block: [self.threads, 1, 1],
            dynamic_lds_bytes: 0,
            kernarg: &kernarg,
            seed: 0,
            threads: None,
            limits: Limits {
                instructions: Some(1 << 20),
                ..Limits::NONE
            },
            cooperative: false,
            group: None,
            partial: [0; 3],
        };
        launch(&kernel, &config)
    }

    /// The findings of a checked launch.
    pub fn found(&self, options: &Options) -> Vec<Finding> {
        self.launch(options).0.findings
    }
}

/// The identifier and the instruction of each finding.
pub fn names(findings: &[Finding]) -> Vec<(&'static str, String)> {
    findings
        .iter()
        .map(|finding| {
            let place = finding.wave.instruction.as_ref();
            let text = place.map_or(String::new(), |place| {
                let words: Vec<_> = place.text.split_whitespace().collect();
                words.join(" ")
            });
            (finding.kind.id(), text)
        })
        .collect()
}
