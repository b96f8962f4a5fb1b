# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What profilers say of a process, for run and programs, in the guest. Before: PERF, STACKS, and
# BPFTRACE, beside which there is bcc (libbpf-tools), say where they are; SECONDS_EACH, for how
# long to sample.
set -o pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # of who sources this
SYSCTL=/proc/sys/kernel/unwind_user_callchain

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

# stacks_of CLIENT PID: one stack per paragraph, an address per line, the innermost first. perf
# leaves perf.data.
stacks_of() {
	local dir=${BPFTRACE%/*} kind=fp function=ustack
	case $1 in
	perf | perf-dwarf)
		[ "$1" = perf ] || kind=dwarf
		"$PERF" record -q --no-bpf-event -e cpu-clock -F 499 --call-graph "$kind" -p "$2" -o perf.data -- \
			sleep "$SECONDS_EACH" >client.log 2>&1 &&
			"$PERF" script -i perf.data -F ip 2>>client.log
		;;
	bpftrace | bpftrace-dwarf)
		[ "$1" = bpftrace ] || function=dw_ustack
		LD_LIBRARY_PATH=$dir "$BPFTRACE" -q -p "$2" -e \
			"profile:hz:499 /pid == $2/ { print($function(raw, 127)); }
			interval:s:$SECONDS_EACH { exit(); }" 2>client.log
		;;
	profile)
		"$dir/profile-libbpf" -v -U -F 499 --stack-storage-size=65536 -p "$2" "$SECONDS_EACH" \
			2>client.log | repeated 1
		;;
	offcputime)
		"$dir/offcputime-libbpf" -v --stack-storage-size=65536 -p "$2" "$SECONDS_EACH" \
			2>client.log | repeated 1000
		;;
	esac
}

# judge CLIENT PID: what whole.py prints. In client.cpu: seconds of the client, user and system
judge() {
	local TIMEFORMAT='%U %S' calls=
	[ "$1" = "${1%-dwarf}" ] || calls=calls
	{ time stacks_of "$1" "$2" >stacks; } 2>client.cpu || {
		sed 's/^/# /' client.log >&2
		return 1
	}
	python3 "$HERE/whole.py" "$2" stacks $calls
}
