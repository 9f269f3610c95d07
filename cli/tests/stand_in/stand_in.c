/* A libamdhip64.so for tests: the emulator's, made to behave as real ROCm does where that differs.
 *
 * Every HIP function that the version has is exported, and jumps to the emulator's function or to one of the functions
 * below. library.rs compiles this file once for each version of ROCm, with
 *
 *   FUNCTIONS  a file with `F(name)` for each function that the version exports
 *   EMULATOR   the path of the emulator's libamdhip64.so, as a C string
 *   ROCM       the version: 602 is 6.2
 *   VERSION    what hipRuntimeGetVersion answers
 *   NAME, …    offsets in hipDeviceProp_tR0600
 *
 * The environment says which machine it is (STAND_IN_MACHINE: see `devices`), and what goes wrong (STAND_IN_FAULT: see
 * `load`, `allocate`, `finish` and `copy_to_host`).
 *
 * Sources: ROCm/clr (tags rocm-5.7.0, rocm-6.0.0, rocm-6.2.0) and ROCm/ROCR-Runtime (rocm-6.1.2, rocm-6.2.4) by file
 * and function, below; and what Debian's libamdhip64.so.6.4.43484 answered on a machine without /dev/kfd. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_VALUE = 1, NO_BINARY_FOR_GPU = 209, NOT_READY = 600,
    ILLEGAL_ADDRESS = 700, LAUNCH_FAILURE = 719,
    /* hipDeviceAttribute_t */
    COMPUTE_UNITS = 63, NUMBER_OF_XCCS = 10018,
};

/* ---- each exported function jumps to where its slot points ---- */

#if defined(__x86_64__)
#define JUMP(slot) "jmp *" slot "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(slot) "adrp x16, " slot "\nldr x16, [x16, :lo12:" slot "]\nbr x16\n"
#else
#error "no jump for this processor"
#endif

#define F(name)                                                                                                        \
    __attribute__((visibility("hidden"))) void *slot_##name;                                                          \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" JUMP("slot_" #name) ".size " #name     \
            ", .-" #name "\n");
#include FUNCTIONS
#undef F

static const struct { const char *name; void **slot; } slots[] = {
#define F(name) {#name, &slot_##name},
#include FUNCTIONS
#undef F
};

static void *emulator;

/* The emulator's function, called with C's rules for unknown parameters. */
typedef int (*function)();
static function real(const char *name) { return (function)dlsym(emulator, name); }

static void replace(const char *name, void *with) {
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (!strcmp(slots[i].name, name)) *slots[i].slot = with;
}

/* ---- the machine ---- */

static const char *setting(const char *name) {
    const char *text = getenv(name);
    return text ? text : "";
}
static int machine_is(const char *name) { return !strcmp(setting("STAND_IN_MACHINE"), name); }
static int fault_is(const char *name) { return !strcmp(setting("STAND_IN_FAULT"), name); }

/* What the emulator emulates. A Radeon answers as one, and runs nothing. */
static const char *devices(void) {
    if (machine_is("radeon")) return "emulator:gfx942";
    if (machine_is("radeon, MI300X")) return "emulator:gfx942,emulator:gfx942";
    if (machine_is("CPX"))
        return "emulator:gfx942,emulator:gfx942,emulator:gfx942,emulator:gfx942,"
               "emulator:gfx942,emulator:gfx942,emulator:gfx942,emulator:gfx942";
    if (machine_is("MI250X")) return "emulator:MI250X,emulator:MI250X";
    return "emulator:gfx942";
}

static int is_radeon(int device) { return device == 0 && !strncmp(setting("STAND_IN_MACHINE"), "radeon", 6); }

/* hip_context.cpp, `hip::init` and `hipInit`: where the thunk cannot open /dev/kfd, absent or not permitted
 * (libhsakmt/src/openclose.c, hsaKmtOpenKFD), hsa_init has no resources, and HIP starts without devices. */
