//! Copies and memsets of rows and layers: checked when they are submitted, run in stream order.

use std::{ptr, slice, sync::Arc};

use ferrowave_hip_abi::{hipError_t, hipMemcpyKind};

use super::owner::{AddressOwner, owner_of};
use crate::{
    error::{Failure, present},
    list::has_room,
    runtime::{Runtime, allocations::MadeBy},
};

/// Size of the pieces copied between devices, in bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// A 3D region of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) address: u64,
    /// Distance between rows, in bytes.
    pub(crate) pitch: usize,
    /// Distance between layers, in bytes.
    pub(crate) layer: usize,
}

/// The size of a region: bytes per row, rows per layer, layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

impl Extent {
    /// The number of elements in all rows and layers.
    const fn count(self) -> usize {
        self.width
            .saturating_mul(self.height)
            .saturating_mul(self.depth)
    }

    pub(crate) const fn bytes(bytes: usize) -> Self {
        Extent {
            width: bytes,
            height: 1,
            depth: 1,
        }
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

impl Side {
    pub(crate) const fn linear(address: u64) -> Self {
        Side {
            address,
            pitch: 0,
            layer: 0,
        }
    }

    /// The number of bytes from a region's first to its last byte. An error if rows or layers overlap.
    fn span(self, extent: Extent, what: &str) -> Result<usize, Failure> {
        let Extent {
            width,
            height,
            depth,
        } = extent;
        if height > 1 && self.pitch < width {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidPitchValue,
                format_args!(
                    "the {what}'s pitch is {} bytes, but its rows have {width}",
                    self.pitch
                ),
            ));
        }
        let rows = (height - 1)
            .checked_mul(self.pitch)
            .and_then(|rows| rows.checked_add(width));
        let span = rows.and_then(|rows| {
            let layers = (depth - 1).checked_mul(self.layer)?;
            let together = depth == 1 || self.layer >= rows;
            together.then_some(())?;
            layers.checked_add(rows)
        });
        span.filter(|&span| isize::try_from(span).is_ok())
            .ok_or_else(|| {
                if (height, depth) == (1, 1) {
                    return Failure::value(format_args!(
                        "{width} bytes are more than an address space has"
                    ));
                }
                Failure::value(format_args!(
                    "{depth} layers of {height} rows of {width} bytes do not fit in the {what}, whose rows are {} \
                     bytes apart and whose layers {}",
                    self.pitch, self.layer
                ))
            })
    }

    /// Whether the region starts in an allocation, which must then contain all of it.
    fn check(self, extent: Extent, must: bool, what: &str) -> Result<bool, Failure> {
        let address = self.address;
        let pointer = ptr::without_provenance::<u8>(address as usize);
        present(pointer, format_args!("the {what}"))?;
        let span = self.span(extent, what)?;
        if address.checked_add(span as u64).is_none() {
            return Err(Failure::value(format_args!(
                "{span} bytes at {address:#x} are beyond the end of all memory"
            )));
        }
        match owner_of(address)? {
            AddressOwner::Device(device, _) => {
                let found = device
                    .memory
                    .find(address)
                    .map(|info| (info.base, info.bytes));
                // Whether a graph's memory is allocated is checked when the operation runs.
                let found = found.or_else(|| device.graph_memories.place(address));
                let inside =
                    found.is_some_and(|(base, bytes)| span as u64 <= base + bytes as u64 - address);
                if !inside {
                    return Err(Failure::value(format_args!(
                        "{span} bytes at {address:#x} are not inside one allocation"
                    )));
                }
                Ok(true)
            }
            AddressOwner::Host if must => Err(Failure::value(format_args!(
                "the {what} {address:#x} is not in device memory"
            ))),
            AddressOwner::Host => {
                has_room(pointer, span, what)?;
                Ok(false)
            }
        }
    }

    /// The address of each row.
    fn rows(self, extent: Extent) -> impl Iterator<Item = u64> {
        (0..extent.depth).flat_map(move |layer| {
            (0..extent.height).map(move |row| {
                // `span` has checked that the sum does not overflow.
                self.address + (layer * self.layer + row * self.pitch) as u64
            })
        })
    }
}

/// A copy.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    to: Side,
    from: Side,
    extent: Extent,
    /// The kind that the program stated.
    pub(crate) kind: hipMemcpyKind,
    /// The source's bytes, if the submitting call has staged them.
    taken: Option<Arc<Vec<u8>>>,
    /// Whether target and source were in device memory when the copy was submitted.
    on_device: [bool; 2],
    /// Whether a side is host memory that the program may change or free once the call returns.
    pageable: bool,
}

/// Maximum length in bytes of a source that the call stages, as HIP does. For a longer one the call waits.
const STAGED_BYTES: usize = 64 << 10;

