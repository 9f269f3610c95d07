//! Checks launches against the kernel's metadata and the device's limits.

use ferrowave_code_object::{self as code_object, KernelMetadata};
use thiserror::Error;

use super::{Argument, Arguments, DeviceProperties};
use crate::hip::HipError;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup along x, y and z.
    pub block: [u32; 3],
    /// LDS of a workgroup in addition to the kernel's static LDS, in bytes.
    pub dynamic_lds_bytes: u32,
}

const AXES: [char; 3] = ['x', 'y', 'z'];

/// The largest alignment of an argument. A struct of arguments may have padding at its end up to a multiple of this.
const STRUCT_ALIGN: usize = 16;

/// Why a launch is rejected.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchError {
    /// No workgroups, or more than the device allows.
    #[error("a grid of {workgroups} workgroups along {axis}; allowed are 1 to {limit}")]
    Grid {
        /// Along which axis.
        axis: char,
        /// Workgroups requested.
        workgroups: u32,
        /// The most that are allowed.
        limit: u32,
    },
    /// More work-items along an axis than HIP can count.
    #[error("a grid of {threads} threads along {axis}; there must be less than 2^32")]
    GridThreads {
        /// Along which axis.
        axis: char,
        /// Work-items requested.
        threads: u64,
    },
    /// No work-items, or more along an axis than the device allows.
    #[error("a block of {threads} threads along {axis}; allowed are 1 to {limit}")]
    Block {
        /// Along which axis.
        axis: char,
        /// Work-items requested.
        threads: u32,
        /// The most that are allowed.
        limit: u32,
    },
    /// More work-items in a workgroup than the kernel was compiled for, or the device allows.
    #[error("a block of {threads} threads, but `{kernel}` takes at most {limit} on this device")]
    BlockThreads {
        /// The kernel.
        kernel: String,
        /// Work-items requested.
        threads: u64,
        /// The most that are allowed.
        limit: u32,
    },
    /// Not the shape that the kernel was compiled for.
    #[error("a block of {block:?} threads, but `{kernel}` takes only {required:?}")]
    BlockShape {
        /// The kernel.
        kernel: String,
        /// The requested shape.
        block: [u32; 3],
        /// The shape that it requires.
        required: [u32; 3],
    },
    /// More LDS than the device has.
    #[error(
        "{requested} bytes of LDS ({fixed} of `{kernel}` itself), but a workgroup has at most {limit} on this device"
    )]
    Lds {
        /// The kernel.
        kernel: String,
        /// Bytes requested, with the kernel's static LDS.
        requested: u64,
        /// The kernel's static LDS.
        fixed: u32,
        /// The most that are allowed.
        limit: u32,
    },
    /// Not the number of arguments that the kernel takes.
    #[error("{given} arguments, but `{kernel}` takes {expected}")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Arguments given.
        given: usize,
        /// Arguments taken.
        expected: usize,
    },
    /// An argument with another size or offset than the kernel's.
    #[error(
        "argument {index} has {} bytes at offset {}, but `{kernel}` takes {} at {}",
        .given.size, .given.offset, .expected.size, .expected.offset
    )]
    Argument {
        /// The kernel.
        kernel: String,
        /// Which argument, from 0 on.
        index: usize,
        /// The given argument.
        given: Argument,
        /// The kernel's argument.
        expected: Argument,
    },
    /// A struct of arguments with another size than the kernel's.
    #[error("{given} bytes of arguments, but `{kernel}` takes {expected}")]
    ArgumentBytes {
        /// The kernel.
        kernel: String,
        /// Bytes given.
        given: usize,
        /// Bytes taken.
        expected: usize,
    },
    /// A stream on another device.
    #[error("`{kernel}` is loaded on {device}, but the stream is of {stream}")]
    OtherDevice {
        /// The kernel.
        kernel: String,
        /// The kernel's device.
        device: String,
        /// The stream's device.
        stream: String,
    },
    /// An error of HIP.
    #[error(transparent)]
    Hip(#[from] HipError),
}

/// Rejects a launch that the kernel or the device does not allow.
pub(super) fn check(
    metadata: &KernelMetadata,
    device: &DeviceProperties,
    config: &LaunchConfig,
    arguments: &Arguments,
) -> Result<(), LaunchError> {
    let LaunchConfig {
        grid,
        block,
        dynamic_lds_bytes,
    } = *config;
    for (index, axis) in AXES.into_iter().enumerate() {
        let (workgroups, limit) = (grid[index], device.max_grid[index]);
        if !(1..=limit).contains(&workgroups) {
            return Err(LaunchError::Grid {
                axis,
                workgroups,
                limit,
            });
        }
        let (threads, limit) = (block[index], device.max_block[index]);
        if !(1..=limit).contains(&threads) {
            return Err(LaunchError::Block {
                axis,
                threads,
                limit,
            });
        }
        let threads = u64::from(workgroups) * u64::from(threads);
        if u32::try_from(threads).is_err() {
            return Err(LaunchError::GridThreads { axis, threads });
        }
    }
    let kernel = || metadata.name.clone();
    // Three factors of 32 bits could overflow 64 bits.
    let threads = block
        .iter()
        .fold(1_u64, |product, &n| product.saturating_mul(n.into()));
    let limit = metadata
        .max_flat_workgroup_size
        .min(device.max_block_threads);
    if threads > u64::from(limit) {
        return Err(LaunchError::BlockThreads {
            kernel: kernel(),
            threads,
            limit,
        });
    }
    if let Some(required) = metadata
        .reqd_workgroup_size
        .filter(|&required| required != block)
    {
        return Err(LaunchError::BlockShape {
            kernel: kernel(),
            block,
            required,
        });
    }
    let (fixed, limit) = (metadata.group_segment_fixed_size, device.lds_bytes);
    let requested = u64::from(fixed) + u64::from(dynamic_lds_bytes);
    if requested > u64::from(limit) {
        return Err(LaunchError::Lds {
            kernel: kernel(),
            requested,
            fixed,
            limit,
        });
    }
    check_arguments(metadata, arguments)
}

fn check_arguments(metadata: &KernelMetadata, arguments: &Arguments) -> Result<(), LaunchError> {
    let kernel = || metadata.name.clone();
    let expected: Vec<Argument> = metadata
        .args
        .iter()
        .filter(|argument| !argument.value_kind.is_hidden())
        .map(|&code_object::Argument { offset, size, .. }| Argument { offset, size })
        .collect();
    let given = arguments.list();
    if given.is_empty() {
        let end = expected
            .iter()
            .map(|argument| (argument.offset + argument.size) as usize)
            .max();
        let (expected, given) = (end.unwrap_or(0), arguments.bytes().len());
        // A struct ends in padding if its last argument has a smaller alignment.
        return if (expected..=expected.next_multiple_of(STRUCT_ALIGN)).contains(&given) {
            Ok(())
        } else {
            Err(LaunchError::ArgumentBytes {
                kernel: kernel(),
                given,
                expected,
            })
        };
    }
    if given.len() != expected.len() {
        let (given, expected) = (given.len(), expected.len());
        return Err(LaunchError::ArgumentCount {
            kernel: kernel(),
            given,
            expected,
        });
    }
    match given
        .iter()
        .zip(&expected)
        .position(|(given, expected)| given != expected)
    {
        None => Ok(()),
        Some(index) => Err(LaunchError::Argument {
            kernel: kernel(),
            index,
            given: given[index],
            expected: expected[index],
        }),
    }
}
