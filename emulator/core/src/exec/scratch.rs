//! Private memory: scratch instructions, and flat ones with addresses in the private aperture.
//!
//! A wave's private memory is in global memory: dword `d` of lane `l` is dword `64 d + l` (`32 d + l` in waves of 32 lanes). The buffer resource that
//! kernels of gfx908 and gfx90a get has the same layout (LLVM's `AMDGPUUsage`, «Address Spaces»: lanes that access the
//! same private address reach adjacent dwords). An access past a lane's end is a fault; what the hardware does is not
//! documented, except for the range checks of buffers.

use std::simd::prelude::*;

use super::{
    Context, FaultKind, Wave,
    access::{self, Access},
    array::{Mapped, array},
    lanes::{Binder, chunks},
    operation::{Flow, Handler, Operation, SourceKind},
    simd::{D, U, chunk_mask},
    split,
    transfer::{Data, Transfers},
};

/// First of the two scalar registers with the address of private memory, up to gfx90a.
const FLAT_SCRATCH: u16 = 102;

/// Offsets of lanes in their private memory; all of their data is inside.
pub(super) struct Private<const C: usize> {
    base: u64,
    offsets: [D; C],
    exec: u64,
    /// Whether no lane's data crosses a dword boundary, unless it begins at one.
    aligned: bool,
}

/// The address of a byte of a lane's private memory.
pub(super) fn address(w: &Wave, lane: u8, offset: u32) -> Option<u64> {
    let segment = w.private;
    let base = segment.base.unwrap_or_else(|| w.scalar_pair(FLAT_SCRATCH));
    let (dword, byte) = (u64::from(offset / 4), u64::from(offset % 4));
    (offset < segment.bytes)
        .then(|| base + dword * 4 * w.lane_count() as u64 + 4 * u64::from(lane) + byte)
}

impl<const C: usize> Private<C> {
    /// Checks `bytes` at the offsets of the lanes in `exec`.
    #[inline(always)]
    pub(super) fn new(
        w: &Wave<C>,
        c: &mut Context<'_>,
        offsets: [U; C],
        exec: u64,
        bytes: u32,
    ) -> Result<Self, Flow> {
        let segment = w.private;
        let mut last = U::splat(0);
        // A byte or a half fits at several positions of a dword.
        let room = U::splat(4 - bytes.min(4));
        let mut crossing = 0;
        for (chunk, lanes) in offsets.iter().enumerate() {
            let active = chunk_mask(exec, chunk).select(*lanes, U::splat(0));
            last = last.simd_max(active);
            crossing |= (active & U::splat(3)).simd_gt(room).to_bitmask();
        }
        if u64::from(last.reduce_max()) + u64::from(bytes) > u64::from(segment.bytes) {
            return Err(outside(c, &offsets, exec, bytes, segment.bytes));
        }
        Ok(Private {
            base: segment.base.unwrap_or_else(|| w.scalar_pair(FLAT_SCRATCH)),
            offsets: offsets.mapped(|lanes| lanes.cast()),
            exec,
            aligned: crossing == 0,
        })
    }

    /// Addresses of the lanes' bytes, `at` bytes past their offset.
    #[inline(always)]
    fn addresses(&self, at: u64) -> [D; C] {
        let base = D::splat(self.base);
        chunks(|c| {
            let offset = self.offsets[c] + D::splat(at);
            let lane = D::from_array(array(|lane| 4 * (16 * c + lane) as u64));
            base + (offset >> D::splat(2)) * D::splat(4 * 16 * C as u64)
                + (offset & D::splat(3))
                + lane
        })
    }

    /// The lanes' `bytes`, `at` bytes past their offset; none crosses a dword boundary.
    #[inline(always)]
    pub(super) fn access(
        &self,
        c: &mut Context<'_>,
        o: &Operation,
        at: u64,
        bytes: u32,
        write: bool,
    ) -> Result<Access<C>, Flow> {
        let access = Access {
            addresses: self.addresses(at),
            exec: self.exec,
            moves: c.moves,
        };
        match access::check_global(c, o, &access, bytes, write) {
            Flow::Next => Ok(access),
            flow => Err(flow),
        }
    }

    /// Whether the lanes' data can be accessed as whole dwords or parts of one; otherwise it moves byte by byte.
    pub(super) fn is_aligned(&self) -> bool {
        self.aligned
    }

