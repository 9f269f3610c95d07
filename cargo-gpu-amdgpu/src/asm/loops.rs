//! Loops of machine code, found by backward branches.

use std::{collections::HashMap, fmt::Write as _};

use ferrowave_inspect::CodeLine;
use ferrowave_isa::{Category, Instruction, Op};

/// A loop, from the target of a backward branch to the branch, in indices of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    /// Its first instruction in the code.
    pub(super) first: usize,
    /// Its last instruction in the code, the branch.
    pub(super) last: usize,
    /// Its instructions. Others may lie between first and last: compilers place rare code there.
    pub(super) body: Vec<usize>,
}

/// The loops of a kernel, outer ones first.
pub(super) fn loops(lines: &[CodeLine]) -> Vec<Loop> {
    let flow = Flow::new(lines);
    let mut loops: Vec<Loop> = Vec::new();
    for (last, target) in flow.targets.iter().enumerate() {
        let Some(first) = target.filter(|&target| target <= last) else {
            continue;
        };
        // A backward branch is no loop if its target does not lead back to it: it returns from rare code that was moved
        // away.
        let body = flow.cycle(first, last);
        if body.is_empty() {
            continue;
        }
        // Branches from several places to one head are one loop.
        match loops.iter_mut().find(|known| known.first == first) {
            Some(known) => {
                known.last = last;
                known.body.extend(body);
                known.body.sort_unstable();
                known.body.dedup();
            }
            None => loops.push(Loop { first, last, body }),
        }
    }
    loops.sort_by_key(|found| (found.first, usize::MAX - found.last));
    // Loops that overlap without nesting are extended to nest, so that they can be drawn.
    for inner in (0..loops.len()).rev() {
        for outer in 0..inner {
            if loops[outer].last >= loops[inner].first {
                loops[outer].last = loops[outer].last.max(loops[inner].last);
            }
        }
    }
    loops
}

/// The control flow between instructions.
struct Flow {
    /// The target of each instruction's branch.
    targets: Vec<Option<usize>>,
    /// Whether the next instruction may run after it.
    falls: Vec<bool>,
    /// The branches to each instruction.
    branches: HashMap<usize, Vec<usize>>,
}

impl Flow {
    fn new(lines: &[CodeLine]) -> Self {
        let targets: Vec<_> = lines
            .iter()
            .map(|line| {
                let target = line.branch_target()?;
                lines
                    .binary_search_by_key(&target, |line| line.address)
                    .ok()
            })
            .collect();
        let falls = lines
            .iter()
            .map(|line| !line.instruction.as_ref().is_some_and(never_falls))
            .collect();
        let mut branches: HashMap<usize, Vec<usize>> = HashMap::new();
        for (from, target) in targets.iter().enumerate() {
            if let Some(target) = *target {
                branches.entry(target).or_default().push(from);
            }
        }
        Flow {
            targets,
            falls,
            branches,
        }
    }

    /// The instructions on the paths from `head` to `branch`, which branches back to it; empty if there is no path.
    fn cycle(&self, head: usize, branch: usize) -> Vec<usize> {
        let after = |at: usize| {
            let next = (self.falls[at] && at + 1 < self.falls.len()).then_some(at + 1);
            next.into_iter().chain(self.targets[at]).collect::<Vec<_>>()
        };
        let before = |at: usize| {
            // Predecessors of the head belong to another iteration.
            if at == head {
                return Vec::new();
            }
            let previous = at.checked_sub(1).filter(|&previous| self.falls[previous]);
            let branches = self.branches.get(&at).into_iter().flatten().copied();
            previous.into_iter().chain(branches).collect()
        };
        let reached = self.walk(head, after);
        let leading = self.walk(branch, before);
        match reached[branch] {
            true => (0..reached.len())
                .filter(|&at| reached[at] && leading[at])
                .collect(),
            false => Vec::new(),
        }
    }

