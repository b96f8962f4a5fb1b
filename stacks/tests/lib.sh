# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests here, as root, with a kernel that has bpf_stack_capture(). STACKS is the program,
# WORK is tests/work. Each test is a function; tests FUNCTION... runs them and prints KTAP.
set -u
: "${STACKS:=stacks}" "${WORK:=$(dirname "$0")/work}"
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT

# skip REASON: of the test that is running
skip() { echo "$*" >"$TMP/skip"; return 4; }

# run STATUS ARGUMENTS: the program ends with STATUS; its output is in $TMP/out and $TMP/err
run() {
	wanted=$1 status=0
	shift
	"$STACKS" "$@" >"$TMP/out" 2>"$TMP/err" || status=$?
	[ "$status" = "$wanted" ] && return
	echo "# stacks $*: status $status instead of $wanted"
	head -n 5 "$TMP/err" | sed 's/^/# /'
	return 1
}

# json EXPRESSION: true of d, the JSON in $TMP/out.json; names(s): of the frames of a stack s
json() {
	python3 - "$TMP/out.json" "$1" <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
def names(s): return [f["name"] for f in s["frames"]]
def sum_of(value, *wanted): return sum(s[value] for s in d["stacks"] if set(wanted) <= set(names(s)))
def share_is(name, share):
    n = sum_of("samples", "burn")
    return abs(sum_of("samples", name) - n * share) < 4 * (n * share * (1 - share)) ** .5
if not eval(sys.argv[2]):
    print(f"# false: {sys.argv[2]}")
    for s in sorted(d["stacks"], key=lambda s: -list(s.values())[0])[:3]:
        print("#", list(s.values())[0], s.get("process"), s.get("note"), names(s)[:8])
    print("#", d["counts"], d["lost"])
    sys.exit(1)
EOF
}

# A walk that is the first one to meet a file ends there: these meet what the tests run.
warm() {
	for _ in 1 2 3; do
		"$STACKS" profile -o "$TMP/warm.txt" -- "$WORK" shares 0.1 2>/dev/null
		"$STACKS" count -o "$TMP/warm.txt" "u:$WORK:called" -- "$WORK" calls 1 2>/dev/null
	done
}

# Of the environment, TESTS has some of them.
tests() {
	if [ -n "${TESTS:-}" ]; then
		# shellcheck disable=SC2086 # a list
		set -- $TESTS
	else
		warm
	fi
	number=0 failed=0
	echo "TAP version 13"
	echo "1..$#"
	for name; do
		number=$((number + 1))
		rm -f "$TMP/skip"
		if "$name"; then
			echo "ok $number - $name"
		elif [ -f "$TMP/skip" ]; then
			echo "ok $number - $name # SKIP $(cat "$TMP/skip")"
		else
			echo "not ok $number - $name"
			failed=1
		fi
	done
	exit "$failed"
}
