# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The patches of the series, one by one: for scripts/check-series and scripts/bisect,
# after lib.sh. RESULTS is where logs and results.ktap go.
#
#   series_begin                    finds the patches: FILES, and their COMMITS
#   result STATUS NAME [LOG]        for each check
#   series_end                      prints the sum and exits with the gravest status

WORK=$OUT/check-series
SRC=$WORK/linux
declare -A FIRST

number=0
worst=0
row=''

series_begin() {
	if [ -z "${NO_BUILD:-}" ]; then
		"$TOP/scripts/toolchain" || exit "$?"
		"$TOP/scripts/tree" || exit "$?"
	fi
	mkdir -p "$WORK"
	exec 9>"$WORK/lock"
	flock -n 9 || die 3 "another run uses $WORK"
	rm -rf "$RESULTS"
	mkdir -p "$RESULTS"
	KTAP=$RESULTS/results.ktap
	printf 'KTAP version 1\n' >"$KTAP"
	BASE=$(tree_base) || exit "$?"
	mapfile -t FILES < <(series_files)
	mapfile -t COMMITS < <(tree_git rev-list --reverse "$BASE..HEAD")
	[ ${#FILES[@]} = ${#COMMITS[@]} ] || die 2 "the tree has ${#COMMITS[@]} commits, patches/series ${#FILES[@]}"
	find_sources
}

series_end() {
	local failed
	[ "$number" -gt 0 ] || die 2 "there is nothing to check"
	printf '1..%d\n' "$number" >>"$KTAP"
	failed=$(grep -c '^not ok' "$KTAP" || true)
	say "${#FILES[@]} patches: $((number - failed)) passed, $failed failed"
	exit "$worst"
}

# result STATUS NAME [LOG]: STATUS is pass, fail or broken (does not build)
result() {
	local status=$1 name=$2 log=${3:-}
	number=$((number + 1))
	case $status in
	pass) printf 'ok %d %s\n' "$number" "$name" >>"$KTAP" ;;
	*)
		printf 'not ok %d %s\n' "$number" "$name" >>"$KTAP"
		sed 's/^/# /' "$log" >>"$KTAP"
		printf '%s: %s\n' "$PROG" "$name" >&2
		sed -e 's/^/    /' -e 30q "$log" >&2
		if [ "$status" = broken ]; then
			worst=2
		elif [ "$worst" = 0 ]; then
			worst=1
		fi
		;;
	esac
	row=$(printf '%s %-7s' "$row" "$status")
}

# checkout COMMIT: to a work tree that is not the one where patches are written
checkout() {
	if [ ! -e "$SRC/.git" ]; then
		tree_git worktree prune
		tree_git worktree add -q --detach "$SRC" "$1"
	fi
	kgit -C "$SRC" checkout -q --force --detach "$1"
	kgit -C "$SRC" clean -q -fd
}

is_kernel_source() {
	case $1 in
	tools/* | samples/* | scripts/* | Documentation/* | usr/*) return 1 ;;
	*.c) return 0 ;;
	*) return 1 ;;
	esac
}

# object_of FILE.c: the object that it ends in, which another file may include
object_of() {
	local file=$1 dir name other
	dir=$(dirname "$file")
	name=$(basename "$file" .c)
	if grep -qsE "(^|[[:space:]])$name\.o([[:space:]]|\$)" "$SRC/$dir/Makefile" "$SRC/$dir/Kbuild"; then
		printf '%s\n' "$dir/$name.o"
		return
	fi
	for other in $(cd "$SRC" || exit; grep -lsE "#include [\"<](.*/)?$name\.c[\">]" "$dir"/*.c || true); do
		printf '%s\n' "${other%.c}.o"
	done
}

touches_kernel() {
	local file
	while read -r file; do
		is_kernel_source "$file" && return 0
		[[ $file == @(include|kernel|arch|lib|mm|fs|init)/* ]] && return 0
	done < <(tree_git diff --no-renames --name-only "$1^" "$1")
	return 1
}

# Which patch is the first to concern a source: the patch touches the source, or a header
# that the source includes. At most two sources are taken per header.
find_sources() {
	local i file user
	for ((i = 0; i < ${#COMMITS[@]}; i++)); do
		while read -r file; do
			if is_kernel_source "$file"; then
				: "${FIRST[$file]:=$i}"
			elif [[ $file == *.h && $file != tools/* ]]; then
				for user in $(users_of "$file"); do
					: "${FIRST[$user]:=$i}"
				done
			fi
		done < <(tree_git diff --no-renames --diff-filter=d --name-only "${COMMITS[i]}^" "${COMMITS[i]}")
	done
}

users_of() {
	tree_git grep -lE "#include [\"<](.*/)?${1##*/}[\">]" HEAD -- \
		':(glob)kernel/unwind/*.c' ':(glob)kernel/bpf/*.c' ':(glob)kernel/events/*.c' |
		sed -n '1,2s/^HEAD://p' || true
}

# Objects of the patches up to number $1, without other architectures than arch/$2 (default
# x86). make knows which of them a patch has changed.
objects_upto() {
	local file
	for file in "${!FIRST[@]}"; do
		[[ $file != arch/* || $file == arch/${2:-x86}/* ]] || continue
		[ "${FIRST[$file]}" -gt "$1" ] || [ ! -f "$SRC/$file" ] || object_of "$file"
	done | sort -u
}
