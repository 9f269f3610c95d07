//! Cycles of LDS instructions on MI355X, as AMD's Gluon tutorials measured them.

use ferrowave_emulator::dispatch::{LaunchConfig, Limits};
use ferrowave_gpu::Product;
use ferrowave_test_support::{LDS_BYTES, LDS_READS, LdsReads, Small};
use ferrowave_timing as timing;

use crate::{
    Choice,
    statistics::{Group, Pair},
};

const MACHINE: Product = Product::Mi355x;

/// Cycles of each wave's instruction: of many more of them, so that the first ones do not count.
fn cycles(reads: &LdsReads, waves: u32) -> f64 {
    const MORE: u64 = 20;
    let instructions = LdsReads::instructions();
    let total = |repetitions: u64| {
        let body = reads.address() + &instructions.repeat(repetitions as usize);
        let kernel = Small {
            lds_bytes: LDS_BYTES,
            ..Small::new(MACHINE.gpu(), &body).threads(64 * waves)
        };
        kernel.run(|kernel, config| {
            let config = LaunchConfig {
                limits: Limits::NONE,
                ..*config
            };
            let timing = timing::estimate(kernel, &config, MACHINE);
            timing.expect("a kernel for the machine").cycles
        })
    };
    let count = MORE * instructions.lines().count() as u64;
    (total(5 + MORE) - total(5)) as f64 / count as f64
}

pub(crate) fn print(choice: &Choice) {
    if !choice.has(MACHINE.name(), "ds_read_b128") {
        return;
    }
    println!(
        "\n| `ds_read_b128`, rows of LDS | waves | published cycles | modelled cycles | ratio |"
    );
    println!("|---|---|---|---|---|");
    let mut group = Group::default();
    for (waves, place) in [(1, 0), (4, 1)] {
        for reads in LDS_READS {
            let pair = Pair {
                published: reads.cycles[place],
                modelled: cycles(&reads, waves),
            };
            println!(
                "| {} | {waves} | {} | {:.1} | {:.2} |",
                reads.padding,
                pair.published,
                pair.modelled,
                pair.ratio()
            );
            group.add(pair);
        }
    }
    group.print("LDS, instructions");
}
