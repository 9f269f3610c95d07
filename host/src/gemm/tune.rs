//! Measures the best few kernels on the device.

use std::{path::PathBuf, time::Duration};

use ferrowave_shared::{CATALOGUE, Kernel};

use super::{
    buffers::InputBuffers,
    choose::{Choice, Decision, Second, choose, ranked},
    error::GemmError,
    launch::Gemm,
    operands::{Operands, Target},
    plan::Plan,
    problem::Problem,
    tuned::cache::Winner,
};

/// The kernels that are measured: the best by the table or the rule.
const CANDIDATES: usize = 5;
/// Timed runs of each on a GPU; the fastest counts.
const RUNS: usize = 10;

/// What was measured of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The fastest kernel.
    pub choice: Choice,
    /// All that were measured, in the order of the table or the rule.
    pub measured: Vec<Measured>,
    /// The file in which the winner is kept; `None` if there is no cache directory; or why it is not kept.
    pub kept: Result<Option<PathBuf>, String>,
}

/// A kernel that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Into how many parts it divided k.
    pub parts: u32,
    /// Its shortest time, or why it failed.
    pub time: Result<Duration, String>,
}

impl Gemm {
    /// Measures the best few kernels by the table or the rule on the device, with operands of its own, and keeps the fastest
    /// in the user's cache directory: [`run`](Self::run) uses it from then on. A kernel that fails is left out; if all of
    /// them fail, the other kernels are tried until one does not. On the emulator times are those of the emulation.
    ///
    /// # Errors
    /// If there is no kernel for the problem, there is no memory for its operands, or every kernel fails.
    pub fn tune(&self, problem: &Problem) -> Result<Tuned, GemmError> {
        let candidates = self.candidates(problem)?;
        let types = problem.types();
        let zeros = |bytes: usize| {
            // Zeros: what memory held before could be NaN, or another problem's numbers.
            let buffer = self.context().allocate::<u8>(bytes).and_then(|mut buffer| {
                buffer.fill_bytes(0)?;
                Ok(buffer)
            });
            buffer.map_err(|error| GemmError::Workspace {
                bytes: bytes as u64,
                error,
            })
        };
        let inputs = InputBuffers::of_problem(problem, zeros)?;
        let bytes = types.output.bytes(problem.c().span());
        let mut c = zeros(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let mut operands = inputs.operands(types, Target::of_bytes(&mut c, types.output));
        let mut measured: Vec<Measured> = Vec::new();
        for (number, (kernel, parts)) in candidates.into_iter().enumerate() {
            if number >= CANDIDATES && measured.iter().any(|measured| measured.time.is_ok()) {
                break;
            }
            let time = self
                .shortest(kernel, parts, problem, &mut operands)
                .map_err(|error| error.to_string());
            measured.push(Measured {
                kernel,
                parts,
                time,
            });
        }
        self.keep(problem, measured)
    }

    /// The kernels that can compute a problem on whole buffers, best first.
    fn candidates(&self, problem: &Problem) -> Result<Vec<(&'static Kernel, u32)>, GemmError> {
        let machine = self.machine();
        let choice = choose(problem, machine, None)?;
        let ranked = ranked(problem, machine, None).unwrap_or_default();
        let mut all = vec![(choice.kernel, choice.parts)];
        let fitting = ranked.iter().filter(|ranked| ranked.misfit.is_none());
        let ranked = fitting.map(|ranked| (ranked.kernel, ranked.parts));
        // Without a table, the last steps of the ladder first.
        let others = CATALOGUE.iter().rev().filter_map(|kernel| {
            let plan = Plan::new(kernel, problem, machine).ok()?;
            Some((kernel, plan.parts()))
        });
        for (kernel, parts) in ranked.chain(others) {
            if !all.iter().any(|(other, _)| other.symbol == kernel.symbol) {
                all.push((kernel, parts));
            }
        }
        Ok(all)
    }

    fn shortest(
        &self,
        kernel: &'static Kernel,
        parts: u32,
        problem: &Problem,
        operands: &mut Operands<'_>,
    ) -> Result<Duration, GemmError> {
        let plan = Plan::with_parts(kernel, problem, self.machine(), parts)?;
        let mut shortest = self.run_plan(&plan, operands.reborrow())?;
        let runs = match self.context().device().is_emulated() {
            true => 0,
            false => RUNS,
        };
        for _ in 0..runs {
            shortest = shortest.min(self.run_plan(&plan, operands.reborrow())?);
        }
        Ok(shortest)
    }

    fn keep(&self, problem: &Problem, measured: Vec<Measured>) -> Result<Tuned, GemmError> {
        let mut ran: Vec<_> = measured
            .iter()
            .filter_map(|m| Some((m.kernel, m.parts, *m.time.as_ref().ok()?)))
            .collect();
        ran.sort_by_key(|(.., time)| *time);
        let Some(&(kernel, parts, time)) = ran.first() else {
            let failures = measured.iter().filter_map(|m| {
                let error = m.time.as_ref().err()?;
                Some(format!("{}: {error}", m.kernel.variant.name()))
            });
            return Err(GemmError::NoneRuns(failures.collect()));
        };
        let second = ran.get(1).map(|&(kernel, parts, other)| Second {
            kernel,
            parts,
            ratio: other.as_secs_f64() / time.as_secs_f64().max(1e-9),
        });
        let winner = Winner {
            kernel,
            parts,
            time,
        };
        let kept = self.winners().keep(problem, winner);
        let choice = self.winners().choice(problem, self.machine(), None)?;
        Ok(Tuned {
            choice: Choice {
                decision: Decision::Measured { time, second },
                ..choice
            },
            measured,
            kept,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gemm::{Request, winners::Winners},
        hip::{Context, Device, DeviceSelector},
        tuning::Mode,
    };
    use ferrowave_gpu::Gpu;
    use ferrowave_kernel_build::{Assembly, Toolchain};
    use ferrowave_shared::{GemmArguments, GemmParameters};
    use std::{mem::offset_of, path::Path};

    const GPU: Gpu = Gpu::Gfx90a;
    /// Writes 0 at address 0, which ends the launch.
    const FAULT: &str =
        "v_mov_b32_e32 v0, 0\n v_mov_b32_e32 v1, 0\n global_store_dword v[0:1], v0, off";

    /// A code object with these of the catalogue's kernels: they have the arguments of the kernel of that name, and nothing
    /// but this body.
    fn code_object(kernels: &[(&'static Kernel, &str)]) -> Vec<u8> {
        let mut text = String::from(".text\n");
        let mut metadata = String::new();
        let mut descriptors = String::from(".rodata\n.p2align 6\n");
        // A code object has kernels.
        let other = [("other", 64, "")];
        let ours = kernels
            .iter()
            .map(|(kernel, body)| (kernel.symbol, kernel.block.threads(), *body));
        for (name, threads, body) in other.into_iter().chain(ours) {
            text += &format!(
                ".globl {name}\n.p2align 8\n.type {name},@function\n{name}:\n {body}\n s_endpgm\n.L{name}:\n.size {name}, .L{name}-{name}\n"
            );
            descriptors += &format!(
                ".amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 2\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 4\n.end_amdhsa_kernel\n"
            );
            metadata += &format!("  - {{ .name: {name}, .symbol: {name}.kd, .args: [");
            let parameters = offset_of!(GemmArguments, parameters);
            for offset in (0..parameters).step_by(8) {
                metadata += &format!(
                    "{{ .offset: {offset}, .size: 8, .value_kind: global_buffer, .address_space: global }}, "
                );
            }
            metadata += &format!(
                "{{ .offset: {parameters}, .size: {}, .value_kind: by_value }}], .kernarg_segment_size: {}, .group_segment_fixed_size: 0, \
                 .private_segment_fixed_size: 0, .kernarg_segment_align: 8, .wavefront_size: 64, .sgpr_count: 8, .vgpr_count: 2, \
                 .max_flat_workgroup_size: {threads} }}\n",
                size_of::<GemmParameters>(),
                size_of::<GemmArguments>(),
            );
        }
        let text = format!(
            "{text}{descriptors}.amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n{metadata}...\n.end_amdgpu_metadata\n"
        );
        let toolchain =
            Toolchain::channel(Toolchain::TESTED_CHANNEL).expect("the pinned toolchain");
        let assembly = Assembly::new(GPU, &text);
        assembly
            .assemble(&toolchain)
            .expect("LLVM assembles the test")
    }

    /// These kernels on the emulator, with winners in a folder.
    fn gemm(kernels: &[(&'static Kernel, &str)], folder: &Path) -> Gemm {
        let object = code_object(kernels);
        let device = Device::open(&DeviceSelector::Emulator(GPU)).unwrap();
        let context = Context::new(&device).unwrap();
        let gemm = Gemm::new(&context, &object).unwrap();
        let machine = gemm.machine().clone();
        let winners = Winners::open(Mode::On, Some(folder), &context, &machine, &object).unwrap();
        gemm.with_winners(winners)
    }

    fn problem() -> Problem {
        Request::new(100, 60, 40).check().unwrap()
    }

    /// The candidates for the problem, best first.
    fn candidates(gemm: &Gemm) -> Vec<&'static Kernel> {
        let candidates = gemm.candidates(&problem()).unwrap();
        candidates.into_iter().map(|(kernel, _)| kernel).collect()
    }

    /// The operands of the problem, of zeros.
    fn run(gemm: &Gemm) -> Result<Choice, GemmError> {
        let zeros = |length: u128| gemm.context().allocate::<f32>(length as usize).unwrap();
        let problem = problem();
        let (a, b) = (zeros(problem.a().span()), zeros(problem.b().span()));
        let mut c = zeros(problem.c().span());
        let operands = Operands::new(&a, &b, &mut c);
        gemm.run(&problem, operands).map(|computed| computed.choice)
    }

    #[test]
    fn a_problem_whose_kernels_all_fail_is_said_and_computed_as_without_tuning() {
        let folder = tempfile::tempdir().unwrap();
        let gemm = gemm(&[], folder.path());
        let untuned = gemm.choice(&problem(), None).unwrap();
        let error = gemm.tune(&problem()).unwrap_err().to_string();
        assert!(
            error.starts_with("every kernel for this product fails on this device: "),
            "{error}"
        );
        // Each is named with its reason.
        for kernel in candidates(&gemm) {
            assert!(
                error.contains(&format!("{}: ", kernel.variant.name())),
                "{error}"
            );
        }
        assert_eq!(gemm.tuning_note(), None);
        let choice = gemm.tuned_choice(&problem(), None).unwrap();
        assert_eq!(choice, untuned);
        let note = gemm.tuning_note().unwrap();
        assert!(
            note.contains("f32,f32,f32,NN,100,60,40,1,aligned was not tuned"),
            "{note}"
        );
        assert!(note.ends_with(&error), "{note}");
        // The product's own error is that of the kernel that it takes.
        let failed = run(&gemm).unwrap_err().to_string();
        assert!(failed.contains(untuned.kernel.symbol), "{failed}");
        let kept = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(kept, 0, "nothing was measured");
    }

    #[test]
    fn kernels_that_fail_are_left_out_and_others_are_tried_until_one_runs() {
        let folder = tempfile::tempdir().unwrap();
        let all = candidates(&gemm(&[], folder.path()));
        let last = *all.last().unwrap();
        assert!(all.len() > CANDIDATES + 1);
        // The third faults, the last one runs, the others are not there.
        let faults = [(all[2], FAULT), (last, "")];
        let gemm = gemm(&faults, folder.path());
        let tuned = gemm.tune(&problem()).unwrap();
        assert_eq!(tuned.choice.kernel.symbol, last.symbol);
        assert_eq!(tuned.measured.len(), all.len());
        let (ran, others) = tuned.measured.split_last().unwrap();
        assert!(ran.time.is_ok());
        for other in others {
            let error = other.time.as_ref().unwrap_err();
            assert!(error.contains(other.kernel.symbol), "{error}");
        }
        assert!(
            tuned
                .kept
                .unwrap()
                .is_some_and(|file| file.starts_with(folder.path()))
        );
        // It is used from then on.
        let choice = run(&gemm).unwrap();
        assert_eq!(choice.kernel.symbol, last.symbol);
        assert!(matches!(choice.decision, Decision::Measured { .. }));
        assert_eq!(gemm.tuning_note(), None);
    }

    #[test]
    fn a_winner_that_cannot_be_kept_is_said_and_used_in_this_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let all = candidates(&gemm(&[], &file));
        let gemm = gemm(&[(all[1], "")], &file);
        let choice = run(&gemm).unwrap();
        assert_eq!(choice.kernel.symbol, all[1].symbol);
        let note = gemm.tuning_note().unwrap();
        assert!(note.starts_with("the winner is not kept: `"), "{note}");
        let kept = gemm.tune(&problem()).unwrap().kept;
        assert_eq!(kept, Err(note));
    }
}
