//! The metadata note, which describes a code object's kernels to the runtime.
//!
//! Keys and values: LLVM's `AMDGPUUsage`, «Code Object V3 Metadata» to «V5».

use std::sync::Arc;

use ferrowave_gpu::{Gpu, GpuLimits};
use rmpv::ValueRef;

use crate::{CodeObjectError, msgpack::Node};

/// The metadata of a code object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `amdhsa.version`: (1, 1) in code object v4, (1, 2) from v5 on.
    pub version: (u32, u32),
    /// `amdhsa.target`, for example `amdgcn-amd-amdhsa--gfx90a:sramecc+`.
    pub target: Option<String>,
    /// `amdhsa.printf`: format strings of device-side `printf`.
    pub printf: Vec<String>,
    /// `amdhsa.kernels`.
    pub kernels: Vec<Arc<KernelMetadata>>,
}

/// The metadata of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelMetadata {
    /// `.name`: the source name, by which a host looks up the kernel.
    pub name: String,
    /// `.symbol`: the ELF symbol of the kernel descriptor.
    pub symbol: String,
    /// `.kind`: when the kernel runs.
    pub kind: KernelKind,
    /// `.args`, explicit ones first. Consecutive kernels with equal arguments share them, because libraries have
    /// thousands.
    pub args: Arc<[Argument]>,
    /// `.kernarg_segment_size`: bytes of arguments, including hidden ones.
    pub kernarg_segment_size: u32,
    /// `.kernarg_segment_align` in bytes, a power of two.
    pub kernarg_segment_align: u32,
    /// `.group_segment_fixed_size`: static LDS of a workgroup, in bytes.
    pub group_segment_fixed_size: u32,
    /// `.private_segment_fixed_size`: scratch of a work-item in bytes.
    pub private_segment_fixed_size: u32,
    /// `.uses_dynamic_stack`: the stated scratch size is an estimate, because the stack depends on calls.
    pub uses_dynamic_stack: bool,
    /// `.wavefront_size`: one of [`GpuLimits::wave_sizes`].
    pub wavefront_size: u32,
    /// `.sgpr_count`: scalar registers, including VCC, FLAT_SCRATCH and XNACK_MASK.
    pub sgpr_count: u32,
    /// `.vgpr_count`: vector registers; from gfx90a on including accumulation VGPRs.
    pub vgpr_count: u32,
    /// `.agpr_count`: accumulation VGPRs.
    pub agpr_count: Option<u32>,
    /// `.sgpr_spill_count`: stores of spilled scalar registers.
    pub sgpr_spill_count: Option<u32>,
    /// `.vgpr_spill_count`: stores of spilled vector registers.
    pub vgpr_spill_count: Option<u32>,
    /// `.max_flat_workgroup_size`: the maximum number of work-items in a workgroup.
    pub max_flat_workgroup_size: u32,
    /// `.reqd_workgroup_size`: the only workgroup size that the kernel runs with.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// `.workgroup_size_hint`: the workgroup size that the kernel is likely to run with.
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// `.uniform_work_group_size`: the grid is always a multiple of the workgroup size.
    pub uniform_work_group_size: bool,
    /// `.language`, for example `OpenCL C`.
    pub language: Option<String>,
    /// `.device_enqueue_symbol`: the runtime handle for enqueueing from the device.
    pub device_enqueue_symbol: Option<String>,
}

/// `.kind`: when a kernel runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// When it is launched.
    Normal,
    /// Once after loading.
    Init,
    /// Once before unloading.
    Fini,
    /// Another kind, for example of a later compiler.
    Other(String),
}

