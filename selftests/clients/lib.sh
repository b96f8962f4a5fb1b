# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What profilers say of a process, for run and programs, in the guest. Before: BIN says where they
# are, as selftests/clients/build puts them; SECONDS_EACH, for how long to sample.
set -o pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # of who sources this
SYSCTL=/proc/sys/kernel/unwind_user_callchain
# Of perf, and the program of the series. An emulated x86-64 has no PMU, an emulated arm64 takes its time.
EVENT=cpu-clock FREQUENCY=499 STACKS=$OUT/stacks/stacks
[ "$(uname -m)" = x86_64 ] || EVENT=cycles FREQUENCY=99 STACKS=$OUT/arm64-stacks/stacks
AS_USER='setpriv --reuid 65534 --regid 65534 --clear-groups'

perf() { LD_LIBRARY_PATH=$BIN "$BIN/perf" "$@"; }

# repeated UNIT: what bcc prints once, with a count at its end, as often as the count has units
repeated() {
	awk -v unit="$1" -v RS= '{
		text = ""
		for (i = 1; i < NF; i++)
			if ($i ~ /^0x/)
				text = text $i "\n"
		for (n = $NF / unit; n > 0; n--)
			print text
	}'
}

# live: of what perf prints at once, without addresses, and so without a judge: how many stacks,
# how many of them come to the first function of libc, how deep they are. The last stack was cut
# off. The file ENDS gets the first one that is not whole.
live() {
	awk -v ends="${ENDS:-/dev/null}" '
		/^ +[0-9.?]+ *\(/ {
			samples += begun
			whole += started
			frames += depth
			if (begun && !started && !shown++)
				printf "%s", text >ends
			begun = 1
			depth = started = 0
			text = ""
		}
		{ text = text $0 "\n" }
		/^ {30,}/ {
			depth++
			started = started || / __libc_start_main /
		}
		END { printf "%d %d %.1f 0\n", samples, whole, frames / (samples ? samples : 1) }'
}

# shares: perf top has no stacks, but the share that each function is on the stack of; of 1000
shares() {
	awk '/^ *[0-9.]+% +[0-9.]+% .* __libc_start_main *$/ { found = 1; printf "1000 %d 0 0\n", 10 * $1; exit }
		/%/ { some = 1 }
		END { if (!found) printf "%d 0 0 0\n", some ? 1000 : 0 }'
}

# folded, blocks: of the output of bcc's tools in Python, which has names only. Where time is
# counted, each stack once.
folded() { awk -F ';' '{ samples++; frames += NF - 1; whole += $2 == "_start" }
	END { printf "%d %d %.1f 0\n", samples, whole, frames / (samples ? samples : 1) }'; }

blocks() { awk -v RS= 'NF > 1 && $NF ~ /^[0-9]+$/ { samples += $NF; frames += (NF - 1) * $NF; whole += $NF * ($(NF - 1) == "_start") }
	END { printf "%d %d %.1f 0\n", samples, whole, frames / (samples ? samples : 1) }'; }

# of_program: what "stacks profile" says of its own samples. Bogus is what is in no code of the process.
of_program() { python3 -c 'import json, sys
profile = json.load(sys.stdin)
rows = [(row["samples"], [frame["kind"] for frame in row["frames"] if frame["kind"] != "kernel"]) for row in profile["stacks"]]
samples = profile["with_user_stack"]
print(samples, profile["complete"], round(sum(n * len(kinds) for n, kinds in rows) / max(samples, 1), 1),
      sum(n for n, kinds in rows if "unknown" in kinds))'
}

# addresses of memleak, one per line, an empty one before each stack
addresses() { sed -n -e '/ from stack$/s/.*//p' -e 's/^.*\[<\([0-9a-f]*\)>\].*/\1/p'; }

# program_of CLIENT PID: in bpftrace's language
program_of() {
	case $1 in
	bpftrace) echo "profile:hz:499 /pid == $2/ { print(ustack(raw, 127)); }" ;;
	bpftrace-dwarf) echo "profile:hz:499 /pid == $2/ { print(dw_ustack(raw, 127)); }" ;;
	bpftrace-build-id) echo "profile:hz:499 /pid == $2/ { print(ustack(build_id, 127)); }" ;;
	bpftrace-offcpu) echo "tracepoint:sched:sched_switch /pid == $2/ { print(ustack(raw, 127)); }" ;;
	# Every hundredth: it cannot print all of them
	bpftrace-uprobe) echo "uprobe:libc:malloc /pid == $2/ { @n++; if (@n % 100 == 0) { print(ustack(raw, 127)); } } END { clear(@n); }" ;;
	esac
}

