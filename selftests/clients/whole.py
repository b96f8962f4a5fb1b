# SPDX-License-Identifier: GPL-2.0
"""Judges stacks by the code of the process: whole.py PID FILE [calls]. Each stack is a paragraph with
an address, or build id and file offset, per line, the innermost first; kernel addresses are left out. Prints how many stacks
have user addresses, how many of them are whole, how deep they are on average, and how many
have a frame that is bogus: in no executable mapping, or with no call before it; and how many are
neither whole nor have one. Generated code is not checked: Java's interpreter lets methods return to addresses that follow no call.
With "calls", a caller is the last byte of the call, as DWARF unwinders print it.

A stack is whole if no frame is bogus and it ends where the program or a thread begins: before
the hlt of _start, in the first bytes of the program, or before libc exits with what the first
function of a thread has returned.
In Go, it is whole if no frame is bogus up to the first one in GO_ROOTS, where Go's own
traceback ends: from there the frame pointer leads to another stack, or to an old one.
.gopclntab has these functions.

With ENDS=FILE in the environment, FILE gets the addresses where the other stacks end, the commonest
first: how many, file offset and file, frames of the deepest; and the bogus frames."""

import collections
import os
import re
import struct
import sys

AT_ENTRY = 9
MAX_START = 96  # bytes of a _start, as musl's, which has no hlt
ARM64 = os.uname().machine == 'aarch64'
# glibc's makecontext() makes stacks that return to the first instruction of __start_context.
START_CONTEXT = None if ARM64 else b'\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff'
ENDS = b'\xa8\x0b\x80\xd2\x01\0\0\xd4' if ARM64 else (b'\xf4', b'\x48\x89\xc7\xb8\x3c\0\0\0\x0f\x05')
SIGRETURN = b'\x68\x11\x80\xd2\x01\0\0\xd4' if ARM64 else b'\x48\xc7\xc0\x0f\0\0\0\x0f\x05'
# BL, BLR and BLRA* of arm64
CALL = re.compile(rb'(...[\x94-\x97]|..\x3f[\xd6\xd7])\Z' if ARM64 else
                  rb'(\xe8....|\xff([\x10-\x13\x16\x17\xd0-\xd7]|\x14.|\x14.....|\x15....|'
                  rb'[\x50-\x53\x55-\x57].|\x54..|[\x90-\x93\x95-\x97]....|\x94.....))\Z', re.S)
GO_ROOTS = re.compile(r'runtime\.(goexit|mstart[01]?|mcall|morestack|rt0_go)|_rt0_.*')


def section(elf, wanted):
    """(address, bytes) of a section, or None"""
    start, = struct.unpack_from('<Q', elf, 0x28)
    count, names = struct.unpack_from('<HH', elf, 0x3c)
    headers = [struct.unpack_from('<IIQQQQ', elf, start + 64 * i) for i in range(count)]
    for name, _, _, address, offset, size in headers:
        if elf.startswith(wanted + b'\0', headers[names][4] + name):
            return address, elf[offset:offset + size]
    return None


def build_id(elf):
    """In hexadecimal digits, or None"""
    if not elf.startswith(b'\x7fELF'):
        return None
    _, note = section(elf, b'.note.gnu.build-id') or (0, b'')
    return note[16:].hex() or None


def go_roots(elf):
    """Ranges of addresses. Of a program that is not relocated, made by Go 1.20 or later"""
    found = section(elf, b'.gopclntab')
    if not found:
        return []
    address, table = found
    count, _, text, names, _, _, _, functions = struct.unpack_from('<8Q', table, 8)
    if not text:  # Since Go 1.26 it is in the moduledata, which begins with two pointers
        text, = struct.unpack_from('<Q', elf, elf.index(struct.pack('<QQ', address, address + names)) + 176)
    ranges = []
    for i in range(count):
        start, function, end = struct.unpack_from('<III', table, functions + 8 * i)
        at = names + struct.unpack_from('<i', table, functions + function + 4)[0]
        if GO_ROOTS.fullmatch(table[at:table.index(b'\0', at)].decode()):
            ranges.append((text + start, text + end))
    return ranges


