// Floating-point atomic operations on coarse-grained and fine-grained memory. ROCm's documentation («Hardware atomics
// operation support») says what each GPU does; on MI200 and on gfx11, those on fine-grained memory do nothing and return 0.

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                     \
    do {                                                                                \
        hipError_t code = (call);                                                       \
        if (code != hipSuccess) {                                                       \
            printf("line %d: %s: %s\n", __LINE__, #call, hipGetErrorName(code));        \
            return 1;                                                                   \
        }                                                                               \
    } while (0)

struct Cell {
    float single;
    unsigned integer;
    double wide;
};

__global__ void add(Cell* cell, Cell* before) {
    before->single = __builtin_amdgcn_global_atomic_fadd_f32(
        (__attribute__((address_space(1))) float*)&cell->single, 3.0f);
    before->integer = __hip_atomic_fetch_add(&cell->integer, 3u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#if defined(__gfx90a__) || defined(__gfx942__)
    before->wide = __builtin_amdgcn_global_atomic_fadd_f64(
        (__attribute__((address_space(1))) double*)&cell->wide, 3.0);
#else
    before->wide = cell->wide;
    cell->wide += 3;
#endif
}

int main() {
    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    const char* name = properties.gcnArchName;
    bool mi200 = strncmp(name, "gfx90a", 6) == 0, gfx11 = strncmp(name, "gfx11", 5) == 0;
    struct {
        const char* what;
        bool fine;
    } kinds[] = {
        {"hipMalloc", false},         {"hipHostMalloc", true},           {"coherent", true},
        {"not coherent", false},      {"hipMallocManaged", true},        {"advised", false},
        {"fine-grained flag", true},  {"hipHostRegister", true},
    };
    Cell* before;
    CHECK(hipMalloc((void**)&before, sizeof(Cell)));
    static Cell own;
    for (int kind = 0; kind < 8; kind++) {
        Cell* cell = nullptr;
        switch (kind) {
        case 0: CHECK(hipMalloc((void**)&cell, sizeof(Cell))); break;
        case 1: CHECK(hipHostMalloc((void**)&cell, sizeof(Cell), hipHostMallocDefault)); break;
        case 2: CHECK(hipHostMalloc((void**)&cell, sizeof(Cell), hipHostMallocCoherent)); break;
        case 3: CHECK(hipHostMalloc((void**)&cell, sizeof(Cell), hipHostMallocNonCoherent)); break;
        case 4: CHECK(hipMallocManaged((void**)&cell, sizeof(Cell))); break;
        case 5:
            CHECK(hipMallocManaged((void**)&cell, sizeof(Cell)));
            CHECK(hipMemAdvise(cell, sizeof(Cell), hipMemAdviseSetCoarseGrain, 0));
            break;
        case 6: CHECK(hipExtMallocWithFlags((void**)&cell, sizeof(Cell), hipDeviceMallocFinegrained)); break;
        case 7:
            CHECK(hipHostRegister(&own, sizeof(Cell), hipHostRegisterDefault));
            CHECK(hipHostGetDevicePointer((void**)&cell, &own, 0));
            break;
        }
        Cell first = {5, 5, 5}, after, returned;
        CHECK(hipMemcpy(cell, &first, sizeof(Cell), hipMemcpyDefault));
        add<<<1, 1>>>(cell, before);
        CHECK(hipMemcpy(&after, cell, sizeof(Cell), hipMemcpyDefault));
        CHECK(hipMemcpy(&returned, before, sizeof(Cell), hipMemcpyDefault));
        bool single = kinds[kind].fine && (mi200 || gfx11), wide = kinds[kind].fine && mi200;
        bool right = after.single == (single ? 5 : 8) && returned.single == (single ? 0 : 5) && after.integer == 8 &&
                     returned.integer == 5 && after.wide == (wide ? 5 : 8) && returned.wide == (wide ? 0 : 5);
        if (!right) {
            printf("%s on %s: %g, %u, %g after %g, %u, %g\n", kinds[kind].what, name, after.single, after.integer, after.wide,
                   returned.single, returned.integer, returned.wide);
            return 1;
        }
        if (kind == 7) {
            CHECK(hipHostUnregister(&own));
        } else {
            CHECK(hipFree(cell));
        }
    }
    printf("passed\n");
    return 0;
}
