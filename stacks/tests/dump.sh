#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# stacks dump: what threads do, by function, state and id
. "$(dirname "$0")/lib.sh"
: "${HANG:=$(dirname "$0")/hang}"

# Three threads that wait, and one that sleeps
hold() {
	"$WORK" holds 3 & pid=$!
	for _ in $(seq 100); do
		[ "$(cat "/proc/$pid/task/"*/stat 2>/dev/null | grep -c ') S ')" = 4 ] && return
		sleep 0.1
	done
	echo "# no four threads that sleep"
}

release() {
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

# run_held STATUS ARGUMENTS: of that process
run_held() {
	hold
	run "$@" -p "$pid"
	held=$?
	release
	return "$held"
}

functions() {
	run_held 0 dump -o "$TMP/out.json" &&
		json 'sum_of("threads") == 4 and d["complete"] == 4' &&
		json 'sum_of("threads", "waits", "ksys_read") == 3' &&
		json 'sum_of("threads", "sleeps", "main") == 1' &&
		json 'sum_of("threads", "waits", "main") == 0' &&
		json 'all(s["state"] == "S" and s["process"] == "work" for s in d["stacks"])' &&
		json 'len({s["tid"] for s in d["stacks"]}) == 4' && json 'not d["lost"]'
}

# Equal stacks once
text() {
	run_held 0 dump || return 1
	[ "$(grep -c '^3 threads of work (PID [0-9]*), S (sleep): [0-9]*, [0-9]*, [0-9]*$' \
		"$TMP/out")" = 1 ] &&
		[ "$(grep -c '^1 thread of work ' "$TMP/out")" = 1 ] &&
		[ "$(grep -c '^    waits .*/work work.c:[0-9]*$' "$TMP/out")" = 1 ] &&
		grep -q '^    ksys_read \[kernel\]$' "$TMP/out"
}

folded() {
	run_held 0 dump -f folded && grep -q '^work;.*;waits;.*ksys_read_\[k\];.* 3$' "$TMP/out" &&
		run_held 0 dump -o "$TMP/a.stacks" -o "$TMP/a.folded" &&
		run 0 report -f folded "$TMP/a.stacks" && cmp "$TMP/a.folded" "$TMP/out"
}

one_kind() {
	run_held 0 dump -K -o "$TMP/out.json" &&
		json 'sum_of("threads", "ksys_read") == 3 and not sum_of("threads", "waits")' &&
		run_held 0 dump -U -o "$TMP/out.json" &&
		json 'sum_of("threads", "waits") == 3 and not sum_of("threads", "ksys_read")'
}

# The kernel stack is the one of /proc, which leaves out the scheduler.
as_proc() {
	hold
	cat "/proc/$pid/stack" >"$TMP/proc"
	status=0
	run 0 dump -K -p "$pid" -o "$TMP/out.json" || status=1
	release
	sed -n 's/^\[<0>\] \([^+]*\)+.*/\1/p' "$TMP/proc" >"$TMP/names"
	[ "$status" = 0 ] && [ -s "$TMP/names" ] &&
		json "any(names(s)[-$(wc -l <"$TMP/names"):] == \
		open('$TMP/names').read().split() for s in d['stacks'])"
}

stopped() {
	hold
	kill -STOP "$pid"
	sleep 0.2
	status=0
	run 0 dump -p "$pid" -o "$TMP/out.json" || status=1
	release
	[ "$status" = 0 ] && json 'all(s["state"] == "T" for s in d["stacks"])' &&
		json 'sum_of("threads", "waits") == 3'
}

# It runs nearly always, so it has no stack, and a report says the same of it.
running() {
	[ "$(nproc)" -gt 1 ] || { skip "one CPU"; return; }
	"$WORK" shares 1000 & pid=$!
	sleep 0.5
	status=0
	for _ in 1 2 3 4 5; do
		run 0 dump -p "$pid" -o "$TMP/out.json" -o "$TMP/a.txt" -o "$TMP/a.stacks" || status=1
		json 'sum_of("threads") == 1 and d["stacks"][0]["state"] == "R"' || status=1
		grep -q '"note": *"running"' "$TMP/out.json" && break
	done
	grep -q '"note": *"running"' "$TMP/out.json" || status=1
	release
	run 0 report -o - -o "$TMP/b.json" "$TMP/a.stacks" && cmp "$TMP/out.json" "$TMP/b.json" &&
		[ "$(head -n 2 "$TMP/a.txt")" = "$(head -n 2 "$TMP/out")" ] && return "$status"
}

# All but this program: threads of the kernel have no user stack.
everything() {
	hold
	status=0
	run 0 dump -a -o "$TMP/out.json" || status=1
	release
	[ "$status" = 0 ] && json 'sum_of("threads", "waits") == 3' &&
		json 'sum_of("threads", "kthreadd") == 1' &&
		json 'not any(s["process"] == "stacks" for s in d["stacks"])'
}

# Who may not trace a thread does not get its stacks.
refused() {
	hold
	status=0
	setpriv --reuid=12345 --clear-groups --inh-caps=-all,+bpf,+perfmon \
		--ambient-caps=-all,+bpf,+perfmon \
		"$STACKS" dump -p "$pid" >"$TMP/out" 2>"$TMP/err" ||
		status=$?
	release
	[ "$status" = 1 ] && grep -q '^Lost: 4 threads that may not be read' "$TMP/out" &&
		! grep -q waits "$TMP/out"
}

# hang MODE [FILE]: dumps that process, in $ms; it is in $TMP/out.json
dump_hang() {
	mkfifo "$TMP/ready" 2>/dev/null
	"$HANG" "$@" >"$TMP/ready" & pid=$!
	read -r _ <"$TMP/ready"
	begin=$(date +%s%N) status=0
	timeout -s KILL 60 "$STACKS" dump -p "$pid" -o "$TMP/out.json" >"$TMP/out" 2>"$TMP/err" || status=$?
	ms=$((($(date +%s%N) - begin) / 1000000))
	echo "# hang $1: status $status after $ms ms; $(tail -n 1 "$TMP/err")"
	release
	[ "$status" = 0 ]
}

# What others keep from being read is named, and the rest is there.
hung_files() {
	dump_hang files && json 'sum_of("threads", "hang_waits") == 2' &&
		json 'any("/run/hang/file" in text for text in d["lost"])'
}

# It answers at first, and is below an overlay, which is no FUSE file system.
hung_overlay() {
	dump_hang overlay && json 'sum_of("threads", "hang_waits") == 2' &&
		json 'any("/run/hang.overlay/file" in text for text in d["lost"])'
}

# The kernel knows the files by the last tests: else it needs the lock, too, and gives addresses.
hung_memory() {
	dump_hang memory && json 'sum_of("threads") == 4' &&
		json 'sum_of("threads", "hang_waits") == 2 and sum_of("threads", "hang_map") == 1' &&
		json 'list(d["lost"]) == ["files that could not be read in time: /run/hang/file"]'
}

first_thread_has_exited() {
	dump_hang first && json 'sum_of("threads", "hang_waits") == 1'
}

lease() {
	cp "$WORK" "$TMP/leased" && dump_hang lease "$TMP/leased" && [ "$ms" -lt 40000 ] &&
		json 'sum_of("threads", "hang_waits") == 2'
}

# Files with tables, and one without unwind information, in which walks end
checks() {
	run_held 0 check && grep -q '^  yes complete: 4 of 4$' "$TMP/out" &&
		grep -q "^  yes .*/work: .eh_frame of [0-9]* bytes, .*a table of [1-9][0-9]* bytes$" \
			"$TMP/out" && ! grep -q '^  NO ' "$TMP/out" &&
		run 0 check "$WORK" && grep -q 'a table of [1-9]' "$TMP/out" &&
		run 1 check /etc/passwd && run 1 check /no/such/file && run 2 check -p 1 "$WORK" || return 1
	command -v objcopy >/dev/null || { skip "no objcopy"; return; }
	work=$WORK WORK=$TMP/none
	objcopy -R .eh_frame -R .eh_frame_hdr "$work" "$WORK" && run_held 1 check
	status=$?
	WORK=$work
	[ "$status" = 0 ] && grep -q "^  NO  end in $TMP/none: " "$TMP/out" &&
		grep -q "^  NO  $TMP/none: no unwind information, no table: stacks end" "$TMP/out" ||
		return 1
	# As long as it can be, but the section is not
	printf '\360\377\377\177\0\0\0\0\1' >"$TMP/bytes"
	objcopy --update-section .eh_frame="$TMP/bytes" "$WORK" "$TMP/corrupt" &&
		run 1 check "$TMP/corrupt" && grep -q 'no table: corrupt$' "$TMP/out" || return 1
	chmod 755 "$TMP"
	cp "$WORK" "$TMP/mine"
	setpriv --reuid=12345 --clear-groups --inh-caps=-all "$STACKS" check "$TMP/mine" >"$TMP/out" &&
		grep -q '^The kernel was not asked. Missing: CAP_BPF$' "$TMP/out"
}

wrong() {
	hold
	tid=$(printf '%s\n' "/proc/$pid/task/"* | tail -n 1)
	run 1 dump -p "${tid##*/}"
	release
	grep "is a thread of process $pid" "$TMP/err" >/dev/null && run 2 dump true && run 2 dump -- true && run 2 dump -U -K && run 2 dump -d 1 &&
		run 1 dump -p 4194305
}

tests functions text folded one_kind as_proc stopped running everything refused hung_files hung_overlay \
	hung_memory first_thread_has_exited lease checks wrong
