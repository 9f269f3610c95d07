"""A matrix product in Triton, by the structure of its tutorial on matrix multiplication, compiled without a GPU.

    python vendor.py FOLDER

writes a code object for each GPU, type and tile, and `kernels.tsv`: file, symbol, bytes of LDS, waves, in that order. A file is
named by GPU, type and tile. All kernels compute C = A B with row-major matrices, for m, n and k that are multiples of the tile's
extents. Their arguments are the addresses of A, B and C, then m, n, k and the three leading dimensions as 32-bit integers. Groups
of eight rows of tiles are computed column by column, so that workgroups that run together share operands in L2.
"""

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

GROUP = 8


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, GROUP: tl.constexpr):
    number = tl.program_id(0)
    rows = tl.cdiv(m, TM)
    columns = tl.cdiv(n, TN)
    group = number // (GROUP * columns)
    first = group * GROUP
    height = min(rows - first, GROUP)
    inside = number % (GROUP * columns)
    row = (first + inside % height) * TM
    column = (inside // height) * TN
    y = row + tl.arange(0, TM)
    x = column + tl.arange(0, TN)
    z = tl.arange(0, TK)
    from_a = a_ptr + y[:, None] * lda + z[None, :]
    from_b = b_ptr + z[:, None] * ldb + x[None, :]
    sums = tl.zeros((TM, TN), tl.float32)
    for _ in range(0, k // TK):
        sums = tl.dot(tl.load(from_a), tl.load(from_b), sums)
        from_a += TK
        from_b += TK * ldb
    tl.store(c_ptr + y[:, None] * ldc + x[None, :], sums.to(c_ptr.dtype.element_ty))


# Rows, columns, k, waves.
TILES = [
    (256, 256, 64, 8),
    (256, 256, 32, 8),
    (256, 128, 64, 8),
    (128, 128, 64, 8),
    (128, 128, 64, 4),
    (128, 64, 64, 4),
    (64, 64, 64, 4),
]
TYPES = {
    "gfx942": {"f16": ("fp16", "fp16"), "bf16": ("bf16", "bf16"), "fp8": ("fp8e4b8", "fp32")},
    "gfx950": {"f16": ("fp16", "fp16"), "bf16": ("bf16", "bf16"), "fp8": ("fp8e4nv", "fp32")},
}


def compiled(gpu, types, tile):
    m, n, k, waves = tile
    operand, result = types
    # Of a size in bytes.
    k = 2 * k if operand.startswith("fp8") else k
    signature = {"a_ptr": f"*{operand}", "b_ptr": f"*{operand}", "c_ptr": f"*{result}"}
    signature |= {name: "i32" for name in ["m", "n", "k", "lda", "ldb", "ldc"]}
    signature |= {name: "constexpr" for name in ["TM", "TN", "TK", "GROUP"]}
    constants = {"TM": m, "TN": n, "TK": k, "GROUP": GROUP}
    source = ASTSource(
        fn=matmul,
        signature=signature,
        constexprs={(list(signature).index(name),): value for name, value in constants.items()},
        attrs={(i,): [["tt.divisibility", 16]] for i in range(9)},
    )
    options = {"num_warps": waves, "num_stages": 2, "matrix_instr_nonkdim": 16}
    return triton.compile(source, target=GPUTarget("hip", gpu, 64), options=options)


def main(folder):
    lines = []
    for gpu, types in TYPES.items():
        for name, of_type in types.items():
            for tile in TILES:
                result = compiled(gpu, of_type, tile)
                file = "_".join([gpu, name, "x".join(map(str, tile))])
                (folder / file).write_bytes(result.asm["hsaco"])
                row = [file, result.metadata.name, result.metadata.shared, result.metadata.num_warps]
                lines.append("\t".join(map(str, row)) + "\n")
    (folder / "kernels.tsv").write_text("".join(lines))


main(Path(sys.argv[1]))
