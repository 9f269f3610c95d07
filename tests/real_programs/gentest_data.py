"""Draws cases of rocblas-test or rocsparse-test by a seed, evenly from their functions. Otherwise rocblas-test would take a
minute and 4 GB to read all 1.6 million.

    gentest_data.py DATA CATEGORY COUNT SEED > DRAWN

Their clients/common/roc*_gentest.py write DATA: a magic word, a record whose bytes give the offsets of fields, another word, then
one record per case. Each record has the function, the name and the category at a fixed offset, 64 bytes each.
"""

import mmap
import sys

from draw import evenly

FIELD = 64
# The two words, and the offset of the function.
LIBRARIES = [(b"rocBLAS\0", b"ROCblas\0", 0), (b"rocSPARSE\0", b"ROCsparse\0", 539)]

path, category, count, seed = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3]), sys.argv[4]
with open(path, "rb") as file:
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
library = next((words for words in LIBRARIES if data[: len(words[0])] == words[0]), None)
end = data.find(library[1]) if library else -1
if end < 0:
    sys.exit(f"{path} is no data of rocblas-test or rocsparse-test")
size, first, field = end - len(library[0]), end + len(library[1]), library[2]
groups = {}
for at in range(first, len(data) - size + 1, size):
    function, name, of = (data[at + i : at + i + FIELD].split(b"\0")[0] for i in range(field, field + 3 * FIELD, FIELD))
    if of == category:
        groups.setdefault(function, []).append(at)
drawn = evenly(list(groups.values()), count, seed)
sys.stdout.buffer.write(data[:first] + b"".join(data[at : at + size] for at in drawn))
print(f"{len(drawn)} of {sum(map(len, groups))} cases of {len(groups)} functions", file=sys.stderr)
