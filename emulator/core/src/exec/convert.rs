//! Conversions between number formats.

pub(crate) mod narrowing;
pub(crate) mod widening;

use std::simd::{StdFloat, prelude::*};

use rustc_apfloat::ieee::{Double, Half, Single};

use super::{
    Wave,
    array::Mapped,
    float::{Format, convert},
    float32, float64, half,
    lanes::{Binder, chunks, sext16},
    operation::{Flow, Handler, Operation},
    simd::{E, F, I, U},
    wave::Round,
};
use ferrowave_isa::run::{ConvertFloats, ConvertIntegers, ConvertPacking};

impl<const C: usize> Binder<C> {
    /// f32 to another 32-bit type; denormals as MODE says.
    fn of_f32<G: Fn(F) -> U + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let (kept, _) = w.mode.denormals32();
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = float32::modified(o, 0, w.chunk(a, c));
                        f(float32::flushed_unless(kept, x))
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// An integer to f32, rounded as MODE says.
    fn to_f32<G: Fn(U) -> E + Copy + 'static>(self, exact: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let value = exact(w.chunk(a, c));
                        let rounded = if w.mode.round32() == Round::NearestEven {
                            value.cast::<f32>()
                        } else {
                            let (from, to) = (Double::settings(w.mode), Single::settings(w.mode));
                            F::from_array(value.to_array().mapped(|x| {
                                f32::from_bits(
                                    convert::<Double, Single>(x.to_bits(), from, to) as u32
                                )
                            }))
                        };
                        rounded.to_bits()
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }

    /// 32 bits to f64, which is exact.
    fn to_f64<G: Fn(U) -> E + Copy + 'static>(self, exact: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| exact(w.chunk(a, c)).to_bits(),
                );
                w.commit64(o.dst, result);
                Flow::Next
            },
        )
    }

    /// f64 to an integer.
    fn of_f64<G: Fn(E) -> U + Copy + 'static>(self, f: G) -> Handler {
        self.bind(
            #[inline(always)]
            move |w, _, o| {
                let a = w.fetch64(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| f(float64::modified(o, 0, w.chunk64(a, c))),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        )
    }
}

/// Truncation that saturates, NaN to 0: Rust's conversions and the hardware's agree.
pub(super) fn integers<const C: usize>(b: Binder<C>, op: ConvertIntegers) -> Handler {
    match op {
        ConvertIntegers::v_cvt_i32_f32 => b.of_f32(|x| x.cast::<i32>().cast::<u32>()),
        ConvertIntegers::v_cvt_u32_f32 => b.of_f32(|x| x.cast::<u32>()),
        ConvertIntegers::v_cvt_rpi_i32_f32 => {
            b.of_f32(|x| (x + F::splat(0.5)).floor().cast::<i32>().cast::<u32>())
        }
        ConvertIntegers::v_cvt_flr_i32_f32 => b.of_f32(|x| x.floor().cast::<i32>().cast::<u32>()),
        ConvertIntegers::v_cvt_i32_f64 => b.of_f64(|x| x.cast::<i32>().cast::<u32>()),
        ConvertIntegers::v_cvt_u32_f64 => b.of_f64(|x| x.cast::<u32>()),
        ConvertIntegers::v_cvt_f32_i32 => b.to_f32(|x| x.cast::<i32>().cast::<f64>()),
        ConvertIntegers::v_cvt_f32_u32 => b.to_f32(|x| x.cast::<f64>()),
        ConvertIntegers::v_cvt_f64_i32 => b.to_f64(|x| x.cast::<i32>().cast::<f64>()),
        ConvertIntegers::v_cvt_f64_u32 => b.to_f64(|x| x.cast::<f64>()),
        ConvertIntegers::v_cvt_f32_ubyte0 => b.to_f32(|x| (x & U::splat(0xff)).cast::<f64>()),
        ConvertIntegers::v_cvt_f32_ubyte1 => {
            b.to_f32(|x| (x >> U::splat(8) & U::splat(0xff)).cast::<f64>())
        }
        ConvertIntegers::v_cvt_f32_ubyte2 => {
            b.to_f32(|x| (x >> U::splat(16) & U::splat(0xff)).cast::<f64>())
        }
        ConvertIntegers::v_cvt_f32_ubyte3 => b.to_f32(|x| (x >> U::splat(24)).cast::<f64>()),
        // Signed 4-bit values in sixteenths.
        ConvertIntegers::v_cvt_off_f32_i4 => b.to_f32(|x| {
            let value = (x.cast::<i32>() << I::splat(28)) >> I::splat(28);
            value.cast::<f64>() * E::splat(1.0 / 16.0)
        }),
        ConvertIntegers::v_cvt_f16_u16 => b.bind(
            #[inline(always)]
            |w, _, o| to_half(w, o, |x| (x & U::splat(0xffff)).cast::<f32>()),
        ),
        ConvertIntegers::v_cvt_f16_i16 => b.bind(
            #[inline(always)]
            |w, _, o| to_half(w, o, |x| sext16(x).cast::<f32>()),
        ),
        ConvertIntegers::v_cvt_norm_i16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| from_half(w, o, |x| normalized(x, true)),
        ),
        ConvertIntegers::v_cvt_norm_u16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| from_half(w, o, |x| normalized(x, false)),
        ),
        ConvertIntegers::v_cvt_u16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                from_half(w, o, |x| {
                    x.simd_clamp(F::splat(0.0), F::splat(65535.0)).cast::<u32>()
                })
            },
        ),
        ConvertIntegers::v_cvt_i16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                from_half(w, o, |x| {
                    let clamped = x.simd_clamp(F::splat(-32768.0), F::splat(32767.0));
                    clamped.cast::<i32>().cast::<u32>() & U::splat(0xffff)
                })
            },
        ),
    }
}

