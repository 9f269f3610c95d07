// Grids on all devices that meet (`this_multi_grid` of ROCm's cooperative groups), each with another number of workgroups.

#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                                     \
    do {                                                                                \
        hipError_t code = (call);                                                       \
        if (code != hipSuccess) {                                                       \
            printf("line %d: %s: %s\n", __LINE__, #call, hipGetErrorName(code));        \
            return 1;                                                                   \
        }                                                                               \
    } while (0)

namespace cg = cooperative_groups;

__device__ unsigned add(unsigned* word) {
    return __hip_atomic_fetch_add(word, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

// In each round, every work-item counts itself, and after the meeting sees all others. `ranks` has a word for each.
__global__ void meet(unsigned* arrived, unsigned* ranks, unsigned* wrong, unsigned grid, unsigned grids, int rounds) {
    cg::multi_grid_group all = cg::this_multi_grid();
    if (!all.is_valid() || all.grid_rank() != grid || all.num_grids() != grids) {
        add(wrong);
    }
    add(&ranks[all.thread_rank()]);
    for (int round = 1; round <= rounds; round++) {
        add(arrived);
        all.sync();
        unsigned seen = __hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        if (seen != round * all.size()) {
            add(wrong);
        }
        all.sync();
        cg::this_grid().sync();
    }
}

__global__ void faults(unsigned grid) {
    if (grid == 1) {
        *(volatile unsigned*)64 = 1;
    }
    cg::this_multi_grid().sync();
}

int main(int argc, char**) {
    int devices;
    CHECK(hipGetDeviceCount(&devices));
    std::vector<hipStream_t> streams(devices);
    std::vector<unsigned> grid(devices);
    unsigned all = 0;
    const int threads = 96;
    int rounds = 5;
    for (int i = 0; i < devices; i++) {
        CHECK(hipSetDevice(i));
        CHECK(hipStreamCreate(&streams[i]));
        grid[i] = i;
        all += (3 + 2 * i) * threads;
    }
    unsigned *words, *arrived, *wrong, *ranks;
    CHECK(hipHostMalloc((void**)&words, (2 + all) * sizeof(unsigned), hipHostMallocPortable | hipHostMallocMapped));
    arrived = words;
    wrong = words + 1;
    ranks = words + 2;
    unsigned count = devices;
    std::vector<void*> arguments;
    for (int i = 0; i < devices; i++) {
        for (void* argument : {(void*)&arrived, (void*)&ranks, (void*)&wrong, (void*)&grid[i], (void*)&count, (void*)&rounds}) {
            arguments.push_back(argument);
        }
    }
    std::vector<hipLaunchParams> launches(devices);
    for (int i = 0; i < devices; i++) {
        launches[i] = {(void*)meet, dim3(3 + 2 * i), dim3(threads), &arguments[6 * i], 0, streams[i]};
    }
    for (int launch = 0; launch < 3; launch++) {
        for (unsigned i = 0; i < 2 + all; i++) {
            words[i] = 0;
        }
        CHECK(hipLaunchCooperativeKernelMultiDevice(launches.data(), devices, 0));
        for (unsigned i = 0; i < all; i++) {
            if (ranks[i] != 1) {
                printf("%u work-items have the rank %u\n", ranks[i], i);
                return 1;
            }
        }
        if (*wrong != 0 || *arrived != rounds * all) {
            printf("%u wrong, %u arrived of %u\n", *wrong, *arrived, rounds * all);
            return 1;
        }
    }
    if (argc > 1) {
        // If one grid faults, the others, which wait for it, end too.
        for (int i = 0; i < devices; i++) {
            arguments[6 * i] = &grid[i];
            launches[i].func = (void*)faults;
        }
        hipError_t error = hipLaunchCooperativeKernelMultiDevice(launches.data(), devices, 0);
        if (error == hipSuccess) {
            printf("no error after a fault\n");
            return 1;
        }
    }
    printf("passed\n");
    return 0;
}