    #[inline(always)]
    pub(super) fn load(
        &self,
        w: &mut Wave<C>,
        c: &mut Context<'_>,
        o: &Operation,
        data: Data,
    ) -> Flow {
        let mut access = |at, bytes| self.access(c, o, at, bytes, false);
        if !self.aligned {
            return split::load(w, o.dst, data, self.exec, &mut |at| access(at, 1));
        }
        match data {
            Data::Dwords(count) => {
                for part in 0..count as u16 {
                    match access(4 * u64::from(part), 4) {
                        Ok(access) => access.load_dwords(w, o.dst + part, 1),
                        Err(flow) => return flow,
                    }
                }
            }
            Data::Small(small) => match access(0, small.bytes) {
                Ok(access) => access.load_small(w, o.dst, small),
                Err(flow) => return flow,
            },
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) fn store(
        &self,
        w: &mut Wave<C>,
        c: &mut Context<'_>,
        o: &Operation,
        data: Data,
    ) -> Flow {
        let register = o.src[1].register;
        let mut access = |at, bytes| self.access(c, o, at, bytes, true);
        if !self.aligned {
            return split::store(w, register, data, &mut |at| access(at, 1));
        }
        match data {
            Data::Dwords(count) => {
                for part in 0..count as u16 {
                    match access(4 * u64::from(part), 4) {
                        Ok(access) => access.store_dwords(w, register + part, 1),
                        Err(flow) => return flow,
                    }
                }
            }
            Data::Small(small) => match access(0, small.bytes) {
                Ok(access) => access.store_small(w, register, small.bytes, small.shift),
                Err(flow) => return flow,
            },
        }
        Flow::Next
    }
}

#[cold]
fn outside<const C: usize>(
    c: &mut Context<'_>,
    offsets: &[U; C],
    exec: u64,
    bytes: u32,
    private_bytes: u32,
) -> Flow {
    let at = |lane: usize| u64::from(offsets[lane / 16][lane % 16]);
    let lane = (0..16 * C)
        .filter(|lane| exec >> lane & 1 == 1)
        .find(|&lane| at(lane) + u64::from(bytes) > u64::from(private_bytes))
        .unwrap_or(0);
    c.fail(FaultKind::Private {
        address: at(lane),
        bytes,
        private_bytes,
        lane: lane as u8,
    })
}

/// Offsets of a scratch instruction's lanes: a vector register, a scalar register, both or neither, plus a constant.
#[inline(always)]
pub(super) fn offsets<const C: usize>(w: &Wave<C>, o: &Operation) -> [U; C] {
    let scalar = match o.src[2].kind {
        SourceKind::None => 0,
        _ => w.read32(&o.src[2]),
    };
    let same = U::splat(scalar.wrapping_add(o.imm as u32));
    match o.src[0].kind {
        SourceKind::None => [same; C],
        _ => chunks(|c| w.lanes(o.src[0].register).0[c] + same),
    }
}

/// Runs `f` on the private memory that a scratch instruction names.
#[inline(always)]
fn visit<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    o: &Operation,
    bytes: u32,
    f: impl FnOnce(&mut Wave<C>, &mut Context<'_>, &Private<C>) -> Flow,
) -> Flow {
    let offsets = offsets(w, o);
    visit_at(w, c, offsets, bytes, f)
}

/// As [`visit`], at other offsets.
#[inline(always)]
pub(super) fn visit_at<const C: usize>(
    w: &mut Wave<C>,
    c: &mut Context<'_>,
    offsets: [U; C],
    bytes: u32,
    f: impl FnOnce(&mut Wave<C>, &mut Context<'_>, &Private<C>) -> Flow,
) -> Flow {
    let exec = w.active();
    if exec == 0 {
        return Flow::Next;
    }
    match Private::new(w, c, offsets, exec, bytes) {
        Ok(private) => f(w, c, &private),
        Err(flow) => flow,
    }
}

/// Makes handlers of scratch operations.
pub(super) struct Scratch<const C: usize>(pub(super) Binder<C>);

impl<const C: usize> Transfers for Scratch<C> {
    fn load(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                let data = Data::of(o);
                visit(
                    w,
                    c,
                    o,
                    data.bytes(),
                    #[inline(always)]
                    |w, c, p| p.load(w, c, o, data),
                )
            },
        )
    }

    fn store(&self) -> Handler {
        self.0.bind(
            #[inline(always)]
            |w, c, o| {
                let data = Data::of(o);
                visit(
                    w,
                    c,
                    o,
                    data.bytes(),
                    #[inline(always)]
                    |w, c, p| p.store(w, c, o, data),
                )
            },
        )
    }
}