/// One entry of `.args`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// `.name`: the parameter's name in the source.
    pub name: Option<String>,
    /// `.type_name`: the parameter's type in the source.
    pub type_name: Option<String>,
    /// `.offset` in the kernarg segment, in bytes.
    pub offset: u32,
    /// `.size` in bytes.
    pub size: u32,
    /// `.value_kind`: what the argument holds.
    pub value_kind: ValueKind,
    /// `.address_space` of a pointer.
    pub address_space: Option<AddressSpace>,
    /// `.pointee_align`: for dynamic LDS, the alignment in bytes.
    pub pointee_align: Option<u32>,
    /// `.access` as the source declares it, for example `read_only`.
    pub access: Option<String>,
    /// `.actual_access` as the compiler determined it.
    pub actual_access: Option<String>,
    /// `.is_const`.
    pub is_const: bool,
    /// `.is_restrict`.
    pub is_restrict: bool,
    /// `.is_volatile`.
    pub is_volatile: bool,
    /// `.is_pipe`.
    pub is_pipe: bool,
}

/// An enum of texts in the metadata. Unknown texts are kept in `Other`.
macro_rules! text_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* #[doc = concat!("\n`", $text, "`.")] $variant,)*
            /// Another text, for example of a later compiler.
            Other(String),
        }

        impl $name {
            /// The text in the metadata.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $text,)*
                    $name::Other(text) => text,
                }
            }

            fn from_text(text: &str) -> Self {
                match text {
                    $($text => $name::$variant,)*
                    other => $name::Other(other.to_owned()),
                }
            }
        }
    };
}

text_enum! {
    /// `.value_kind`: what an argument holds.
    ValueKind {
        /// The value itself.
        ByValue = "by_value",
        /// A pointer to global memory.
        GlobalBuffer = "global_buffer",
        /// The LDS offset of a pointer to dynamic LDS.
        DynamicSharedPointer = "dynamic_shared_pointer",
        /// A sampler.
        Sampler = "sampler",
        /// An image.
        Image = "image",
        /// An OpenCL pipe.
        Pipe = "pipe",
        /// An OpenCL device queue.
        Queue = "queue",
        /// The first global id in x, 8 bytes.
        HiddenGlobalOffsetX = "hidden_global_offset_x",
        /// The first global id in y, 8 bytes.
        HiddenGlobalOffsetY = "hidden_global_offset_y",
        /// The first global id in z, 8 bytes.
        HiddenGlobalOffsetZ = "hidden_global_offset_z",
        /// An unused hidden argument.
        HiddenNone = "hidden_none",
        /// The buffer of device-side `printf`.
        HiddenPrintfBuffer = "hidden_printf_buffer",
        /// The buffer for host calls.
        HiddenHostcallBuffer = "hidden_hostcall_buffer",
        /// The OpenCL default device queue.
        HiddenDefaultQueue = "hidden_default_queue",
        /// The completion action of enqueued kernels.
        HiddenCompletionAction = "hidden_completion_action",
        /// The synchronization data of a multi-device launch.
        HiddenMultigridSyncArg = "hidden_multigrid_sync_arg",
        /// Number of complete workgroups in x, 4 bytes.
        HiddenBlockCountX = "hidden_block_count_x",
        /// Number of complete workgroups in y, 4 bytes.
        HiddenBlockCountY = "hidden_block_count_y",
        /// Number of complete workgroups in z, 4 bytes.
        HiddenBlockCountZ = "hidden_block_count_z",
        /// Workgroup size in x, 2 bytes.
        HiddenGroupSizeX = "hidden_group_size_x",
        /// Workgroup size in y, 2 bytes.
        HiddenGroupSizeY = "hidden_group_size_y",
        /// Workgroup size in z, 2 bytes.
        HiddenGroupSizeZ = "hidden_group_size_z",
        /// Size of the partial workgroup in x, in work-items, 2 bytes.
        HiddenRemainderX = "hidden_remainder_x",
        /// Size of the partial workgroup in y, in work-items, 2 bytes.
        HiddenRemainderY = "hidden_remainder_y",
        /// Size of the partial workgroup in z, in work-items, 2 bytes.
        HiddenRemainderZ = "hidden_remainder_z",
        /// Number of grid dimensions, 2 bytes.
        HiddenGridDims = "hidden_grid_dims",
        /// The heap of device-side allocation.
        HiddenHeapV1 = "hidden_heap_v1",
        /// Dynamic LDS in bytes, 4 bytes.
        HiddenDynamicLdsSize = "hidden_dynamic_lds_size",
        /// High half of the private aperture's address, 4 bytes.
        HiddenPrivateBase = "hidden_private_base",
        /// High half of the LDS aperture's address, 4 bytes.
        HiddenSharedBase = "hidden_shared_base",
        /// The address of the queue, 8 bytes.
        HiddenQueuePtr = "hidden_queue_ptr",
    }
}

