"""Draws lines of standard input by a seed, evenly from their groups, and prints them in their original order.

    draw.py SEED COUNT PATTERN

Lines in which the pattern matches the same text are a group.
"""

import random
import re
import sys


def evenly(groups, count, seed):
    """One member of each group, then another of each, until there are `count`; sorted."""
    rng = random.Random(seed)
    for members in groups:
        rng.shuffle(members)
    rng.shuffle(groups)
    depth = max(map(len, groups), default=0)
    drawn = [members[turn] for turn in range(depth) for members in groups if turn < len(members)]
    return sorted(drawn[:count])


if __name__ == "__main__":
    seed, count, pattern = sys.argv[1], int(sys.argv[2]), re.compile(sys.argv[3])
    groups = {}
    for number, line in enumerate(sys.stdin):
        groups.setdefault(pattern.search(line)[0], []).append((number, line))
    sys.stdout.writelines(line for _, line in evenly(list(groups.values()), count, seed))
