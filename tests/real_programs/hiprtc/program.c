/* Tests what hiprtc's documentation specifies. Each step prints «passed NAME» or «failed NAME: why».

   The declarations of HIP below are all that is needed; HIP's headers are not. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program *hiprtcProgram;
typedef struct link *hiprtcLinkState;
int hiprtcCreateProgram(hiprtcProgram *, const char *, const char *, int, const char **, const char **);
int hiprtcCompileProgram(hiprtcProgram, int, const char **);
int hiprtcDestroyProgram(hiprtcProgram *);
int hiprtcAddNameExpression(hiprtcProgram, const char *);
int hiprtcGetLoweredName(hiprtcProgram, const char *, const char **);
int hiprtcGetProgramLogSize(hiprtcProgram, size_t *);
int hiprtcGetProgramLog(hiprtcProgram, char *);
int hiprtcGetCodeSize(hiprtcProgram, size_t *);
int hiprtcGetCode(hiprtcProgram, char *);
int hiprtcGetBitcodeSize(hiprtcProgram, size_t *);
int hiprtcGetBitcode(hiprtcProgram, char *);
int hiprtcLinkCreate(unsigned, int *, void **, hiprtcLinkState *);
int hiprtcLinkAddData(hiprtcLinkState, int, void *, size_t, const char *, unsigned, int *, void **);
int hiprtcLinkAddFile(hiprtcLinkState, int, const char *, unsigned, int *, void **);
int hiprtcLinkComplete(hiprtcLinkState, void **, size_t *);
int hiprtcLinkDestroy(hiprtcLinkState);
int hipModuleLoadData(void **, const void *);
int hipModuleUnload(void *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleGetGlobal(void **, size_t *, void *, const char *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int hipMalloc(void **, size_t);
int hipMemcpy(void *, const void *, size_t, int);
int hipDeviceSynchronize(void);

enum { COMPILATION = 6, AFTER = 8, BEFORE = 9, NOT_VALID = 10, LINKING = 100, BITCODE = 100, N = 256 };

static const char *step;
static int failed;

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            printf("failed %s: %s\n", step, #condition);                      \
            failed = 1;                                                       \
            return;                                                           \
        }                                                                     \
    } while (0)

static char *log_of(hiprtcProgram program)
{
    static char log[1 << 20];
    size_t size = 0;
    log[0] = 0;
    if (hiprtcGetProgramLogSize(program, &size) == 0 && size > 0 && size < sizeof log) hiprtcGetProgramLog(program, log);
    return log;
}

static int compile(hiprtcProgram program, int count, const char **options)
{
    int code = hiprtcCompileProgram(program, count, options);
    if (code != 0 && code != COMPILATION) printf("code %d\n", code);
    return code;
}

/* Runs a kernel of one block of N threads on an array of floats 0, 1, 2, … */
static int run(const void *code, const char *name, float *values)
{
    void *module, *function, *memory;
    for (int i = 0; i < N; i++) values[i] = (float)i;
    if (hipModuleLoadData(&module, code) || hipModuleGetFunction(&function, module, name)) return 0;
    if (hipMalloc(&memory, N * sizeof(float)) || hipMemcpy(memory, values, N * sizeof(float), 1)) return 0;
    void *arguments[] = {&memory};
    if (hipModuleLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, NULL, arguments, NULL)) return 0;
    if (hipDeviceSynchronize() || hipMemcpy(values, memory, N * sizeof(float), 2)) return 0;
    return hipModuleUnload(module) == 0;
}

static void *code_of(hiprtcProgram program)
{
    size_t size = 0;
    if (hiprtcGetCodeSize(program, &size) || size == 0) return NULL;
    char *code = malloc(size);
    return hiprtcGetCode(program, code) ? NULL : code;
}

/* Headers by name, options, templates by name expression, variables, functions of the built-in header. */
static void names_and_headers(void)
{
    const char *source = "#include \"scale.h\"\n"
                         "__device__ int answer = 42;\n"
                         "namespace n { template <typename T, int K> __global__ void scale(T* p) {\n"
                         "    __shared__ T turned[256];\n"
                         "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    turned[255 - i] = sqrtf(p[i] * p[i]);\n"
                         "    __syncthreads();\n"
                         "    p[i] = SCALE(turned[i]) + K + OFFSET;\n"
                         "} }\n";
    const char *headers[] = {"#define SCALE(x) ((x) * 3)\n"}, *header_names[] = {"scale.h"};
    const char *options[] = {"-DOFFSET=7", "--std=c++17"};
    const char *lowered = NULL, *variable = NULL;
    hiprtcProgram program;
    CHECK(hiprtcCreateProgram(&program, source, "scale.hip", 1, headers, header_names) == 0);
    CHECK(hiprtcAddNameExpression(program, "n::scale<float, 5>") == 0);
    CHECK(hiprtcAddNameExpression(program, "&answer") == 0);
    CHECK(hiprtcGetLoweredName(program, "&answer", &variable) == BEFORE);
    if (compile(program, 2, options)) printf("%s", log_of(program));
    CHECK(hiprtcAddNameExpression(program, "n::scale<float, 6>") == AFTER);
    CHECK(hiprtcGetLoweredName(program, "n::scale<float, 5>", &lowered) == 0);
    CHECK(hiprtcGetLoweredName(program, "&answer", &variable) == 0);
    CHECK(strcmp(lowered, "_ZN1n5scaleIfLi5EEEvPT_") == 0);
    CHECK(strcmp(variable, "answer") == 0);
    const char *other;
    CHECK(hiprtcGetLoweredName(program, "n::scale<float, 6>", &other) == NOT_VALID);
    void *code = code_of(program);
    float values[N];
    CHECK(code && run(code, lowered, values));
    for (int i = 0; i < N; i++) CHECK(values[i] == (255 - i) * 3 + 5 + 7);
    void *module, *address;
    size_t bytes;
    int number = 0;
    CHECK(hipModuleLoadData(&module, code) == 0 && hipModuleGetGlobal(&address, &bytes, module, variable) == 0);
    CHECK(bytes == 4 && hipMemcpy(&number, address, 4, 2) == 0 && number == 42);
    CHECK(hipModuleUnload(module) == 0 && hiprtcDestroyProgram(&program) == 0);
    printf("passed %s\n", step);
}

