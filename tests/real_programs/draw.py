"""Draws lines of standard input by a seed, evenly from their groups, and leaves them in their order.

    draw.py SEED COUNT PATTERN

Lines are of one group if what the pattern finds in them is the same.
"""

import random
import re
import sys

seed, count, pattern = sys.argv[1], int(sys.argv[2]), re.compile(sys.argv[3])
groups = {}
for number, line in enumerate(sys.stdin):
    groups.setdefault(pattern.search(line)[0], []).append((number, line))
rng = random.Random(seed)
groups = list(groups.values())
for lines in groups:
    rng.shuffle(lines)
rng.shuffle(groups)
# One of each group, then another of each, until there are enough.
depth = max(map(len, groups), default=0)
drawn = [lines[turn] for turn in range(depth) for lines in groups if turn < len(lines)]
sys.stdout.writelines(line for _, line in sorted(drawn[:count]))