fn to_half<const C: usize>(w: &mut Wave<C>, o: &Operation, exact: impl Fn(U) -> F) -> Flow {
    let a = w.fetch(0, &o.src[0]);
    let values: [F; C] = chunks(
        #[inline(always)]
        |c| exact(half::source_bits(o, 0, w.chunk(a, c))),
    );
    let result = round_to_half(w, values);
    half::commit16(w, o, result);
    Flow::Next
}

fn from_half<const C: usize>(w: &mut Wave<C>, o: &Operation, f: impl Fn(F) -> U) -> Flow {
    let a = w.fetch(0, &o.src[0]);
    let result = chunks(
        #[inline(always)]
        |c| f(half::source(w, o, 0, w.chunk(a, c))),
    );
    half::commit16(w, o, result);
    Flow::Next
}

/// f32 to f16 as MODE says.
#[inline(always)]
fn round_to_half<const C: usize>(w: &Wave<C>, values: [F; C]) -> [U; C] {
    if w.mode.plain16() && w.mode.denormals32().0 {
        return values.mapped(half::from_f32);
    }
    let (from, to) = (Single::settings(w.mode), Half::settings(w.mode));
    values.mapped(|x| {
        U::from_array(
            x.to_array()
                .mapped(|x| convert::<Single, Half>(u64::from(x.to_bits()), from, to) as u32),
        )
    })
}

pub(super) fn floats<const C: usize>(b: Binder<C>, op: ConvertFloats) -> Handler {
    match op {
        ConvertFloats::v_cvt_f16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let values: [F; C] = chunks(
                    #[inline(always)]
                    |c| float32::modified(o, 0, w.chunk(a, c)),
                );
                let result = round_to_half(w, values);
                half::commit16(w, o, result);
                Flow::Next
            },
        ),
        ConvertFloats::v_cvt_f32_f16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = half::source(w, o, 0, w.chunk(a, c));
                        float32::quieted(x).to_bits()
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        ConvertFloats::v_cvt_f64_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let (kept, _) = w.mode.denormals32();
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = float32::modified(o, 0, w.chunk(a, c));
                        float32::flushed_unless(kept, x).cast::<f64>().to_bits()
                    },
                );
                w.commit64(o.dst, result);
                Flow::Next
            },
        ),
        ConvertFloats::v_cvt_f32_f64 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch64(0, &o.src[0]);
                let (from, to) = (Double::settings(w.mode), Single::settings(w.mode));
                let plain = w.mode.plain32();
                let result = chunks(
                    #[inline(always)]
                    |c| {
                        let x = float64::modified(o, 0, w.chunk64(a, c));
                        let rounded = if plain {
                            x.cast::<f32>()
                        } else {
                            F::from_array(x.to_array().mapped(|x| {
                                f32::from_bits(
                                    convert::<Double, Single>(x.to_bits(), from, to) as u32
                                )
                            }))
                        };
                        rounded.to_bits()
                    },
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        ConvertFloats::v_cvt_f32_bf16 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let result = chunks(
                    #[inline(always)]
                    |c| half::source_bits(o, 0, w.chunk(a, c)) << U::splat(16),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
    }
}

/// f32 to the bits of a bf16, to nearest even; NaN is quieted.
#[inline(always)]
pub(crate) fn to_bf16(x: F) -> U {
    let bits = x.to_bits();
    let odd = bits >> U::splat(16) & U::splat(1);
    let rounded = (bits + U::splat(0x7fff) + odd) >> U::splat(16);
    let quiet = bits >> U::splat(16) | U::splat(0x40);
    x.is_nan().select(quiet, rounded)
}

