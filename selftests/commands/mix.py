# SPDX-License-Identifier: GPL-2.0
"""Work for the distribution's python3: the interpreter, its C parts, threads, and waiting
in several system calls."""

import hashlib
import json
import queue
import re
import select
import socket
import subprocess
import sys
import threading
import time
import zlib


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


class Item:
    def __init__(self, key):
        self.key = key

    def __lt__(self, other):
        return self.key < other.key


def compute(rounds):
    text = json.dumps([{"key": i, "name": f"name {i}", "parts": list(range(i % 7))}
                       for i in range(300)])
    for i in range(rounds):
        fibonacci(12)
        sorted(Item(k * 7919 % 1009) for k in range(200))
        sorted(range(300), key=lambda k: -k % 17)
        json.loads(text)
        re.sub(r"(\w+) (\d+)", lambda found: found.group(2), text)
        zlib.decompress(zlib.compress(text.encode()))
        hashlib.sha256(text.encode()).hexdigest()


def work(jobs, done):
    while (rounds := jobs.get()) is not None:
        compute(rounds)
        done.put(rounds)


def threads(rounds):
    jobs, done = queue.Queue(), queue.Queue()
    workers = [threading.Thread(target=work, args=(jobs, done)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(rounds):
        jobs.put(1)
    for _ in range(rounds):
        done.get()
    for _ in workers:
        jobs.put(None)
    for worker in workers:
        worker.join()


def echo(end):
    while data := end.recv(100):
        time.sleep(0.001)
        end.sendall(data)


def wait(rounds):
    near, far = socket.socketpair()
    thread = threading.Thread(target=echo, args=(far,))
    thread.start()
    for _ in range(rounds):
        near.sendall(b"question")
        select.select([near], [], [], 10)
        near.recv(100)
        time.sleep(0.001)
    near.shutdown(socket.SHUT_WR)
    thread.join()
    for _ in range(max(1, rounds // 20)):
        subprocess.run(["/bin/sh", "-c", "echo; sleep 0.01"], stdout=subprocess.PIPE, check=True)


if __name__ == "__main__":
    ROUNDS = int(sys.argv[1])
    compute(ROUNDS)
    threads(ROUNDS)
    wait(ROUNDS * 4)
