// The kernels of the documents behind the ladder, written anew with the same structure: f32, 2048 x 1024 x 2048, on
// MI100. Tiles and threads are the same, and C is loaded and stored in each step of k wherever the documents do so. The
// published times were measured with another compiler's code.

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device, always_inline)) inline
#define SHARED static __attribute__((shared))
#define THREADS(n) __attribute__((amdgpu_flat_work_group_size(n, n)))
#define X __builtin_amdgcn_workitem_id_x()
#define Y __builtin_amdgcn_workitem_id_y()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()

constexpr int N = 1024, K = 2048;
typedef float Sums __attribute__((ext_vector_type(4)));
typedef float Block __attribute__((ext_vector_type(16)));

// Makes memory hold the current values after each step: the compiler keeps no C in registers.
DEVICE void in_memory() { asm volatile("" ::: "memory"); }
// Waits for all earlier accesses before the next one.
DEVICE void one_by_one() { asm volatile("s_waitcnt vmcnt(0)" ::: "memory"); }

THREADS(1024) KERNEL naive(float *a, float *b, float *c) {
  int row = 32 * GROUP_Y + Y, column = 32 * GROUP_X + X;
  for (int k = 0; k < K; k++) {
    c[row * N + column] += a[row * K + k] * b[k * N + column];
    in_memory();
  }
}

DEVICE Sums load(const float *c, int lane) {
  Sums sums;
  for (int i = 0; i < 4; i++) sums[i] = c[(lane / 16 * 4 + i) * N + lane % 16];
  return sums;
}

DEVICE void store(float *c, int lane, Sums sums) {
  for (int i = 0; i < 4; i++) c[(lane / 16 * 4 + i) * N + lane % 16] = sums[i];
}

DEVICE Sums multiply(float a, float b, Sums sums) {
  return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, sums, 0, 0, 0);
}

THREADS(256) KERNEL uncached(float *a, float *b, float *c) {
  int lane = X % 64, row = 32 * GROUP_Y + 16 * Y, column = 32 * GROUP_X + X / 64 * 16;
  float *tile = c + row * N + column;
  for (int k = 0; k < K; k += 4) {
    Sums sums = load(tile, lane);
    float of_a = a[(row + lane % 16) * K + k + lane / 16];
    float of_b = b[(k + lane / 16) * N + column + lane % 16];
    store(tile, lane, multiply(of_a, of_b, sums));
    in_memory();
  }
}

// Tiles of A, 32 x 256, and B, 256 x 32, in LDS.
SHARED float tile_a[32 * 256], tile_b[256 * 32];

enum Sum {
  in_each_step, // C is loaded and stored in each step, as the documents' source has it
  in_each_tile, // the compiler keeps it in registers while a tile is multiplied
  at_the_end    // in fragments
};

struct Place {
  int thread, lane, row, column, wave_row, wave_column;
};

DEVICE Place place() {
  return {int(X + 128 * Y), int(X % 64), int(32 * GROUP_Y), int(32 * GROUP_X), int(16 * Y), int(X / 64 * 16)};
}

DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

DEVICE void fetch(const float *a, const float *b, const Place &p, int k, float *of_a, float *of_b) {
  for (int i = 0; i < 32; i++) {
    int e = p.thread + 256 * i;
    of_a[i] = a[(p.row + e / 256) * K + k + e % 256];
    of_b[i] = b[(k + e / 32) * N + p.column + e % 32];
  }
}

DEVICE void put(const Place &p, const float *of_a, const float *of_b) {
  for (int i = 0; i < 32; i++) {
    tile_a[p.thread + 256 * i] = of_a[i];
    tile_b[p.thread + 256 * i] = of_b[i];
  }
}

template <Sum sum> DEVICE void multiply_tile(float *c, const Place &p, Sums &sums) {
  if (sum == in_each_tile) sums = load(c, p.lane);
#pragma clang loop unroll(disable)
  for (int k = 0; k < 256; k += 4) {
    if (sum == in_each_step) sums = load(c, p.lane);
    float of_a = tile_a[(p.wave_row + p.lane % 16) * 256 + k + p.lane / 16];
    float of_b = tile_b[(k + p.lane / 16) * 32 + p.wave_column + p.lane % 16];
    sums = multiply(of_a, of_b, sums);
    if (sum == in_each_step) {
      store(c, p.lane, sums);
      in_memory();
    }
  }
  if (sum == in_each_tile) store(c, p.lane, sums);
}

