// Textures and surfaces by HIP's own device functions, against a computation on the host in double.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
    do {                                                                       \
        hipError_t code = (call);                                              \
        if (code != hipSuccess) {                                              \
            std::printf("%s: %s\n", #call, hipGetErrorName(code));             \
            std::exit(1);                                                      \
        }                                                                      \
    } while (0)

constexpr int WIDTH = 61, HEIGHT = 23, DEPTH = 5, COUNT = WIDTH * HEIGHT;

template <typename T>
__global__ void sample_2d(hipTextureObject_t texture, const float2* points, T* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        out[i] = tex2D<T>(texture, points[i].x, points[i].y);
    }
}

__global__ void sample_3d(hipTextureObject_t texture, const float4* points, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        out[i] = tex3D<float>(texture, points[i].x, points[i].y, points[i].z);
    }
}

__global__ void sample_layers(hipTextureObject_t texture, const float4* points, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        out[i] = tex2DLayered<float>(texture, points[i].x, points[i].y, int(points[i].z));
    }
}

__global__ void fetch(hipTextureObject_t texture, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        out[i] = tex1Dfetch<float>(texture, COUNT - 1 - i);
    }
}

__global__ void mirror(hipSurfaceObject_t from, hipSurfaceObject_t to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < WIDTH) {
        float2 texel;
        surf2Dread(&texel, from, x * int(sizeof(float2)), y);
        surf2Dwrite(make_float2(texel.y, texel.x), to, (WIDTH - 1 - x) * int(sizeof(float2)), y);
    }
}

float random_float(float low, float high) {
    return low + (high - low) * float(std::rand()) / float(RAND_MAX);
}

// The texels along an axis, with weights (OpenCL C, «Image Addressing and Filtering»; 8 fractional bits).
struct Axis {
    int texels[2];
    double weights[2];
};

Axis along(float coordinate, int size, hipTextureDesc desc) {
    double at = desc.normalizedCoords ? double(coordinate) * size : coordinate;
    bool linear = desc.filterMode == hipFilterModeLinear;
    double shifted = linear ? std::nearbyint(at * 256) / 256 - 0.5 : at;
    double first = std::floor(shifted), part = linear ? shifted - first : 0;
    Axis axis{{int(first), int(first) + 1}, {1 - part, part}};
    for (int& texel : axis.texels) {
        int wrapped = (texel % size + size) % size;
        int tile = (texel - wrapped) / size;
        switch (desc.addressMode[0]) {
        case hipAddressModeWrap: texel = wrapped; break;
        case hipAddressModeMirror: texel = tile % 2 == 0 ? wrapped : size - 1 - wrapped; break;
        case hipAddressModeClamp: texel = std::min(std::max(texel, 0), size - 1); break;
        default: texel = tile == 0 ? texel : -1;
        }
    }
    return axis;
}

double expected(const std::vector<float>& texels, const Axis& x, const Axis& y, const Axis& z) {
    double sum = 0;
    for (int i = 0; i < 8; i++) {
        int a = i & 1, b = i >> 1 & 1, c = i >> 2;
        int column = x.texels[a], row = y.texels[b], plane = z.texels[c];
        if (column >= 0 && row >= 0 && plane >= 0) {
            double texel = texels[size_t(plane * HEIGHT + row) * WIDTH + column];
            sum += x.weights[a] * y.weights[b] * z.weights[c] * texel;
        }
    }
    return sum;
}

void compare(double value, double right, const char* what, int i) {
    if (!(std::abs(value - right) < 1e-5)) {
        std::printf("%s, point %d: %g instead of %g\n", what, i, value, right);
        std::exit(1);
    }
}

hipArray_t array_of(const std::vector<float>& texels, hipExtent extent, unsigned flags) {
    hipChannelFormatDesc channels = hipCreateChannelDesc<float>();
    hipArray_t array;
    CHECK(hipMalloc3DArray(&array, &channels, extent, flags));
    hipMemcpy3DParms copy{};
    copy.srcPtr = make_hipPitchedPtr((void*)texels.data(), extent.width * sizeof(float), extent.width, HEIGHT);
    copy.dstArray = array;
    copy.extent = make_hipExtent(extent.width, extent.height, std::max<size_t>(extent.depth, 1));
    copy.kind = hipMemcpyHostToDevice;
    CHECK(hipMemcpy3D(&copy));
    return array;
}