impl Transfer {
    /// The number of bytes that it copies.
    pub(crate) const fn bytes(&self) -> usize {
        self.extent.count()
    }

    /// Whether a side is host memory that the program may change or free once the call returns.
    pub(crate) const fn is_pageable(&self) -> bool {
        self.pageable
    }

    /// Whether both sides are device memory of one device, so that the host does not wait for the copy, unless the program has
    /// asked for that for both (`ihipMemcpy` and `ihipMemcpyParam3D` in CLR's `hip_memory.cpp`).
    pub(crate) fn is_within_device(&self) -> Result<bool, Failure> {
        let has_rows = self.extent.height > 1 || self.extent.depth > 1;
        if has_rows && self.kind != hipMemcpyKind::hipMemcpyDeviceToDevice {
            return Ok(false);
        }
        let side = |side: Side| {
            let AddressOwner::Device(device, _) = owner_of(side.address)? else {
                return Ok(None);
            };
            let info = device.memory.find(side.address);
            let made = info.and_then(|info| device.allocations.get(info.base));
            let waits = made.as_ref().is_some_and(|made| made.waits);
            let is_device = made
                .is_none_or(|made| made.is_device_memory() && !matches!(made.by, MadeBy::Array));
            Ok::<_, Failure>(is_device.then_some((device, waits)))
        };
        Ok(match (side(self.to)?, side(self.from)?) {
            (Some((to, to_waits)), Some((from, from_waits))) => {
                Arc::ptr_eq(&to, &from) && !(to_waits && from_waits)
            }
            _ => false,
        })
    }

    /// Creates a copy and checks that its sides are in the memory that `kind` states.
    pub(crate) fn new(
        to: Side,
        from: Side,
        extent: Extent,
        kind: hipMemcpyKind,
    ) -> Result<Self, Failure> {
        let (mut from_device, mut to_device) = sides(kind)?;
        let mut transfer = Transfer {
            to,
            from,
            extent,
            kind,
            taken: None,
            on_device: [false; 2],
            pageable: false,
        };
        if extent.is_empty() {
            transfer.extent = Extent::bytes(0);
            return Ok(transfer);
        }
        // Kernels reach both sides then, and CLR copies them whatever the kind (`IsHtoHMemcpyValid`).
        if (from_device || to_device) && Runtime::get().retries_faults()?.is_some() {
            let of_host = |side: Side| {
                owner_of(side.address).map(|owner| matches!(owner, AddressOwner::Host))
            };
            if of_host(to)? && of_host(from)? {
                (from_device, to_device) = (false, false);
            }
        }
        let target = to.check(extent, to_device, "copy's target")?;
        let source = from.check(extent, from_device, "copy's source")?;
        transfer.on_device = [target, source];
        transfer.pageable = !(target && source);
        Ok(transfer)
    }

    /// Target, source and size.
    pub(crate) fn parts(&self) -> (Side, Side, Extent) {
        (self.to, self.from, self.extent)
    }

    /// Whether the caller must wait for the copy. A short source is staged instead.
    ///
    /// # Safety
    /// If the source is not in device memory, it can be read.
    pub(crate) unsafe fn stage(&mut self) -> bool {
        let bytes = self.extent.count();
        if !self.pageable || bytes == 0 {
            return false;
        }
        let to_device = matches!(owner_of(self.to.address), Ok(AddressOwner::Device(..)));
        if to_device && bytes <= STAGED_BYTES {
            let mut taken = Vec::with_capacity(bytes);
            for row in self.from.rows(self.extent) {
                let row = ptr::with_exposed_provenance::<u8>(row as usize);
                // SAFETY: the caller guarantees that it can be read.
                taken.extend(unsafe { slice::from_raw_parts(row, self.extent.width) });
            }
            self.taken = Some(Arc::new(taken));
            return false;
        }
        true
    }

