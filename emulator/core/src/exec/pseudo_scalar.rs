//! Transcendental functions of scalars (RDNA 4): the vector unit computes one value for the wave, whatever EXEC is.
//!
//! They give what the functions of the same names give for each lane; an f16 result has zeros in the high half (RDNA 4
//! ISA, `V_S_EXP_F16`).

use rustc_apfloat::ieee::{Half, Single};

use super::{
    float::{Format, modify_result},
    float32::flush,
    lanes::Binder,
    operation::{Flow, Handler, Operation},
};
use ferrowave_isa::run::PseudoScalar;

impl<const C: usize> Binder<C> {
    /// A function of a modified f32.
    fn single(self, f: impl Fn(f32) -> f32 + Copy + 'static) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let source = modified(o, w.read32(&o.src[0]), 31);
                let result = u64::from(f(f32::from_bits(source)).to_bits());
                let settings = Single::settings(w.mode);
                let result = modify_result::<Single>(result, o.omod, o.clamp, settings);
                w.set_scalar(o.dst, result as u32);
                Flow::Next
            },
        )
    }

    /// A function of a modified f16.
    fn half(self, f: impl Fn(f64) -> f64 + Copy + 'static) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let source = modified(o, w.read32(&o.src[0]) & 0xffff, 15);
                let settings = Half::settings(w.mode);
                let result = f(f64::from(f16::from_bits(source as u16))) as f16;
                let result = u64::from(result.to_bits());
                let result = modify_result::<Half>(result, o.omod, o.clamp, settings);
                w.set_scalar(o.dst, result as u32);
                Flow::Next
            },
        )
    }
}

/// The bits of the source with `abs` and `neg`; `sign` is the place of its sign.
fn modified(o: &Operation, bits: u32, sign: u32) -> u32 {
    let positive = bits & !(u32::from(o.abs & 1) << sign);
    positive ^ u32::from(o.neg & 1) << sign
}

pub(super) fn handler<const C: usize>(b: Binder<C>, op: PseudoScalar) -> Handler {
    match op {
        PseudoScalar::v_s_exp_f32 => b.single(|x| flush(f64::from(flush(x)).exp2() as f32)),
        PseudoScalar::v_s_log_f32 => b.single(|x| f64::from(flush(x)).log2() as f32),
        PseudoScalar::v_s_rcp_f32 => b.single(|x| flush(1.0 / flush(x))),
        PseudoScalar::v_s_rsq_f32 => b.single(|x| (1.0 / f64::from(flush(x)).sqrt()) as f32),
        PseudoScalar::v_s_sqrt_f32 => b.single(|x| flush(x).sqrt()),
        PseudoScalar::v_s_exp_f16 => b.half(f64::exp2),
        PseudoScalar::v_s_log_f16 => b.half(f64::log2),
        PseudoScalar::v_s_rcp_f16 => b.half(|x| 1.0 / x),
        PseudoScalar::v_s_rsq_f16 => b.half(|x| 1.0 / x.sqrt()),
        PseudoScalar::v_s_sqrt_f16 => b.half(f64::sqrt),
    }
}