impl ValueKind {
    /// Whether the runtime supplies the argument instead of the caller.
    pub fn is_hidden(&self) -> bool {
        self.as_str().starts_with("hidden_")
    }
}

text_enum! {
    /// `.address_space` of a pointer argument.
    AddressSpace {
        /// Scratch of a work-item.
        Private = "private",
        /// Global memory.
        Global = "global",
        /// Global memory that the kernel only reads.
        Constant = "constant",
        /// LDS.
        Local = "local",
        /// Any of them, distinguished by the address.
        Generic = "generic",
        /// GDS.
        Region = "region",
    }
}

impl KernelMetadata {
    /// The end of the last argument that a caller passes, in the kernarg segment.
    pub fn explicit_bytes(&self) -> usize {
        let explicit = self
            .args
            .iter()
            .filter(|argument| !argument.value_kind.is_hidden());
        let ends = explicit.map(|argument| (argument.offset + argument.size) as usize);
        ends.max().unwrap_or(0)
    }
}

impl Metadata {
    /// Parses one `NT_AMDGPU_METADATA` note (MessagePack) of a code object for `gpu`.
    ///
    /// # Errors
    /// If it is not MessagePack, or a value is missing or of the wrong type or range.
    pub fn parse(bytes: &[u8], gpu: Gpu) -> Result<Self, CodeObjectError> {
        let value = crate::msgpack::decode(bytes)?;
        let root = Node::root(&value);
        let map = root.map()?;
        let version = map.required("amdhsa.version")?.u32_array::<2>()?;
        if version[0] != 1 {
            return Err(map
                .required("amdhsa.version")?
                .error(format!("is {}.{}, expected 1.x", version[0], version[1])));
        }
        let mut last = Arguments::default();
        let kernels = map
            .optional("amdhsa.kernels")
            .map_or(Ok(Vec::new()), |node| {
                node.list(|node| kernel(node, gpu, &mut last).map(Arc::new))
            })?;
        Ok(Metadata {
            version: (version[0], version[1]),
            target: map.optional_with("amdhsa.target", text)?,
            printf: map
                .optional("amdhsa.printf")
                .map_or(Ok(Vec::new()), |node| node.list(|node| text(&node)))?,
            kernels,
        })
    }

    /// Merges another note. The assembler writes one note per `.amdgpu_metadata`, and the compiler adds one of its own.
    pub(crate) fn merge(&mut self, other: Metadata) {
        self.version = self.version.max(other.version);
        self.target = self.target.take().or(other.target);
        self.printf.extend(other.printf);
        self.kernels.extend(other.kernels);
    }
}

fn text(node: &Node<'_, '_>) -> Result<String, CodeObjectError> {
    node.text().map(str::to_owned)
}

/// The arguments of the previous kernel, and the values they were parsed from.
#[derive(Default)]
struct Arguments<'v> {
    value: Option<&'v ValueRef<'v>>,
    kernarg_segment_size: u32,
    args: Arc<[Argument]>,
}

