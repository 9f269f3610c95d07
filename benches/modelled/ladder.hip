// The kernels of AMD's ladder of fp8 matrix products on MI355X (github.com/ROCm/gpuaidev, fp8_gemm_hip_cdna4), written
// anew with the same structure: C = A B^T, A and B in fp8 along k, C in bf16, 4096 x 4096 x 4096. Tiles, threads, loads
// and waits are the same. The published times were measured with another compiler's code.

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device, always_inline)) inline
#define METHOD __attribute__((device, always_inline))
#define SHARED static __attribute__((shared, aligned(32)))
#define THREADS(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define X int(__builtin_amdgcn_workitem_id_x())
#define Y int(__builtin_amdgcn_workitem_id_y())
#define GROUP_X int(__builtin_amdgcn_workgroup_id_x())
#define GROUP_Y int(__builtin_amdgcn_workgroup_id_y())
#define LDS __attribute__((address_space(3)))

typedef unsigned char Byte;
typedef float Sums __attribute__((ext_vector_type(4)));
typedef unsigned Part __attribute__((ext_vector_type(4))); // 16 elements along k
typedef int Fragment __attribute__((ext_vector_type(8)));  // what one lane gives to a matrix instruction: 32 elements

// Leading dimensions, scales and the number of threads along x are arguments, as in the published code.
struct Matrices {
  const Byte *a, *b;
  __bf16 *c;
  int m, n, k, lda, ldb, ldc;
  float alpha, beta;
  int threads;
};

DEVICE float to_float(Byte element) { return __builtin_amdgcn_cvt_f32_fp8(element, 0); }

DEVICE void store(const Matrices &p, int row, int column, float sum) {
  __bf16 *c = p.c + row * p.ldc + column;
  float old = p.beta == 0 ? 0 : float(*c);
  *c = __bf16(p.alpha * sum + p.beta * old);
}

// D of a 16 x 16 product.
DEVICE void store_tile(const Matrices &p, int row, int column, Sums sums) {
  int lane = X % 64;
  for (int i = 0; i < 4; i++) store(p, row + lane / 16 * 4 + i, column + lane % 16, sums[i]);
}

DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

DEVICE Sums multiply(Part a_low, Part a_high, Part b_low, Part b_high, Sums sums) {
  Fragment a, b;
  for (int i = 0; i < 4; i++) {
    a[i] = a_low[i], a[i + 4] = a_high[i];
    b[i] = b_low[i], b[i + 4] = b_high[i];
  }
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, sums, 0, 0, 0, 0, 0, 0);
}

// LDS is read at addresses in registers, with manual waits, so that the compiler does not reorder reads and waits.
DEVICE void read(Part &part, const LDS Byte *address) {
  asm volatile("ds_read_b128 %0, %1" : "=v"(part) : "v"(address) : "memory");
}
template <int n> DEVICE void wait_for(Part (&parts)[n]) {
  asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  for (int i = 0; i < n; i++) asm volatile("" : "+v"(parts[i]));
}
DEVICE void wait_for_loads() { asm volatile("s_waitcnt vmcnt(0)" ::: "memory"); }

// 16 bytes per lane from global memory directly to LDS.
DEVICE __amdgpu_buffer_rsrc_t buffer(const Byte *matrix, int bytes) {
  return __builtin_amdgcn_make_buffer_rsrc((void *)matrix, 0, bytes, 0x110000);
}
DEVICE void load_to_lds(__amdgpu_buffer_rsrc_t from, int offset, Byte *to) {
  __builtin_amdgcn_raw_ptr_buffer_load_lds(from, (LDS void *)to, 16, offset, 0, 0, 0);
}

KERNEL naive(Matrices p) {
  int row = 16 * GROUP_Y + Y, column = 16 * GROUP_X + X;
  if (row >= p.m || column >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; k++) sum += to_float(p.a[row * p.lda + k]) * to_float(p.b[column * p.ldb + k]);
  store(p, row, column, sum);
}

SHARED float tiled_a[4][4][16], tiled_b[4][16][16];

KERNEL tiled(Matrices p) {
  int wave = Y / 4, y = Y % 4, row = 16 * GROUP_Y + Y, column = 16 * GROUP_X + X;
  float sum = 0;
  for (int k = 0; k < p.k; k += 16) {
    tiled_a[wave][y][X] = to_float(p.a[row * p.lda + k + X]);
    for (int i = y; i < 16; i += 4) tiled_b[wave][i][X] = to_float(p.b[column * p.ldb + k + i]);
    barrier();
    for (int i = 0; i < 16; i++) sum += tiled_a[wave][y][i] * tiled_b[wave][i][X];
    barrier();
  }
  store(p, row, column, sum);
}

