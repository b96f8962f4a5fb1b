#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# stacks alloc: bytes and blocks that are not freed, by stack
. "$(dirname "$0")/lib.sh"

# is FUNCTION BYTES BLOCKS: what it has not freed
is() { json "sum_of('outstanding', '$1') == $2 and sum_of('blocks', '$1') == $3"; }

# Nothing is lost, and all stacks are complete.
sound() { json 'not d["lost"] and d["complete"] == d["with_user_stack"] == sum_of("outstanding")'; }

leaks() {
	run 0 alloc -o "$TMP/out.json" -- "$WORK" leaks 50 && sound &&
		is leaks_small 5000 50 && is leaks_large 250000 50 && is leaks_zeroed 10500 50 &&
		is grows 65536 1 && is aligns 3000 3 && is leaks_in_thread 77 1 && is frees 0 0 &&
		json 'sum_of("blocks", "leaks_small", "malloc") == 50' &&
		json 'sum_of("blocks", "grows", "realloc") == 1'
}

threads() {
	run 0 alloc -o "$TMP/out.json" -- "$WORK" exchanges 2000 && sound && is exchanges 0 0 &&
		json 'd["counts"]["allocations in all"] >= 8000 <= d["counts"]["blocks freed"]'
}

# Blocks of before are not there, and their frees do no harm; a time and a signal end it.
running_process() {
	"$WORK" leaks-each-second 60 & pid=$!
	sleep 1
	run 0 alloc -p "$pid" -d 3 -o "$TMP/out.json"
	status=$?
	kill "$pid"
	wait
	[ "$status" = 0 ] && sound && is frees 0 0 &&
		json '20 <= sum_of("blocks", "leaks_small") <= 40' &&
		json 'sum_of("outstanding", "leaks_small") == 100 * sum_of("blocks", "leaks_small")'
}

text() {
	run 0 alloc -- "$WORK" leaks 50 &&
		grep -Eq '^.*/work leaks 50, [0-9.]* s, 32[0-9]\.[0-9]* KiB outstanding$' "$TMP/out" &&
		grep -q '^244.14 KiB outstanding, 50 blocks, ' "$TMP/out" &&
		grep -q '^[0-9]* blocks freed$' "$TMP/out"
}

folded() {
	run 0 alloc -f folded -- "$WORK" leaks 50 &&
		grep -q '^work;.*;leaks_large;.*malloc 250000$' "$TMP/out"
}

# What has no room is counted.
no_room() {
	run 0 alloc -B 20 -o "$TMP/out.json" -- "$WORK" leaks 50 &&
		json 'sum_of("blocks") == 20' &&
		json 'sum(n for what, n in d["lost"].items() if "--blocks" in what) > 100' &&
		json 'list(d["lost"]) == [what for what in d["lost"] if "--blocks" in what]'
}

# Each process has its own, and a fork none; the status is the command's.
processes() {
	run 7 alloc -o "$TMP/out.json" -- sh -c "$WORK leaks 10; $WORK leaks 20; exit 7" &&
		is leaks_small 3000 30 &&
		json 'len({s["pid"] for s in d["stacks"] if "leaks_small" in names(s)}) == 2' &&
		json '{s["process"] for s in d["stacks"] if "leaks_small" in names(s)} == {"work"}'
}

comm() {
	run 0 alloc --comm nobody -o "$TMP/out.json" -- "$WORK" leaks 10 && json 'not d["stacks"]'
}

wrong() {
	run 2 alloc -K -- true && run 2 alloc -B 0 -- true && run 1 alloc -l /no/such -- true &&
		run 1 alloc -l "$WORK" -- true && grep -q 'no malloc()' "$TMP/err" &&
		run 1 alloc -- /no/such/command
}

tests leaks threads running_process text folded no_room processes comm wrong
