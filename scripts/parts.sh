# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A check made of parts, one after the other: for scripts/check and scripts/check-long,
# after lib.sh.
#
#   parts_begin DIR [PART...]           results go to DIR; without names all parts run
#   part NAME NEEDS... -- CMD...        as often as there are parts
#   parts_end                           prints the results and exits with the gravest status
#
# DIR has a log per part and one KTAP file of all, results.ktap. Where a part leaves
# DIR/NAME.ktap, these are its results; else those that it printed.

worst=0
number=0
declare -A STATUS

parts_begin() {
	DIR=$1
	KTAP=$DIR/results.ktap
	shift
	WANTED=" $* "
	mkdir -p "$DIR"
	rm -f "$DIR"/*.log "$DIR"/*.ktap
	printf 'KTAP version 1\n' >"$KTAP"
}

wanted() { [ -z "${WANTED// /}" ] || [[ $WANTED == *" $1 "* ]]; }

# record NAME STATUS LOG: adds the part with its own results: those in NAME.ktap
# or else those that it printed
record() {
	local name=$1 status=$2 log=$3 word='ok'
	[ ! -f "$DIR/$name.ktap" ] || log=$DIR/$name.ktap
	number=$((number + 1))
	STATUS[$name]=$status
	[ "$status" = 0 ] || word='not ok'
	{
		printf '    # Subtest: %s\n' "$name"
		grep -E '^ *((not )?ok [0-9]|[0-9]+\.\.[0-9]|# |KTAP version)' "$log" | sed 's/^/    /' || true
		printf '%s %d %s\n' "$word" "$number" "$name"
	} >>"$KTAP"
	[ "$(rank "$status")" -le "$(rank "$worst")" ] || worst=$status
}

# part NAME NEEDS... -- CMD...: is left out, and said so, if one that it needs
# did not pass.
part() {
	local name=$1 need status=0 begin=$SECONDS log
	shift
	local needs=()
	while [ "$1" != -- ]; do
		needs+=("$1")
		shift
	done
	shift
	wanted "$name" || return 0
	log=$DIR/$name.log
	for need in "${needs[@]}"; do
		if [ "${STATUS[$need]:-0}" != 0 ]; then
			number=$((number + 1))
			STATUS[$name]=skipped
			printf 'ok %d %s # SKIP %s failed\n' "$number" "$name" "$need" >>"$KTAP"
			say "$name: not run, as $need failed"
			return 0
		fi
	done
	say "$name ..."
	"$@" >"$log" 2>&1 || status=$?
	record "$name" "$status" "$log"
	if [ "$status" = 0 ]; then
		say "$name: pass in $((SECONDS - begin)) s"
		return 0
	fi
	say "$name: FAIL ($status) in $((SECONDS - begin)) s; all of it: $log"
	# scripts/test says why at the end, other tests before they say "not ok".
	grep -B 15 -E '^ *not ok|^# .* said:|^#   |error:|splat' "$log" | tail -n 100 || tail -n 20 "$log"
}

parts_end() {
	local name passed failed skipped
	for name in $WANTED; do
		[ -n "${STATUS[$name]:-}" ] || die 2 "no part is called $name"
	done
	[ "$number" -gt 0 ] || die 2 "there are no parts"
	printf '1..%d\n' "$number" >>"$KTAP"

	grep -E '^(not )?ok ' "$KTAP"
	read -r passed failed skipped <<<"$("$TOP/scripts/ktap-sum" "$KTAP")"
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	exit "$worst"
}
