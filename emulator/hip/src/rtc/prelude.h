// Ferrowave's own header for programs compiled at run time, used where ROCm's libhiprtc-builtins.so is not installed.
//
// It has what kernels use without an include: keywords, thread and block indices, vectors, barriers and fences, atomics,
// lane exchange, bit operations, mathematics, and 16-bit floats as plain numbers. It has no textures, cooperative groups,
// printf, bfloat16, 8-bit floats or C++ standard library. Names and semantics follow HIP's documentation of the kernel
// language and device functions. The __ockl_ and __ocml_ functions are in ROCm's device libraries, which the compiler
// links.

#pragma once
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"

// Skips HIP's main header, whose contents are here.
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__

// __launch_bounds__(threads per block) and __launch_bounds__(threads, waves per SIMD).
#define FERROWAVE_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define FERROWAVE_BOUNDS_2(threads, waves) FERROWAVE_BOUNDS_1(threads) __attribute__((amdgpu_waves_per_eu(waves)))
#define FERROWAVE_THIRD(first, second, third, ...) third
#define __launch_bounds__(...) FERROWAVE_THIRD(__VA_ARGS__, FERROWAVE_BOUNDS_2, FERROWAVE_BOUNDS_1)(__VA_ARGS__)

#define FERROWAVE_ON_DEVICE static inline __attribute__((device, always_inline))
#define FERROWAVE_ANYWHERE static inline __attribute__((host, device, always_inline))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long long longlong;
typedef unsigned long long ulonglong;

// ---- Vectors -------------------------------------------------------------------------------------------------------

#define FERROWAVE_OPERATOR_2(V, S, op)                                                                                \
    FERROWAVE_ANYWHERE V operator op(V a, V b) { return {(S)(a.x op b.x), (S)(a.y op b.y)}; }
#define FERROWAVE_OPERATOR_3(V, S, op)                                                                                \
    FERROWAVE_ANYWHERE V operator op(V a, V b) { return {(S)(a.x op b.x), (S)(a.y op b.y), (S)(a.z op b.z)}; }
#define FERROWAVE_OPERATOR_4(V, S, op)                                                                                \
    FERROWAVE_ANYWHERE V operator op(V a, V b)                                                                        \
    {                                                                                                                 \
        return {(S)(a.x op b.x), (S)(a.y op b.y), (S)(a.z op b.z), (S)(a.w op b.w)};                                  \
    }
#define FERROWAVE_OPERATORS(n, V, S)                                                                                  \
    FERROWAVE_OPERATOR_##n(V, S, +) FERROWAVE_OPERATOR_##n(V, S, -) FERROWAVE_OPERATOR_##n(V, S, *)                   \
    FERROWAVE_OPERATOR_##n(V, S, /)                                                                                   \
    FERROWAVE_ANYWHERE V& operator+=(V& a, V b) { return a = a + b; }                                                 \
    FERROWAVE_ANYWHERE V& operator-=(V& a, V b) { return a = a - b; }                                                 \
    FERROWAVE_ANYWHERE V& operator*=(V& a, V b) { return a = a * b; }                                                 \
    FERROWAVE_ANYWHERE V& operator/=(V& a, V b) { return a = a / b; }

