"""The GEMM kernels of AMD's Gluon tutorials (ROCm/gfx950-gluon-tutorials), written anew by the structure that their
READMEs describe, and compiled by Triton without a GPU.

    python gluon.py FOLDER

writes a code object for each kernel, and `kernels.tsv`: file, symbol, bytes of LDS, waves, in that order. All kernels
compute C = A Bᵀ in f16: A is m × k, B is n × k, C is m × n, all row-major. Their arguments are the addresses of A, B
and C, then m, n, k and the three leading dimensions as 32-bit integers. A workgroup has one tile of C, and tiles are
numbered along the rows of C.
"""

import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.amd import cdna3, cdna4, warp_pipeline_stage
from triton.experimental.gluon.language.amd.cdna4 import async_copy


@gluon.constexpr_function
def mfma_layout(version, k, waves_m, waves_n):
    return gl.amd.AMDMFMALayout(version=version, instr_shape=[16, 16, k], transposed=True, warps_per_cta=[waves_m, waves_n])


@gluon.constexpr_function
def load_layout(bases, waves, shape):
    """Which element of a tile a lane loads: eight neighbours in LDS (16 bytes) a lane, 64 lanes side by side, then the
    waves side by side. The bases are the tile's coordinates of each bit of the place in LDS."""
    bits = waves.bit_length() - 1
    return gl.DistributedLinearLayout(
        reg_bases=bases[:3] + bases[9 + bits :],
        lane_bases=bases[3:9],
        warp_bases=bases[9 : 9 + bits],
        block_bases=[],
        shape=shape,
    )


@gluon.constexpr_function
def padded_load_layout(shared):
    return load_layout(shared.offset_bases, 4, shared.shape)


@gluon.jit
def stored(c_ptr, ldc, acc, row, column, layout: gl.constexpr):
    """Stores a block of C at (row, column)."""
    m: gl.constexpr = acc.shape[0]
    n: gl.constexpr = acc.shape[1]
    c = gl.convert_layout(acc.to(gl.float16), layout)
    y = gl.arange(0, m, gl.SliceLayout(1, layout))
    x = gl.arange(0, n, gl.SliceLayout(0, layout))
    cdna3.buffer_store(c, c_ptr + row * ldc + column, y[:, None] * ldc + x[None, :])


@gluon.jit
def offsets(rows: gl.constexpr, columns: gl.constexpr, ld, layout: gl.constexpr, is_a: gl.constexpr):
    """Offsets of a tile in its matrix: k is the second dimension of A's tile and the first of B's."""
    y = gl.arange(0, rows, gl.SliceLayout(1, layout))
    x = gl.arange(0, columns, gl.SliceLayout(0, layout))
    if is_a:
        return y[:, None] * ld + x[None, :]
    else:
        return y[:, None] + x[None, :] * ld


@gluon.jit
def tile_of(n, TN: gl.constexpr):
    number = gl.program_id(0)
    across = n // TN
    return number // across, number % across


