/* The interfaces of rocBLAS and hipBLASLt, for tests: the same functions, computed on the host in double, since the
 * emulator's device memory is host memory. Written from their headers only, so that the order of arguments and the
 * values of enumerations are checked against a second reading. If the headers are available, -DROCM_HEADERS makes the
 * compiler check rocBLAS's against them.
 *
 * -DWITHOUT_GEMM leaves out the products; a product with m = 13 fails, one with m = 17 finds no kernel. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- elements, by rocBLAS's names of types ---- */

enum { F16 = 150, F32 = 151, F64 = 152, I8 = 160, I32 = 162, BF16 = 168, FP8 = -1, FP8_FNUZ = -2, BF8 = -3, BF8_FNUZ = -4 };

static size_t size_of(int type) {
    switch (type) {
    case I8: case FP8: case FP8_FNUZ: case BF8: case BF8_FNUZ: return 1;
    case F16: case BF16: return 2;
    case F64: return 8;
    default: return 4;
    }
}

/* E4M3, and E5M2 FNUZ, which have no infinity. */
static double eight_bits(uint8_t code, int fraction_bits, int bias) {
    int one = 1 << fraction_bits, exponent = (code & 127) >> fraction_bits, fraction = code & (one - 1);
    double value = exponent ? one + fraction : fraction;
    for (int i = exponent ? exponent : 1; i < bias + fraction_bits; i++) value /= 2;
    for (int i = bias + fraction_bits; i < (exponent ? exponent : 1); i++) value *= 2;
    return code & 128 ? -value : value;
}

/* binary16 by hand, since not every C compiler has it. */
static double from_half(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent ? 1024 + fraction : fraction;
    if (exponent == 31) value = fraction ? 0.0 / 0.0 : 1.0 / 0.0;
    else
        for (int i = exponent ? exponent : 1; i != 25; i += i < 25 ? 1 : -1) value = i < 25 ? value / 2 : value * 2;
    return half & 0x8000 ? -value : value;
}

/* Rounded to the nearest, ties to even; no NaN. */
static uint16_t to_half(double value) {
    uint16_t sign = value < 0 ? 0x8000 : 0;
    double rest = value < 0 ? -value : value;
    int exponent = 0;
    if (rest >= 65536) return sign | 0x7c00;
    for (; rest >= 2; exponent++) rest /= 2;
    for (; rest < 1 && exponent > -14; exponent--) rest *= 2;
    uint32_t bits = (uint32_t)(rest * 1024);
    double left = rest * 1024 - bits;
    bits += left > 0.5 || (left == 0.5 && (bits & 1));
    return sign | (uint16_t)(bits + ((uint32_t)(exponent + 14) << 10));
}

static double get(const void *data, int type, size_t index) {
    const char *at = (const char *)data + index * size_of(type);
    switch (type) {
    case F16: { uint16_t v; memcpy(&v, at, 2); return from_half(v); }
    case F32: { float v; memcpy(&v, at, 4); return v; }
    case F64: { double v; memcpy(&v, at, 8); return v; }
    case I8: return *(const int8_t *)at;
    case I32: { int32_t v; memcpy(&v, at, 4); return v; }
    case BF16: {
        uint16_t half; float v;
        memcpy(&half, at, 2);
        uint32_t bits = (uint32_t)half << 16;
        memcpy(&v, &bits, 4);
        return v;
    }
    case FP8: return eight_bits(*(const uint8_t *)at, 3, 7);
    case FP8_FNUZ: return eight_bits(*(const uint8_t *)at, 3, 8);
    case BF8_FNUZ: return eight_bits(*(const uint8_t *)at, 2, 16);
    /* E5M2: the upper half of a binary16. */
    case BF8: return from_half((uint16_t)(*(const uint8_t *)at << 8));
    }
    abort();
}