hipTextureObject_t texture_of(hipResourceDesc resource, hipTextureDesc desc) {
    hipTextureObject_t texture;
    CHECK(hipCreateTextureObject(&texture, &resource, &desc, nullptr));
    return texture;
}

int main() {
    constexpr int BLOCKS = (COUNT + 63) / 64;
    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    // hipCreateTextureObject refuses linear filters of arrays with a depth there.
    bool filters_depth = std::string(properties.gcnArchName).rfind("gfx90a", 0) != 0;
    std::vector<float> texels(COUNT * DEPTH);
    for (float& texel : texels) {
        texel = random_float(-1, 1);
    }
    float4 *points, *out;
    CHECK(hipMallocManaged(&points, COUNT * sizeof(float4)));
    CHECK(hipMallocManaged(&out, COUNT * sizeof(float4)));
    auto flat = reinterpret_cast<float2*>(points);
    auto numbers = reinterpret_cast<float*>(out);
    hipResourceDesc plane{}, volume{}, layers{};
    plane.resType = volume.resType = layers.resType = hipResourceTypeArray;
    plane.res.array.array = array_of(texels, make_hipExtent(WIDTH, HEIGHT, 0), 0);
    volume.res.array.array = array_of(texels, make_hipExtent(WIDTH, HEIGHT, DEPTH), 0);
    layers.res.array.array = array_of(texels, make_hipExtent(WIDTH, HEIGHT, DEPTH), hipArrayLayered);
    Axis only{{0, -1}, {1, 0}};

    for (int mode = 0; mode < 4; mode++) {
        for (int form = 0; form < 4; form++) {
            hipTextureDesc desc{};
            desc.normalizedCoords = form & 1;
            desc.filterMode = form & 2 ? hipFilterModeLinear : hipFilterModePoint;
            std::fill_n(desc.addressMode, 3, hipTextureAddressMode(mode));
            if (!desc.normalizedCoords && (mode == hipAddressModeWrap || mode == hipAddressModeMirror)) {
                continue;
            }
            auto random_point = [&](int size) {
                // Away from the edges of texels, and from where their weights change.
                float at = std::floor(random_float(-2.0f * size, 3.0f * size) * 64) / 64 + 1.0f / 1024;
                return desc.normalizedCoords ? at / size : at;
            };
            hipTextureObject_t texture = texture_of(plane, desc);
            for (int i = 0; i < COUNT; i++) {
                flat[i] = make_float2(random_point(WIDTH), random_point(HEIGHT));
            }
            sample_2d<float><<<BLOCKS, 64>>>(texture, flat, numbers);
            CHECK(hipDeviceSynchronize());
            for (int i = 0; i < COUNT; i++) {
                Axis x = along(flat[i].x, WIDTH, desc), y = along(flat[i].y, HEIGHT, desc);
                compare(numbers[i], expected(texels, x, y, only), "tex2D", i);
            }
            CHECK(hipDestroyTextureObject(texture));
            if (!filters_depth && desc.filterMode == hipFilterModeLinear) {
                continue;
            }
            texture = texture_of(volume, desc);
            for (int i = 0; i < COUNT; i++) {
                points[i] = make_float4(random_point(WIDTH), random_point(HEIGHT), random_point(DEPTH), 0);
            }
            sample_3d<<<BLOCKS, 64>>>(texture, points, numbers);
            CHECK(hipDeviceSynchronize());
            for (int i = 0; i < COUNT; i++) {
                Axis x = along(points[i].x, WIDTH, desc), y = along(points[i].y, HEIGHT, desc);
                compare(numbers[i], expected(texels, x, y, along(points[i].z, DEPTH, desc)), "tex3D", i);
            }
            CHECK(hipDestroyTextureObject(texture));
            texture = texture_of(layers, desc);
            for (int i = 0; i < COUNT; i++) {
                points[i].z = float(i % DEPTH);
            }
            sample_layers<<<BLOCKS, 64>>>(texture, points, numbers);
            CHECK(hipDeviceSynchronize());
            for (int i = 0; i < COUNT; i++) {
                Axis x = along(points[i].x, WIDTH, desc), y = along(points[i].y, HEIGHT, desc);
                compare(numbers[i], expected(texels, x, y, Axis{{i % DEPTH, -1}, {1, 0}}), "tex2DLayered", i);
            }
            CHECK(hipDestroyTextureObject(texture));
        }
    }

    hipResourceDesc linear{};
    linear.resType = hipResourceTypeLinear;
    linear.res.linear.desc = hipCreateChannelDesc<float>();
    linear.res.linear.sizeInBytes = COUNT * sizeof(float);
    CHECK(hipMalloc(&linear.res.linear.devPtr, COUNT * sizeof(float)));
    CHECK(hipMemcpy(linear.res.linear.devPtr, texels.data(), COUNT * sizeof(float), hipMemcpyHostToDevice));
    fetch<<<BLOCKS, 64>>>(texture_of(linear, hipTextureDesc{}), numbers);
    CHECK(hipDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        compare(numbers[i], texels[COUNT - 1 - i], "tex1Dfetch", i);
    }

    // Bytes as numbers from 0 to 1.
    std::vector<uchar4> bytes(COUNT);
    for (int i = 0; i < COUNT; i++) {
        bytes[i] = make_uchar4(i, i * 3, i * 5, i * 7);
        flat[i] = make_float2(float(i % WIDTH) + 0.5f, float(i / WIDTH) + 0.5f);
    }
    hipChannelFormatDesc channels = hipCreateChannelDesc<uchar4>();
    CHECK(hipMallocArray(&plane.res.array.array, &channels, WIDTH, HEIGHT, 0));
    CHECK(hipMemcpy2DToArray(plane.res.array.array, 0, 0, bytes.data(), WIDTH * 4, WIDTH * 4, HEIGHT, hipMemcpyHostToDevice));
    hipTextureDesc normalized{};
    normalized.readMode = hipReadModeNormalizedFloat;
    sample_2d<float4><<<BLOCKS, 64>>>(texture_of(plane, normalized), flat, out);
    CHECK(hipDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        compare(out[i].x, bytes[i].x / 255.0, "x of bytes", i);
        compare(out[i].w, bytes[i].w / 255.0, "w of bytes", i);
    }

    channels = hipCreateChannelDesc<float2>();
    hipArray_t from, to;
    CHECK(hipMallocArray(&from, &channels, WIDTH, HEIGHT, hipArraySurfaceLoadStore));
    CHECK(hipMallocArray(&to, &channels, WIDTH, HEIGHT, hipArraySurfaceLoadStore));
    CHECK(hipMemcpy2DToArray(from, 0, 0, texels.data(), WIDTH * 8, WIDTH * 8, HEIGHT, hipMemcpyHostToDevice));
    hipSurfaceObject_t surfaces[2];
    hipResourceDesc surface{};
    surface.resType = hipResourceTypeArray;
    surface.res.array.array = from;
    CHECK(hipCreateSurfaceObject(&surfaces[0], &surface));
    surface.res.array.array = to;
    CHECK(hipCreateSurfaceObject(&surfaces[1], &surface));
    mirror<<<dim3((WIDTH + 63) / 64, HEIGHT), 64>>>(surfaces[0], surfaces[1]);
    std::vector<float> mirrored(2 * COUNT);
    CHECK(hipMemcpy2DFromArray(mirrored.data(), WIDTH * 8, to, 0, 0, WIDTH * 8, HEIGHT, hipMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) {
        int other = i / WIDTH * WIDTH + WIDTH - 1 - i % WIDTH;
        compare(mirrored[2 * other], texels[2 * i + 1], "surface", i);
        compare(mirrored[2 * other + 1], texels[2 * i], "surface", i);
    }
    std::puts("passed");
}