// One 16 x 16 tile per wave, 2 x 2 waves, each with its own tiles of A and B in LDS: four of the published steps.
constexpr int K_STEP = 128;
SHARED Byte own_a[4][16][K_STEP], own_b[4][16][K_STEP];

enum Way { by_bytes, by_parts, to_lds, swizzled };

// Swizzle: the column of 16 bytes of a row that is stored at another column's place.
DEVICE int swizzle(int row) {
  int pair = row / 2 % 8;
  return (pair ^ ((pair / 2 ^ pair / 4) & 1)) * 16;
}

template <Way way> DEVICE void one_tile(const Matrices &p) {
  int wave = Y, lane = X % 64, row = 32 * GROUP_Y + wave / 2 * 16, column = 32 * GROUP_X + wave % 2 * 16;
  if (p.k % K_STEP != 0 || wave >= 4 || way != by_bytes && (p.m % 32 != 0 || p.n % 32 != 0)) return;
  Byte (&a)[16][K_STEP] = own_a[wave], (&b)[16][K_STEP] = own_b[wave];
  auto of_a = buffer(p.a, p.m * p.lda), of_b = buffer(p.b, p.n * p.ldb);
  int y[2] = {X / 8, X / 8 + 8}, x = X % 8 * 16;
  int from = lane % 16, low = lane / 16 * 16, high = low + 64;
  int turn = way == swizzled ? swizzle(from) : 0;
  const LDS Byte *places[4] = {
      (const LDS Byte *)&a[from][low ^ turn], (const LDS Byte *)&a[from][high ^ turn],
      (const LDS Byte *)&b[from][low ^ turn], (const LDS Byte *)&b[from][high ^ turn]};
  Sums sums = 0;
  for (int k = 0; k < p.k; k += K_STEP) {
    if (way == by_bytes) {
      for (int i = X; i < 16 * K_STEP; i += p.threads) {
        int r = i / K_STEP, c = i % K_STEP;
        a[r][c] = row + r < p.m && k + c < p.k ? p.a[(row + r) * p.lda + k + c] : 0;
      }
      for (int i = X; i < 16 * K_STEP; i += p.threads) {
        int r = i / K_STEP, c = i % K_STEP;
        b[r][c] = column + r < p.n && k + c < p.k ? p.b[(column + r) * p.ldb + k + c] : 0;
      }
    } else if (way == by_parts) {
      for (int i = 0; i < 2; i++) *(Part *)&a[y[i]][x] = *(const Part *)(p.a + (row + y[i]) * p.lda + k + x);
      for (int i = 0; i < 2; i++) *(Part *)&b[y[i]][x] = *(const Part *)(p.b + (column + y[i]) * p.ldb + k + x);
    } else {
      auto turned = [&](int i) { return way == swizzled ? x ^ swizzle(y[i]) : x; };
      for (int i = 0; i < 2; i++) load_to_lds(of_a, (row + y[i]) * p.lda + turned(i) + k, &a[y[i]][x]);
      for (int i = 0; i < 2; i++) load_to_lds(of_b, (column + y[i]) * p.ldb + turned(i) + k, &b[y[i]][x]);
      wait_for_loads();
    }
    barrier();
    Part parts[4];
    for (int i = 0; i < 4; i++) read(parts[i], places[i]);
    wait_for(parts);
    sums = multiply(parts[0], parts[1], parts[2], parts[3], sums);
    barrier();
  }
  store_tile(p, row, column, sums);
}

KERNEL mfma(Matrices p) { one_tile<by_bytes>(p); }
KERNEL mfma_wide(Matrices p) { one_tile<by_parts>(p); }
KERNEL direct_to_lds(Matrices p) { one_tile<to_lds>(p); }
KERNEL mfma_swizzled(Matrices p) { one_tile<swizzled>(p); }

// Tiles of a workgroup in LDS, two of each: the next one is loaded while the other is multiplied.
template <int tile> struct Staged {
  Byte a[2][tile][K_STEP], b[2][tile][K_STEP];
};

template <int tile, int waves> DEVICE void fetch(const Matrices &p, Staged<tile> &staged, int stage, int thread, int k) {
  auto of_a = buffer(p.a, p.m * p.lda), of_b = buffer(p.b, p.n * p.ldb);
  for (int i = 0; i < tile / (8 * waves); i++) {
    int row = thread / 8 + 8 * waves * i, x = thread % 8 * 16, turned = x ^ swizzle(row);
    load_to_lds(of_a, (tile * GROUP_Y + row) * p.lda + k + turned, &staged.a[stage][row][x]);
    load_to_lds(of_b, (tile * GROUP_X + row) * p.ldb + k + turned, &staged.b[stage][row][x]);
  }
}

