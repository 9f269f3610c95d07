// A HIP program whose workgroups wait for each other: with ROCm's cooperative groups, and with a barrier of its own. It
// prints what went wrong and returns 1, or prints "passed".
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    hipError_t code = (call);                                                                    \
    if (code != hipSuccess) {                                                                    \
      std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, hipGetErrorName(code));         \
      return 1;                                                                                  \
    }                                                                                            \
  } while (0)

#define EXPECT(condition)                                                                        \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                       \
      return 1;                                                                                  \
    }                                                                                            \
  } while (0)

// ROCm's device library, which defines these, is not available without ROCm. Neither is the header with
// `this_grid().sync()`, which calls `__ockl_grid_sync`.
extern "C" __device__ size_t __ockl_get_local_id(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workitem_id_x()
         : axis == 1 ? __builtin_amdgcn_workitem_id_y()
                     : __builtin_amdgcn_workitem_id_z();
}
extern "C" __device__ size_t __ockl_get_group_id(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_id_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_id_y()
                     : __builtin_amdgcn_workgroup_id_z();
}
extern "C" __device__ size_t __ockl_get_local_size(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_size_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_size_y()
                     : __builtin_amdgcn_workgroup_size_z();
}
extern "C" __device__ size_t __ockl_get_num_groups(unsigned axis) {
  return ((const unsigned*)__builtin_amdgcn_implicitarg_ptr())[axis];
}

__device__ bool is_first() {
  return (__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() |
          __builtin_amdgcn_workitem_id_z()) == 0;
}

// Arrivals are counted in the low half of the word, meetings in the high half.
__device__ void meet_in_memory(unsigned* word, unsigned members) {
  unsigned before = __hip_atomic_fetch_add(word, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if ((before & 0xffff) == members - 1) {
    __hip_atomic_fetch_add(word, 0x10000u - members, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    return;
  }
  while ((__hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) >> 16) == before >> 16)
    __builtin_amdgcn_s_sleep(1);
}

// The runtime's pointer for a cooperative launch; null in a plain one.
__device__ char* launch_info() {
  return ((char* const*)__builtin_amdgcn_implicitarg_ptr())[11];
}

extern "C" __device__ int __ockl_grid_is_valid(void) { return launch_info() != nullptr; }

#if defined(__gfx908__) || defined(__gfx90a__)
// These GPUs have a barrier of all waves, which the runtime has set up.
__attribute__((target("gws"))) __device__ void meet(unsigned members) {
  __builtin_amdgcn_ds_gws_barrier(members - 1, 0);
}
#else
__device__ void meet(unsigned) {
  meet_in_memory(reinterpret_cast<unsigned*>(launch_info() + 32),
                 *reinterpret_cast<unsigned*>(launch_info() + 40));
}
#endif

extern "C" __device__ void __ockl_grid_sync(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_barrier();
  if (is_first()) {
    meet(__ockl_get_num_groups(0) * __ockl_get_num_groups(1) * __ockl_get_num_groups(2));
  }
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

// In each step, each item takes the sum of its two neighbours in a ring.
template <typename Barrier>
__device__ void ring(unsigned* a, unsigned* b, int count, int steps, Barrier barrier) {
  int own = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < steps; ++step) {
    b[own] = a[(own + 1) % count] + a[(own + count - 1) % count];
    barrier();
    unsigned* other = a;
    a = b;
    b = other;
  }
}

__global__ void with_groups(unsigned* a, unsigned* b, int count, int steps, int* valid) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *valid = __ockl_grid_is_valid();
  ring(a, b, count, steps, [&] { __ockl_grid_sync(); });
}

__global__ void by_hand(unsigned* a, unsigned* b, int count, int steps, unsigned* word) {
  ring(a, b, count, steps, [&] {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __syncthreads();
    if (threadIdx.x == 0) meet_in_memory(word, gridDim.x);
    __syncthreads();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  });
}

int main() {
  constexpr int kBlocks = 24, kThreads = 128, kCount = kBlocks * kThreads;
  int supported = 0, device = 0;
  CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, device));
  EXPECT(supported == 1);
  unsigned *a, *b, *word;
  int* valid;
  CHECK(hipMalloc(&a, kCount * sizeof(unsigned)));
  CHECK(hipMalloc(&b, kCount * sizeof(unsigned)));
  CHECK(hipMalloc(&word, sizeof(unsigned)));
  CHECK(hipMalloc(&valid, sizeof(int)));
  for (int steps : {1, 2, 9}) {
    std::vector<unsigned> start(kCount), expected(kCount), found(kCount);
    for (int i = 0; i < kCount; ++i) start[i] = expected[i] = i * 2654435761u;
    for (int step = 0; step < steps; ++step) {
      std::vector<unsigned> before = expected;
      for (int i = 0; i < kCount; ++i)
        expected[i] = before[(i + 1) % kCount] + before[(i + kCount - 1) % kCount];
    }
    unsigned* result = steps % 2 ? b : a;
    for (bool groups : {true, false}) {
      CHECK(hipMemcpy(a, start.data(), kCount * sizeof(unsigned), hipMemcpyHostToDevice));
      CHECK(hipMemset(word, 0, sizeof(unsigned)));
      CHECK(hipMemset(valid, 0, sizeof(int)));
      int count = kCount, how_many = steps;
      void* last = groups ? static_cast<void*>(&valid) : static_cast<void*>(&word);
      void* arguments[] = {&a, &b, &count, &how_many, last};
      const void* kernel = groups ? reinterpret_cast<const void*>(with_groups)
                                  : reinterpret_cast<const void*>(by_hand);
      CHECK(hipLaunchCooperativeKernel(kernel, dim3(kBlocks), dim3(kThreads), arguments, 0, nullptr));
      CHECK(hipMemcpy(found.data(), result, kCount * sizeof(unsigned), hipMemcpyDeviceToHost));
      EXPECT(found == expected);
      int is_valid = 0;
      CHECK(hipMemcpy(&is_valid, valid, sizeof(int), hipMemcpyDeviceToHost));
      EXPECT(is_valid == (groups ? 1 : 0));
    }
  }
  // More workgroups than the device can hold.
  int units = 0, each = 0;
  CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device));
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&each, by_hand, kThreads, 0));
  int count = kCount, steps = 1;
  void* arguments[] = {&a, &b, &count, &steps, &word};
  EXPECT(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(by_hand), dim3(units * each + 1),
                                    dim3(kThreads), arguments, 0, nullptr) ==
         hipErrorCooperativeLaunchTooLarge);
  std::printf("passed\n");
  return 0;
}