template <Sum sum> DEVICE void cached(const float *a, const float *b, float *c) {
  Place p = place();
  c += (p.row + p.wave_row) * N + p.column + p.wave_column;
  float of_a[32], of_b[32];
  Sums sums;
  for (int k = 0; k < K; k += 256) {
    barrier();
    fetch(a, b, p, k, of_a, of_b);
    put(p, of_a, of_b);
    barrier();
    multiply_tile<sum>(c, p, sums);
  }
}

template <Sum sum> DEVICE void double_buffered(const float *a, const float *b, float *c) {
  Place p = place();
  c += (p.row + p.wave_row) * N + p.column + p.wave_column;
  float of_a[32], of_b[32];
  Sums sums = load(c, p.lane);
  fetch(a, b, p, 0, of_a, of_b);
  put(p, of_a, of_b);
  barrier();
  for (int k = 256; k < K; k += 256) {
    fetch(a, b, p, k, of_a, of_b);
    multiply_tile<sum>(c, p, sums);
    barrier();
    put(p, of_a, of_b);
    barrier();
  }
  multiply_tile<sum>(c, p, sums);
  if (sum == at_the_end) store(c, p.lane, sums);
}

THREADS(256) KERNEL cached_in_each_step(float *a, float *b, float *c) { cached<in_each_step>(a, b, c); }
THREADS(256) KERNEL cached_in_each_tile(float *a, float *b, float *c) { cached<in_each_tile>(a, b, c); }
THREADS(256) KERNEL double_buffered_in_each_step(float *a, float *b, float *c) { double_buffered<in_each_step>(a, b, c); }
THREADS(256) KERNEL double_buffered_in_each_tile(float *a, float *b, float *c) { double_buffered<in_each_tile>(a, b, c); }
THREADS(256) KERNEL fragments(float *a, float *b, float *c) { double_buffered<at_the_end>(a, b, c); }

// 64 x 64 by v_mfma_f32_16x16x1_4b_f32: block i has rows 16 i to 16 i + 15.
template <bool waits> DEVICE Block load_block(const float *c, int lane) {
  Block block;
  for (int i = 0; i < 16; i++) {
    block[i] = c[(lane / 16 * 4 + i % 4) * N + i / 4 * 16 + lane % 16];
    if (waits) one_by_one();
  }
  return block;
}

DEVICE void store_block(float *c, int lane, Block block) {
  for (int i = 0; i < 16; i++) c[(lane / 16 * 4 + i % 4) * N + i / 4 * 16 + lane % 16] = block[i];
}

template <int i> DEVICE Block multiply_block(const float *a, const float *b, Block block) {
  for (int k = 0; k < 4; k++) block = __builtin_amdgcn_mfma_f32_16x16x1f32(a[k], b[k], block, 2, i, 0);
  return block;
}

template <int i, bool waits> DEVICE void one_block(const float *a, const float *b, float *c, int lane) {
  c += 16 * i * N;
  store_block(c, lane, multiply_block<i>(a, b, load_block<waits>(c, lane)));
}

template <bool in_passes, bool waits> DEVICE void blocks(const float *a, const float *b, float *c) {
  int lane = X, row = 64 * GROUP_Y, column = 64 * GROUP_X;
  c += row * N + column;
  for (int k = 0; k < K; k += 4) {
    Block block[4];
    if (in_passes)
      for (int i = 0; i < 4; i++) block[i] = load_block<waits>(c + 16 * i * N, lane);
    float of_a[4], of_b[4];
    for (int i = 0; i < 4; i++) {
      of_a[i] = a[(row + lane) * K + k + i];
      of_b[i] = b[(k + i) * N + column + lane];
    }
    if (in_passes) {
      block[0] = multiply_block<0>(of_a, of_b, block[0]);
      block[1] = multiply_block<1>(of_a, of_b, block[1]);
      block[2] = multiply_block<2>(of_a, of_b, block[2]);
      block[3] = multiply_block<3>(of_a, of_b, block[3]);
      for (int i = 0; i < 4; i++) store_block(c + 16 * i * N, lane, block[i]);
    } else {
      one_block<0, waits>(of_a, of_b, c, lane);
      one_block<1, waits>(of_a, of_b, c, lane);
      one_block<2, waits>(of_a, of_b, c, lane);
      one_block<3, waits>(of_a, of_b, c, lane);
    }
    in_memory();
  }
}

THREADS(64) KERNEL block_order(float *a, float *b, float *c) { blocks<false, false>(a, b, c); }
THREADS(64) KERNEL pass_order(float *a, float *b, float *c) { blocks<true, false>(a, b, c); }
THREADS(64) KERNEL block_order_one_by_one(float *a, float *b, float *c) { blocks<false, true>(a, b, c); }
THREADS(64) KERNEL pass_order_one_by_one(float *a, float *b, float *c) { blocks<true, true>(a, b, c); }