// The two parts of a row of 16 of a tile that a lane passes to a matrix instruction.
DEVICE void read_row(Part *parts, const Byte (*rows)[K_STEP], int first) {
  int lane = X % 64, row = first + lane % 16, turn = swizzle(row);
  read(parts[0], (const LDS Byte *)&rows[row][lane / 16 * 16 ^ turn]);
  read(parts[1], (const LDS Byte *)&rows[row][(lane / 16 * 16 + 64) ^ turn]);
}

// Multiplies a stage while the next one is loaded.
template <int tile, int waves, typename Multiply>
DEVICE void staged_loop(const Matrices &p, Staged<tile> &staged, int thread, Multiply multiply_stage) {
  fetch<tile, waves>(p, staged, 0, thread, 0);
  wait_for_loads();
  barrier();
  int stage = 0;
  for (int k = 0; k < p.k; k += K_STEP) {
    bool goes_on = k + K_STEP < p.k;
    if (goes_on) fetch<tile, waves>(p, staged, stage ^ 1, thread, k + K_STEP);
    multiply_stage(staged.a[stage], staged.b[stage]);
    if (goes_on) {
      wait_for_loads();
      barrier();
      stage ^= 1;
    }
  }
}

// Reads all fragments of a wave, `rows` x `columns` tiles of 16 x 16, waits and multiplies.
template <int tile, int waves, int across, int rows, int columns>
DEVICE void double_buffered_of(const Matrices &p, Staged<tile> &staged, int thread) {
  if (p.m % tile != 0 || p.n % tile != 0 || p.k % K_STEP != 0) return;
  int wave = thread / 64, row = wave / across * rows * 16, column = wave % across * columns * 16;
  Sums sums[rows][columns] = {};
  staged_loop<tile, waves>(p, staged, thread, [&](const Byte (*a)[K_STEP], const Byte (*b)[K_STEP]) {
    Part of_a[2 * rows], of_b[2 * columns];
    for (int i = 0; i < rows; i++) read_row(of_a + 2 * i, a, row + 16 * i);
    for (int j = 0; j < columns; j++) read_row(of_b + 2 * j, b, column + 16 * j);
    wait_for(of_a);
    wait_for(of_b);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++)
        sums[i][j] = multiply(of_a[2 * i], of_a[2 * i + 1], of_b[2 * j], of_b[2 * j + 1], sums[i][j]);
  });
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      store_tile(p, tile * GROUP_Y + row + 16 * i, tile * GROUP_X + column + 16 * j, sums[i][j]);
}

SHARED Staged<64> staged_64;
SHARED Staged<128> staged_128;
SHARED Staged<256> staged_256;

KERNEL double_buffered(Matrices p) { double_buffered_of<64, 4, 2, 2, 2>(p, staged_64, X + 64 * Y); }
KERNEL tile_128_8_waves(Matrices p) { double_buffered_of<128, 8, 4, 4, 2>(p, staged_128, X); }

// A wave has the rows of one half of the tile, and two stripes of 32 columns, one in each half.
THREADS(512) KERNEL tile_256_8_waves(Matrices p) {
  if (p.m % 256 != 0 || p.n % 256 != 0 || p.k % K_STEP != 0) return;
  int wave = X / 64, row = wave / 4 * 128, column = wave % 4 * 32;
  auto column_of = [&](int j) { return column + j / 2 * 128 + j % 2 * 16; };
  Sums sums[8][4] = {};
  staged_loop<256, 8>(p, staged_256, X, [&](const Byte (*a)[K_STEP], const Byte (*b)[K_STEP]) {
    Part of_b[8], first[8], second[8];
    for (int j = 0; j < 4; j++) read_row(of_b + 2 * j, b, column_of(j));
    wait_for(of_b);
    for (int i = 0; i < 4; i++) read_row(first + 2 * i, a, row + 16 * i);
    wait_for(first);
    for (int i = 0; i < 2; i++) read_row(second + 2 * i, a, row + 64 + 16 * i);
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 4; i++)
        sums[i][j] = multiply(first[2 * i], first[2 * i + 1], of_b[2 * j], of_b[2 * j + 1], sums[i][j]);
    for (int i = 2; i < 4; i++) read_row(second + 2 * i, a, row + 64 + 16 * i);
    wait_for(second);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        sums[4 + i][j] = multiply(second[2 * i], second[2 * i + 1], of_b[2 * j], of_b[2 * j + 1], sums[4 + i][j]);
  });
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 4; j++)
      store_tile(p, 256 * GROUP_Y + row + 16 * i, 256 * GROUP_X + column_of(j), sums[i][j]);
}

