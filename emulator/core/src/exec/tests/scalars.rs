//! The scalar unit and program control.

use ferrowave_gpu::Gpu;

use super::{Bench, Random, Values, wave};
use crate::exec::Stop;

/// Runs an instruction with sources `s[0:1]` and `s[2:3]`, with SCC 0 and 1, and the result in `s[4:5]`. `expect` gives
/// the result and the new SCC.
fn check(text: &str, wide: bool, expect: impl Fn(u64, u64, bool) -> (u64, bool)) {
    let bench = Bench::new(Gpu::Gfx942, &[text]);
    for level in bench.levels() {
        let mut random = Random(1);
        for round in 0..400 {
            let mut wave = wave();
            let (a, b) = (
                Values::Integer.draw(&mut random),
                Values::Integer.draw(&mut random),
            );
            let scc = round % 2 == 1;
            wave.set_scalar_pair(0, a);
            wave.set_scalar_pair(2, b);
            wave.set_scalar_pair(4, 0x5555_5555_aaaa_aaaa);
            wave.scc = scc;
            bench.step(level, 0, &mut wave);
            let (expected, expected_scc) = expect(a, b, scc);
            let (result, expected) = if wide {
                (wave.scalar_pair(4), expected)
            } else {
                (u64::from(wave.scalar(4)), expected & 0xffff_ffff)
            };
            assert_eq!(result, expected, "{text}: {a:#x} {b:#x} {scc}");
            assert_eq!(wave.scc, expected_scc, "{text}: {a:#x} {b:#x} {scc}");
        }
    }
}

macro_rules! checks {
    ($wide:expr; $($text:literal => |$a:ident, $b:ident, $scc:ident| $body:expr;)*) => {
        $(check($text, $wide, |$a, $b, $scc| $body);)*
    };
}

fn flag(value: u64) -> (u64, bool) {
    (value, value != 0)
}

fn flag32(value: u64) -> (u64, bool) {
    flag(value & 0xffff_ffff)
}

fn i(x: u64) -> i64 {
    i64::from(x as u32 as i32)
}

fn w(x: u64) -> u64 {
    x & 0xffff_ffff
}

#[test]
fn sums() {
    let outside = |x: i64| i32::try_from(x).is_err();
    checks! { false;
        "s_add_u32 s4, s0, s2" => |a, b, _s| (w(a) + w(b), w(a) + w(b) > 0xffff_ffff);
        "s_sub_u32 s4, s0, s2" => |a, b, _s| (w(a).wrapping_sub(w(b)), w(b) > w(a));
        "s_add_i32 s4, s0, s2" => |a, b, _s| ((i(a) + i(b)) as u64, outside(i(a) + i(b)));
        "s_sub_i32 s4, s0, s2" => |a, b, _s| ((i(a) - i(b)) as u64, outside(i(a) - i(b)));
        "s_addc_u32 s4, s0, s2" => |a, b, s| {
            let sum = w(a) + w(b) + u64::from(s);
            (sum, sum > 0xffff_ffff)
        };
        "s_subb_u32 s4, s0, s2" => |a, b, s| {
            let taken = w(b) + u64::from(s);
            (w(a).wrapping_sub(taken), taken > w(a))
        };
        "s_mul_i32 s4, s0, s2" => |a, b, s| (w(a).wrapping_mul(w(b)), s);
        "s_mul_hi_u32 s4, s0, s2" => |a, b, s| (w(a) * w(b) >> 32, s);
        "s_mul_hi_i32 s4, s0, s2" => |a, b, s| ((i(a) * i(b) >> 32) as u64, s);
        "s_min_i32 s4, s0, s2" => |a, b, _s| (i(a).min(i(b)) as u64, i(a) < i(b));
        "s_max_u32 s4, s0, s2" => |a, b, _s| (w(a).max(w(b)), w(a) >= w(b));
        "s_min_u32 s4, s0, s2" => |a, b, _s| (w(a).min(w(b)), w(a) < w(b));
        "s_max_i32 s4, s0, s2" => |a, b, _s| (i(a).max(i(b)) as u64, i(a) >= i(b));
        "s_absdiff_i32 s4, s0, s2" => |a, b, _s| flag32((w(a).wrapping_sub(w(b)) as u32 as i32).wrapping_abs() as u64);
        "s_lshl2_add_u32 s4, s0, s2" => |a, b, _s| {
            let sum = (w(a) << 2) + w(b);
            (sum, sum > 0xffff_ffff)
        };
        "s_movk_i32 s4, 0x8001" => |_a, _b, s| (0xffff_8001, s);
        "s_cmovk_i32 s4, 0x1234" => |_a, _b, s| (if s { 0x1234 } else { 0xaaaa_aaaa }, s);
        "s_addk_i32 s4, 0x7fff" => |_a, _b, _s| (0xaaaa_aaaa + 0x7fff, false);
        "s_mulk_i32 s4, 3" => |_a, _b, s| (0xaaaa_aaaa * 3, s);
        "s_add_u32 s4, s0, 0x12345678" => |a, _b, _s| (w(a) + 0x1234_5678, w(a) + 0x1234_5678 > 0xffff_ffff);
        "s_abs_i32 s4, s0" => |a, _b, _s| flag32((a as u32 as i32).wrapping_abs() as u64);
    }
}

