# SPDX-License-Identifier: GPL-2.0
"""Counts stacks: whole.py ENTRY FILE. Each is a paragraph with an address per line, the
innermost first; kernel addresses are left out. Prints how many have user addresses, how many
of them end in _start, that is within 64 bytes behind ENTRY, and how deep they are."""

import re
import sys


def main():
    entry = int(sys.argv[1], 0)
    samples = whole = frames = 0
    with open(sys.argv[2]) as file:
        paragraphs = file.read().split('\n\n')
    for paragraph in paragraphs:
        ips = [int(line, 16) for line in paragraph.split() if re.fullmatch('(0x)?[0-9a-f]+', line)]
        ips = [ip for ip in ips if ip < 1 << 63]
        if not ips:
            continue
        samples += 1
        frames += len(ips)
        whole += entry < ips[-1] <= entry + 64
    print(samples, whole, f'{frames / max(samples, 1):.1f}')


main()
