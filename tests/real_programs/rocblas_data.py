"""Draws cases of rocblas-test by a seed, evenly from its functions: it takes a minute and 4 GB to read all 1.6 million.

    rocblas_data.py DATA CATEGORY COUNT SEED > DRAWN

rocBLAS's clients/common/rocblas_gentest.py writes DATA: a magic word, a record whose bytes tell where fields lie, another
word, then a record a case. Each record begins with the function, the name and the category, of 64 bytes each.
"""

import mmap
import random
import sys

BEGIN, END, FIELD = b"rocBLAS\0", b"ROCblas\0", 64

path, category, count, seed = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3]), sys.argv[4]
with open(path, "rb") as file:
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
end = data.find(END)
if data[: len(BEGIN)] != BEGIN or end < 0:
    sys.exit(f"{path} is no data of rocblas-test")
size, first = end - len(BEGIN), end + len(END)
groups = {}
for at in range(first, len(data) - size + 1, size):
    function, name, of = (data[at + i : at + i + FIELD].rstrip(b"\0") for i in range(0, 3 * FIELD, FIELD))
    if of == category:
        groups.setdefault(function, []).append(at)
rng = random.Random(seed)
groups = list(groups.values())
for places in groups:
    rng.shuffle(places)
rng.shuffle(groups)
# One of each function, then another of each, until there are enough.
depth = max(map(len, groups), default=0)
drawn = [places[turn] for turn in range(depth) for places in groups if turn < len(places)][:count]
sys.stdout.buffer.write(data[:first] + b"".join(data[at : at + size] for at in sorted(drawn)))
print(f"{len(drawn)} of {sum(map(len, groups))} cases of {len(groups)} functions", file=sys.stderr)
