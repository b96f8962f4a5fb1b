# SPDX-License-Identifier: GPL-2.0
"""Records of the guest, see guest/init.c."""
import zlib


def record(seq, body):
    text = f"{seq} {body}"
    return f"{text} *{zlib.crc32(text.encode('latin-1')):08x}"


def record_body(line, seq):
    """The body of @line, or None if it is not the record number @seq"""
    body = line.rpartition(" *")[0].partition(" ")[2]
    return body if line == record(seq, body) else None
