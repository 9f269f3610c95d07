// A typical HIP program: launches with <<<>>>, LDS, device and managed variables, streams, events, a graph. It prints
// what went wrong and returns 1, or prints "passed".
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
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

// ROCm's device library, which defines these, is not available without ROCm; the compiler knows them, too.
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

constexpr int kTile = 16;

__device__ float scale = 1.0f;
__constant__ int offsets[4];
__managed__ int launches = 5;

// C = scale * A * B, row-major, any sizes.
template <typename T>
__global__ void multiply(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ T as[kTile][kTile], bs[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  T sum = 0;
  for (int start = 0; start < k; start += kTile) {
    int ak = start + threadIdx.x, bk = start + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && ak < k ? a[row * k + ak] : T(0);
    bs[threadIdx.y][threadIdx.x] = bk < k && column < n ? b[bk * n + column] : T(0);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = T(scale) * sum;
}

// Sums a buffer through dynamic LDS and an atomic.
__global__ void sum(const int* values, int count, int* total) {
  extern __shared__ int partial[];
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = index < count ? values[index] + offsets[threadIdx.x % 4] : 0;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, partial[0]);
  if (index == 0) ++launches;
}

template <typename T>
static int product(int m, int n, int k) {
  std::vector<T> a(m * k), b(k * n), c(m * n, T(-1));
  for (int i = 0; i < m * k; ++i) a[i] = T(i * 7 % 13 - 6);
  for (int i = 0; i < k * n; ++i) b[i] = T(i * 5 % 11 - 5);
  T *da, *db, *dc;
  CHECK(hipMalloc(&da, a.size() * sizeof(T)));
  CHECK(hipMalloc(&db, b.size() * sizeof(T)));
  CHECK(hipMalloc(&dc, c.size() * sizeof(T)));
  CHECK(hipMemcpy(da, a.data(), a.size() * sizeof(T), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(db, b.data(), b.size() * sizeof(T), hipMemcpyHostToDevice));
  float factor = 2.0f;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(scale), &factor, sizeof factor));
  dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), block(kTile, kTile);
  multiply<T><<<grid, block>>>(da, db, dc, m, n, k);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(c.data(), dc, c.size() * sizeof(T), hipMemcpyDeviceToHost));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T expected = 0;
      for (int l = 0; l < k; ++l) expected += a[i * k + l] * b[l * n + j];
      EXPECT(c[i * n + j] == 2 * expected);  // Small integers: every order of summing gives the same.
    }
  CHECK(hipFree(da));
  CHECK(hipFree(db));
  CHECK(hipFree(dc));
  return 0;
}

static void count_calls(void* calls) { ++*static_cast<int*>(calls); }

static int streams() {
  constexpr int kCount = 10000, kBlock = 256;
  const int added[4] = {1, 2, 3, 4};
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(offsets), added, sizeof added));
  hipStream_t first, second;
  hipEvent_t start, copied, stop;
  CHECK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  CHECK(hipStreamCreate(&second));
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&copied));
  CHECK(hipEventCreate(&stop));
  int *values, *total, *pinned, calls = 0;
  CHECK(hipMallocAsync(reinterpret_cast<void**>(&values), kCount * sizeof(int), first));
  CHECK(hipMalloc(&total, sizeof(int)));
  CHECK(hipHostMalloc(&pinned, kCount * sizeof(int), hipHostMallocDefault));
  long long expected = 0;
  for (int i = 0; i < kCount; ++i) {
    pinned[i] = i;
    expected += i + added[i % 4];
  }
  int grid = (kCount + kBlock - 1) / kBlock, before = launches, result = 0;
  CHECK(hipEventRecord(start, first));
  CHECK(hipMemcpyAsync(values, pinned, kCount * sizeof(int), hipMemcpyHostToDevice, first));
  CHECK(hipMemsetAsync(total, 0, sizeof(int), first));
  CHECK(hipEventRecord(copied, first));
  CHECK(hipStreamWaitEvent(second, copied, 0));
  sum<<<grid, kBlock, kBlock * sizeof(int), second>>>(values, kCount, total);
  CHECK(hipGetLastError());
  CHECK(hipLaunchHostFunc(second, count_calls, &calls));
  CHECK(hipEventRecord(stop, second));
  CHECK(hipEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0);
  CHECK(hipMemcpy(&result, total, sizeof result, hipMemcpyDeviceToHost));
  EXPECT(result == expected);
  EXPECT(calls == 1);
  EXPECT(launches == before + 1);

  // The same work, captured in a graph and launched three times.
  hipGraph_t graph;
  hipGraphExec_t executable;
  CHECK(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
  CHECK(hipMemsetAsync(total, 0, sizeof(int), first));
  sum<<<grid, kBlock, kBlock * sizeof(int), first>>>(values, kCount, total);
  CHECK(hipLaunchHostFunc(first, count_calls, &calls));
  CHECK(hipMemcpyAsync(pinned, total, sizeof(int), hipMemcpyDeviceToHost, first));
  CHECK(hipStreamEndCapture(first, &graph));
  EXPECT(calls == 1);
  CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; ++i) CHECK(hipGraphLaunch(executable, first));
  CHECK(hipStreamSynchronize(first));
  EXPECT(calls == 4);
  EXPECT(pinned[0] == expected);
  EXPECT(launches == before + 4);
  CHECK(hipGraphExecDestroy(executable));
  CHECK(hipGraphDestroy(graph));

  CHECK(hipFreeAsync(values, first));
  CHECK(hipStreamSynchronize(first));
  CHECK(hipFree(total));
  CHECK(hipHostFree(pinned));
  for (hipEvent_t event : {start, copied, stop}) CHECK(hipEventDestroy(event));
  for (hipStream_t stream : {first, second}) CHECK(hipStreamDestroy(stream));
  return 0;
}

// A kernel that writes outside of its buffer ends with an error, and the next kernel runs.
__global__ void overrun(int* values) { values[1 << 20] = 1; }

static int faults() {
  int* values;
  CHECK(hipMalloc(&values, sizeof(int)));
  overrun<<<1, 1>>>(values);
  EXPECT(hipDeviceSynchronize() == hipErrorIllegalAddress);
  EXPECT(hipGetLastError() == hipErrorIllegalAddress);
  CHECK(hipDeviceSynchronize());
  CHECK(hipFree(values));
  return product<float>(16, 16, 16);
}

int main() {
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  EXPECT(std::strstr(properties.name, "emulated by Ferrowave"));
  EXPECT(properties.warpSize == (std::strstr(properties.gcnArchName, "gfx11") ? 32 : 64));
  EXPECT(launches == 5);
  int workgroups = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&workgroups, multiply<float>, kTile * kTile, 0));
  EXPECT(workgroups > 0);
  hipFuncAttributes attributes;
  CHECK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(multiply<float>)));
  EXPECT(attributes.sharedSizeBytes == 2 * kTile * kTile * sizeof(float));
  if (product<float>(33, 65, 47) || product<double>(20, 17, 40) || product<int>(64, 64, 64)) return 1;
  if (streams() || faults()) return 1;
  std::puts("passed");
  return 0;
}
