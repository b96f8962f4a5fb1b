# SPDX-License-Identifier: GPL-2.0
"""Work for python3, without end: the interpreter, its C parts, and waiting."""

import collections
import json
import re
import time


class Item:
    def __init__(self, key):
        self.key = key

    def __lt__(self, other):
        return self.key < other.key


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def main():
    kept = collections.deque(maxlen=10000)  # Of these, some are always new
    text = json.dumps([{"key": i, "name": f"name {i}"} for i in range(300)])
    while True:
        fibonacci(12)
        sorted(Item(k * 7919 % 1009) for k in range(200))
        json.loads(text)
        re.sub(r"(\w+) (\d+)", lambda found: found.group(2), text)
        kept.append(bytes(1000))
        time.sleep(0.01)


main()
