#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# stacks profile: shares, filters, and what it does not lose
. "$(dirname "$0")/lib.sh"

# How often a sample is taken depends on the machine: four standard deviations are allowed.
shares() {
	run 0 profile -o "$TMP/out.json" -- "$WORK" shares 6 &&
		json 'sum_of("samples", "burn") > 100' &&
		json 'share_is("share_one", 1 / 6) and share_is("share_three", 1 / 2)' &&
		json 'd["complete"] > 0.9 * d["with_user_stack"]'
}

# One line of quality first, functions by self and total, then stacks
text() {
	run 0 profile -n 3 -- "$WORK" shares 1 &&
		sed -n 2p "$TMP/out" | grep -q \
				'% of .* samples with a user stack have a complete one' &&
		grep -q '^ *[0-9.]* % *[0-9.]* %  burn$' "$TMP/out" &&
		grep -q '^    main$' "$TMP/out"
}

# Counters that are 0 only with -v
verbose() {
	run 0 profile -- "$WORK" shares 0.2 && ! grep -q ' 0 ' "$TMP/out" &&
		run 0 profile -v -- "$WORK" shares 0.2 && grep -q '^Lost: 0 ' "$TMP/out"
}

# Each stack comes once, however often it is sampled.
sent_once() {
	run 0 profile -k none -o "$TMP/out.json" -- "$WORK" shares 3 &&
		json 'd["counts"]["records from the kernel"] < d["counts"]["samples in all"] / 2'
}

# A process that changes its name has two.
renamed() {
	run 0 profile -o "$TMP/out.json" -- "$WORK" renames 0.5 &&
		json '{"before", "after"} <= {s["process"] for s in d["stacks"]}'
}

# Threads that begin while it attaches, and later, have samples, too.
new_threads() {
	"$WORK" threads 60 &
	pid=$!
	run 0 profile -p "$pid" -d 2 -k none -o "$TMP/out.json" || return 1
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	json 'sum_of("samples", "in_thread") > 0.5 * sum_of("samples")'
}

two_processes() {
	"$WORK" shares 9 & a=$!
	"$WORK" shares 9 & b=$!
	"$WORK" shares 9 & c=$!
	run 0 profile -p "$a,$b" -d 1.5 -o "$TMP/out.json"
	status=$?
	kill "$a" "$b" "$c" 2>/dev/null
	wait
	[ "$status" = 0 ] && json "{s['pid'] for s in d['stacks']} == {$a, $b}"
}

one_cpu() {
	for cpu in 0 1; do
		run 0 profile -F 999 -C "$cpu" -K -k none -o "$TMP/out.json" -- taskset -c 0 \
				dd if=/dev/zero of=/dev/null bs=1 count=100000 || return 1
		# It begins on any CPU, but writes on CPU 0 only.
		if [ "$cpu" = 0 ]; then
			json 'sum_of("samples") >= 30 and all(f["kind"] == "kernel"
			      for s in d["stacks"] for f in s["frames"])' &&
				json 'any("sys_write" in n for s in d["stacks"] for n in names(s))'
		else
			json 'not any("sys_write" in n for s in d["stacks"] for n in names(s))'
		fi || return 1
	done
}

cgroup() {
	group=/sys/fs/cgroup/stacks-test
	grep -q cgroup2 /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
	mkdir "$group" 2>/dev/null || { skip "no cgroups"; return; }
	sh -c "echo \$\$ >$group/cgroup.procs; exec $WORK shares 60" & a=$!
	"$WORK" shares 60 & b=$!
	run 0 profile -a -G stacks-test -d 1 -o "$TMP/out.json" &&
		run 0 profile -p "$a,$b" -k cgroup -d 1 -f folded
	status=$?
	kill "$a" "$b" 2>/dev/null
	wait
	rmdir "$group"
	[ "$(cut -d ';' -f 1 "$TMP/out" | sort -u | grep -c '^/')" = 2 ] &&
		grep -q '^/stacks-test;.*burn' "$TMP/out" || status=1
	[ "$status" = 0 ] && json "{s['pid'] for s in d['stacks']} == {$a}"
}

faults() {
	run 0 profile -e page-faults -c 1 -o "$TMP/out.json" -- "$(command -v sh)" -c true &&
		json 'sum_of("samples") > 10' && run 2 profile -e nonsense -- true
}

# -d with fractions; a command that does not end when asked is killed, and the profile is there.
ends() {
	begin=$(date +%s)
	run 0 profile -d 0.5 -o "$TMP/out.json" -- sh -c 'trap "" TERM; while :; do :; done'
	[ $(($(date +%s) - begin)) -lt 90 ] && json 'sum_of("samples") > 0'
}

