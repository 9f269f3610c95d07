//! The data in memory that a launch prepares for its kernel: arguments, the dispatch packet, the queue.

use std::array;

use ferrowave_code_object::{Argument, ValueKind};

use super::{LaunchConfig, LaunchError, hostcall::Hostcalls, printf_buffer::PrintfBuffer, scratch};
use crate::exec::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::memory::{AllocationKind, DeviceMemory};
use crate::program::Kernel;

/// Size of an AQL dispatch packet (HSA runtime specification, `hsa_kernel_dispatch_packet_t`).
const PACKET_BYTES: usize = 64;
/// Size of the part of the queue that kernels may read (`amd_queue_t` including its apertures).
const QUEUE_BYTES: usize = 256;

/// Size of the data that a cooperative launch's workgroups share for their barrier.
const GRID_SYNC_BYTES: usize = 64;

/// A launch's data in device memory; freed on drop.
pub(super) struct LaunchData<'a> {
    memory: &'a DeviceMemory,
    base: u64,
    pub(super) kernarg: u64,
    pub(super) packet: u64,
    pub(super) queue: u64,
    /// The buffer for requests to the host, if the kernel makes such requests.
    pub(super) hostcalls: Option<Hostcalls<'a>>,
    /// The buffer for messages that are printed when the launch is over, if the kernel writes such messages.
    pub(super) printf: Option<PrintfBuffer<'a>>,
}

impl Drop for LaunchData<'_> {
    fn drop(&mut self) {
        // `new` allocated it, and only this value knows the address.
        let _ = self.memory.free(self.base);
    }
}

impl<'a> LaunchData<'a> {
    /// `waves` is the most waves that have started and not ended.
    pub(super) fn new(
        kernel: &Kernel,
        config: &LaunchConfig<'_>,
        memory: &'a DeviceMemory,
        waves: usize,
    ) -> Result<Self, LaunchError> {
        let mut arguments = kernarg(kernel, config)?;
        let kernarg_bytes = arguments.len().next_multiple_of(64).max(64);
        let grid_sync = kernarg_bytes + PACKET_BYTES + QUEUE_BYTES;
        let total = grid_sync
            + match config.cooperative {
                true => GRID_SYNC_BYTES,
                false => 0,
            };
        let base = memory.allocate(total, AllocationKind::Launch)?;
        let packet = base + kernarg_bytes as u64;
        let queue = packet + PACKET_BYTES as u64;
        let mut data = LaunchData {
            memory,
            base,
            kernarg: base,
            packet,
            queue,
            hostcalls: None,
            printf: None,
        };
        let metadata = &kernel.description().metadata;
        for argument in metadata.args.iter() {
            let address = match argument.value_kind {
                ValueKind::HiddenQueuePtr => queue,
                ValueKind::HiddenMultigridSyncArg if config.cooperative => base + grid_sync as u64,
                ValueKind::HiddenHostcallBuffer => {
                    let hostcalls = Hostcalls::new(memory, waves)?;
                    data.hostcalls.insert(hostcalls).base
                }
                ValueKind::HiddenPrintfBuffer => match PrintfBuffer::new(kernel, memory)? {
                    Some(buffer) => data.printf.insert(buffer).base,
                    None => continue,
                },
                ValueKind::HiddenHeapV1 => memory.heap_state()?,
                _ => continue,
            };
            put(
                &mut arguments,
                argument.offset as usize,
                &address.to_le_bytes(),
            );
        }
        let mut bytes = vec![0; total];
        bytes[..arguments.len()].copy_from_slice(&arguments);
        write_packet(&mut bytes[kernarg_bytes..], kernel, config, base);
        write_queue(&mut bytes[kernarg_bytes + PACKET_BYTES..]);
        if config.cooperative {
            write_grid_sync(&mut bytes[grid_sync..], config);
        }
        memory.write(base, &bytes)?;
        Ok(data)
    }
}

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(offset..offset + value.len()) {
        place.copy_from_slice(value);
    }
}

/// Work-items of the grid along each axis.
fn items(config: &LaunchConfig<'_>) -> [u64; 3] {
    array::from_fn(|axis| {
        let [groups, block, partial] =
            [config.grid, config.block, config.partial].map(|sizes| u64::from(sizes[axis]));
        let missing = if partial == 0 { 0 } else { block - partial };
        groups * block - missing
    })
}