// 4 x 8 pieces of 64 x 32 for 16 waves, two each.
THREADS(1024) KERNEL tile_256_16_waves(Matrices p) {
  if (p.m % 256 != 0 || p.n % 256 != 0 || p.k % K_STEP != 0) return;
  auto row = [](int piece) { return (X / 64 + 16 * piece) / 8 * 64; };
  int column = X / 64 % 8 * 32;
  Sums sums[2][4][2] = {};
  staged_loop<256, 16>(p, staged_256, X, [&](const Byte (*a)[K_STEP], const Byte (*b)[K_STEP]) {
    for (int piece = 0; piece < 2; piece++) {
      Part of_b[4], of_a[4];
      for (int j = 0; j < 2; j++) read_row(of_b + 2 * j, b, column + 16 * j);
      for (int half = 0; half < 4; half += 2) {
        for (int i = 0; i < 2; i++) read_row(of_a + 2 * i, a, row(piece) + 16 * (half + i));
        wait_for(of_a);
        if (half == 0) wait_for(of_b);
        for (int i = 0; i < 2; i++)
          for (int j = 0; j < 2; j++)
            sums[piece][half + i][j] =
                multiply(of_a[2 * i], of_a[2 * i + 1], of_b[2 * j], of_b[2 * j + 1], sums[piece][half + i][j]);
      }
    }
  });
  for (int piece = 0; piece < 2; piece++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 2; j++)
        store_tile(p, 256 * GROUP_Y + row(piece) + 16 * i, 256 * GROUP_X + column + 16 * j, sums[piece][i][j]);
}

// Ping-pong: one of the two waves of a SIMD loads while the other multiplies, and barriers swap them. The size is a
// compile-time constant. A stage is two halves of each operand, 128 rows of 128 bytes.
typedef Byte Half[128 * K_STEP];
SHARED Half halves_a[2][2], halves_b[2][2];

// Waits for all loads from global memory except the last `n`.
#define WAIT_FOR_ALL_LOADS_BUT(n) asm volatile("s_waitcnt vmcnt(" #n ")" ::: "memory")

DEVICE int turned(int offset) { return offset ^ (offset % (16 * K_STEP) >> 8 << 4); }
DEVICE void meet() { __builtin_amdgcn_s_barrier(); }
DEVICE void in_order() { __builtin_amdgcn_sched_barrier(0); }

template <typename Multiply> DEVICE void first(Multiply quarters) {
  __builtin_amdgcn_s_setprio(1);
  quarters();
  __builtin_amdgcn_s_setprio(0);
  meet();
}

template <int rows> DEVICE void read_half(const Byte *half, int first_row, Part (&parts)[2 * rows]) {
  int lane = X % 64;
  for (int high = 0; high < 2; high++) {
    unsigned start = (unsigned)((const LDS Byte *)half + first_row * K_STEP);
    const LDS Byte *address = (const LDS Byte *)turned(start + lane % 16 * K_STEP + lane / 16 * 16 + high * 64);
    for (int i = 0; i < rows; i++)
      asm volatile("ds_read_b128 %0, %1 offset:%2" : "=v"(parts[2 * i + high]) : "v"(address), "i"(i * 2048) : "memory");
  }
}