/// Parses one kernel. `last` has the arguments of the previous kernel, and is updated.
fn kernel<'v>(
    node: Node<'_, 'v>,
    gpu: Gpu,
    last: &mut Arguments<'v>,
) -> Result<KernelMetadata, CodeObjectError> {
    let map = node.map()?;
    let number = |key| map.required(key)?.u32();
    let optional_number = |key| map.optional_with(key, Node::u32);
    let shape = |key| map.optional_with(key, Node::u32_array::<3>);

    let kernarg_segment_size = number(".kernarg_segment_size")?;
    let args = map.optional(".args");
    let value = args.as_ref().map(Node::value);
    if last.value != value || last.kernarg_segment_size != kernarg_segment_size {
        let args = args.map_or(Ok(Vec::new()), |node| {
            node.list(|node| argument(node, kernarg_segment_size))
        })?;
        if *last.args != *args {
            last.args = args.into();
        }
        (last.value, last.kernarg_segment_size) = (value, kernarg_segment_size);
    }
    let kernarg_segment_align = number(".kernarg_segment_align")?;
    if !kernarg_segment_align.is_power_of_two() {
        return Err(map.required(".kernarg_segment_align")?.error(format!(
            "is {kernarg_segment_align}, expected a power of two"
        )));
    }
    let wavefront_size = number(".wavefront_size")?;
    let sizes = GpuLimits::of(gpu).wave_sizes;
    if !sizes.contains(&wavefront_size) {
        let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
        let expected = sizes.join(" or ");
        return Err(map
            .required(".wavefront_size")?
            .error(format!("is {wavefront_size}, expected {expected} on {gpu}")));
    }
    Ok(KernelMetadata {
        name: text(&map.required(".name")?)?,
        symbol: text(&map.required(".symbol")?)?,
        kind: match map.optional_with(".kind", text)? {
            None => KernelKind::Normal,
            Some(kind) => match kind.as_str() {
                "normal" => KernelKind::Normal,
                "init" => KernelKind::Init,
                "fini" => KernelKind::Fini,
                _ => KernelKind::Other(kind),
            },
        },
        args: Arc::clone(&last.args),
        kernarg_segment_size,
        kernarg_segment_align,
        group_segment_fixed_size: number(".group_segment_fixed_size")?,
        private_segment_fixed_size: number(".private_segment_fixed_size")?,
        uses_dynamic_stack: map.flag(".uses_dynamic_stack")?,
        wavefront_size,
        sgpr_count: number(".sgpr_count")?,
        vgpr_count: number(".vgpr_count")?,
        agpr_count: optional_number(".agpr_count")?,
        sgpr_spill_count: optional_number(".sgpr_spill_count")?,
        vgpr_spill_count: optional_number(".vgpr_spill_count")?,
        max_flat_workgroup_size: number(".max_flat_workgroup_size")?,
        reqd_workgroup_size: shape(".reqd_workgroup_size")?,
        workgroup_size_hint: shape(".workgroup_size_hint")?,
        uniform_work_group_size: map.flag(".uniform_work_group_size")?,
        language: map.optional_with(".language", text)?,
        device_enqueue_symbol: map.optional_with(".device_enqueue_symbol", text)?,
    })
}

fn argument(node: Node<'_, '_>, kernarg_segment_size: u32) -> Result<Argument, CodeObjectError> {
    let map = node.map()?;
    let offset = map.required(".offset")?.u32()?;
    let size = map.required(".size")?.u32()?;
    // A host that trusted an argument outside the kernarg segment would write past it.
    if u64::from(offset) + u64::from(size) > u64::from(kernarg_segment_size) {
        return Err(node.error(format!(
            "takes bytes {offset} to {} of a kernarg segment of {kernarg_segment_size}",
            u64::from(offset) + u64::from(size)
        )));
    }
    let named = |key| map.optional_with(key, text);
    Ok(Argument {
        name: named(".name")?,
        type_name: named(".type_name")?,
        offset,
        size,
        value_kind: ValueKind::from_text(map.required(".value_kind")?.text()?),
        address_space: map.optional_with(".address_space", |node| {
            Ok(AddressSpace::from_text(node.text()?))
        })?,
        pointee_align: map.optional_with(".pointee_align", Node::u32)?,
        access: named(".access")?,
        actual_access: named(".actual_access")?,
        is_const: map.flag(".is_const")?,
        is_restrict: map.flag(".is_restrict")?,
        is_volatile: map.flag(".is_volatile")?,
        is_pipe: map.flag(".is_pipe")?,
    })
}