#define FERROWAVE_VECTORS(name, S)                                                                                    \
    struct name##1 { S x; };                                                                                          \
    struct __align__(2 * sizeof(S)) name##2 { S x, y; };                                                              \
    struct name##3 { S x, y, z; };                                                                                    \
    struct __align__(4 * sizeof(S)) name##4 { S x, y, z, w; };                                                        \
    FERROWAVE_ANYWHERE name##1 make_##name##1(S x) { return {x}; }                                                    \
    FERROWAVE_ANYWHERE name##2 make_##name##2(S x, S y) { return {x, y}; }                                            \
    FERROWAVE_ANYWHERE name##3 make_##name##3(S x, S y, S z) { return {x, y, z}; }                                    \
    FERROWAVE_ANYWHERE name##4 make_##name##4(S x, S y, S z, S w) { return {x, y, z, w}; }                            \
    FERROWAVE_OPERATORS(2, name##2, S)                                                                                \
    FERROWAVE_OPERATORS(3, name##3, S)                                                                                \
    FERROWAVE_OPERATORS(4, name##4, S)

FERROWAVE_VECTORS(char, signed char)
FERROWAVE_VECTORS(uchar, unsigned char)
FERROWAVE_VECTORS(short, short)
FERROWAVE_VECTORS(ushort, unsigned short)
FERROWAVE_VECTORS(int, int)
FERROWAVE_VECTORS(uint, unsigned int)
FERROWAVE_VECTORS(long, long)
FERROWAVE_VECTORS(ulong, unsigned long)
FERROWAVE_VECTORS(longlong, long long)
FERROWAVE_VECTORS(ulonglong, unsigned long long)
FERROWAVE_VECTORS(float, float)
FERROWAVE_VECTORS(double, double)

struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

// ---- Threads and blocks --------------------------------------------------------------------------------------------

extern "C" {
__device__ __attribute__((const)) size_t __ockl_get_local_size(unsigned int);
__device__ __attribute__((const)) size_t __ockl_get_num_groups(unsigned int);
__device__ int __ockl_wgred_add_i32(int);
__device__ int __ockl_wgred_and_i32(int);
__device__ int __ockl_wgred_or_i32(int);
}

#define FERROWAVE_NUMBERS(type, name, of_x, of_y, of_z)                                                               \
    struct type {                                                                                                     \
        __device__ static unsigned int get_x() { return of_x; }                                                       \
        __device__ static unsigned int get_y() { return of_y; }                                                       \
        __device__ static unsigned int get_z() { return of_z; }                                                       \
        __declspec(property(get = get_x)) unsigned int x;                                                             \
        __declspec(property(get = get_y)) unsigned int y;                                                             \
        __declspec(property(get = get_z)) unsigned int z;                                                             \
        __device__ operator dim3() const { return dim3(of_x, of_y, of_z); }                                           \
    };                                                                                                                \
    extern const __device__ __attribute__((weak)) type name;

FERROWAVE_NUMBERS(ferrowave_thread_numbers, threadIdx, __builtin_amdgcn_workitem_id_x(),
                  __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
FERROWAVE_NUMBERS(ferrowave_block_numbers, blockIdx, __builtin_amdgcn_workgroup_id_x(),
                  __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
FERROWAVE_NUMBERS(ferrowave_block_sizes, blockDim, __ockl_get_local_size(0), __ockl_get_local_size(1),
                  __ockl_get_local_size(2))
FERROWAVE_NUMBERS(ferrowave_grid_sizes, gridDim, __ockl_get_num_groups(0), __ockl_get_num_groups(1),
                  __ockl_get_num_groups(2))

#ifdef __AMDGCN_WAVEFRONT_SIZE__
static constexpr int warpSize = __AMDGCN_WAVEFRONT_SIZE__;
#else
static constexpr int warpSize = 64;
#endif

// ---- Barriers and fences -------------------------------------------------------------------------------------------

FERROWAVE_ON_DEVICE void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
FERROWAVE_ON_DEVICE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
FERROWAVE_ON_DEVICE void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
FERROWAVE_ON_DEVICE void __syncwarp()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__device__ static inline __attribute__((convergent)) void __syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
FERROWAVE_ON_DEVICE int __syncthreads_count(int value) { return __ockl_wgred_add_i32(!!value); }
FERROWAVE_ON_DEVICE int __syncthreads_and(int value) { return __ockl_wgred_and_i32(!!value); }
FERROWAVE_ON_DEVICE int __syncthreads_or(int value) { return __ockl_wgred_or_i32(!!value); }
FERROWAVE_ON_DEVICE long long clock64() { return __builtin_readcyclecounter(); }
FERROWAVE_ON_DEVICE long long wall_clock64() { return __builtin_amdgcn_s_memrealtime(); }
FERROWAVE_ON_DEVICE void __trap() { __builtin_trap(); }
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())

// ---- Atomics -------------------------------------------------------------------------------------------------------

// Only the pointer argument determines T.
template <typename T> struct ferrowave_same { typedef T type; };
template <typename T> using ferrowave_value = typename ferrowave_same<T>::type;

#define FERROWAVE_ATOMICS(end, scope)                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicAdd##end(T* at, ferrowave_value<T> value)                       \
    {                                                                                                                 \
        return __hip_atomic_fetch_add(at, value, __ATOMIC_RELAXED, scope);                                            \
    }                                                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicSub##end(T* at, ferrowave_value<T> value)                       \
    {                                                                                                                 \
        return __hip_atomic_fetch_add(at, -value, __ATOMIC_RELAXED, scope);                                           \
    }                                                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicMin##end(T* at, ferrowave_value<T> value)                       \
    {                                                                                                                 \
        return __hip_atomic_fetch_min(at, value, __ATOMIC_RELAXED, scope);                                            \
    }                                                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicMax##end(T* at, ferrowave_value<T> value)                       \
    {                                                                                                                 \
        return __hip_atomic_fetch_max(at, value, __ATOMIC_RELAXED, scope);                                            \
    }                                                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicAnd##end(T* at, ferrowave_value<T> value)                       \
    {                                                                                                                 \
        return __hip_atomic_fetch_and(at, value, __ATOMIC_RELAXED, scope);                                            \
    }                                                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicOr##end(T* at, ferrowave_value<T> value)                        \
    {                                                                                                                 \
        return __hip_atomic_fetch_or(at, value, __ATOMIC_RELAXED, scope);                                             \
    }                                                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicXor##end(T* at, ferrowave_value<T> value)                       \
    {                                                                                                                 \
        return __hip_atomic_fetch_xor(at, value, __ATOMIC_RELAXED, scope);                                            \
    }                                                                                                                 \
    template <typename T> FERROWAVE_ON_DEVICE T atomicExch##end(T* at, ferrowave_value<T> value)                      \
    {                                                                                                                 \
        return __hip_atomic_exchange(at, value, __ATOMIC_RELAXED, scope);                                             \
    }                                                                                                                 \
    template <typename T>                                                                                             \
    FERROWAVE_ON_DEVICE T atomicCAS##end(T* at, ferrowave_value<T> compare, ferrowave_value<T> value)                 \
    {                                                                                                                 \
        __hip_atomic_compare_exchange_strong(at, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);         \
        return compare;                                                                                               \
    }

FERROWAVE_ATOMICS(, __HIP_MEMORY_SCOPE_AGENT)
FERROWAVE_ATOMICS(_block, __HIP_MEMORY_SCOPE_WORKGROUP)
FERROWAVE_ATOMICS(_system, __HIP_MEMORY_SCOPE_SYSTEM)

FERROWAVE_ON_DEVICE unsigned int atomicInc(unsigned int* at, unsigned int limit)
{
    unsigned int old = __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    for (;;) {
        unsigned int seen = atomicCAS(at, old, old >= limit ? 0 : old + 1);
        if (seen == old) return old;
        old = seen;
    }
}
FERROWAVE_ON_DEVICE unsigned int atomicDec(unsigned int* at, unsigned int limit)
{
    unsigned int old = __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    for (;;) {
        unsigned int seen = atomicCAS(at, old, old == 0 || old > limit ? limit : old - 1);
        if (seen == old) return old;
        old = seen;
    }
}

// ---- Lanes ---------------------------------------------------------------------------------------------------------

FERROWAVE_ON_DEVICE unsigned int __lane_id()
{
    unsigned int low = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    return warpSize == 32 ? low : __builtin_amdgcn_mbcnt_hi(~0u, low);
}
FERROWAVE_ON_DEVICE unsigned long long __ballot(int value) { return __builtin_amdgcn_ballot_w64(value != 0); }
FERROWAVE_ON_DEVICE unsigned long long __activemask() { return __ballot(1); }
FERROWAVE_ON_DEVICE int __any(int value) { return __ballot(value) != 0; }
FERROWAVE_ON_DEVICE int __all(int value) { return __ballot(!value) == 0; }

// Another lane's value, of any type.
template <typename T> FERROWAVE_ON_DEVICE T ferrowave_of_lane(T value, int lane)
{
    int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (int& word : words) word = __builtin_amdgcn_ds_bpermute(4 * lane, word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}
// Lanes exchange in groups of `width`, a power of two. A lane whose partner is outside its group keeps its own value.
template <typename T> FERROWAVE_ON_DEVICE T __shfl(T value, int lane, int width = warpSize)
{
    int self = __lane_id();
    return ferrowave_of_lane(value, (self & ~(width - 1)) + (lane & (width - 1)));
}
template <typename T> FERROWAVE_ON_DEVICE T __shfl_up(T value, unsigned int distance, int width = warpSize)
{
    int self = __lane_id(), lane = self - (int)distance;
    return ferrowave_of_lane(value, lane < (self & ~(width - 1)) ? self : lane);
}
template <typename T> FERROWAVE_ON_DEVICE T __shfl_down(T value, unsigned int distance, int width = warpSize)
{
    int self = __lane_id();
    return ferrowave_of_lane(value, (self & (width - 1)) + (int)distance >= width ? self : self + (int)distance);
}
template <typename T> FERROWAVE_ON_DEVICE T __shfl_xor(T value, int mask, int width = warpSize)
{
    int self = __lane_id(), lane = self ^ mask;
    return ferrowave_of_lane(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}

// ---- Bits ----------------------------------------------------------------------------------------------------------

FERROWAVE_ON_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
FERROWAVE_ON_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
FERROWAVE_ON_DEVICE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
FERROWAVE_ON_DEVICE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
FERROWAVE_ON_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
FERROWAVE_ON_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
FERROWAVE_ON_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
FERROWAVE_ON_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
FERROWAVE_ON_DEVICE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
FERROWAVE_ON_DEVICE int __mulhi(int a, int b) { return ((long long)a * b) >> 32; }
FERROWAVE_ON_DEVICE unsigned int __umulhi(unsigned int a, unsigned int b) { return ((unsigned long long)a * b) >> 32; }

#define FERROWAVE_SAME_BITS(name, to, from)                                                                           \
    FERROWAVE_ON_DEVICE to name(from x) { return __builtin_bit_cast(to, x); }
FERROWAVE_SAME_BITS(__float_as_int, int, float)
FERROWAVE_SAME_BITS(__float_as_uint, unsigned int, float)
FERROWAVE_SAME_BITS(__int_as_float, float, int)
FERROWAVE_SAME_BITS(__uint_as_float, float, unsigned int)
FERROWAVE_SAME_BITS(__double_as_longlong, long long, double)
FERROWAVE_SAME_BITS(__longlong_as_double, double, long long)

// ---- Mathematics ---------------------------------------------------------------------------------------------------

#define FERROWAVE_OCML(attribute, name, of_float, of_double, ...)                                                     \
    extern "C" __device__ __attribute__((attribute)) float __ocml_##name##_f32 of_float;                              \
    extern "C" __device__ __attribute__((attribute)) double __ocml_##name##_f64 of_double;                            \
    FERROWAVE_ON_DEVICE float name##f of_float { return __ocml_##name##_f32(__VA_ARGS__); }                           \
    FERROWAVE_ON_DEVICE float name of_float { return __ocml_##name##_f32(__VA_ARGS__); }                              \
    FERROWAVE_ON_DEVICE double name of_double { return __ocml_##name##_f64(__VA_ARGS__); }
#define FERROWAVE_OF_1(name) FERROWAVE_OCML(const, name, (float x), (double x), x)
#define FERROWAVE_OF_2(name) FERROWAVE_OCML(const, name, (float x, float y), (double x, double y), x, y)
#define FERROWAVE_OF_3(name)                                                                                          \
    FERROWAVE_OCML(const, name, (float x, float y, float z), (double x, double y, double z), x, y, z)

FERROWAVE_OF_1(acos) FERROWAVE_OF_1(acosh) FERROWAVE_OF_1(asin) FERROWAVE_OF_1(asinh) FERROWAVE_OF_1(atan)
FERROWAVE_OF_1(atanh) FERROWAVE_OF_1(cbrt) FERROWAVE_OF_1(ceil) FERROWAVE_OF_1(cos) FERROWAVE_OF_1(cosh)
FERROWAVE_OF_1(cospi) FERROWAVE_OF_1(erf) FERROWAVE_OF_1(erfc) FERROWAVE_OF_1(erfinv) FERROWAVE_OF_1(exp)
FERROWAVE_OF_1(exp10) FERROWAVE_OF_1(exp2) FERROWAVE_OF_1(expm1) FERROWAVE_OF_1(fabs) FERROWAVE_OF_1(floor)
FERROWAVE_OF_1(lgamma) FERROWAVE_OF_1(log) FERROWAVE_OF_1(log10) FERROWAVE_OF_1(log1p) FERROWAVE_OF_1(log2)
FERROWAVE_OF_1(logb) FERROWAVE_OF_1(nearbyint) FERROWAVE_OF_1(rint) FERROWAVE_OF_1(round) FERROWAVE_OF_1(rsqrt)
FERROWAVE_OF_1(sin) FERROWAVE_OF_1(sinh) FERROWAVE_OF_1(sinpi) FERROWAVE_OF_1(sqrt) FERROWAVE_OF_1(tan)
FERROWAVE_OF_1(tanh) FERROWAVE_OF_1(tgamma) FERROWAVE_OF_1(trunc)
FERROWAVE_OF_2(atan2) FERROWAVE_OF_2(copysign) FERROWAVE_OF_2(fdim) FERROWAVE_OF_2(fmax) FERROWAVE_OF_2(fmin)
FERROWAVE_OF_2(fmod) FERROWAVE_OF_2(hypot) FERROWAVE_OF_2(nextafter) FERROWAVE_OF_2(pow) FERROWAVE_OF_2(remainder)
FERROWAVE_OF_3(fma)

FERROWAVE_ON_DEVICE float ldexpf(float x, int e) { return __builtin_amdgcn_ldexpf(x, e); }
FERROWAVE_ON_DEVICE double ldexp(double x, int e) { return __builtin_amdgcn_ldexp(x, e); }
FERROWAVE_ON_DEVICE float __sinf(float x) { return sinf(x); }
FERROWAVE_ON_DEVICE float __cosf(float x) { return cosf(x); }
FERROWAVE_ON_DEVICE float __expf(float x) { return expf(x); }
FERROWAVE_ON_DEVICE float __logf(float x) { return logf(x); }
FERROWAVE_ON_DEVICE float __powf(float x, float y) { return powf(x, y); }
FERROWAVE_ON_DEVICE float __fdividef(float x, float y) { return x / y; }
FERROWAVE_ON_DEVICE bool isnan(float x) { return __builtin_isnan(x); }
FERROWAVE_ON_DEVICE bool isnan(double x) { return __builtin_isnan(x); }
FERROWAVE_ON_DEVICE bool isinf(float x) { return __builtin_isinf(x); }
FERROWAVE_ON_DEVICE bool isinf(double x) { return __builtin_isinf(x); }
FERROWAVE_ON_DEVICE bool isfinite(float x) { return __builtin_isfinite(x); }
FERROWAVE_ON_DEVICE bool isfinite(double x) { return __builtin_isfinite(x); }
FERROWAVE_ON_DEVICE int abs(int x) { return x < 0 ? -x : x; }
FERROWAVE_ON_DEVICE long abs(long x) { return x < 0 ? -x : x; }
FERROWAVE_ON_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
FERROWAVE_ON_DEVICE float abs(float x) { return fabsf(x); }
FERROWAVE_ON_DEVICE double abs(double x) { return fabs(x); }

#define FERROWAVE_MIN_MAX(T)                                                                                          \
    FERROWAVE_ANYWHERE T min(T a, T b) { return a < b ? a : b; }                                                      \
    FERROWAVE_ANYWHERE T max(T a, T b) { return a < b ? b : a; }
FERROWAVE_MIN_MAX(int)
FERROWAVE_MIN_MAX(unsigned int)
FERROWAVE_MIN_MAX(long)
FERROWAVE_MIN_MAX(unsigned long)
FERROWAVE_MIN_MAX(long long)
FERROWAVE_MIN_MAX(unsigned long long)
FERROWAVE_ON_DEVICE float min(float a, float b) { return fminf(a, b); }
FERROWAVE_ON_DEVICE float max(float a, float b) { return fmaxf(a, b); }
FERROWAVE_ON_DEVICE double min(double a, double b) { return fmin(a, b); }
FERROWAVE_ON_DEVICE double max(double a, double b) { return fmax(a, b); }

// ---- 16-bit floats -------------------------------------------------------------------------------------------------

typedef _Float16 __half;
typedef _Float16 half;
struct __align__(4) __half2 { __half x, y; };
typedef __half2 half2;
FERROWAVE_OPERATORS(2, __half2, __half)
FERROWAVE_ANYWHERE float __half2float(__half x) { return x; }
FERROWAVE_ANYWHERE __half __float2half(float x) { return x; }
FERROWAVE_ANYWHERE __half2 __halves2half2(__half x, __half y) { return {x, y}; }
FERROWAVE_ON_DEVICE __half __hfma(__half a, __half b, __half c) { return __builtin_fmaf16(a, b, c); }

#pragma clang diagnostic pop
