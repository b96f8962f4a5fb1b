# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Prints KTAP for tests in shell, on the host and in the guest.
#
#   ktap_begin [PLAN]          PLAN results will follow; without it, ktap_end says how many
#   result NAME CMD...         passes if CMD does; what CMD prints comes first
#   subtest NAME LOG CMD...    the same for a CMD that prints KTAP; LOG keeps it
#   skip NAME REASON
#   skip_all REASON            ends a test that cannot run
#   ktap_end                   exits with 1 if a result failed

number=0 failed=0

ktap_begin() {
	echo 'KTAP version 1'
	ktap_plan=${1:-}
	[ -z "$ktap_plan" ] || echo "1..$ktap_plan"
}

result() {
	ktap_name=$1 ktap_status=0
	shift
	"$@" || ktap_status=$?
	number=$((number + 1))
	if [ "$ktap_status" = 0 ]; then
		echo "ok $number $ktap_name"
	else
		failed=$((failed + 1))
		echo "not ok $number $ktap_name"
	fi
}

ktap_subtest() {
	ktap_log=$1
	shift
	ktap_status=0
	"$@" >"$ktap_log" 2>&1 || ktap_status=$?
	sed 's/^/    /' "$ktap_log"
	[ "$ktap_status" = 0 ] || echo "# exit status $ktap_status"
	return "$ktap_status"
}

subtest() {
	ktap_name=$1
	shift
	result "$ktap_name" ktap_subtest "$@"
}

skip() {
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

skip_all() {
	printf 'KTAP version 1\n1..0 # SKIP %s\n' "$*"
	exit 0
}

ktap_end() {
	[ -n "$ktap_plan" ] || echo "1..$number"
	[ "$failed" = 0 ] || exit 1
	exit 0
}
