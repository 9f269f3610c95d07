//! Decodes and prints arbitrary words: no panic, and the length is right.

use ferrowave_gpu::Gpu;
use ferrowave_isa::{DecodeErrorKind, decode};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

#[test]
fn random_words_never_panic() {
    let mut rng = Pcg64Mcg::seed_from_u64(7);
    let mut instructions = 0;
    for _ in 0..200_000 {
        let words: [u32; 4] = rng.random();
        for gpu in Gpu::ALL {
            if let Ok(i) = decode(gpu, &words, 0) {
                assert!(
                    matches!(i.size, 4 | 8 | 12 | 16),
                    "{words:x?}: {} bytes",
                    i.size
                );
                assert!(!i.text(gpu).to_string().is_empty());
                instructions += 1;
            }
        }
    }
    assert!(
        instructions > 100_000,
        "only {instructions} were instructions"
    );
}

#[test]
fn truncated_instructions_are_errors() {
    let mut rng = Pcg64Mcg::seed_from_u64(8);
    let mut truncated = 0;
    for _ in 0..50_000 {
        let words: [u32; 4] = rng.random();
        for gpu in Gpu::ALL {
            let Ok(whole) = decode(gpu, &words, 0) else {
                continue;
            };
            let length = usize::from(whole.size / 4);
            for end in 0..length {
                let cut = decode(gpu, &words[..end], 0x40);
                // The first half of a scaled matrix product is also a valid instruction.
                if length == 4 && end >= 2 {
                    continue;
                }
                let error = cut.expect_err("part of an instruction is none");
                assert_eq!(error.kind, DecodeErrorKind::Truncated);
                assert_eq!(error.offset, 0x40);
                truncated += 1;
            }
            assert_eq!(decode(gpu, &words[..length], 0), Ok(whole));
        }
    }
    assert!(truncated > 10_000, "only {truncated} were cut");
}

#[test]
fn errors_name_offset_and_word() {
    // A reserved opcode of SOPP.
    let error = decode(Gpu::Gfx942, &[0xbfff_1234], 0x120).expect_err("no instruction");
    let text = error.to_string();
    assert!(text.contains("0x120"), "{text}");
    assert!(text.contains("0xbfff1234"), "{text}");
    assert!(text.contains("gfx942"), "{text}");
}