pub(super) fn packing<const C: usize>(b: Binder<C>, op: ConvertPacking) -> Handler {
    match op {
        ConvertPacking::v_cvt_pkrtz_f16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let zero = |w: &Wave<C>| super::float::Settings {
                    round: Round::Zero,
                    ..Half::settings(w.mode)
                };
                let (from, to) = (Single::settings(w.mode), zero(w));
                two_f32(w, o, |x, y| {
                    let pack = |v: F| {
                        U::from_array(v.to_array().mapped(|v| {
                            convert::<Single, Half>(u64::from(v.to_bits()), from, to) as u32
                        }))
                    };
                    pack(x) | pack(y) << U::splat(16)
                })
            },
        ),
        ConvertPacking::v_cvt_pk_f16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let plain = w.mode.plain16() && w.mode.denormals32().0;
                let (from, to) = (Single::settings(w.mode), Half::settings(w.mode));
                two_f32(w, o, |x, y| {
                    let [low, high] = [x, y].mapped(|v| match plain {
                        true => half::from_f32(v),
                        false => U::from_array(v.to_array().mapped(|v| {
                            convert::<Single, Half>(u64::from(v.to_bits()), from, to) as u32
                        })),
                    });
                    low | high << U::splat(16)
                })
            },
        ),
        ConvertPacking::v_cvt_pk_bf16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| two_f32(w, o, |x, y| to_bf16(x) | to_bf16(y) << U::splat(16)),
        ),
        ConvertPacking::v_cvt_pk_i16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                // NaN becomes 0.
                let half = |v: F| {
                    let limited = v.trunc().simd_clamp(F::splat(-32768.0), F::splat(32767.0));
                    limited.cast::<i32>().cast::<u32>() & U::splat(0xffff)
                };
                two_f32(w, o, |x, y| half(x) | half(y) << U::splat(16))
            },
        ),
        ConvertPacking::v_cvt_pk_u16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let half = |v: F| {
                    let limited = v.trunc().simd_clamp(F::splat(0.0), F::splat(65535.0));
                    limited.cast::<u32>()
                };
                two_f32(w, o, |x, y| half(x) | half(y) << U::splat(16))
            },
        ),
        ConvertPacking::v_cvt_pknorm_i16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                two_f32(w, o, |x, y| {
                    normalized(x, true) | normalized(y, true) << U::splat(16)
                })
            },
        ),
        ConvertPacking::v_cvt_pknorm_u16_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                two_f32(w, o, |x, y| {
                    normalized(x, false) | normalized(y, false) << U::splat(16)
                })
            },
        ),
        ConvertPacking::v_cvt_pknorm_i16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| two_f16(w, o, |x| normalized(x, true)),
        ),
        ConvertPacking::v_cvt_pknorm_u16_f16 => b.bind(
            #[inline(always)]
            |w, _, o| two_f16(w, o, |x| normalized(x, false)),
        ),
        ConvertPacking::v_cvt_pkaccum_u8_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let (a, s) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
                let old = *w.lanes(o.dst).chunks::<C>();
                let result = chunks(
                    #[inline(always)]
                    |c| with_byte(o, w.chunk(a, c), w.chunk(s, c), old[c]),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
        ConvertPacking::v_cvt_pk_u8_f32 => b.bind(
            #[inline(always)]
            |w, _, o| {
                let a = w.fetch(0, &o.src[0]);
                let (s, old) = (w.fetch(1, &o.src[1]), w.fetch(2, &o.src[2]));
                let result = chunks(
                    #[inline(always)]
                    |c| with_byte(o, w.chunk(a, c), w.chunk(s, c), w.chunk(old, c)),
                );
                w.commit(o.dst, result);
                Flow::Next
            },
        ),
    }
}

/// `old` with f32 source 0, as an unsigned byte, in byte `place`.
#[inline(always)]
fn with_byte(o: &Operation, value: U, place: U, old: U) -> U {
    let byte = float32::modified(o, 0, value).cast::<u8>().cast::<u32>();
    let shift = (place & U::splat(3)) * U::splat(8);
    (old & !(U::splat(0xff) << shift)) | byte << shift
}

/// Two f16 sources, each converted to 16 bits.
fn two_f16<const C: usize>(w: &mut Wave<C>, o: &Operation, f: impl Fn(F) -> U) -> Flow {
    let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
    let result = chunks(
        #[inline(always)]
        |c| {
            f(half::source(w, o, 0, w.chunk(a, c)))
                | f(half::source(w, o, 1, w.chunk(b, c))) << U::splat(16)
        },
    );
    w.commit(o.dst, result);
    Flow::Next
}

fn two_f32<const C: usize>(w: &mut Wave<C>, o: &Operation, f: impl Fn(F, F) -> U) -> Flow {
    let (a, b) = (w.fetch(0, &o.src[0]), w.fetch(1, &o.src[1]));
    let result = chunks(
        #[inline(always)]
        |c| {
            f(
                float32::modified(o, 0, w.chunk(a, c)),
                float32::modified(o, 1, w.chunk(b, c)),
            )
        },
    );
    w.commit(o.dst, result);
    Flow::Next
}

/// [-1, 1] or [0, 1] to the full range of 16 bits, to nearest; NaN becomes 0.
fn normalized(x: F, signed: bool) -> U {
    let (low, high) = if signed {
        (-1.0, 32767.0)
    } else {
        (0.0, 65535.0)
    };
    U::from_array(x.to_array().mapped(|x| {
        if x.is_nan() {
            0
        } else {
            let scaled = f64::from(x.clamp(low, 1.0)) * high;
            scaled.round_ties_even() as i32 as u32 & 0xffff
        }
    }))
}
