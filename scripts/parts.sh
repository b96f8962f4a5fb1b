# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# A check made of parts, one after the other: for scripts/check and scripts/check-long,
# after lib.sh.
#
#   parts_begin DIR [PART...]           results go to DIR; without names all parts run
#   part NAME NEEDS... -- CMD...        as often as there are parts
#   tests NAME NEEDS... -- CMD...       a part that must have results
#   skip_parts REASON NAME...           says that these parts do not run now
#   parts_end                           prints the results and exits with the gravest status
#
# Commands for parts of both:
#   check_series [end]
#   guest PART FLAVOUR PLANS [NAME...]  tests of the directory PLANS: all, or these
#   kernel_arm64
#   needs PLAN...                       builds what the plans say that they need
#
# DIR has a log per part, one KTAP file of all, results.ktap, and the seconds of each
# part, seconds. Where a part leaves DIR/NAME.ktap, these are its results; else those
# that it printed. A part passes if it exits with 0 and scripts/ktap agrees.

worst=0
number=0
some=
declare -A STATUS

parts_begin() {
	DIR=$1
	KTAP=$DIR/results.ktap
	shift
	WANTED=" $* "
	mkdir -p "$DIR"
	rm -f "$DIR"/*.log "$DIR"/*.ktap
	printf 'KTAP version 1\n' >"$KTAP"
	printf 'seconds  part                 verdict\n' >"$DIR/seconds"
}

wanted() { [ -z "${WANTED// /}" ] || [[ $WANTED == *" $1 "* ]]; }

# judge NAME FILE [OPTION]: the results of a part that exited with 0. scripts/test has
# done that for a guest.
judge() {
	! grep -qx "# scripts/ktap has judged the skips" "$2" || return 0
	in_root "$TOP/scripts/ktap" judge ${3:+"$3"} "$1" "$2" "TOOLCHAIN=$TOOLCHAIN"
}

# record NAME STATUS SECONDS VERDICT [LOG]: adds the part, with the results in LOG
record() {
	local name=$1 status=$2 word='ok'
	number=$((number + 1))
	STATUS[$name]=$status
	[ "$status" = 0 ] || word='not ok'
	{
		printf '    # Subtest: %s\n' "$name"
		[ -z "${5:-}" ] ||
			grep -E '^ *((not )?ok [0-9]|[0-9]+\.\.[0-9]|# |KTAP version)' "$5" | sed 's/^/    /' || true
		printf '%s %d %s\n' "$word" "$number" "$name"
	} >>"$KTAP"
	printf '%7d  %-20s %s\n' "$3" "$name" "$4" >>"$DIR/seconds"
	[ "$(rank "$status")" -le "$(rank "$worst")" ] || worst=$status
}

# part NAME NEEDS... -- CMD...: is not run, and fails, if a part that it needs did not pass.
# If only some parts are wanted, the state of the others is not checked.
part() {
	local name=$1 need status=0 begin=$SECONDS log ktap
	shift
	local needs=()
	while [ "$1" != -- ]; do
		needs+=("$1")
		shift
	done
	shift
	PARTS=${PARTS:- }"$name "
	for need in "${needs[@]}"; do
		[[ $PARTS == *" $need "* ]] || die 2 "$name needs $need, which is no part before it"
	done
	wanted "$name" || return 0
	for need in "${needs[@]}"; do
		if [ "${STATUS[$need]:-0}" != 0 ]; then
			record "$name" 1 0 "not run, as $need failed"
			say "$name: not run, as $need failed"
			return 0
		fi
	done
	say "$name ..."
	log=$DIR/$name.log
	ktap=$log
	"$@" >"$log" 2>&1 || status=$?
	[ ! -f "$DIR/$name.ktap" ] || ktap=$DIR/$name.ktap
	if [ "$status" = 0 ]; then
		judge "$name" "$ktap" "$some" >"$DIR/judged.log" 2>&1 || status=1
		cat "$DIR/judged.log" >>"$log"
	fi
	if [ "$status" = 0 ]; then
		record "$name" 0 $((SECONDS - begin)) pass "$ktap"
		say "$name: pass in $((SECONDS - begin)) s"
		return 0
	fi
	record "$name" "$status" $((SECONDS - begin)) "FAIL ($status)" "$ktap"
	say "$name: FAIL ($status) in $((SECONDS - begin)) s; all of it: $log"
	# scripts/test says why at the end, other tests before they say "not ok".
	grep -B 15 -E '^ *not ok|^# .* said:|^#   |error:|splat' "$log" | tail -n 100 || tail -n 20 "$log"
}

skip_parts() {
	local name
	for name in "${@:2}"; do
		number=$((number + 1))
		STATUS[$name]=0
		printf 'ok %d %s # SKIP %s\n' "$number" "$name" "$1" >>"$KTAP"
		printf '%7d  %-20s %s\n' 0 "$name" "skipped: $1" >>"$DIR/seconds"
		say "$name: skipped: $1"
	done
}

tests() {
	local some=--some
	part "$@"
}

# with_results NAME DIR CMD...: the results of the part NAME are in DIR/results.ktap
with_results() {
	local name=$1 results=$2 status=0
	shift 2
	"$@" || status=$?
	cp "$results/results.ktap" "$DIR/$name.ktap" || [ "$status" != 0 ] || status=3
	return "$status"
}

check_series() {
	with_results check-series "$OUT/results/check-series" env NO_BUILD=1 "$TOP/scripts/check-series" "$@"
}

# On x86-64, other parts have built all.
guest() {
	local -x FLAVOUR=$2 PLANS=$3 RESULTS=$DIR/$1 NO_BUILD=1
	[ "$ARCH" = x86_64 ] || NO_BUILD=
	with_results "$1" "$RESULTS" "$TOP/scripts/test" "${@:4}"
}

kernel_arm64() {
	ARCH=arm64 "$TOP/scripts/toolchain" && ARCH=arm64 "$TOP/scripts/kernel" slim
}

needs() {
	local script
	while read -r script; do
		say "$script"
		"$TOP/$script" </dev/null || return "$?"
	done < <(plan_needs "$@")
}

parts_end() {
	local name passed failed skipped
	for name in $WANTED; do
		[ -n "${STATUS[$name]:-}" ] || die 2 "no part is called $name"
	done
	[ "$number" -gt 0 ] || die 2 "there are no parts"
	printf '1..%d\n' "$number" >>"$KTAP"
	printf '%7d  all\n' "$SECONDS" >>"$DIR/seconds"

	cat "$DIR/seconds"
	# There may be no root.
	read -r passed failed skipped <<<"$(in_root "$TOP/scripts/ktap" count "$KTAP" || echo '? ? ?')"
	printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
	[ "$worst" != 0 ] || [ "$failed" = 0 ] || worst=1
	exit "$worst"
}