static void put(void *data, int type, size_t index, double value) {
    char *at = (char *)data + index * size_of(type);
    switch (type) {
    case F16: { uint16_t v = to_half(value); memcpy(at, &v, 2); return; }
    case F32: { float v = (float)value; memcpy(at, &v, 4); return; }
    case F64: memcpy(at, &value, 8); return;
    case I32: { int32_t v = (int32_t)(uint32_t)(int64_t)value; memcpy(at, &v, 4); return; }
    case BF16: {
        float v = (float)value; uint32_t bits;
        memcpy(&bits, &v, 4);
        bits += 0x7fff + (bits >> 16 & 1);
        uint16_t half = (uint16_t)(bits >> 16);
        memcpy(at, &half, 2);
        return;
    }
    }
    abort();
}

/* D = alpha op(A) op(B) + beta C, column-major as in BLAS. */
static void product(int transpose_a, int transpose_b, int m, int n, int k, const void *alpha, const void *a, int a_type,
                    int64_t lda, int64_t stride_a, const void *b, int b_type, int64_t ldb, int64_t stride_b,
                    const void *beta, const void *c, int c_type, int64_t ldc, int64_t stride_c, void *d, int d_type,
                    int64_t ldd, int64_t stride_d, int batch, int scalar_type) {
    double alpha_value = get(alpha, scalar_type, 0), beta_value = get(beta, scalar_type, 0);
    for (int64_t g = 0; g < batch; g++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                double sum = 0;
                for (int64_t p = 0; p < k; p++)
                    sum += get(a, a_type, g * stride_a + (transpose_a ? p + i * lda : i + p * lda)) *
                           get(b, b_type, g * stride_b + (transpose_b ? j + p * ldb : p + j * ldb));
                double old = beta_value == 0 ? 0 : beta_value * get(c, c_type, g * stride_c + i + j * ldc);
                put(d, d_type, g * stride_d + i + j * ldd, alpha_value * sum + old);
            }
}

/* ---- rocBLAS ---- */

#ifdef ROCM_HEADERS
#include "rocblas.h"
#else
typedef struct _rocblas_handle *rocblas_handle;
typedef struct ihipStream_t *hipStream_t;
typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
typedef enum { rocblas_operation_none = 111, rocblas_operation_transpose = 112 } rocblas_operation;
typedef enum { rocblas_datatype_invalid = 255 } rocblas_datatype;
typedef enum { rocblas_gemm_algo_standard = 0 } rocblas_gemm_algo;
typedef enum {
    rocblas_status_success = 0,
    rocblas_status_invalid_handle = 1,
    rocblas_status_invalid_size = 4,
    rocblas_status_internal_error = 6,
    rocblas_status_invalid_value = 11,
} rocblas_status;
#endif

struct _rocblas_handle { uint64_t magic; hipStream_t stream; };
enum { MAGIC = 0x726f63 };

rocblas_status rocblas_create_handle(rocblas_handle *handle) {
    *handle = calloc(1, sizeof **handle);
    (*handle)->magic = MAGIC;
    return rocblas_status_success;
}

rocblas_status rocblas_destroy_handle(rocblas_handle handle) {
    if (handle->magic != MAGIC) abort();
    free(handle);
    return rocblas_status_success;
}

rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream) {
    handle->stream = stream;
    return rocblas_status_success;
}

rocblas_status rocblas_get_version_string_size(size_t *length) {
    *length = sizeof "4.2.1.test";
    return rocblas_status_success;
}

rocblas_status rocblas_get_version_string(char *text, size_t length) {
    if (length < sizeof "4.2.1.test") return rocblas_status_invalid_size;
    memcpy(text, "4.2.1.test", sizeof "4.2.1.test");
    return rocblas_status_success;
}