static int init(unsigned flags) {
    static int is_done;
    if (!is_done) {
        /* The variable also chooses the program's device, so it is set only here. */
        char *before = getenv("FERROWAVE_DEVICE");
        before = before ? strdup(before) : 0;
        setenv("FERROWAVE_DEVICE", devices(), 1);
        int result = real("hipInit")(flags);
        if (before) setenv("FERROWAVE_DEVICE", before, 1);
        else unsetenv("FERROWAVE_DEVICE");
        free(before);
        is_done = 1;
        return result;
    }
    return real("hipInit")(flags);
}

/* `HIP_INIT_API`: then every function that needs a device fails so. */
static int no_device(void) { return NO_DEVICE; }
static int needs_device(const char *name) {
    static const char *const others[] = {"hipRuntimeGetVersion", "hipDriverGetVersion", "hipGetErrorName",
                                         "hipGetErrorString",    "hipGetLastError",     "hipPeekAtLastError"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i])) return 0;
    return 1;
}

static int device_count(int *count) {
    int result = init(0);
    return result ? result : real("hipGetDeviceCount")(count);
}

/* hip_context.cpp: HIP_VERSION, which is major * 10^7 + minor * 10^5 + patch. */
static int version(int *answer) {
    if (!answer) return INVALID_VALUE;
    *answer = VERSION;
    return 0;
}

/* hip_device_runtime.cpp, `hipDeviceGetAttribute`: what a version does not know is hipErrorInvalidValue. No header of
 * HIP 6 has the number of XCCs. */
static int attribute(int *answer, int name, int device) {
    if (name == NUMBER_OF_XCCS && ROCM < 700) return INVALID_VALUE;
    int result = real("hipDeviceGetAttribute")(answer, name, device);
    if (result) return result;
    if (name == NUMBER_OF_XCCS && (machine_is("CPX") || is_radeon(device))) *answer = 1;
    if (name == COMPUTE_UNITS && machine_is("CPX")) *answer = 38;
    if (name == COMPUTE_UNITS && is_radeon(device)) *answer = 40;
    return 0;
}

static int properties(char *answer, int device) {
    int result = real("hipGetDevicePropertiesR0600")(answer, device);
    if (result) return result;
    int *compute_units = (int *)(answer + COMPUTE_UNITS_AT);
    /* The emulator's names say that it is one, in parentheses. */
    char *rest = strstr(answer + NAME, " (");
    if (rest) *rest = 0;
    if (is_radeon(device)) {
        /* A Radeon RX 6900 XT, without kernels: 40 work-group processors, which HIP counts, and waves of 32. */
        strcpy(answer + NAME, "Radeon RX 6900 XT");
        strcpy(answer + TARGET, "gfx1030");
        *(int *)(answer + WAVE_SIZE) = 32;
        *compute_units = 40;
    } else if (machine_is("CPX")) {
        *compute_units = 38;
    }
    return 0;
}

/* ---- code objects ---- */

/* loader/executable.cpp, `ExecutableImpl::LoadCodeObject`, and amd_hsa_code.cpp, `GetCodeObjectVersion`, of ROCr: 6.1.2
 * knows versions to 5, which is EI_ABIVERSION 3; 6.2.0 knows 6. clr's `FatBinaryInfo::BuildProgram` makes
 * hipErrorNoBinaryForGpu of it, as of code for another GPU. "code object V6": every code object counts as one. */
static int load(void **module, const unsigned char *image) {
    int device = 0, is_v6 = image[8] > 3 || fault_is("code object V6");
    real("hipGetDevice")(&device);
    if (is_radeon(device) || (is_v6 && ROCM < 602)) return NO_BINARY_FOR_GPU;
    return real("hipModuleLoadData")(module, image);
}

/* ---- what goes wrong ---- */

static int is_launched;

/* ROCm 7 and later do not abort: clr's flag HIP_SKIP_ABORT_ON_GPU_ERROR is on (rocm-systems, clr/rocclr/utils/flags.hpp), and
 * after an error of the GPU every call of every thread returns its code. */
static int broken;
static int fails(void) { return broken; }
static int break_with(int code) {
    broken = code;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (needs_device(slots[i].name)) *slots[i].slot = fails;
    return code;
}