    /// Runs the copy. By HIP's contract, an address outside device memory is host memory.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Extent { width, .. } = self.extent;
        if self.extent.is_empty() {
            return Ok(());
        }
        let device = |address, was_on_device| match owner_of(address)? {
            AddressOwner::Device(device, _) => Ok::<_, Failure>(Some(device)),
            AddressOwner::Host if was_on_device => Err(Failure::value(format_args!(
                "the copy's side at {address:#x} is not in device memory any more"
            ))),
            AddressOwner::Host => Ok(None),
        };
        let [to_device, from_device] = self.on_device;
        let target = device(self.to.address, to_device)?;
        if let (Some(bytes), Some(target)) = (&self.taken, &target) {
            for (to, row) in self.to.rows(self.extent).zip(bytes.chunks(width)) {
                target.memory.write(to, row)?;
            }
            return Ok(());
        }
        let source = device(self.from.address, from_device)?;
        let mut chunk = Vec::new();
        for (to, from) in self.to.rows(self.extent).zip(self.from.rows(self.extent)) {
            let own_to = ptr::with_exposed_provenance_mut::<u8>(to as usize);
            let own_from = ptr::with_exposed_provenance::<u8>(from as usize);
            match (&target, &source) {
                (Some(target), Some(source)) if Arc::ptr_eq(target, source) => {
                    target.memory.copy(to, from, width)?;
                }
                (Some(target), Some(source)) => {
                    chunk.resize(CHUNK_BYTES.min(width), 0);
                    let mut done = 0;
                    while done < width {
                        let part = CHUNK_BYTES.min(width - done);
                        source.memory.read(from + done as u64, &mut chunk[..part])?;
                        target.memory.write(to + done as u64, &chunk[..part])?;
                        done += part;
                    }
                }
                (Some(target), None) => {
                    // SAFETY: the caller guarantees `width` bytes of host memory at this address.
                    let from = unsafe { slice::from_raw_parts(own_from, width) };
                    target.memory.write(to, from)?;
                }
                (None, Some(source)) => {
                    // SAFETY: the caller guarantees `width` bytes of host memory at this address.
                    let to = unsafe { slice::from_raw_parts_mut(own_to, width) };
                    source.memory.read(from, to)?;
                }
                // SAFETY: the caller guarantees `width` bytes of host memory at both addresses; they may overlap.
                (None, None) => unsafe { own_to.copy_from(own_from, width) },
            }
        }
        Ok(())
    }
}

/// Whether the source and the target of a kind of copy must be in device memory.
fn sides(kind: hipMemcpyKind) -> Result<(bool, bool), Failure> {
    Ok(match kind {
        hipMemcpyKind::hipMemcpyHostToHost | hipMemcpyKind::hipMemcpyDefault => (false, false),
        hipMemcpyKind::hipMemcpyHostToDevice => (false, true),
        hipMemcpyKind::hipMemcpyDeviceToHost => (true, false),
        hipMemcpyKind::hipMemcpyDeviceToDevice | hipMemcpyKind::hipMemcpyDeviceToDeviceNoCU => {
            (true, true)
        }
        hipMemcpyKind(other) => {
            return Err(Failure::new(
                hipError_t::hipErrorInvalidMemcpyDirection,
                format_args!("{other} is not a kind of copy; expected 0 to 4, or 1024"),
            ));
        }
    })
}

/// A memset.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    to: Side,
    /// The width is in elements.
    extent: Extent,
    value: u32,
    element_bytes: usize,
}

/// Number of elements written at a time, because a few long writes are faster than many short ones.
const PIECE: usize = 4096;

impl Fill {
    /// The number of bytes that it sets.
    pub(crate) const fn bytes(&self) -> usize {
        self.extent.count().saturating_mul(self.element_bytes)
    }

    /// Creates a memset of `extent.width` elements per row, with the low bytes of `value`.
    pub(crate) fn new(
        to: Side,
        extent: Extent,
        value: u32,
        element_bytes: usize,
    ) -> Result<Self, Failure> {
        let fill = Fill {
            to,
            extent,
            value,
            element_bytes,
        };
        if extent.is_empty() {
            return Ok(fill);
        }
        let width = extent.width.checked_mul(element_bytes).ok_or_else(|| {
            Failure::value(format_args!(
                "{} times {element_bytes} bytes at {:#x} are not inside one allocation",
                extent.width, to.address
            ))
        })?;
        to.check(Extent { width, ..extent }, true, "fill's target")
            .map_err(Failure::without_pitch)?;
        Ok(fill)
    }

    /// The target, the extent in elements, the value, and the bytes per element.
    pub(crate) fn parts(&self) -> (Side, Extent, u32, usize) {
        (self.to, self.extent, self.value, self.element_bytes)
    }

    /// Runs the memset.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (count, bytes) = (self.extent.width, self.element_bytes);
        if self.extent.is_empty() {
            return Ok(());
        }
        let AddressOwner::Device(device, _) = owner_of(self.to.address)? else {
            return Err(Failure::value(format_args!(
                "the fill's target {:#x} is not in device memory any more",
                self.to.address
            )));
        };
        let pattern = &self.value.to_le_bytes()[..bytes];
        let repeat = count.min(PIECE);
        let piece = pattern.repeat(repeat);
        let extent = Extent {
            width: count * bytes,
            ..self.extent
        };
        for row in self.to.rows(extent) {
            device.memory.fill(row, &piece, count / repeat)?;
            let done = (count / repeat * piece.len()) as u64;
            device.memory.fill(row + done, pattern, count % repeat)?;
        }
        Ok(())
    }
}