#ifndef WITHOUT_GEMM
#undef rocblas_gemm_strided_batched_ex
#undef rocblas_gemm_ex
rocblas_status rocblas_gemm_strided_batched_ex(
    rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m, rocblas_int n, rocblas_int k,
    const void *alpha, const void *a, rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b,
    rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta, const void *c,
    rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d, rocblas_datatype d_type, rocblas_int ldd,
    rocblas_stride stride_d, rocblas_int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo,
    int32_t solution_index, uint32_t flags) {
    if (handle->magic != MAGIC || !handle->stream) return rocblas_status_invalid_handle;
    if (m == 13) return rocblas_status_internal_error;
    if (algo != rocblas_gemm_algo_standard || solution_index || flags) return rocblas_status_invalid_value;
    if ((transA != rocblas_operation_none && transA != rocblas_operation_transpose) ||
        (transB != rocblas_operation_none && transB != rocblas_operation_transpose))
        return rocblas_status_invalid_value;
    int is_transposed_a = transA == rocblas_operation_transpose, is_transposed_b = transB == rocblas_operation_transpose;
    if (lda < (is_transposed_a ? k : m) || ldb < (is_transposed_b ? n : k) || ldc < m || ldd < m)
        return rocblas_status_invalid_size;
    product(is_transposed_a, is_transposed_b, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b, beta, c,
            c_type, ldc, stride_c, d, d_type, ldd, stride_d, batch_count, compute_type);
    return rocblas_status_success;
}

rocblas_status rocblas_gemm_ex(rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, rocblas_int m,
                               rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type,
                               rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta,
                               const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type,
                               rocblas_int ldd, rocblas_datatype compute_type, rocblas_gemm_algo algo,
                               int32_t solution_index, uint32_t flags) {
    return rocblas_gemm_strided_batched_ex(handle, transA, transB, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta,
                                           c, c_type, ldc, 0, d, d_type, ldd, 0, 1, compute_type, algo, solution_index,
                                           flags);
}
#endif

/* ---- hipBLASLt ---- */

/* hipblasStatus_t, hipblasOperation_t, hipDataType, hipblasComputeType_t and the attributes are plain int in C. */
enum { SUCCESS = 0, INVALID_VALUE = 3, EXECUTION_FAILED = 5, NOT_SUPPORTED = 7 };
enum { OP_N = 111, OP_T = 112 };
enum { LT_MAGIC = 0x4c74 };

typedef struct { int32_t transpose[2]; int compute, scale; } Product;
typedef struct { int type; uint64_t rows, columns; int64_t leading; int32_t count; int64_t stride; } Layout;
typedef struct { uint64_t workspace; } Preference;
typedef struct { uint8_t data[16]; size_t max_workspace_bytes; } Algorithm;
typedef struct { Algorithm algo; size_t workspaceSize; int state; float wavesCount; int reserved[4]; } Heuristic;

int hipblasLtCreate(void **handle) {
    *handle = malloc(8);
    *(uint64_t *)*handle = LT_MAGIC;
    return SUCCESS;
}

int hipblasLtDestroy(void *handle) {
    free(handle);
    return SUCCESS;
}

#ifndef VERSION
#define VERSION 100203
#endif

int hipblasLtGetVersion(void *handle, int *version) {
    if (*(uint64_t *)handle != LT_MAGIC) return INVALID_VALUE;
    *version = VERSION;
    return SUCCESS;
}

int hipblasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
    *layout = calloc(1, sizeof **layout);
    **layout = (Layout){type, rows, columns, leading, 1, 0};
    return SUCCESS;
}

int hipblasLtMatrixLayoutSetAttribute(Layout *layout, int attribute, const void *value, size_t bytes) {
    if (attribute == 0 && bytes == 4) return memcpy(&layout->count, value, 4), SUCCESS;
    if (attribute == 1 && bytes == 8) return memcpy(&layout->stride, value, 8), SUCCESS;
    return INVALID_VALUE;
}

int hipblasLtMatmulDescCreate(Product **product, int compute, int scale) {
    *product = calloc(1, sizeof **product);
    **product = (Product){{OP_N, OP_N}, compute, scale};
    return SUCCESS;
}

int hipblasLtMatmulDescSetAttribute(Product *product, int attribute, const void *value, size_t bytes) {
    if (attribute < 0 || attribute > 1 || bytes != 4) return INVALID_VALUE;
    return memcpy(&product->transpose[attribute], value, 4), SUCCESS;
}

int hipblasLtMatmulPreferenceCreate(Preference **preference) {
    *preference = calloc(1, sizeof **preference);
    return SUCCESS;
}