# v0: loads to registers, masked along k; Triton moves them to the operands' layout through LDS.
@gluon.jit
def v0(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    along_a: gl.constexpr = gl.BlockedLayout([1, 8], [512 // TK, TK // 8], [4, 1], [1, 0])
    along_b: gl.constexpr = gl.BlockedLayout([8, 1], [TK // 8, 512 // TK], [1, 4], [0, 1])
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    from_a = a_ptr + row * TM * lda + offsets(TM, TK, lda, along_a, True)
    from_b = b_ptr + column * TN * ldb + offsets(TK, TN, ldb, along_b, False)
    k_of_a = gl.arange(0, TK, gl.SliceLayout(0, along_a))[None, :]
    k_of_b = gl.arange(0, TK, gl.SliceLayout(1, along_b))[:, None]
    acc = gl.zeros((TM, TN), gl.float32, mfma)
    for step in range(0, gl.cdiv(k, TK)):
        a = gl.load(from_a, mask=k_of_a < k - step * TK, other=0.0)
        b = gl.load(from_b, mask=k_of_b < k - step * TK, other=0.0)
        acc = cdna3.mfma(gl.convert_layout(a, dot_a), gl.convert_layout(b, dot_b), acc)
        from_a += TK
        from_b += TK
    stored(c_ptr, ldc, acc, row * TM, column * TN, mfma)


# v2: straight to LDS, without padding.
@gluon.jit
def v2(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    along_a: gl.constexpr = gl.BlockedLayout([1, 8], [512 // TK, TK // 8], [4, 1], [1, 0])
    along_b: gl.constexpr = gl.BlockedLayout([8, 1], [TK // 8, 512 // TK], [1, 4], [0, 1])
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    lds_a = gl.allocate_shared_memory(gl.float16, [TM, TK], gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0]))
    lds_b = gl.allocate_shared_memory(gl.float16, [TK, TN], gl.SwizzledSharedLayout(1, 1, 1, order=[0, 1]))
    of_a = offsets(TM, TK, lda, along_a, True)
    of_b = offsets(TK, TN, ldb, along_b, False)
    k_of_a = gl.arange(0, TK, gl.SliceLayout(0, along_a))[None, :]
    k_of_b = gl.arange(0, TK, gl.SliceLayout(1, along_b))[:, None]
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    acc = gl.zeros((TM, TN), gl.float32, mfma)
    for step in range(0, gl.cdiv(k, TK)):
        async_copy.buffer_load_to_shared(lds_a, from_a, of_a, mask=k_of_a < k - step * TK, other=0.0)
        async_copy.buffer_load_to_shared(lds_b, from_b, of_b, mask=k_of_b < k - step * TK, other=0.0)
        async_copy.commit_group()
        async_copy.wait_group(0)
        acc = cdna3.mfma(lds_a.load(dot_a), lds_b.load(dot_b), acc)
        from_a += TK
        from_b += TK
    stored(c_ptr, ldc, acc, row * TM, column * TN, mfma)


# v3: with padding that avoids bank conflicts.
@gluon.jit
def v3(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    in_lds_a: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_a, [TM, TK], gl.float16)
    in_lds_b: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_b, [TK, TN], gl.float16)
    lds_a = gl.allocate_shared_memory(gl.float16, [TM, TK], in_lds_a)
    lds_b = gl.allocate_shared_memory(gl.float16, [TK, TN], in_lds_b)
    of_a = offsets(TM, TK, lda, padded_load_layout(in_lds_a), True)
    of_b = offsets(TK, TN, ldb, padded_load_layout(in_lds_b), False)
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    acc = gl.zeros((TM, TN), gl.float32, mfma)
    for _ in range(0, gl.cdiv(k, TK)):
        async_copy.buffer_load_to_shared(lds_a, from_a, of_a)
        async_copy.buffer_load_to_shared(lds_b, from_b, of_b)
        async_copy.commit_group()
        async_copy.wait_group(0)
        acc = cdna3.mfma(lds_a.load(dot_a), lds_b.load(dot_b), acc)
        from_a += TK
        from_b += TK
    stored(c_ptr, ldc, acc, row * TM, column * TN, mfma)


# v4: two stages in LDS; the next one is loaded while this one is read and multiplied.
@gluon.jit
def v4(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    in_lds_a: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_a, [TM, TK], gl.float16)
    in_lds_b: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_b, [TK, TN], gl.float16)
    lds_a = gl.allocate_shared_memory(gl.float16, [2, TM, TK], in_lds_a)
    lds_b = gl.allocate_shared_memory(gl.float16, [2, TK, TN], in_lds_b)
    of_a = offsets(TM, TK, lda, padded_load_layout(in_lds_a), True)
    of_b = offsets(TK, TN, ldb, padded_load_layout(in_lds_b), False)
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    acc = gl.zeros((TM, TN), gl.float32, mfma)
    steps = gl.cdiv(k, TK)
    async_copy.buffer_load_to_shared(lds_a.index(0), from_a, of_a)
    async_copy.buffer_load_to_shared(lds_b.index(0), from_b, of_b)
    async_copy.commit_group()
    from_a += TK
    from_b += TK
    for step in range(0, steps - 1):
        this = step % 2
        other = 1 - this
        async_copy.buffer_load_to_shared(lds_a.index(other), from_a, of_a)
        async_copy.buffer_load_to_shared(lds_b.index(other), from_b, of_b)
        async_copy.commit_group()
        async_copy.wait_group(1)
        a = lds_a.index(this).load(dot_a)
        b = lds_b.index(this).load(dot_b)
        acc = cdna3.mfma(a, b, acc)
        from_a += TK
        from_b += TK
    async_copy.wait_group(0)
    last = (steps - 1) % 2
    acc = cdna3.mfma(lds_a.index(last).load(dot_a), lds_b.index(last).load(dot_b), acc)
    stored(c_ptr, ldc, acc, row * TM, column * TN, mfma)


# v5: operands are read from LDS a step ahead of the multiplication, and loaded two steps ahead.
@gluon.jit
def v5(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    in_lds_a: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_a, [TM, TK], gl.float16)
    in_lds_b: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_b, [TK, TN], gl.float16)
    lds_a = gl.allocate_shared_memory(gl.float16, [2, TM, TK], in_lds_a)
    lds_b = gl.allocate_shared_memory(gl.float16, [2, TK, TN], in_lds_b)
    of_a = offsets(TM, TK, lda, padded_load_layout(in_lds_a), True)
    of_b = offsets(TK, TN, ldb, padded_load_layout(in_lds_b), False)
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    acc = gl.zeros((TM, TN), gl.float32, mfma)
    steps = gl.cdiv(k, TK)
    for stage in gl.static_range(2):
        async_copy.buffer_load_to_shared(lds_a.index(stage), from_a, of_a)
        async_copy.buffer_load_to_shared(lds_b.index(stage), from_b, of_b)
        async_copy.commit_group()
        from_a += TK
        from_b += TK
    async_copy.wait_group(1)
    a = lds_a.index(0).load(dot_a)
    b = lds_b.index(0).load(dot_b)
    for step in range(0, steps - 1):
        this = step % 2
        other = 1 - this
        acc = cdna3.mfma(a, b, acc)
        async_copy.wait_group(0)
        goes_on = step != steps - 2
        async_copy.buffer_load_to_shared(lds_a.index(this), from_a, of_a, mask=goes_on)
        async_copy.buffer_load_to_shared(lds_b.index(this), from_b, of_b, mask=goes_on)
        async_copy.commit_group()
        a = lds_a.index(other).load(dot_a)
        b = lds_b.index(other).load(dot_b)
        from_a += TK
        from_b += TK
    acc = cdna3.mfma(a, b, acc)
    stored(c_ptr, ldc, acc, row * TM, column * TN, mfma)


# v6: two steps in the loop, so that no operand has to be copied between registers.
@gluon.jit
def v6(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    in_lds_a: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_a, [TM, TK], gl.float16)
    in_lds_b: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_b, [TK, TN], gl.float16)
    lds_a = gl.allocate_shared_memory(gl.float16, [2, TM, TK], in_lds_a)
    lds_b = gl.allocate_shared_memory(gl.float16, [2, TK, TN], in_lds_b)
    of_a = offsets(TM, TK, lda, padded_load_layout(in_lds_a), True)
    of_b = offsets(TK, TN, ldb, padded_load_layout(in_lds_b), False)
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    acc = gl.zeros((TM, TN), gl.float32, mfma)
    steps = gl.cdiv(k, TK)
    for stage in gl.static_range(2):
        async_copy.buffer_load_to_shared(lds_a.index(stage), from_a, of_a)
        async_copy.buffer_load_to_shared(lds_b.index(stage), from_b, of_b)
        async_copy.commit_group()
        from_a += TK
        from_b += TK
    async_copy.wait_group(1)
    a = lds_a.index(0).load(dot_a)
    b = lds_b.index(0).load(dot_b)
    gl.assume(steps > 3)
    for _ in range(0, steps - 2, 2):
        for this in gl.static_range(2):
            acc = cdna3.mfma(a, b, acc)
            async_copy.wait_group(0)
            async_copy.buffer_load_to_shared(lds_a.index(this), from_a, of_a)
            async_copy.buffer_load_to_shared(lds_b.index(this), from_b, of_b)
            async_copy.commit_group()
            a = lds_a.index(1 - this).load(dot_a)
            b = lds_b.index(1 - this).load(dot_b)
            from_a += TK
            from_b += TK
    acc = cdna3.mfma(a, b, acc)
    async_copy.wait_group(0)
    a = lds_a.index(1).load(dot_a)
    b = lds_b.index(1).load(dot_b)
    acc = cdna3.mfma(a, b, acc)
    across: gl.constexpr = gl.BlockedLayout([1, 8], [2, 32], [4, 1], [1, 0])
    stored(c_ptr, ldc, acc, row * TM, column * TN, across)


# v7: B in a left and a right half, one after the other in each step.
@gluon.jit
def v7(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    HALF: gl.constexpr = TN // 2
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    in_lds_a: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_a, [TM, TK], gl.float16)
    in_lds_b: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_b, [TK, HALF], gl.float16)
    lds_a = gl.allocate_shared_memory(gl.float16, [2, TM, TK], in_lds_a)
    lds_left = gl.allocate_shared_memory(gl.float16, [2, TK, HALF], in_lds_b)
    lds_right = gl.allocate_shared_memory(gl.float16, [2, TK, HALF], in_lds_b)
    of_a = offsets(TM, TK, lda, padded_load_layout(in_lds_a), True)
    of_left = offsets(TK, HALF, ldb, padded_load_layout(in_lds_b), False)
    of_right = of_left + HALF * ldb
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    left = gl.zeros((TM, HALF), gl.float32, mfma)
    right = gl.zeros((TM, HALF), gl.float32, mfma)
    steps = gl.cdiv(k, TK)
    for stage in gl.static_range(2):
        async_copy.buffer_load_to_shared(lds_a.index(stage), from_a, of_a)
        async_copy.buffer_load_to_shared(lds_left.index(stage), from_b, of_left)
        async_copy.commit_group()
        async_copy.buffer_load_to_shared(lds_right.index(stage), from_b, of_right)
        async_copy.commit_group()
        from_a += TK
        from_b += TK
    async_copy.wait_group(3)
    a = lds_a.index(0).load(dot_a)
    b = lds_left.index(0).load(dot_b)
    gl.assume(steps > 3)
    for _ in range(0, steps - 2, 2):
        for this in gl.static_range(2):
            left = cdna3.mfma(a, b, left)
            async_copy.wait_group(2)
            b = lds_right.index(this).load(dot_b)
            async_copy.buffer_load_to_shared(lds_a.index(this), from_a, of_a)
            async_copy.buffer_load_to_shared(lds_left.index(this), from_b, of_left)
            async_copy.commit_group()
            right = cdna3.mfma(a, b, right)
            async_copy.wait_group(2)
            a = lds_a.index(1 - this).load(dot_a)
            b = lds_left.index(1 - this).load(dot_b)
            async_copy.buffer_load_to_shared(lds_right.index(this), from_b, of_right)
            async_copy.commit_group()
            from_a += TK
            from_b += TK
    left = cdna3.mfma(a, b, left)
    async_copy.wait_group(0)
    b = lds_right.index(0).load(dot_b)
    right = cdna3.mfma(a, b, right)
    a = lds_a.index(1).load(dot_a)
    b = lds_left.index(1).load(dot_b)
    left = cdna3.mfma(a, b, left)
    b = lds_right.index(1).load(dot_b)
    across: gl.constexpr = gl.BlockedLayout([1, 8], [4, 16], [4, 1], [1, 0])
    stored(c_ptr, ldc, left, row * TM, column * TN, across)
    right = cdna3.mfma(a, b, right)
    stored(c_ptr, ldc, right, row * TM, column * TN + HALF, across)


# v8: A in a top and a bottom half too: four quarters of the tile, one after the other in each step.
@gluon.jit
def v8(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    row, column = tile_of(n, TN)
    HM: gl.constexpr = TM // 2
    HN: gl.constexpr = TN // 2
    mfma: gl.constexpr = mfma_layout(4, 32, 2, 2)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    in_lds_a: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_a, [HM, TK], gl.float16)
    in_lds_b: gl.constexpr = cdna4.compute_efficient_padded_shared_layout(dot_b, [TK, HN], gl.float16)
    lds_top = gl.allocate_shared_memory(gl.float16, [2, HM, TK], in_lds_a)
    lds_bottom = gl.allocate_shared_memory(gl.float16, [2, HM, TK], in_lds_a)
    lds_left = gl.allocate_shared_memory(gl.float16, [2, TK, HN], in_lds_b)
    lds_right = gl.allocate_shared_memory(gl.float16, [2, TK, HN], in_lds_b)
    # Of even steps; those of odd ones are TK farther along k.
    of_top = offsets(HM, TK, lda, padded_load_layout(in_lds_a), True)
    of_bottom = of_top + HM * lda
    of_left = offsets(TK, HN, ldb, padded_load_layout(in_lds_b), False)
    of_right = of_left + HN * ldb
    odd_top = of_top + TK
    odd_bottom = of_bottom + TK
    odd_left = of_left + TK
    odd_right = of_right + TK
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    tl = gl.zeros((HM, HN), gl.float32, mfma)
    bl = gl.zeros((HM, HN), gl.float32, mfma)
    tr = gl.zeros((HM, HN), gl.float32, mfma)
    br = gl.zeros((HM, HN), gl.float32, mfma)
    steps = gl.cdiv(k, TK)
    async_copy.buffer_load_to_shared(lds_left.index(0), from_b, of_left)
    async_copy.commit_group()
    async_copy.buffer_load_to_shared(lds_top.index(0), from_a, of_top)
    async_copy.commit_group()
    async_copy.buffer_load_to_shared(lds_bottom.index(0), from_a, of_bottom)
    async_copy.commit_group()
    async_copy.buffer_load_to_shared(lds_right.index(0), from_b, of_right)
    async_copy.commit_group()
    async_copy.buffer_load_to_shared(lds_left.index(1), from_b, odd_left)
    async_copy.commit_group()
    async_copy.buffer_load_to_shared(lds_top.index(1), from_a, odd_top)
    async_copy.commit_group()
    async_copy.buffer_load_to_shared(lds_bottom.index(1), from_a, odd_bottom)
    async_copy.commit_group()
    async_copy.buffer_load_to_shared(lds_right.index(1), from_b, odd_right)
    async_copy.commit_group()
    from_a += 2 * TK
    from_b += 2 * TK
    async_copy.wait_group(6)
    b_left = lds_left.index(0).load(dot_b)
    a_top = lds_top.index(0).load(dot_a)
    gl.assume(steps > 3)
    for _ in range(0, steps - 2, 2):
        for this in gl.static_range(2):
            tl = cdna3.mfma(a_top, b_left, tl)
            async_copy.wait_group(5)
            a_bottom = lds_bottom.index(this).load(dot_a)
            async_copy.buffer_load_to_shared(lds_left.index(this), from_b, of_left if this == 0 else odd_left)
            async_copy.commit_group()
            bl = cdna3.mfma(a_bottom, b_left, bl)
            async_copy.wait_group(5)
            b_right = lds_right.index(this).load(dot_b)
            async_copy.buffer_load_to_shared(lds_top.index(this), from_a, of_top if this == 0 else odd_top)
            async_copy.commit_group()
            tr = cdna3.mfma(a_top, b_right, tr)
            async_copy.wait_group(5)
            b_left = lds_left.index(1 - this).load(dot_b)
            async_copy.buffer_load_to_shared(lds_bottom.index(this), from_a, of_bottom if this == 0 else odd_bottom)
            async_copy.commit_group()
            br = cdna3.mfma(a_bottom, b_right, br)
            async_copy.wait_group(5)
            a_top = lds_top.index(1 - this).load(dot_a)
            async_copy.buffer_load_to_shared(lds_right.index(this), from_b, of_right if this == 0 else odd_right)
            async_copy.commit_group()
        from_a += 2 * TK
        from_b += 2 * TK
    tl = cdna3.mfma(a_top, b_left, tl)
    async_copy.wait_group(0)
    a_bottom = lds_bottom.index(0).load(dot_a)
    bl = cdna3.mfma(a_bottom, b_left, bl)
    b_right = lds_right.index(0).load(dot_b)
    tr = cdna3.mfma(a_top, b_right, tr)
    b_left = lds_left.index(1).load(dot_b)
    br = cdna3.mfma(a_bottom, b_right, br)
    a_top = lds_top.index(1).load(dot_a)
    across: gl.constexpr = gl.BlockedLayout([1, 8], [4, 16], [4, 1], [1, 0])
    tl = cdna3.mfma(a_top, b_left, tl)
    a_bottom = lds_bottom.index(1).load(dot_a)
    stored(c_ptr, ldc, tl, row * TM, column * TN, across)
    bl = cdna3.mfma(a_bottom, b_left, bl)
    b_right = lds_right.index(1).load(dot_b)
    stored(c_ptr, ldc, bl, row * TM + HM, column * TN, across)
    tr = cdna3.mfma(a_top, b_right, tr)
    stored(c_ptr, ldc, tr, row * TM, column * TN + HN, across)
    br = cdna3.mfma(a_bottom, b_right, br)
    stored(c_ptr, ldc, br, row * TM + HM, column * TN + HN, across)


# MI300X, eight waves: two on a SIMD, one of which loads and stores LDS while the other multiplies. Registers hold the
# next tile, LDS this one.
@gluon.jit
def mi300x(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: gl.constexpr, TN: gl.constexpr, TK: gl.constexpr):
    # Workgroups of an XCD are neighbours, in columns of four tiles of m.
    tiles = (m // TM) * (n // TN)
    number = gl.program_id(0)
    number = number % 8 * (tiles // 8) + number // 8
    across = n // TN
    row = number // (4 * across) * 4 + number % 4
    column = number % (4 * across) // 4
    HM: gl.constexpr = TM // 2
    HN: gl.constexpr = TN // 2
    along_a: gl.constexpr = gl.DistributedLinearLayout(
        [[0, 1], [0, 2], [0, 4], [8, 0], [128, 0]], [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0]],
        [[16, 0], [32, 0], [64, 0]], [], [TM, TK])
    along_b: gl.constexpr = gl.DistributedLinearLayout(
        [[1, 0], [2, 0], [4, 0], [0, 8], [0, 128]], [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2], [0, 4]],
        [[0, 16], [0, 32], [0, 64]], [], [TK, TN])
    mfma: gl.constexpr = mfma_layout(3, 16, 2, 4)
    dot_a: gl.constexpr = gl.DotOperandLayout(0, mfma, 8)
    dot_b: gl.constexpr = gl.DotOperandLayout(1, mfma, 8)
    lds_a = gl.allocate_shared_memory(gl.float16, [TM, TK], gl.SwizzledSharedLayout(8, 1, 8, order=[1, 0]))
    lds_b = gl.allocate_shared_memory(gl.float16, [TK, TN], gl.SwizzledSharedLayout(8, 1, 8, order=[0, 1]))
    of_a = offsets(TM, TK, lda, along_a, True)
    of_b = offsets(TK, TN, ldb, along_b, False)
    from_a = a_ptr + row * TM * lda
    from_b = b_ptr + column * TN * ldb
    tl = gl.zeros((HM, HN), gl.float32, mfma)
    tr = gl.zeros((HM, HN), gl.float32, mfma)
    bl = gl.zeros((HM, HN), gl.float32, mfma)
    br = gl.zeros((HM, HN), gl.float32, mfma)
    steps = gl.cdiv(k, TK)
    gl.assume(steps > 1)
    next_b = cdna3.buffer_load(from_b, of_b)
    next_a = cdna3.buffer_load(from_a, of_a)
    from_a += TK
    from_b += TK
    lds_b.store(next_b)
    lds_a.store(next_a)
    b_left = lds_b.slice(0, HN, 1).load(dot_b)
    for _ in range(0, steps - 1):
        with warp_pipeline_stage("memory", priority=1):
            next_b = cdna3.buffer_load(from_b, of_b)
            a_top = lds_a.slice(0, HM, 0).load(dot_a)
        with warp_pipeline_stage("multiply", priority=0):
            tl = cdna3.mfma(a_top, b_left, tl)
        with warp_pipeline_stage("memory", priority=1):
            next_a = cdna3.buffer_load(from_a, of_a)
            b_right = lds_b.slice(HN, HN, 1).load(dot_b)
        with warp_pipeline_stage("multiply", priority=0):
            tr = cdna3.mfma(a_top, b_right, tr)
        with warp_pipeline_stage("memory", priority=1):
            a_bottom = lds_a.slice(HM, HM, 0).load(dot_a)
            lds_b.store(next_b)
        with warp_pipeline_stage("multiply", priority=0):
            bl = cdna3.mfma(a_bottom, b_left, bl)
        with warp_pipeline_stage("memory", priority=1):
            b_left = lds_b.slice(0, HN, 1).load(dot_b)
            lds_a.store(next_a)
            from_a += TK
            from_b += TK
        with warp_pipeline_stage("multiply", priority=0):
            br = cdna3.mfma(a_bottom, b_right, br)
    a_top = lds_a.slice(0, HM, 0).load(dot_a)
    tl = cdna3.mfma(a_top, b_left, tl)
    b_right = lds_b.slice(HN, HN, 1).load(dot_b)
    tr = cdna3.mfma(a_top, b_right, tr)
    a_bottom = lds_a.slice(HM, HM, 0).load(dot_a)
    bl = cdna3.mfma(a_bottom, b_left, bl)
    br = cdna3.mfma(a_bottom, b_right, br)
    stored(c_ptr, ldc, tl, row * TM, column * TN, mfma)
    stored(c_ptr, ldc, bl, row * TM + HM, column * TN, mfma)
    stored(c_ptr, ldc, tr, row * TM, column * TN + HN, mfma)
    stored(c_ptr, ldc, br, row * TM + HM, column * TN + HN, mfma)


LARGE = [(256, 256)]
WIDE = [(256, 128), (128, 256), (128, 128), (64, 256)]
NARROW = [(256, 64), (128, 64), (64, 128)]
TILES = {
    v0: LARGE,
    v2: LARGE,
    v3: LARGE,
    v4: LARGE,
    v5: LARGE + WIDE,
    v6: WIDE,
    v7: LARGE + WIDE + NARROW,
    v8: LARGE + WIDE + NARROW + [(64, 64)],
    mi300x: LARGE,
}


def compiled(kernel, tile):
    signature = {name: "*fp16" for name in ["a_ptr", "b_ptr", "c_ptr"]}
    signature |= {name: "i32" for name in ["m", "n", "k", "lda", "ldb", "ldc"]}
    signature |= {name: "constexpr" for name in ["TM", "TN", "TK"]}
    constants = dict(zip(["TM", "TN", "TK"], [*tile, 64]))
    source = GluonASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(list(signature).index(name),): value for name, value in constants.items()},
        attrs={(i,): [["tt.divisibility", 16]] for i in range(9)},
    )
    is_mi300x = kernel is mi300x
    options = {"num_warps": 8 if is_mi300x else 4}
    if is_mi300x:
        # Two waves on a SIMD share its registers: those of the matrix cores add nothing.
        options["llvm_fn_attrs"] = (("amdgpu-agpr-alloc", "0,0"),)
    return triton.compile(source, target=GPUTarget("hip", "gfx942" if is_mi300x else "gfx950", 64), options=options)


def main(folder):
    rows = []
    for kernel, tiles in TILES.items():
        for tile in tiles:
            result = compiled(kernel, tile)
            name = f"{kernel.__name__}_{tile[0]}x{tile[1]}"
            (folder / name).write_bytes(result.asm["hsaco"])
            rows.append([name, result.metadata.name, result.metadata.shared, result.metadata.num_warps])
    lines = ["\t".join(map(str, row)) + "\n" for row in rows]
    (folder / "kernels.tsv").write_text("".join(lines))


main(Path(sys.argv[1]))