    /// All instructions that these steps reach from one.
    fn walk(&self, from: usize, steps: impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
        let mut seen = vec![false; self.falls.len()];
        let mut left = vec![from];
        while let Some(at) = left.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                left.extend(steps(at));
            }
        }
        seen
    }
}

/// Whether no wave goes on with the next instruction.
fn never_falls(instruction: &Instruction) -> bool {
    matches!(
        instruction.op,
        Op::s_branch
            | Op::s_setpc_b64
            | Op::s_endpgm
            | Op::s_endpgm_saved
            | Op::s_endpgm_ordered_ps_done
            | Op::s_trap
    )
}

/// The number of instructions of each kind, as text: `24 instructions: 10 vector, 4 LDS`.
pub(super) fn mix<'a>(lines: impl IntoIterator<Item = &'a CodeLine>) -> String {
    let lines = lines.into_iter();
    let instructions: Vec<_> = lines.filter_map(|line| line.instruction).collect();
    let mut text = match instructions.len() {
        1 => "1 instruction".to_owned(),
        count => format!("{count} instructions"),
    };
    let mut separator = ": ";
    for category in Category::ALL {
        let of_it = instructions
            .iter()
            .filter(|instruction| instruction.category() == category);
        let count = of_it.count();
        if count > 0 {
            // Writing to a string does not fail.
            let _ = write!(text, "{separator}{count} {}", category.name());
            separator = ", ";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrowave_gpu::Gpu;
    use ferrowave_isa::decode;

    const S_NOP: u32 = 0xbf80_0000;
    const S_ENDPGM: u32 = 0xbf81_0000;
    const S_BRANCH: u32 = 0xbf82_0000;
    const S_CBRANCH_SCC1: u32 = 0xbf85_0000;

    fn line(index: usize, word: u32) -> CodeLine {
        let instruction = decode(Gpu::Gfx942, &[word], 0).expect("an instruction");
        CodeLine {
            address: 0x100 + 4 * index as u64,
            words: vec![word],
            text: instruction.text(Gpu::Gfx942).to_string(),
            instruction: Some(instruction),
        }
    }

    /// Instructions of one dword each. `branches` are pairs of an instruction and its target.
    fn lines(branches: &[(usize, usize)], count: usize) -> Vec<CodeLine> {
        (0..count)
            .map(|index| match branches.iter().find(|(at, _)| *at == index) {
                Some(&(at, to)) => {
                    let distance = (to as i64 - at as i64 - 1) as i16 as u16;
                    line(index, S_CBRANCH_SCC1 | u32::from(distance))
                }
                None => line(index, S_NOP),
            })
            .collect()
    }

    fn check(branches: &[(usize, usize)], expected: &[(usize, usize)]) {
        let found: Vec<_> = loops(&lines(branches, 20))
            .iter()
            .map(|found| (found.first, found.last))
            .collect();
        assert_eq!(found, expected, "{branches:?}");
    }

    #[test]
    fn backward_branches_are_loops() {
        check(&[], &[]);
        check(&[(3, 9)], &[]);
        check(&[(9, 3)], &[(3, 9)]);
        check(&[(5, 5)], &[(5, 5)]);
        check(&[(9, 3), (6, 4)], &[(3, 9), (4, 6)]);
        check(&[(6, 3), (9, 3)], &[(3, 9)]);
        check(&[(4, 2), (9, 6)], &[(2, 4), (6, 9)]);
        check(&[(6, 3), (9, 5)], &[(3, 9), (5, 9)]);
    }

    #[test]
    fn code_out_of_the_way_is_no_loop_and_in_none() {
        // 2 branches to 10, and 12 back to 4; 6 ends the kernel.
        let mut code = lines(&[(2, 10), (12, 4)], 20);
        code[6] = line(6, S_ENDPGM);
        assert_eq!(loops(&code), []);

        // A loop from 3 to 9 that jumps over 5 to 7, where another loop's code is.
        let mut code = lines(&[(4, 8), (9, 3)], 20);
        code[4] = line(4, S_BRANCH | 3);
        let found = loops(&code);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].body, [3, 4, 8, 9]);
    }
}