/* hip_memory.cpp, `ihipMalloc`. A megabyte is left, so that small things still work. */
static int allocate(void **address, size_t bytes) {
    if (fault_is("out of memory") && bytes > 1 << 20) return OUT_OF_MEMORY;
    return real("hipMalloc")(address, bytes);
}

/* What waiting for a stream with a kernel in it does. */
static int finish(void) {
    if (!is_launched) return 0;
    if (fault_is("hang"))
        for (;;) pause();
    /* ROCr, core/runtime/runtime.cpp, `Runtime::VMFaultHandler`. */
    if (fault_is("bad access")) {
        if (ROCM >= 700) return break_with(ILLEGAL_ADDRESS);
        fprintf(stderr, "Memory access fault by GPU node-%u (Agent handle: %p) on address %p. Reason: %s.\n", 1,
                (void *)0x5581d0c0, (void *)0x7f0000000000, "Page not present or supervisor privilege");
        abort();
    }
    /* ROCr, core/runtime/runtime.cpp, `Runtime::HwExceptionHandler`, after a reset of the GPU. */
    if (fault_is("lost")) {
        if (ROCM >= 700) return break_with(LAUNCH_FAILURE);
        fprintf(stderr, "HW Exception by GPU node-%u (Agent handle: %p) reason :%s\n", 1, (void *)0x5581d0c0, "GPU Hang");
        abort();
    }
    return 0;
}

/* The functions that wait for work, or say whether it is done. */
#define WAIT(name)                                                                                                     \
    static int wait_##name(void *of) {                                                                                 \
        int result = finish();                                                                                         \
        return result ? result : real(#name)(of);                                                                      \
    }
WAIT(hipStreamSynchronize)
WAIT(hipEventSynchronize)
WAIT(hipDeviceSynchronize)

#define QUERY(name)                                                                                                    \
    static int query_##name(void *of) {                                                                                \
        if (is_launched && fault_is("hang")) return NOT_READY;                                                         \
        return wait_##name(of);                                                                                        \
    }
WAIT(hipStreamQuery)
WAIT(hipEventQuery)
QUERY(hipStreamQuery)
QUERY(hipEventQuery)

/* "wrong": the kernel gets its first element wrong. */
static int copy_to_host(unsigned char *to, void *from, size_t bytes) {
    int result = finish();
    if (!result) result = real("hipMemcpyDtoH")(to, from, bytes);
    if (!result && is_launched && fault_is("wrong") && bytes >= 4) to[3] ^= 0x40;
    return result;
}

typedef uintptr_t word;
static int launch(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k) {
    is_launched = 1;
    return real("hipModuleLaunchKernel")(a, b, c, d, e, f, g, h, i, j, k);
}
static int launch_with_events(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k,
                              word l, word m, word n) {
    is_launched = 1;
    return real("hipExtModuleLaunchKernel")(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
}

__attribute__((constructor)) static void start(void) {
    emulator = dlopen(EMULATOR, RTLD_NOW | RTLD_LOCAL);
    if (!emulator) {
        fprintf(stderr, "stand-in: %s\n", dlerror());
        abort();
    }
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) *slots[i].slot = dlsym(emulator, slots[i].name);
    replace("hipInit", init);
    replace("hipGetDeviceCount", device_count);
    replace("hipRuntimeGetVersion", version);
    replace("hipDriverGetVersion", version);
    replace("hipDeviceGetAttribute", attribute);
    replace("hipGetDevicePropertiesR0600", properties);
    replace("hipModuleLoadData", load);
    replace("hipMalloc", allocate);
    replace("hipModuleLaunchKernel", launch);
    replace("hipExtModuleLaunchKernel", launch_with_events);
    replace("hipStreamSynchronize", wait_hipStreamSynchronize);
    replace("hipEventSynchronize", wait_hipEventSynchronize);
    replace("hipDeviceSynchronize", wait_hipDeviceSynchronize);
    replace("hipStreamQuery", query_hipStreamQuery);
    replace("hipEventQuery", query_hipEventQuery);
    replace("hipMemcpyDtoH", copy_to_host);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (machine_is("no permission") && needs_device(slots[i].name)) *slots[i].slot = no_device;
}
