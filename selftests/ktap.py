# SPDX-License-Identifier: GPL-2.0
"""Prints KTAP for tests in Python."""
import sys


class Ktap:
    def __init__(self):
        self.number = self.failed = 0
        print('KTAP version 1')

    def result(self, name, good, note=''):
        self.number += 1
        self.failed += not good
        for line in note.rstrip().splitlines():
            print(f'# {line}')
        print(f'{"ok" if good else "not ok"} {self.number} {name}')

    def end(self):
        print(f'1..{self.number}')
        sys.exit(1 if self.failed else 0)
