#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# stacks offcpu: blocked time by stack
. "$(dirname "$0")/lib.sh"

sleeps() {
	run 0 offcpu -o "$TMP/out.json" -- "$WORK" sleeps 1000 &&
		json 'sum_of("blocked", "do_nanosleep") > 0.99e9' &&
		json 'sum_of("blocks", "do_nanosleep") == 10 and sum_of("blocks", "sleeps") >= 8' &&
		json 'all("main" in names(s) for s in d["stacks"] if "sleeps" in names(s))' &&
		json 'not any("counted" in what for what in d["lost"])'
}

minimum() {
	run 0 offcpu -m 5000000 -o "$TMP/out.json" -- "$WORK" sleeps 100 &&
		json 'not sum_of("blocks", "sleeps")' &&
		json 'any("shorter" in what for what in d["counts"])'
}

# The waker and its stack
wakers() {
	run 0 offcpu -w -o "$TMP/out.json" -o "$TMP/out.folded" -- "$WORK" wakes 10 &&
		json 'sum(s["blocks"] for s in d["stacks"] if "waits" in names(s) and
		      any(f["name"] == "wakes" for f in s.get("waker_frames", []))) >= 8' &&
		grep -q ';waits;.*;--;.*;wakes;wait_and_wake_\[i\];main;.*;work [0-9]*$' "$TMP/out.folded" &&
		run 0 offcpu -w -n 100 -- "$WORK" wakes 10 && grep -q '^    --$' "$TMP/out"
}

# Preempted and exiting tasks are not blocked.
not_blocked() {
	run 0 offcpu -o "$TMP/out.json" -- "$WORK" shares 1 &&
		json 'sum_of("blocked", "burn") < 0.2e9' &&
		json 'not any("do_exit" in names(s) and s["blocked"] > 1e8 for s in d["stacks"])'
}

# Text and JSON name frames by the same path.
same_names() {
	run 0 offcpu -n 1000 -o - -o "$TMP/out.json" -- "$WORK" sleeps 200 || return 1
	python3 - "$TMP/out" "$TMP/out.json" <<'EOF'
import json, sys
text = {line.strip() for line in open(sys.argv[1]) if line.startswith("    ")}
suffix = {"kernel": " [k]", "inlined": " (inlined)"}
names = {f["name"] + suffix.get(f["kind"], "")
         for s in json.load(open(sys.argv[2]))["stacks"] for f in s["frames"]}
sys.exit(bool({n for n in names if n not in text}))
EOF
}

running_process() {
	"$WORK" wakes 3000 & pid=$!
	run 0 offcpu -p "$pid" -d 2 -o "$TMP/out.json"
	status=$?
	kill "$pid" 2>/dev/null
	wait
	[ "$status" = 0 ] && json '0.2e9 < sum_of("blocked", "do_nanosleep") < 4e9' &&
		json 'sum_of("blocks", "do_nanosleep") > 5'
}

wrong() { run 2 offcpu -m x -- true && run 2 offcpu -k nonsense -- true; }

tests sleeps minimum wakers not_blocked same_names running_process wrong