fn write_packet(bytes: &mut [u8], kernel: &Kernel, config: &LaunchConfig<'_>, kernarg: u64) {
    let [bx, by, bz] = config.block;
    let [gx, gy, gz] = items(config);
    let dimensions: u16 = if gz > 1 {
        3
    } else if gy > 1 {
        2
    } else {
        1
    };
    put(bytes, 0, &2_u16.to_le_bytes()); // HSA_PACKET_TYPE_KERNEL_DISPATCH
    put(bytes, 2, &dimensions.to_le_bytes());
    for (index, size) in [bx, by, bz].into_iter().enumerate() {
        put(bytes, 4 + 2 * index, &(size as u16).to_le_bytes());
    }
    for (index, items) in [gx, gy, gz].into_iter().enumerate() {
        put(bytes, 12 + 4 * index, &(items as u32).to_le_bytes());
    }
    let description = kernel.description();
    let lds = description.metadata.group_segment_fixed_size + config.dynamic_lds_bytes;
    put(bytes, 24, &scratch::bytes_of(kernel).to_le_bytes());
    put(bytes, 28, &lds.to_le_bytes());
    put(bytes, 32, &kernel.descriptor_address().to_le_bytes());
    put(bytes, 40, &kernarg.to_le_bytes());
}

fn write_queue(bytes: &mut [u8]) {
    // `group_segment_aperture_base_hi` and `private_segment_aperture_base_hi` of `amd_queue_t`.
    put(bytes, 0x40, &((SHARED_APERTURE >> 32) as u32).to_le_bytes());
    put(
        bytes,
        0x44,
        &((PRIVATE_APERTURE >> 32) as u32).to_le_bytes(),
    );
}

/// `MGSyncInfo` of ROCclr (`device.hpp` up to ROCm 7), which the barriers of ROCm's device library read (`cg.cl`). For a
/// launch on one device, only the number of workgroups, after the barrier's own two words, is not 0.
fn write_grid_sync(bytes: &mut [u8], config: &LaunchConfig<'_>) {
    if let Some(group) = config.group {
        put(bytes, 0, &group.meeting.to_le_bytes());
        put(bytes, 8, &group.rank.to_le_bytes());
        put(bytes, 12, &group.count.to_le_bytes());
        put(bytes, 16, &group.items_before.to_le_bytes());
        put(bytes, 24, &group.items.to_le_bytes());
    }
    let workgroups: u32 = config.grid.iter().product();
    put(bytes, 40, &workgroups.to_le_bytes());
}

/// The kernarg segment: the caller's arguments, and the hidden ones that the metadata lists.
pub(super) fn kernarg(kernel: &Kernel, config: &LaunchConfig<'_>) -> Result<Vec<u8>, LaunchError> {
    let metadata = &kernel.description().metadata;
    let explicit = metadata.explicit_bytes();
    if config.kernarg.is_empty() && explicit > 0 {
        return Err(LaunchError::NoArguments {
            kernel: kernel.name().to_owned(),
            needed: explicit,
        });
    }
    let size = (metadata.kernarg_segment_size as usize).max(explicit);
    let mut bytes = vec![0; size];
    // CLR reads each argument at its offset whatever the size of the caller's buffer is (`captureAndSet` in `kernel.cpp`), and
    // rocBLAS passes less than some of its kernels declare. Here the rest is 0.
    let given = config.kernarg.len().min(explicit);
    bytes[..given].copy_from_slice(&config.kernarg[..given]);
    for argument in metadata
        .args
        .iter()
        .filter(|argument| argument.value_kind.is_hidden())
    {
        let value = hidden(argument, config);
        let length = (argument.size as usize).min(8);
        put(
            &mut bytes,
            argument.offset as usize,
            &value.to_le_bytes()[..length],
        );
    }
    Ok(bytes)
}

fn hidden(argument: &Argument, config: &LaunchConfig<'_>) -> u64 {
    let block = config.block.map(u64::from);
    let items = items(config);
    // AMDGPUUsage, «AMDHSA Code Object V5 Metadata»: a partial workgroup is not counted, but is in the remainder.
    let whole: [u64; 3] = array::from_fn(|axis| items[axis] / block[axis]);
    match argument.value_kind {
        ValueKind::HiddenBlockCountX => whole[0],
        ValueKind::HiddenBlockCountY => whole[1],
        ValueKind::HiddenBlockCountZ => whole[2],
        ValueKind::HiddenGroupSizeX => block[0],
        ValueKind::HiddenGroupSizeY => block[1],
        ValueKind::HiddenGroupSizeZ => block[2],
        ValueKind::HiddenRemainderX => items[0] % block[0],
        ValueKind::HiddenRemainderY => items[1] % block[1],
        ValueKind::HiddenRemainderZ => items[2] % block[2],
        ValueKind::HiddenGridDims => {
            if items[2] > 1 {
                3
            } else if items[1] > 1 {
                2
            } else {
                1
            }
        }
        ValueKind::HiddenDynamicLdsSize => u64::from(config.dynamic_lds_bytes),
        ValueKind::HiddenSharedBase => SHARED_APERTURE >> 32,
        ValueKind::HiddenPrivateBase => PRIVATE_APERTURE >> 32,
        // Grids begin at 0. Other hidden arguments are not supplied.
        _ => 0,
    }
}
