// What kernels ask of the host: printf from many lanes and waves, assert, and memory by malloc, new and free. With BUFFERED
// defined, printf is compiled to write to a buffer (-mprintf-kind=buffered), and returns 0.

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#define CHECK(call)                                                                     \
    do {                                                                                \
        hipError_t code = (call);                                                       \
        if (code != hipSuccess) {                                                       \
            printf("%s: %s\n", #call, hipGetErrorName(code));                           \
            return 1;                                                                   \
        }                                                                               \
    } while (0)

__global__ void prints(const char* name, int* lengths) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 3 == 0) {
        lengths[i] = printf("%s %d: %5.2f, %s, %lld%%\n", name, i, i / 4.0, i % 2 ? "odd" : "even", 1LL << 40);
    }
}

#ifdef BUFFERED
// More than the buffer of 4 MiB holds: each message has 4 bytes, the format's hash and an argument.
__global__ void floods(unsigned* lost) {
    int returned = 0;
    for (int i = 0; i < 100; i++) {
        returned |= printf("%.0d", 0);
    }
    atomicAdd(lost, returned == -1);
}
#endif

__global__ void asserts(int most) {
    assert(int(threadIdx.x) < most);
}

struct Node {
    int value;
    Node* next;
};

// Each work-item makes a list, adds it up and frees it; sizes are both smaller and larger than what a slab gives.
__global__ void allocates(int* sums, void** kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Node* first = nullptr;
    for (int k = 0; k <= i % 5; k++) {
        first = new Node{i + k, first};
    }
    size_t words = 1 + (i % 4) * 700;
    int* array = static_cast<int*>(malloc(words * sizeof(int)));
    array[0] = array[words - 1] = 1;
    int sum = array[0] - array[words - 1];
    while (first) {
        Node* next = first->next;
        sum += first->value;
        delete first;
        first = next;
    }
    sums[i] = sum;
    // What the next launch reads and frees.
    array[0] = i;
    kept[i] = array;
}

__global__ void frees(int* sums, void** kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] += static_cast<int*>(kept[i])[0];
    free(kept[i]);
}

int main(int argc, char**) {
    if (argc > 1) {
        // A failed assertion ends the launch, and the message names it.
        asserts<<<1, 64>>>(60);
        hipError_t error = hipDeviceSynchronize();
        fprintf(stderr, "%s\n", hipGetErrorName(error));
        return error != hipSuccess ? 0 : 1;
    }
    const int blocks = 5, threads = 160, all = blocks * threads;
    int* results;
    CHECK(hipMallocManaged(reinterpret_cast<void**>(&results), all * sizeof(int)));
    char* name;
    CHECK(hipMallocManaged(reinterpret_cast<void**>(&name), 64));
    snprintf(name, 64, "a name of more than eight bytes");

    int ends[2];
    if (pipe(ends) != 0) {
        return 1;
    }
    fflush(stdout);
    int before = dup(1);
    dup2(ends[1], 1);
    prints<<<blocks, threads>>>(name, results);
    hipError_t error = hipDeviceSynchronize();
    fflush(stdout);
    dup2(before, 1);
    close(ends[1]);
    CHECK(error);
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
        text.append(buffer, got);
    }
    std::vector<std::string> lines, expected;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    for (int i = 0; i < all; i += 3) {
        snprintf(buffer, sizeof buffer, "%s %d: %5.2f, %s, %lld%%", name, i, i / 4.0, i % 2 ? "odd" : "even", 1LL << 40);
        expected.push_back(buffer);
#ifdef BUFFERED
        int returned = 0;
#else
        int returned = int(expected.back().size()) + 1;
#endif
        if (results[i] != returned) {
            printf("printf %d returned %d for: %s\n", i, results[i], buffer);
            return 1;
        }
    }
    std::sort(lines.begin(), lines.end());
    std::sort(expected.begin(), expected.end());
    if (lines != expected) {
        printf("%zu lines, %zu expected; the first: %s\n", lines.size(), expected.size(), lines.empty() ? "" : lines[0].c_str());
        return 1;
    }

#ifdef BUFFERED
    *results = 0;
    floods<<<64, 1024>>>(reinterpret_cast<unsigned*>(results));
    CHECK(hipDeviceSynchronize());
    if (*results == 0) {
        printf("a full buffer took all messages\n");
        return 1;
    }
#endif

    void** kept;
    CHECK(hipMallocManaged(reinterpret_cast<void**>(&kept), all * sizeof(void*)));
    for (int round = 0; round < 3; round++) {
        allocates<<<blocks, threads>>>(results, kept);
        frees<<<blocks, threads>>>(results, kept);
        CHECK(hipDeviceSynchronize());
        for (int i = 0; i < all; i++) {
            int sum = i;
            for (int k = 0; k <= i % 5; k++) {
                sum += i + k;
            }
            if (results[i] != sum) {
                printf("sum %d is %d, not %d\n", i, results[i], sum);
                return 1;
            }
        }
    }
    printf("passed\n");
    return 0;
}