template <int size> struct PingPong {
  static constexpr int steps = size / K_STEP, across = size / 256;

  int wave, lane, row, column, offsets[2];
  const Byte *from_a[2], *from_b[2];
  __bf16 *c;
  Part a[8], left[4], right[4];
  Sums sums[2][2][4][2];

  METHOD PingPong(const Matrices &p) : wave(X / 64), lane(X % 64), c(p.c), sums() {
    row = wave / 4 * 64, column = wave % 4 * 32;
    int place = turned((wave % 2 * 64 + lane) / 8 * K_STEP + lane % 8 * 16);
    for (int i = 0; i < 2; i++) {
      offsets[i] = wave / 2 * 16 * size + (i * 64 + place / K_STEP) * size + place % K_STEP;
      from_a[i] = p.a + (GROUP_X / across * 2 + i) * 128 * size;
      from_b[i] = p.b + (GROUP_X % across * 2 + i) * 128 * size;
    }
  }

  METHOD void fetch(const Byte *from, int k, Byte *half) {
    auto source = buffer(from + k * K_STEP, 128 * size);
    for (int i = 0; i < 2; i++) load_to_lds(source, offsets[i], half + wave * 1024 + i * 8192);
  }
  METHOD void fetch_a(int half, int k, int stage) { fetch(from_a[half], k, halves_a[stage][half]); }
  METHOD void fetch_b(int half, int k, int stage) { fetch(from_b[half], k, halves_b[stage][half]); }
  METHOD void read_a(int half, int stage) { read_half<4>(halves_a[stage][half], row, a); }
  METHOD void read_left(int stage) { read_half<2>(halves_b[stage][0], column, left); }
  METHOD void read_right(int stage) { read_half<2>(halves_b[stage][1], column, right); }

  METHOD void quarter(int below, int beside) {
    Part (&b)[4] = beside ? right : left;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 2; j++) {
        Sums &sum = sums[below][beside][i][j];
        sum = multiply(a[2 * i], a[2 * i + 1], b[2 * j], b[2 * j + 1], sum);
      }
  }

  // To bf16 by truncation.
  METHOD void store(int below, int beside) {
    auto *to = (unsigned short *)c + (GROUP_X / across * 256 + below * 128 + row + lane / 16 * 4) * size +
               GROUP_X % across * 256 + beside * 128 + column + lane % 16;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 2; j++)
        for (int n = 0; n < 4; n++) {
          float sum = sums[below][beside][i][j][n];
          to[(16 * i + n) * size + 16 * j] = __builtin_bit_cast(unsigned, sum) >> 16;
        }
  }

  METHOD void begin() {
    fetch_b(0, 0, 0), fetch_a(0, 0, 0), fetch_b(1, 0, 0), fetch_a(1, 0, 0);
    if (wave / 4 == 1) meet();
    WAIT_FOR_ALL_LOADS_BUT(4);
    meet();
    fetch_b(0, 1, 1), fetch_a(0, 1, 1), fetch_b(1, 1, 1);
    WAIT_FOR_ALL_LOADS_BUT(6);
    meet();
  }

  METHOD void step(int k, int stage) {
    read_left(stage), read_a(0, stage);
    fetch_a(1, k + 1, stage ^ 1);
    asm volatile("s_waitcnt lgkmcnt(8)" ::: "memory");
    meet();
    wait_for(a), wait_for(left);
    first([&] { quarter(0, 0); });
    in_order();
    read_right(stage);
    fetch_b(0, k + 2, stage);
    meet();
    wait_for(right);
    first([&] { quarter(0, 1); });
    read_a(1, stage);
    fetch_a(0, k + 2, stage);
    meet();
    wait_for(a);
    first([&] { quarter(1, 0); });
    in_order();
    fetch_b(1, k + 2, stage);
    WAIT_FOR_ALL_LOADS_BUT(6);
    meet();
    first([&] { quarter(1, 1); });
  }

  METHOD void last_but_one(int stage) {
    read_left(stage), read_a(0, stage);
    fetch_a(1, steps - 1, stage ^ 1);
    meet();
    wait_for(a), wait_for(left);
    first([&] { quarter(0, 0); });
    in_order();
    read_right(stage);
    meet();
    wait_for(right);
    first([&] { quarter(0, 1); });
    read_a(1, stage);
    WAIT_FOR_ALL_LOADS_BUT(4);
    meet();
    wait_for(a);
    first([&] { quarter(1, 0); });
    read_left(stage ^ 1);
    meet();
    first([&] { quarter(1, 1); });
    in_order();
  }

  METHOD void last(int stage) {
    read_a(0, stage);
    WAIT_FOR_ALL_LOADS_BUT(0);
    meet();
    wait_for(a), wait_for(left);
    first([&] { quarter(0, 0); });
    store(0, 0);
    read_right(stage);
    meet();
    in_order();
    wait_for(right);
    first([&] { quarter(0, 1); });
    store(0, 1);
    read_a(1, stage);
    meet();
    wait_for(a);
    first([&] { quarter(1, 0), quarter(1, 1); });
    if (wave / 4 == 0) meet();
    store(1, 0), store(1, 1);
  }

  METHOD void run() {
    begin();
    int stage = 0;
#pragma unroll 2
    for (int k = 0; k < steps - 2; k++, stage ^= 1) step(k, stage);
    last_but_one(stage);
    last(stage ^ 1);
  }
};

#define PING_PONG(size) \
  THREADS(512) KERNEL ping_pong_##size(Matrices p) { PingPong<size>(p).run(); }
PING_PONG(512)
PING_PONG(4096)