#[test]
fn bits() {
    checks! { false;
        "s_and_b32 s4, s0, s2" => |a, b, _s| flag32(a & b);
        "s_or_b32 s4, s0, s2" => |a, b, _s| flag32(a | b);
        "s_xor_b32 s4, s0, s2" => |a, b, _s| flag32(a ^ b);
        "s_andn2_b32 s4, s0, s2" => |a, b, _s| flag32(a & !b);
        "s_not_b32 s4, s0" => |a, _b, _s| flag32(!a);
        "s_lshl_b32 s4, s0, s2" => |a, b, _s| flag32(a << (b & 31));
        "s_lshr_b32 s4, s0, s2" => |a, b, _s| flag32(w(a) >> (b & 31));
        "s_ashr_i32 s4, s0, s2" => |a, b, _s| flag32((i(a) >> (b & 31)) as u64);
        "s_bfm_b32 s4, s0, s2" => |a, b, s| (((1 << (a & 31)) - 1) << (b & 31), s);
        "s_bfe_u32 s4, s0, 0x50003" => |a, _b, _s| flag32(a >> 3 & 31);
        "s_bfe_i32 s4, s0, 0x50003" => |a, _b, _s| flag32(((a >> 3 & 31) << 59) as i64 as u64 >> 59 | if a >> 7 & 1 == 1 { !31 } else { 0 });
        "s_brev_b32 s4, s0" => |a, _b, s| (u64::from((a as u32).reverse_bits()), s);
        "s_bcnt1_i32_b32 s4, s0" => |a, _b, _s| flag32(u64::from((a as u32).count_ones()));
        "s_bcnt0_i32_b64 s4, s[0:1]" => |a, _b, _s| flag32(u64::from(a.count_zeros()));
        "s_ff1_i32_b32 s4, s0" => |a, _b, s| ((0..32).find(|i| a >> i & 1 == 1).unwrap_or(u64::MAX), s);
        "s_ff1_i32_b64 s4, s[0:1]" => |a, _b, s| ((0..64).find(|i| a >> i & 1 == 1).unwrap_or(u64::MAX), s);
        "s_ff0_i32_b32 s4, s0" => |a, _b, s| ((0..32).find(|i| a >> i & 1 == 0).unwrap_or(u64::MAX), s);
        "s_flbit_i32_b32 s4, s0" => |a, _b, s| ((0..32).find(|i| a >> (31 - i) & 1 == 1).unwrap_or(u64::MAX), s);
        "s_flbit_i32 s4, s0" => |a, _b, s| ((1..32).find(|i| a >> (31 - i) & 1 != a >> 31 & 1).unwrap_or(u64::MAX), s);
        "s_sext_i32_i8 s4, s0" => |a, _b, s| (a as i8 as u64, s);
        "s_sext_i32_i16 s4, s0" => |a, _b, s| (a as i16 as u64, s);
        "s_bitset1_b32 s4, s0" => |a, _b, s| (0xaaaa_aaaa | 1 << (a & 31), s);
        "s_bitset0_b32 s4, s0" => |a, _b, s| (0xaaaa_aaaa & !(1 << (a & 31)), s);
        "s_pack_ll_b32_b16 s4, s0, s2" => |a, b, s| (a & 0xffff | (b & 0xffff) << 16, s);
        "s_pack_lh_b32_b16 s4, s0, s2" => |a, b, s| (a & 0xffff | b & 0xffff_0000, s);
        "s_pack_hh_b32_b16 s4, s0, s2" => |a, b, s| (a >> 16 & 0xffff | b & 0xffff_0000, s);
        "s_cselect_b32 s4, s0, s2" => |a, b, s| (if s { a } else { b }, s);
        "s_cmov_b32 s4, s0" => |a, _b, s| (if s { a } else { 0xaaaa_aaaa }, s);
        "s_quadmask_b32 s4, s0" => |a, _b, _s|
            flag((0..8).fold(0, |m, q| m | u64::from(a >> (4 * q) & 15 != 0) << q));
        "s_wqm_b32 s4, s0" => |a, _b, _s|
            flag((0..32).fold(0, |m, i| m | u64::from(a >> (i & 28) & 15 != 0) << i));
    }
    checks! { true;
        "s_mov_b64 s[4:5], s[0:1]" => |a, _b, s| (a, s);
        "s_mov_b64 s[4:5], -5" => |_a, _b, s| (-5_i64 as u64, s);
        "s_and_b64 s[4:5], s[0:1], s[2:3]" => |a, b, _s| flag(a & b);
        "s_or_b64 s[4:5], s[0:1], s[2:3]" => |a, b, _s| flag(a | b);
        "s_xnor_b64 s[4:5], s[0:1], s[2:3]" => |a, b, _s| flag(!(a ^ b));
        "s_nand_b64 s[4:5], s[0:1], s[2:3]" => |a, b, _s| flag(!(a & b));
        "s_nor_b64 s[4:5], s[0:1], s[2:3]" => |a, b, _s| flag(!(a | b));
        "s_orn2_b64 s[4:5], s[0:1], s[2:3]" => |a, b, _s| flag(a | !b);
        "s_andn2_b64 s[4:5], s[0:1], s[2:3]" => |a, b, _s| flag(a & !b);
        "s_not_b64 s[4:5], s[0:1]" => |a, _b, _s| flag(!a);
        "s_lshl_b64 s[4:5], s[0:1], s2" => |a, b, _s| flag(a << (b & 63));
        "s_lshr_b64 s[4:5], s[0:1], s2" => |a, b, _s| flag(a >> (b & 63));
        "s_ashr_i64 s[4:5], s[0:1], s2" => |a, b, _s| flag((a as i64 >> (b & 63)) as u64);
        "s_bfe_u64 s[4:5], s[0:1], 0x280004" => |a, _b, _s| flag(a >> 4 & ((1 << 40) - 1));
        "s_cselect_b64 s[4:5], s[0:1], s[2:3]" => |a, b, s| (if s { a } else { b }, s);
        "s_bitreplicate_b64_b32 s[4:5], s0" => |a, _b, s|
            ((0..32).fold(0, |r, i| r | (a >> i & 1) * 3 << (2 * i)), s);
    }
}