class Judge:
    def __init__(self, pid):
        with open(f'/proc/{pid}/exe', 'rb') as file:
            self.roots = go_roots(file.read())
        with open(f'/proc/{pid}/maps') as file:
            maps = [line.split() for line in file]
        self.code = [(*(int(end, 16) for end in words[0].split('-')), len(words) == 5)
                     for words in maps if 'x' in words[1]]
        self.names = [(*(int(end, 16) for end in words[0].split('-')), int(words[2], 16),
                       words[5] if len(words) > 5 else 'memory') for words in maps]
        self.files = {}  # build id -> where its executable mappings are: (offset, address, size)
        for words in maps:
            if 'x' in words[1] and len(words) > 5 and words[5].startswith('/'):
                start, end = (int(word, 16) for word in words[0].split('-'))
                with open(f'/proc/{pid}/map_files/{start:x}-{end:x}', 'rb') as file:
                    name = build_id(file.read())
                self.files.setdefault(name, []).append((int(words[2], 16), start, end - start))
        with open(f'/proc/{pid}/auxv', 'rb') as file:
            self.entry = dict(struct.iter_unpack('<QQ', file.read())).get(AT_ENTRY, 0)
        self.memory = os.open(f'/proc/{pid}/mem', os.O_RDONLY)
        self.known = {}
        self.bogus = collections.Counter()

    def read(self, start, end):
        try:
            return os.pread(self.memory, end - start, start)
        except OSError:
            return b''

    def look(self, ip):
        """(can it be a return address, is nothing outside of it, is it in no return trampoline)"""
        for start, end, generated in self.code:
            if start <= ip < end:
                after = self.read(ip, min(ip + 10, end))
                root = any(first < ip <= last for first, last in self.roots) or after == START_CONTEXT
                called = root or generated or CALL.search(self.read(max(ip - 7, start), ip))
                end = root or after.startswith(ENDS) or 0 < ip - self.entry <= MAX_START
                return called, end, not after.startswith(SIGRETURN)
        return False, False, True

    def name(self, ip):
        for start, end, offset, name in self.names:
            if start <= ip < end:
                return f'{ip - start + offset:#x} {name}'
        return f'{ip:#x} nothing'

    def address(self, line):
        """Of a line with an address, and perhaps a name, or with build id and file offset; None if
        it is neither"""
        found = re.fullmatch('(0x)?([0-9a-f]{1,16})( .*)?', line)
        if found:
            return int(found[2], 16)
        found = re.fullmatch('([0-9a-f]{17,40}) 0x([0-9a-f]+)', line)
        if not found:
            return None
        at = int(found[2], 16)
        for offset, start, size in self.files.get(found[1], []):
            if 0 <= at - offset < size:
                return start + at - offset
        return 0

    def stack(self, ips):
        """(is it whole, has it a bogus frame)"""
        whole = bogus = is_return = False
        for ip in ips:
            if ip not in self.known:
                self.known[ip] = self.look(ip)
            called, end, unsignalled = self.known[ip]
            if is_return and unsignalled and not called:
                bogus = True
                self.bogus[ip] += 1
            if not (whole and self.roots):
                whole = end and not bogus
            is_return = unsignalled
        return whole, bogus


def main():
    judge = Judge(sys.argv[1])
    samples = whole = frames = bogus = truncated = 0
    ends = collections.defaultdict(list)
    with open(sys.argv[2]) as file:
        paragraphs = file.read().split('\n\n')
    for paragraph in paragraphs:
        ips = [judge.address(line.strip()) for line in paragraph.split('\n')]
        ips = [ip for ip in ips if ip is not None and ip < 1 << 63]
        if not ips:
            continue
        if ARM64:  # perf adds the caller of a leaf function, less one, whether or not the kernel has it
            ips = [(ip + 1) & ~3 for ip, after in zip(ips, ips[1:] + [0]) if ip + 1 != after]
        if sys.argv[3:] == ['calls']:
            ips[1:] = [ip + 1 for ip in ips[1:]]
        is_whole, is_bogus = judge.stack(ips)
        samples += 1
        frames += len(ips)
        whole += is_whole
        bogus += is_bogus
        truncated += not is_whole and not is_bogus
        if not is_whole:
            ends[ips[-1]].append(len(ips))
    if 'ENDS' in os.environ:
        with open(os.environ['ENDS'], 'w') as file:
            for ip, depths in sorted(ends.items(), key=lambda end: -len(end[1])):
                print(len(depths), judge.name(ip), max(depths), file=file)
            for ip, count in judge.bogus.most_common():
                print('bogus', count, judge.name(ip), file=file)
    print(samples, whole, f'{frames / max(samples, 1):.1f}', bogus, truncated)


main()