# stacks_of CLIENT PID: one stack per paragraph, an address per line, the innermost first. perf
# leaves perf.data. Of what is recorded, perf script prints 127 frames if nothing is said.
stacks_of() {
	local kind=fp
	case $1 in
	perf | perf-defer | perf-dwarf)
		[ "$1" != perf-defer ] || kind=fp,defer
		[ "$1" != perf-dwarf ] || kind=dwarf
		perf record -q --no-bpf-event -e "$EVENT" -F "$FREQUENCY" --call-graph "$kind" -p "$2" -o perf.data -- \
			sleep "$SECONDS_EACH" >client.log 2>&1 &&
			perf script --max-stack 1024 -i perf.data -F ip 2>>client.log
		;;
	# As a user, who may sample his own programs (kernel.perf_event_paranoid is 2)
	perf-user)
		LD_LIBRARY_PATH=$USER_BIN $AS_USER "$USER_BIN/perf" record -q --no-bpf-event -e cpu-clock:u -F 499 -g --user-callchains \
			-p "$2" -o - -- sleep "$SECONDS_EACH" 2>client.log |
			perf script --max-stack 1024 -i - -F ip 2>>client.log
		;;
	perf-top)
		LD_LIBRARY_PATH=$BIN timeout -s INT $((2 * SECONDS_EACH)) "$BIN/perf" top --stdio -e cpu-clock -F 499 --call-graph fp --children \
			-p "$2" -d $((2 * SECONDS_EACH - 2)) 2>client.log
		[ $? = 124 ]
		;;
	perf-trace)
		# Up to so many lines: it takes seconds to begin
		LD_LIBRARY_PATH=$BIN timeout -s INT $((20 * SECONDS_EACH)) "$BIN/perf" trace --call-graph fp -p "$2" 2>&1 |
			head -n 1500 || true
		;;
	# With -p, a profile probe only samples the first thread
	bpftrace)
		LD_LIBRARY_PATH=$BIN "$BIN/bpftrace" -q -e \
			"$(program_of "$1" "$2") interval:s:$SECONDS_EACH { exit(); }" 2>client.log
		;;
	bpftrace-*)
		LD_LIBRARY_PATH=$BIN "$BIN/bpftrace" -q -p "$2" -e \
			"$(program_of "$1" "$2") interval:s:$SECONDS_EACH { exit(); }" 2>client.log
		;;
	profile)
		"$BIN/profile-libbpf" -v -U -F 499 --stack-storage-size=65536 -p "$2" "$SECONDS_EACH" \
			2>client.log | repeated 1
		;;
	offcputime)
		"$BIN/offcputime-libbpf" -v --stack-storage-size=65536 -p "$2" "$SECONDS_EACH" \
			2>client.log | repeated 1000
		;;
	bcc-offcputime) offcputime-bpfcc -U -f -p "$2" "$SECONDS_EACH" 2>client.log ;;
	bcc-stackcount) stackcount-bpfcc -U -p "$2" -D "$SECONDS_EACH" c:malloc 2>client.log ;;
	stacks)
		"$STACKS" profile --no-inline -F "$FREQUENCY" -p "$2" -d "$SECONDS_EACH" -o stacks.json 2>client.log && cat stacks.json
		;;
	# Each stack once, of those from which memory was allocated that is not freed
	memleak)
		"$BIN/memleak-libbpf" -p "$2" -T 1000 "$SECONDS_EACH" 1 2>client.log | addresses
		;;
	esac
}

# judge CLIENT PID: stacks, whole, depth, bogus, as whole.py prints them. In client.cpu: seconds of the client, user and system
judge() {
	local TIMEFORMAT='%U %S' calls=
	[ "$1" = "${1%-dwarf}" ] || calls=calls
	{ time stacks_of "$1" "$2" >stacks; } 2>client.cpu || {
		sed 's/^/# /' client.log >&2
		return 1
	}
	case $1 in
	perf-top) shares <stacks ;;
	perf-trace) live <stacks ;;
	bcc-offcputime) folded <stacks ;;
	bcc-stackcount) blocks <stacks ;;
	stacks) of_program <stacks ;;
	*) python3 "$HERE/whole.py" "$2" stacks $calls ;;
	esac
}
