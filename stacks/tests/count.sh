#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# stacks count and snoop: numbers, names, filters
. "$(dirname "$0")/lib.sh"

user_function() {
	run 0 count -o "$TMP/out.json" "u:$WORK:called" -- "$WORK" calls 100 &&
		json 'sum_of("events") == 300' &&
		json 'sum_of("events", "calls_once") == 100 and sum_of("events", "calls_twice") == 200' &&
		json 'd["complete"] == 300'
}

# Stripped, as distributions have it; found by its name
library_function() {
	run 0 count -o "$TMP/out.json" u:libc.so.6:malloc -- find /etc/passwd &&
		json 'sum_of("events") > 0'
}

kernel_function() {
	run 0 count -o "$TMP/out.json" ksys_read -- dd if=/dev/zero of=/dev/null bs=1 count=500 &&
		json 'sum_of("events") >= 500 and sum_of("events", "ksys_read") == sum_of("events")' &&
		json 'not d["lost"]'
}

tracepoint() {
	run 0 count -K -k process -o "$TMP/out.json" t:sched:sched_process_exit -- sh -c \
			'true & wait' &&
		json 'sum_of("events", "sched:sched_process_exit") == 2' &&
		json 'not any("bpf_trace" in n for s in d["stacks"] for n in names(s))'
}

system_call() {
	run 0 count -o "$TMP/out.json" t:syscalls:sys_enter_nanosleep \
			t:syscalls:sys_enter_clock_nanosleep \
		-- "$WORK" sleeps 100 && json 'sum_of("events", "sleeps") == 10'
}

# The stack is the caller's; the event says which function has returned.
returns() {
	run 0 count -o "$TMP/out.json" "ur:$WORK:called" kr:ksys_read -- "$WORK" calls 100 &&
		json "sum_of('events', 'ur:$WORK:called') == 300" &&
		json 'sum_of("events", "calls_twice") == 200 and not sum_of("events", "called")' &&
		json 'sum_of("events", "kr:ksys_read") >= 1'
}

# A pattern probes a function once, whatever names it has.
patterns() {
	run 0 count -o "$TMP/out.json" "u:$WORK:call?d*" -- "$WORK" calls 10 &&
		json 'sum_of("events", "called") == 30' &&
		run 0 count -o "$TMP/out.json" 'ksys_re*' -- "$WORK" calls 1 &&
		json 'sum_of("events", "ksys_read") >= 1'
}

static_probe() {
	libc=$(ldd "$WORK" | grep -o '/[^ ]*libc.so[^ ]*')
	readelf -n "$libc" 2>/dev/null | grep -q 'Name: setjmp$' ||
		{ skip "libc has no static probes"; return; }
	run 0 count -o "$TMP/out.json" U:libc.so.6:libc:setjmp -- "$WORK" jumps 10 &&
		json 'sum_of("events", "U:libc.so.6:libc:setjmp", "__sigsetjmp") >= 10'
}

two_names() {
	run 0 count -k process -o "$TMP/out.json" "u:$WORK:called" -- sh -c \
			"$WORK calls 10; $WORK calls 20" &&
		json 'sorted(sum(s["events"] for s in d["stacks"] if s["pid"] == pid) for pid in {s["pid"] for s in d["stacks"]}) == [30, 60]'
}

comm() {
	run 0 count --comm nobody -o "$TMP/out.json" "u:$WORK:called" -- "$WORK" calls 10 &&
		json 'not d["stacks"]'
}

no_room() {
	run 0 count -r 2 -o "$TMP/out.json" -k thread t:sched:sched_switch -- sh -c \
			'for i in 1 2 3 4 5 6; do true & done; wait' &&
		json 'any("--rows" in what for what in d["lost"])'
}

# A record that did not get into the ring is lost once, not also an error.
small_ring() {
	run 0 snoop -b 1 -d 2 t:raw_syscalls:sys_enter -- dd if=/dev/zero of=/dev/null bs=1 \
			count=300000 || return 1
	grep -q 'No space' "$TMP/out" "$TMP/err" && return 1
	grep -q '^[0-9]* events in all$' "$TMP/out"
}

snoop_events() {
	run 0 snoop "u:$WORK:called" -- "$WORK" calls 3 &&
		[ "$(grep -c '^ *[0-9.]*  work .* called$' "$TMP/out")" = 9 ] &&
		grep -q '^    calls_twice$' "$TMP/out"
}

# Downloads take longer than events may wait: no server is asked while events are printed.
no_download() {
	command -v python3 >/dev/null || { skip "no python3"; return; }
	ip link set lo up 2>/dev/null
	python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 8917)); s.settimeout(20); print("up", flush=True)
try: s.accept(); print("asked", flush=True)
except TimeoutError: pass' >"$TMP/server" &
	server=$!
	for _ in $(seq 100); do grep -q up "$TMP/server" && break; sleep 0.1; done
	DEBUGINFOD_URLS=http://127.0.0.1:8917 run 0 snoop t:sched:sched_process_exit -- true
	status=$?
	kill "$server"
	wait "$server" 2>/dev/null
	[ "$status" = 0 ] && grep -q sched_process_exit "$TMP/out" &&
		grep -q up "$TMP/server" && ! grep -q asked "$TMP/server"
}

# It ends before it has begun, and the probes go before their programs do.
early_signal() {
	GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=1 python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
os.kill(os.getpid(), signal.SIGINT)
os.execv(sys.argv[1], sys.argv[1:])' "$STACKS" count U:libc.so.6:libc:setjmp >"$TMP/out" 2>"$TMP/err"
	[ $? = 1 ] && grep -q 'ended before the measurement has begun' "$TMP/err"
}

wrong() {
	run 2 count && run 2 count -U -K vfs_read && run 2 count a:b &&
		run 2 count t:sched:no_such && grep -q 'no such tracepoint' "$TMP/err" &&
		run 1 count U:libc.so.6:libc:none && grep -q readelf "$TMP/err" &&
			run 1 count no_such_function_at_all &&
		run 1 count u:/no/such/file:f && run 2 snoop -o "$TMP/x.txt" vfs_read &&
				run 2 count -p 1 vfs_read -- true &&
		run 1 count vfs_read -- /no/such/command
}

tests user_function library_function kernel_function tracepoint system_call returns patterns \
	static_probe two_names comm no_room small_ring snoop_events no_download early_signal wrong
