//! Statuses, handles and attributes of ROCm 6.4's `hsa.h` and `hsa_ext_amd.h`.

use crate::statuses::statuses;

statuses! {
    /// What a call returns: `hsa_status_t`.
    SUCCESS = 0, "HSA_STATUS_SUCCESS": "the call succeeded";
    INFO_BREAK = 1, "HSA_STATUS_INFO_BREAK": "a callback ended an iteration";
    ERROR = 0x1000, "HSA_STATUS_ERROR": "the call failed";
    INVALID_ARGUMENT = 0x1001, "HSA_STATUS_ERROR_INVALID_ARGUMENT": "a pointer is null, or an attribute is not supported";
    INVALID_AGENT = 0x1004, "HSA_STATUS_ERROR_INVALID_AGENT": "the handle is of no agent";
    NOT_INITIALIZED = 0x100b, "HSA_STATUS_ERROR_NOT_INITIALIZED": "hsa_init has not been called";
    REFCOUNT_OVERFLOW = 0x100c, "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW": "hsa_init was called too often";
    INVALID_ISA = 0x100f, "HSA_STATUS_ERROR_INVALID_ISA": "the handle is of no instruction set architecture";
    INVALID_ISA_NAME = 0x1017, "HSA_STATUS_ERROR_INVALID_ISA_NAME": "the name is of no instruction set architecture";
}

/// `hsa_agent_t`: a CPU or a GPU.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent(pub u64);

/// `hsa_isa_t`: an instruction set architecture.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(pub u64);

/// A number in the place of an enumeration's constant.
macro_rules! numbers {
    ($($(#[$meta:meta])* $module:ident { $($name:ident = $number:literal)* })*) => {$(
        $(#[$meta])*
        #[expect(missing_docs, reason = "the names are the header's")]
        pub mod $module { $(pub const $name: u32 = $number;)* }
    )*};
}

numbers! {
    /// `hsa_system_info_t`.
    system {
        VERSION_MAJOR = 0
        VERSION_MINOR = 1
        TIMESTAMP = 2
        TIMESTAMP_FREQUENCY = 3
        SIGNAL_MAX_WAIT = 4
        ENDIANNESS = 5
        MACHINE_MODEL = 6
        EXTENSIONS = 7
    }
    /// `hsa_agent_info_t` and `hsa_amd_agent_info_t`.
    agent {
        NAME = 0
        VENDOR_NAME = 1
        FEATURE = 2
        MACHINE_MODEL = 3
        PROFILE = 4
        DEFAULT_FLOAT_ROUNDING_MODE = 5
        WAVEFRONT_SIZE = 6
        WORKGROUP_MAX_DIM = 7
        WORKGROUP_MAX_SIZE = 8
        GRID_MAX_DIM = 9
        GRID_MAX_SIZE = 10
        FBARRIER_MAX_SIZE = 11
        QUEUES_MAX = 12
        NODE = 16
        DEVICE = 17
        ISA = 19
        EXTENSIONS = 20
        VERSION_MAJOR = 21
        VERSION_MINOR = 22
        FAST_F16_OPERATION = 24
        CHIP_ID = 0xa000
        COMPUTE_UNIT_COUNT = 0xa002
        MAX_CLOCK_FREQUENCY = 0xa003
        DRIVER_NODE_ID = 0xa004
        BDFID = 0xa006
        MEMORY_WIDTH = 0xa007
        MEMORY_MAX_FREQUENCY = 0xa008
        PRODUCT_NAME = 0xa009
        MAX_WAVES_PER_CU = 0xa00a
        NUM_SIMDS_PER_CU = 0xa00b
        DOMAIN = 0xa00f
        COOPERATIVE_COMPUTE_UNIT_COUNT = 0xa014
        NUM_XCC = 0xa111
        NEAREST_CPU = 0xa113
    }
    /// `hsa_isa_info_t`.
    isa {
        NAME_LENGTH = 0
        NAME = 1
        MACHINE_MODELS = 5
        PROFILES = 6
        FAST_F16_OPERATION = 9
        WORKGROUP_MAX_DIM = 12
        WORKGROUP_MAX_SIZE = 13
        GRID_MAX_DIM = 14
        GRID_MAX_SIZE = 16
        FBARRIER_MAX_SIZE = 17
    }
}