# Each picture shows the time since the last one.
top() {
	run 0 top --interval 1 -F 199 -d 4 -- "$WORK" shares 9
	[ "$(grep -c '^    self     total  function$' "$TMP/out")" -ge 2 ] &&
		grep -q '% *[0-9.]* %  burn$' "$TMP/out" &&
		run 0 top --interval 9 -F 199 -d 1 -- "$WORK" shares 9 &&
		grep -q '% *[0-9.]* %  burn$' "$TMP/out" &&
		run 2 top -o "$TMP/x.txt" -- true && run 2 top --interval 0 -- true
}

# A program with a large library, of which nothing has to be looked at but names
large_program() {
	command -v clang >/dev/null || { skip "no clang"; return; }
	run 0 profile -o "$TMP/out.json" -- clang --version && json 'sum_of("samples") > 0'
}

# COMMAND has no rights but those of the caller; its exit status is the program's.
command_rights() {
	run 7 profile -o "$TMP/out.json" -- sh -c 'exit 7' &&
		run 143 profile -o "$TMP/out.json" -- sh -c 'kill $$' || return 1
	setpriv --reuid=12345 --clear-groups --inh-caps=-all,+bpf,+perfmon \
		--ambient-caps=-all,+bpf,+perfmon "$STACKS" profile -f folded -- \
		grep CapEff /proc/self/status >"$TMP/out" 2>"$TMP/err"
	grep -q '^CapEff:.0000000000000000$' "$TMP/out" &&
		SUDO_UID=65534 run 0 profile -f folded -- id -u && grep -q '^65534$' "$TMP/out"
}

size_of() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"; }