/* The log has errors with file and line, and the program has no code. */
static void errors(void)
{
    hiprtcProgram program;
    size_t size;
    CHECK(hiprtcCreateProgram(&program, "__global__ void k() {\n  int x = y;\n}\n", "wrong.hip", 0, NULL, NULL) == 0);
    CHECK(compile(program, 0, NULL) == COMPILATION);
    CHECK(strstr(log_of(program), "wrong.hip:2:11: error: use of undeclared identifier 'y'"));
    CHECK(hiprtcGetCodeSize(program, &size) != 0);
    const char *options[] = {"--offload-arch=gfx9999"};
    CHECK(compile(program, 1, options) == COMPILATION);
    CHECK(strstr(log_of(program), "gfx9999"));
    const char *unknown[] = {"--no-such-option"};
    CHECK(compile(program, 1, unknown) == COMPILATION);
    CHECK(strstr(log_of(program), "--no-such-option"));
    CHECK(hiprtcDestroyProgram(&program) == 0);
    printf("passed %s\n", step);
}

/* The target may be named, also with CUDA's option. A successful log has warnings. */
static void targets_and_warnings(void)
{
    hiprtcProgram program;
    const char *options[] = {"--gpu-architecture=gfx908", "-Wunused-variable"};
    CHECK(hiprtcCreateProgram(&program, "extern \"C\" __global__ void k() { int spare; }", NULL, 0, NULL, NULL) == 0);
    CHECK(compile(program, 2, options) == 0);
    CHECK(strstr(log_of(program), "warning: unused variable 'spare'"));
    unsigned char *code = code_of(program);
    /* The ELF header's flags: EF_AMDGPU_MACH_AMDGCN_GFX908. */
    CHECK(code && code[48] == 0x30);
    CHECK(hiprtcDestroyProgram(&program) == 0);
    printf("passed %s\n", step);
}

static void *bitcode_of(const char *source, size_t *size)
{
    hiprtcProgram program;
    const char *options[] = {"-fgpu-rdc"};
    size_t code_size = 1;
    if (hiprtcCreateProgram(&program, source, NULL, 0, NULL, NULL) || compile(program, 1, options)) return NULL;
    if (hiprtcGetBitcodeSize(program, size) || hiprtcGetCodeSize(program, &code_size) || code_size != 0) return NULL;
    char *bitcode = malloc(*size);
    if (hiprtcGetBitcode(program, bitcode) || hiprtcDestroyProgram(&program)) return NULL;
    return bitcode;
}

/* Links two programs compiled to bitcode, one added as a file, to one code object. */
static void links(void)
{
    size_t of_kernel, of_function, size = 0;
    void *kernel = bitcode_of("__device__ float f(float);\n"
                              "extern \"C\" __global__ void k(float* p) { p[threadIdx.x] = f(p[threadIdx.x]); }\n",
                              &of_kernel);
    void *function = bitcode_of("__device__ float f(float x) { return x * x + 1; }\n", &of_function);
    CHECK(kernel && function);
    FILE *file = fopen("/tmp/function.bc", "wb");
    CHECK(file && fwrite(function, 1, of_function, file) == of_function && fclose(file) == 0);
    hiprtcLinkState link;
    void *code = NULL;
    CHECK(hiprtcLinkCreate(0, NULL, NULL, &link) == 0);
    CHECK(hiprtcLinkAddData(link, BITCODE, kernel, of_kernel, "kernel", 0, NULL, NULL) == 0);
    CHECK(hiprtcLinkAddFile(link, BITCODE, "/tmp/function.bc", 0, NULL, NULL) == 0);
    CHECK(hiprtcLinkComplete(link, &code, &size) == 0 && size > 0);
    float values[N];
    CHECK(run(code, "k", values));
    for (int i = 0; i < N; i++) CHECK(values[i] == (float)i * i + 1);
    CHECK(hiprtcLinkDestroy(link) == 0);
    /* A missing symbol is an error, and the caller's buffer names it. */
    char said[4096] = "";
    int options[] = {5, 6};
    void *option_values[] = {said, (void *)sizeof said};
    CHECK(hiprtcLinkCreate(2, options, option_values, &link) == 0);
    CHECK(hiprtcLinkAddData(link, BITCODE, kernel, of_kernel, "kernel", 0, NULL, NULL) == 0);
    CHECK(hiprtcLinkComplete(link, &code, &size) == LINKING);
    CHECK(strstr(said, "f(float)"));
    CHECK(hiprtcLinkDestroy(link) == 0);
    printf("passed %s\n", step);
}

int main(void)
{
    step = "names_and_headers", names_and_headers();
    step = "errors", errors();
    step = "targets_and_warnings", targets_and_warnings();
    step = "links", links();
    return failed;
}