#[test]
fn compares() {
    let relation = |text: &str, expect: fn(u64, u64) -> bool| {
        check(text, true, |a, b, _| (0x5555_5555_aaaa_aaaa, expect(a, b)));
    };
    relation("s_cmp_eq_u32 s0, s2", |a, b| w(a) == w(b));
    relation("s_cmp_lg_u32 s0, s2", |a, b| w(a) != w(b));
    relation("s_cmp_gt_i32 s0, s2", |a, b| i(a) > i(b));
    relation("s_cmp_ge_i32 s0, s2", |a, b| i(a) >= i(b));
    relation("s_cmp_lt_u32 s0, s2", |a, b| w(a) < w(b));
    relation("s_cmp_le_u32 s0, s2", |a, b| w(a) <= w(b));
    relation("s_cmp_eq_u64 s[0:1], s[2:3]", |a, b| a == b);
    relation("s_bitcmp1_b32 s0, s2", |a, b| a >> (b & 31) & 1 == 1);
    relation("s_cmpk_gt_i32 s0, 0x8000", |a, _| i(a) > -0x8000);
    relation("s_cmpk_gt_u32 s0, 0x8000", |a, _| w(a) > 0x8000);
    relation("s_cmpk_eq_u32 s0, 0xffff", |a, _| w(a) == 0xffff);
}