# One file for each interval; a program that has ended is forgotten: its file is not open any more.
every() {
	mkdir "$TMP/every"
	cp "$WORK" "$TMP/once"
	"$STACKS" record -a -F 199 --every 2 -o "$TMP/every" 2>"$TMP/log" & tool=$!
	sleep 3
	"$TMP/once" shares 3 &
	for _ in $(seq 100); do
		open=$(find "/proc/$tool/fd" -lname '*once*' 2>/dev/null | wc -l)
		[ "$open" = 0 ] || break
		sleep 0.1
	done
	wait $!
	size=$(size_of "$tool")
	"$WORK" shares 8
	later=$(find "/proc/$tool/fd" -lname '*once*' 2>/dev/null | wc -l)
	grown=$(($(size_of "$tool") - size))
	kill -INT "$tool"
	wait "$tool" || return 1
	set -- "$TMP/every"/*.stacks
	samples=0 full=0
	for file; do
		run 0 report -o "$TMP/out.json" -o "$file.firefox.json" "$file" || return 1
		cp "$TMP/out.json" "$file.json"
		# The last interval can be short.
		json 'len(d["stacks"]) > 0' >/dev/null && full=$((full + 1))
		json 'sum_of("samples", "burn") > 0' >/dev/null && samples=$((samples + 1))
	done
	echo "# $# files, $full with stacks, $samples with samples; $open open files, then $later; $size KiB and $grown"
	[ "$full" -ge $(($# - 1)) ] && [ "$full" -ge 3 ] && [ "$samples" -ge 2 ] && [ "$open" -gt 0 ] && [ "$later" = 0 ] &&
		[ "$grown" -lt 16384 ] && ! grep neither "$TMP/log" && run 2 record --every 1 -- true &&
		intervals_fit "$@"
}

# One ends where the next one begins: their names have the seconds. A sample stands for the same time.
intervals_fit() {
	python3 - "$@" <<'EOF'
import datetime, json, sys
names = [name.rsplit("/", 1)[1] for name in sys.argv[1:]]
begins = [datetime.datetime.strptime(name, "%Y%m%dT%H%M%SZ.stacks").timestamp() for name in names]
seconds = [json.load(open(name + ".json"))["seconds"] for name in sys.argv[1:]]
meta = [json.load(open(name + ".firefox.json"))["meta"] for name in sys.argv[1:]]
print("#", begins[-1] - begins[0], "s, of which files have", sum(seconds[:-1]))
sys.exit(abs(begins[-1] - begins[0] - sum(seconds[:-1])) > 1.1 or
         any(abs(m["interval"] - 1000 / 199) > 0.001 for m in meta))
EOF
}

# mount_call CALL: of libc, such as umount(b"/mnt")
mount_call() {
	python3 -c "import ctypes, sys; sys.exit(ctypes.CDLL(None).$1)"
}

# What does not fit on the disk is lost, but not what was there, or comes later.
every_full() {
	mkdir "$TMP/small"
	mount_call "mount(b'none', b'$TMP/small', b'tmpfs', 0, b'size=1m,mode=755')" || return 1
	echo old >"$TMP/small/kept.txt"
	dd if=/dev/zero of="$TMP/small/fill" bs=64k 2>/dev/null
	run 1 profile -n 1000000 -o "$TMP/small/kept.txt" -- "$WORK" shares 0.5
	kept=$(cat "$TMP/small/kept.txt")
	"$STACKS" record -a -F 199 --every 1 -o "$TMP/small" 2>"$TMP/log" & tool=$!
	timeout 30 sh -c "until grep -q 'cannot write' '$TMP/log'; do sleep 0.1; done"
	rm "$TMP/small/fill"
	"$WORK" shares 3
	kill -INT "$tool"
	wait "$tool"
	ended=$?
	set -- "$TMP/small"/*.stacks
	for file; do
		run 0 report -o "$TMP/out.json" "$file" && json 'sum_of("samples", "burn") > 0' && break
	done >"$TMP/reports"
	found=$?
	mount_call "umount(b'$TMP/small')"
	echo "# status $ended, $# files; $kept"
	[ "$ended" = 1 ] && [ "$kept" = old ] && [ "$found" = 0 ] && [ "$#" -ge 2 ]
}

# The id of a process that has ended is given to another one.
reused_id() {
	cp "$WORK" "$TMP/stranger"
	"$WORK" shares 1 & a=$!
	"$WORK" shares 60 & b=$!
	"$STACKS" profile -p "$a,$b" -o "$TMP/out.json" 2>"$TMP/err" & tool=$!
	wait "$a"
	timeout 20 sh -c "until grep -q Sampling '$TMP/err'; do sleep 0.1; done"
	sleep 1
	python3 - "$a" "$TMP/stranger" <<'EOF'
import ctypes, os, signal, struct, sys
id = ctypes.c_int(int(sys.argv[1]))
request = struct.pack("<11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(id), 1, 0)
made = ctypes.CDLL(None).syscall(435, request, len(request))
if not made:
    os.execv(sys.argv[2], [sys.argv[2], "shares", "1"])
sys.exit(made != id.value or os.waitpid(made, 0)[1] != 0)
EOF
	made=$?
	kill -INT "$tool"
	wait "$tool"
	status=$?
	kill "$b"
	wait "$b" 2>/dev/null
	[ "$made" = 0 ] && [ "$status" = 0 ] && json 'sum_of("samples", "burn") > 50' &&
		json 'not any(s["process"] == "stranger" for s in d["stacks"])'
}

messages() {
	run 0 profile -a -F 99 -d 0.5 -o "$TMP/out.json" &&
		grep -q '^Sampling all processes at 99 Hz\. Ctrl-C ends it\.$' "$TMP/err" &&
		run 0 profile -o "$TMP/out.json" -- "$WORK" shares 0.5 &&
		! grep -q Sampling "$TMP/err" && grep -q \
			"^$TMP/out.json: [0-9]* samples, [0-9]* lost; .* % of user stacks are" "$TMP/err"
}

# What "stacks jit" has of sections: main -> generated -> call_changes -> generated -> burn. A walk
# ends where there are no rows; with old ones, it would go wrong.
registered_stacks() {
	run 0 profile -p "$pid" -d "$1" -k none -o "$TMP/out.json" &&
		json 'sum_of("samples", "burn") > 10' &&
		json 'all(len(n) == 2 or n[2::2] == ["call_changes"] or n[2:5:2] == ["call_changes", "main"]
		      for n in (names(s)[names(s).index("burn"):] for s in d["stacks"] if "burn" in names(s)))'
}

# One was registered before, others come and go; while the program stands still, rows go all the same.
registered() {
	"${WORK%/*}/generates" 300 >"$TMP/generates" &
	pid=$!
	timeout 20 sh -c "until [ -s '$TMP/generates' ]; do sleep 0.1; done"
	"$STACKS" jit -v -p "$pid" >"$TMP/jit" 2>&1 &
	jit=$!
	timeout 20 sh -c "until grep -q registered '$TMP/jit'; do sleep 0.1; done"
	registered_stacks 4 && json 'sum_of("samples", "burn", "main") > 0.7 * sum_of("samples", "burn")' &&
		kill -STOP "$jit" && registered_stacks 2
	status=$?
	kill -CONT "$jit"
	kill -INT "$jit"
	wait "$jit"
	kill "$pid"
	sed 's/^/# /' "$TMP/jit"
	[ "$status" = 0 ] && grep -q '^ *[1-9][0-9]* sections that were registered' "$TMP/jit" &&
		grep -q '^ *0 registered sections without tables' "$TMP/jit"
}

tests shares text verbose sent_once renamed new_threads two_processes one_cpu cgroup faults ends \
	top large_program command_rights messages every every_full reused_id registered
