// The first five kernels of seb-v's f32 ladder on RX 7900 XTX (github.com/seb-v/fp32_sgemm_amd), written anew with the same
// structure: C = α A B + β C, row-major, n x n x n. Tiles, threads, loads and what is unrolled are the same. The published
// times were measured with another compiler's code.

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device, always_inline)) inline
#define SHARED static __attribute__((shared, aligned(32)))
#define THREADS(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define X int(__builtin_amdgcn_workitem_id_x())
#define Y int(__builtin_amdgcn_workitem_id_y())
#define GROUP_X int(__builtin_amdgcn_workgroup_id_x())
#define GROUP_Y int(__builtin_amdgcn_workgroup_id_y())

struct Product {
  const float *a, *b;
  float *c;
  int n;
  float alpha, beta;
};

DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

DEVICE void store(const Product &p, int row, int column, float sum) {
  float *c = p.c + row * p.n + column;
  *c = p.alpha * sum + p.beta * *c;
}

KERNEL THREADS(256) naive(Product p) {
  int row = 16 * GROUP_Y + Y, column = 16 * GROUP_X + X;
  if (row >= p.n || column >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.n; k++) sum += p.a[row * p.n + k] * p.b[k * p.n + column];
  store(p, row, column, sum);
}

// 32 x 32 tiles, an element a thread. It stores only, as the published kernel does.
SHARED float tile_a[32][32], tile_b[32][32];

KERNEL THREADS(1024) lds_tiles(Product p) {
  int row = 32 * GROUP_Y + Y, column = 32 * GROUP_X + X;
  float sum = 0;
  for (int k = 0; k < p.n; k += 32) {
    tile_b[Y][X] = p.b[(k + Y) * p.n + column];
    tile_a[Y][X] = p.a[row * p.n + k + X];
    barrier();
    for (int i = 0; i < 32; i++) sum += tile_a[Y][i] * tile_b[i][X];
    barrier();
  }
  if (row < p.n && column < p.n) p.c[row * p.n + column] = sum;
}

// 128 x 128 tiles, 8 along k. A wave of 8 x 4 lanes has sub-tiles of 32 x 16 with 4 x 4 elements a lane.
constexpr int TILE = 128, STEP = 8;

// A step's part of A and B in a thread's registers, on its way to LDS.
template <int threads> struct Stage {
  static constexpr int count = TILE * STEP / threads;
  float a[count], b[count];

  __attribute__((device, always_inline)) void load(const Product &p, int k) {
    for (int i = 0; i < count; i++) {
      int row = k + X / TILE + i * (threads / TILE);
      b[i] = p.b[row * p.n + TILE * GROUP_X + X % TILE];
    }
    for (int i = 0; i < count; i++) {
      int row = TILE * GROUP_Y + X / STEP + i * (threads / STEP);
      a[i] = p.a[row * p.n + k + X % STEP];
    }
  }

  template <int width> __attribute__((device, always_inline)) void
  store(float (&to_a)[STEP][width], float (&to_b)[STEP][TILE]) const {
    for (int i = 0; i < count; i++) to_b[X / TILE + i * (threads / TILE)][X % TILE] = b[i];
    for (int i = 0; i < count; i++) to_a[X % STEP][X / STEP + i * (threads / STEP)] = a[i];
  }
};

// What one lane of a wave with `columns` columns computes.
template <int threads, int columns> struct Sums {
  static constexpr int rows = TILE * TILE / (threads / 32) / columns;
  static constexpr int across = columns / 32, down = rows / 16;
  float sums[4 * down][4 * across] = {};

  __attribute__((device, always_inline)) static int row(int i) {
    int wave = X / 32 / (TILE / columns);
    return wave * rows + i / 4 * 16 + X % 32 / 8 * 4 + i % 4;
  }
  __attribute__((device, always_inline)) static int column(int i) {
    int wave = X / 32 % (TILE / columns);
    return wave * columns + i / 4 * 32 + X % 8 * 4 + i % 4;
  }

  template <int width> __attribute__((device, always_inline)) void
  add(const float (&a)[STEP][width], const float (&b)[STEP][TILE], int k) {
    float from_a[4 * down], from_b[4 * across];
    for (int i = 0; i < 4 * across; i++) from_b[i] = b[k][column(i)];
    for (int i = 0; i < 4 * down; i++) from_a[i] = a[k][row(i)];
    for (int i = 0; i < 4 * down; i++)
      for (int j = 0; j < 4 * across; j++) sums[i][j] += from_a[i] * from_b[j];
  }

  __attribute__((device, always_inline)) void store(const Product &p) const {
    for (int i = 0; i < 4 * down; i++)
      for (int j = 0; j < 4 * across; j++) ::store(p, TILE * GROUP_Y + row(i), TILE * GROUP_X + column(j), sums[i][j]);
  }
};

SHARED float registers_a[STEP][TILE], registers_b[STEP][TILE];

KERNEL THREADS(256) registers(Product p) {
  Sums<256, 64> sums;
  for (int k = 0; k < p.n; k += STEP) {
    Stage<256> stage;
    stage.load(p, k);
    stage.store(registers_a, registers_b);
    barrier();
    for (int i = 0; i < STEP; i++) sums.add(registers_a, registers_b, i);
    barrier();
  }
  sums.store(p);
}

// The next step's loads are in flight while this one is multiplied.
template <int threads, int columns, int width>
DEVICE void prefetch(const Product &p, float (&a)[STEP][width], float (&b)[STEP][TILE]) {
  Sums<threads, columns> sums;
  Stage<threads> stage;
  stage.load(p, 0);
  stage.store(a, b);
  barrier();
  for (int k = 0; k < p.n; k += STEP) {
    bool more = k < p.n - STEP;
    if (more) stage.load(p, k + STEP);
#pragma unroll 1
    for (int i = 0; i < STEP; i++) sums.add(a, b, i);
    barrier();
    if (more) {
      stage.store(a, b);
      barrier();
    }
  }
  sums.store(p);
}

KERNEL THREADS(256) double_buffered(Product p) { prefetch<256, 64>(p, registers_a, registers_b); }

// A wave has all columns, and rows of A are padded.
SHARED float padded_a[STEP][TILE + 4];

KERNEL THREADS(128) __attribute__((target("cumode"))) padded(Product p) { prefetch<128, 128>(p, padded_a, registers_b); }