#[test]
fn exec_is_saved_and_changed() {
    let lines = [
        "s_and_saveexec_b64 s[4:5], s[0:1]",
        "s_or_saveexec_b64 s[4:5], s[0:1]",
        "s_andn2_saveexec_b64 s[4:5], s[0:1]",
        "s_xor_saveexec_b64 s[4:5], s[0:1]",
        "s_andn1_saveexec_b64 s[4:5], s[0:1]",
        "s_andn2_wrexec_b64 s[4:5], s[0:1]",
        "s_mov_b64 exec, s[0:1]",
        "s_and_b64 exec, exec, s[0:1]",
        "s_mov_b32 exec_hi, s0",
    ];
    let (source, old) = (0xff00_ff00_1234_5678_u64, 0x0ff0_0000_ffff_0000_u64);
    let expected = [
        (source & old, Some(old)),
        (source | old, Some(old)),
        (source & !old, Some(old)),
        (source ^ old, Some(old)),
        (!source & old, Some(old)),
        (source & !old, Some(source & !old)),
        (source, None),
        (source & old, None),
        (0x1234_5678_0000_0000 | old & 0xffff_ffff, None),
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        for (index, (exec, saved)) in expected.into_iter().enumerate() {
            let mut wave = wave();
            wave.set_scalar_pair(0, source);
            wave.exec = old;
            bench.step(level, index, &mut wave);
            assert_eq!(wave.exec, exec, "{}", lines[index]);
            if let Some(saved) = saved {
                assert_eq!(wave.scalar_pair(4), saved, "{}", lines[index]);
                assert_eq!(wave.scc, exec != 0, "{}", lines[index]);
            }
        }
    }
}

#[test]
fn branches_and_calls() {
    // Indices are instruction numbers; branches skip one instruction.
    let lines = [
        "s_cbranch_scc1 1",
        "s_cbranch_scc0 1",
        "s_cbranch_vccz 1",
        "s_cbranch_vccnz 1",
        "s_cbranch_execz 1",
        "s_cbranch_execnz 1",
        "s_branch 65530",
        "s_getpc_b64 s[4:5]",
        "s_swappc_b64 s[4:5], s[6:7]",
        "s_setpc_b64 s[6:7]",
        "s_barrier",
        "s_endpgm",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        let after = |index: usize, prepare: &dyn Fn(&mut super::Wave)| {
            let mut wave = wave();
            prepare(&mut wave);
            bench.step(level, index, &mut wave);
            wave.pc
        };
        for (index, taken) in [(0, true), (1, false)] {
            assert_eq!(after(index, &|w| w.scc = true) == index as u32 + 2, taken);
            assert_eq!(after(index, &|w| w.scc = false) == index as u32 + 2, !taken);
        }
        for (index, taken) in [(2, true), (3, false)] {
            assert_eq!(
                after(index, &|w| w.set_scalar_pair(106, 0)) == index as u32 + 2,
                taken
            );
            assert_eq!(
                after(index, &|w| w.set_scalar_pair(106, 1 << 63)) == index as u32 + 2,
                !taken
            );
        }
        for (index, taken) in [(4, true), (5, false)] {
            assert_eq!(after(index, &|w| w.exec = 0) == index as u32 + 2, taken);
            assert_eq!(after(index, &|w| w.exec = 1) == index as u32 + 2, !taken);
        }
        assert_eq!(
            after(6, &|_| {}),
            1,
            "back by six words from the next instruction"
        );
        let mut wave = wave();
        bench.step(level, 7, &mut wave);
        assert_eq!(wave.scalar_pair(4), 0x1000 + 8 * 4);
        wave.set_scalar_pair(6, 0x1000 + 8);
        bench.step(level, 8, &mut wave);
        assert_eq!((wave.pc, wave.scalar_pair(4)), (2, 0x1000 + 9 * 4));
        bench.step(level, 9, &mut wave);
        assert_eq!(wave.pc, 2);
        wave.set_scalar_pair(6, 0x1002);
        let memory = crate::memory::DeviceMemory::new(0).view();
        let fault = bench
            .step_with(level, 9, &mut wave, &memory, &mut [])
            .unwrap_err();
        assert_eq!(fault.kind, crate::exec::FaultKind::Jump { address: 0x1002 });
        let stop = |index| {
            bench
                .step_with(level, index, &mut super::wave(), &memory, &mut [])
                .unwrap()
        };
        assert_eq!((stop(10), stop(11)), (Stop::Barrier, Stop::Ended));
    }
}

#[test]
fn status_sources() {
    let lines = [
        "s_mov_b32 s4, src_scc",
        "s_mov_b32 s4, src_execz",
        "s_mov_b32 s4, src_vccz",
    ];
    let bench = Bench::new(Gpu::Gfx942, &lines);
    for level in bench.levels() {
        for on in [false, true] {
            let mut wave = wave();
            wave.scc = on;
            wave.exec = u64::from(!on);
            wave.set_scalar_pair(106, u64::from(!on));
            for index in 0..3 {
                bench.step(level, index, &mut wave);
                assert_eq!(wave.scalar(4), u32::from(on), "{}", lines[index]);
            }
        }
    }
}