int hipblasLtMatmulPreferenceSetAttribute(Preference *preference, int attribute, const void *value, size_t bytes) {
    if (attribute != 1 || bytes != 8) return INVALID_VALUE;
    return memcpy(&preference->workspace, value, 8), SUCCESS;
}

int hipblasLtMatrixLayoutDestroy(Layout *layout) { return free(layout), SUCCESS; }
int hipblasLtMatmulDescDestroy(Product *product) { return free(product), SUCCESS; }
int hipblasLtMatmulPreferenceDestroy(Preference *preference) { return free(preference), SUCCESS; }

static int element(int hip_data_type) {
    switch (hip_data_type) {
    case 0: return F32;
    case 1: return F64;
    case 2: return F16;
    case 3: return I8;
    case 10: return I32;
    case 14: return BF16;
    case 28: return FP8;
    case 29: return BF8;
    case 1000: return FP8_FNUZ;
    case 1001: return BF8_FNUZ;
    }
    return 0;
}

/* Whether the factors of a product may have these types: the same one, or 8-bit floats in one encoding. */
static int is_pair(int a, int b) {
    switch (a) {
    case FP8: case BF8: return b == FP8 || b == BF8;
    case FP8_FNUZ: case BF8_FNUZ: return b == FP8_FNUZ || b == BF8_FNUZ;
    }
    return a && a == b;
}

/* The types that sums and scalars of a computation have. */
static int is_consistent(const Product *product) {
    switch (product->compute) {
    case 2: case 6: return product->scale == 0;
    case 7: return product->scale == 1;
    case 9: return product->scale == 10;
    }
    return 0;
}

int hipblasLtMatmulAlgoGetHeuristic(void *handle, Product *product, Layout *a, Layout *b, Layout *c, Layout *d,
                                    Preference *preference, int requested, Heuristic *results, int *count) {
    if (*(uint64_t *)handle != LT_MAGIC || requested < 1 || !preference->workspace) return INVALID_VALUE;
    if (!is_consistent(product) || !is_pair(element(a->type), element(b->type)) || c->type != d->type) return NOT_SUPPORTED;
    *count = c->rows != 17;
    if (*count) {
        memset(results, 0, sizeof *results);
        results->algo.data[7] = 42;
        results->algo.max_workspace_bytes = preference->workspace;
        results->workspaceSize = 4096;
    }
    return SUCCESS;
}

#ifndef WITHOUT_GEMM
int hipblasLtMatmul(void *handle, Product *description, const void *alpha, const void *a, Layout *a_layout, const void *b,
                    Layout *b_layout, const void *beta, const void *c, Layout *c_layout, void *d, Layout *d_layout,
                    const Algorithm *algo, void *workspace, size_t workspace_bytes, void *stream) {
    if (*(uint64_t *)handle != LT_MAGIC || !stream || algo->data[7] != 42 || workspace_bytes < 4096) return INVALID_VALUE;
    memset(workspace, 0xff, 4096);
    int m = (int)c_layout->rows, n = (int)c_layout->columns;
    if (m == 13) return EXECUTION_FAILED;
    int transpose_a = description->transpose[0] == OP_T, transpose_b = description->transpose[1] == OP_T;
    int k = (int)(transpose_a ? a_layout->rows : a_layout->columns);
    if ((transpose_a ? a_layout->columns : a_layout->rows) != (uint64_t)m ||
        (transpose_b ? b_layout->columns : b_layout->rows) != (uint64_t)k ||
        (transpose_b ? b_layout->rows : b_layout->columns) != (uint64_t)n)
        return INVALID_VALUE;
    if (a_layout->leading < (int64_t)a_layout->rows || b_layout->leading < (int64_t)b_layout->rows ||
        c_layout->leading < m)
        return INVALID_VALUE;
    product(transpose_a, transpose_b, m, n, k, alpha, a, element(a_layout->type), a_layout->leading, a_layout->stride, b,
            element(b_layout->type), b_layout->leading, b_layout->stride, beta, c, element(c_layout->type),
            c_layout->leading, c_layout->stride, d, element(d_layout->type), d_layout->leading, d_layout->stride,
            c_layout->count, element(description->scale));
    return SUCCESS;
}
#endif
