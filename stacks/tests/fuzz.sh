#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What others choose, fuzzed: fuzz.sh PROGRAM SECONDS [DIRECTORY]. PROGRAM is of "make fuzz"; each of
# its targets takes that long. Inputs that fail are left in DIRECTORY. Prints KTAP. "jit" needs an
# image of a process with a virtual machine of Java in DIRECTORY/jit.image, which
# FUZZ=jit DUMP=PID IMAGE=FILE PROGRAM makes.
set -u
program=$1 seconds=$2 dir=${3:-$(mktemp -d)}
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

echo "TAP version 13"
echo "1..5"
number=0 failed=0
for FUZZ in stream elf map report jit; do
	export FUZZ
	number=$((number + 1))
	mkdir -p "$dir/$FUZZ"
	case $FUZZ in
	elf) cp "${program%/fuzz}"/../../tests/hang /usr/lib/x86_64-linux-gnu/libdl.so.2 "$dir/elf/" ;;
	report)
		# A head with a value, a path, a row
		python3 -c 'import struct
def part(magic, numbers, texts, nr):
    texts += bytes(-len(texts) % 8)
    return struct.pack("<II4Q4Q3I20sI4x", 0x31447453 + magic, 112 + len(texts), *numbers, 1, 0, 0, 0, 1, 1, 0, b"", nr) + texts
open("'"$dir"'/report/seed", "wb").write(part(0, (0, 0, 0, 1), b"a\0" * 11, 11) +
    part(1, (1, 1, 0, 0), b"/bin/true\0", 1) + part(3, (0, 0, 0, 0), b"p\0\0\0\0", 4))'
		;;
	jit)
		export IMAGE="$dir/jit.image"
		[ -s "$IMAGE" ] || { echo "ok $number - jit # SKIP no image"; continue; }
		head -c 1200 /dev/urandom >"$dir/jit/seed"
		;;
	map) printf '12345678400000 1f main\n400020 10 f g\n7fff00000000 ff jit\n' >"$dir/map/seed" ;;
	esac
	if "$program" -max_total_time="$seconds" -timeout=30 -malloc_limit_mb=512 -rss_limit_mb=2048 -print_final_stats=1 \
			-reload=0 -close_fd_mask=3 -artifact_prefix="$dir/$FUZZ-" "$dir/$FUZZ" >"$dir/$FUZZ.log" 2>&1; then
		echo "ok $number - $FUZZ"
	else
		echo "not ok $number - $FUZZ"
		grep -E '^ERROR: |^==[0-9]*==ERROR|^SUMMARY|runtime error|Test unit written' "$dir/$FUZZ.log" | sed 's/^/# /'
		failed=1
	fi
	sed -n 's/^stat::\(number_of_executed_units\|new_units_added\|peak_rss_mb\): */# \1 /p' "$dir/$FUZZ.log"
	sed -n 's/.* \(cov: [0-9]*\) .*/# \1/p' "$dir/$FUZZ.log" | tail -n 1
done
exit "$failed"
