# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
# Shared by all scripts. Exit codes, also used by vm/:
#   0 pass, 1 test failed, 2 usage or build, 3 infrastructure, 4 kernel splat, 124 timeout
# A command that fails without being asked about is a broken environment, hence 3.
set -Eeuo pipefail

PROG=${0##*/}
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/bpf-stacks
OUT=${OUT:-build}
case $OUT in
/*) ;;
*) OUT=$TOP/$OUT ;;
esac
JOBS=${JOBS:-$(nproc)}
ACCEL=${ACCEL:-auto}
FLAVOUR=${FLAVOUR:-slim}
CHECK_FLAVOURS=${CHECK_FLAVOURS:-slim}
TOOLCHAIN=${TOOLCHAIN:-root}
ARCH=${ARCH:-x86_64}
LINUX=${LINUX:-}
TREE=$OUT/linux
PATCHES=$TOP/patches

say() { printf '%s: %s\n' "$PROG" "$*"; }
warn() { printf '%s: warning: %s\n' "$PROG" "$*" >&2; }

# die CODE MESSAGE...
die() {
	local code=$1
	shift
	printf '%s: error: %s\n' "$PROG" "$*" >&2
	exit "$code"
}

# What can be wrong is said now, not after an hour.
[[ $JOBS =~ ^[1-9][0-9]*$ ]] || die 2 "JOBS=$JOBS: not a number"
[[ $ACCEL =~ ^(auto|kvm|tcg)$ ]] || die 2 "ACCEL=$ACCEL: only auto, kvm and tcg are known"
[[ $ARCH =~ ^(x86_64|arm64)$ ]] || die 2 "ARCH=$ARCH: only x86_64 and arm64 are known"
[ "$ACCEL" != kvm ] || [ -w /dev/kvm ] || die 3 "ACCEL=kvm: /dev/kvm cannot be used"
for name in "$FLAVOUR" $CHECK_FLAVOURS; do
	[ -f "$TOP/kernel-config/$name.config" ] || die 2 "flavour $name: there is no kernel-config/$name.config"
done
for name in "$OUT" "$CACHE"; do
	until [ -e "$name" ]; do name=$(dirname "$name"); done
	[ -d "$name" ] && [ -w "$name" ] || die 3 "cannot write to $name"
done

# What differs between architectures: words for make of the kernel, what the names of compilers
# begin with, the directory in arch/, the image of a kernel, and what the names of directories
# in OUT begin with
case $ARCH in
x86_64)
	KERNEL_MAKE=() CROSS='' SRCARCH=x86 IMAGE=arch/x86/boot/bzImage NAMED=''
	;;
arm64)
	KERNEL_MAKE=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) CROSS=aarch64-linux-gnu-
	SRCARCH=arm64 IMAGE=arch/arm64/boot/Image NAMED=arm64-
	;;
esac

# x86_only WHAT...: ends if ARCH is another one
x86_only() { [ "$ARCH" = x86_64 ] || die 2 "ARCH=$ARCH: $* is for x86_64; for others there are make kernel, test, run, shell"; }

# rank STATUS: how grave it is
rank() {
	case $1 in
	4) echo 5 ;;
	124) echo 4 ;;
	3) echo 3 ;;
	2) echo 2 ;;
	1) echo 1 ;;
	0) echo 0 ;;
	*) echo 3 ;; # stopped by a signal
	esac
}

unexpected() {
	local status=$1 line=$2 cmd=$3
	printf '%s: error: line %s: "%s" failed with status %s\n' "$PROG" "$line" "$cmd" "$status" >&2
	exit 3
}
trap 'unexpected "$?" "$LINENO" "$BASH_COMMAND"' ERR

in_root() { "$TOP/scripts/in-root" "$@"; }

hash_of() { sha256sum | cut -c1-16; }

# with_lock FILE CMD...: several checkouts share the cache
with_lock() {
	local file=$1 fd status=0
	shift
	mkdir -p "$(dirname "$file")"
	exec {fd}>"$file"
	if ! flock -n "$fd"; then
		say "waiting for another checkout (${file##*/})" >&2
		flock "$fd"
	fi
	"$@" || status=$?
	exec {fd}>&-
	return "$status"
}

# apt_mirror [DIR]: MIRROR, or the first mirror of Debian's main archive in the machine's
# apt configuration; 3 if there is none. A source with a key of its own is another archive,
# and so is a source outside of a mirror's usual path: vendors name suites "stable", too.
apt_mirror() {
	local etc=${1:-/etc/apt} uri files=()
	mapfile -t files < <(find "$etc/sources.list" "$etc/sources.list.d" \
		-name '*.list' -o -name '*.sources' 2>/dev/null | sort || true)
	uri=${MIRROR:-$(awk '
		function source(types, uris, suites, components, key, u, n, i) {
			if ((" " types " ") !~ / deb / || (" " components " ") !~ / main / ||
			    (" " suites) !~ / (stable|testing|unstable|sid|bookworm|trixie|forky|duke)([ -]|$)/)
				return
			n = split(uris, u, " ")
			for (i = 1; i <= n; i++)
				if (key ? key ~ /debian-archive/ && u[i] !~ /-security\/?$/ : \
				    u[i] ~ /:\/\/[^\/]+\/((pub|mirrors?)\/)?debian\/?$/)
					print u[i]
		}
		function stanza() {
			if (field["enabled:"] !~ /no/)
				source(field["types:"], field["uris:"], field["suites:"],
				       field["components:"], field["signed-by:"])
			split("", field)
		}
		/^[ \t]*#/ { next }
		FILENAME ~ /\.sources$/ {
			if (FNR == 1 || !NF)
				stanza()
			if (/^[^ \t]/)
				name = tolower($1)
			sub(/^[^ \t]+/, "")
			field[name] = field[name] " " $0
			next
		}
		{
			key = ""
			if (match($0, /\[[^]]*\]/)) {
				key = substr($0, RSTART, RLENGTH)
				key = sub(/.*signed-by=/, "", key) ? key : ""
				sub(/\[[^]]*\]/, "")
			}
			type = $1; uri = $2; suite = $3
			$1 = $2 = $3 = ""
			source(type, uri, suite, $0, key)
		}
		END { stanza() }' "${files[@]}" </dev/null | head -n 1)}
	[ -n "$uri" ] || die 3 "apt has no mirror of Debian here: say MIRROR=URL, see make help"
	printf '%s\n' "${uri%/}"
}

# need_bwrap: ends with what to do if the machine does not let bwrap make namespaces
need_bwrap() {
	local error setting bad good hint='a container needs --privileged, or another seccomp and AppArmor profile'
	need_tool bwrap bubblewrap
	! error=$(bwrap --unshare-pid --ro-bind / / --proc /proc --dev /dev true 2>&1) || return 0
	for setting in user.max_user_namespaces=0=10000 kernel.unprivileged_userns_clone=0=1 \
		kernel.apparmor_restrict_unprivileged_userns=1=0; do
		IFS='=' read -r setting bad good <<<"$setting"
		[ "$(cat "/proc/sys/${setting//.//}" 2>/dev/null)" != "$bad" ] ||
			hint="as root: sysctl $setting=$good"
	done
	die 3 "bwrap cannot make namespaces (${error##*$'\n'}); $hint"
}

# git that neither the user's configuration nor hooks of a repository can bend
kgit() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
		GIT_COMMITTER_NAME=bpf-stacks GIT_COMMITTER_EMAIL=bpf-stacks@localhost \
		git -c core.hooksPath=/dev/null -c commit.gpgSign=false -c core.autocrlf=false \
		-c am.threeWay=false -c am.keepcr=false -c mailinfo.scissors=false \
		-c apply.whitespace=nowarn -c gc.auto=0 -c advice.detachedHead=false \
		-c safe.directory='*' "$@"
}

tree_git() { kgit -C "$TREE" "$@"; }

# The commit that the series starts from. In a worktree of a user's repository
# it is a ref of that worktree, so that their tags stay as they were.
tree_base() {
	tree_git rev-parse -q --verify 'refs/worktree/base^{commit}' 2>/dev/null ||
		tree_git rev-parse -q --verify 'refs/tags/base^{commit}' ||
		die 2 "$TREE has no base commit; it was not made by 'make tree'"
}

# Patch files of the series, in order, relative to patches/
series_files() {
	[ -f "$PATCHES/series" ] || die 2 "patches/series is missing"
	sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$PATCHES/series"
}

# base_field NAME: a line of patches/BASE
base_field() {
	local value
	value=$(sed -n "s/^$1:[[:space:]]*//p" "$PATCHES/BASE")
	[ -n "$value" ] || die 2 "patches/BASE has no '$1:'"
	printf '%s\n' "$value"
}

# What results depend on: the tools, named by the packages they came from.
toolchain_id() { "$TOP/scripts/toolchain" id; }

# need_tool PROGRAM PACKAGE: installs it when that is possible
need_tool() {
	! command -v "$1" >/dev/null || return 0
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		say "installing $2" >&2
		export DEBIAN_FRONTEND=noninteractive
		apt-get install -y -qq --no-install-recommends "$2" >/dev/null 2>&1 ||
			{ apt-get update -qq && apt-get install -y -qq --no-install-recommends "$2"; } >/dev/null 2>&1 || true
	fi
	command -v "$1" >/dev/null || die 3 "$1 is missing; as root, install the package $2"
}

# temporary DIR: makes SCRATCH, under the caller's lock, and removes it at the end; also what a killed
# run has left.
temporary() {
	SCRATCH=$1
	trap 'rm -rf "$SCRATCH"' EXIT
	rm -rf "$SCRATCH"*
	mkdir "$SCRATCH"
}

# quietly LOG WHAT CMD...: builds WHAT; LOG has what CMD printed
quietly() {
	local log=$1 what=$2
	shift 2
	mkdir -p "${log%/*}"
	"$@" >"$log" 2>&1 && return
	grep -E 'error|Error' "$log" | head -n 20 >&2 || tail -n 20 "$log" >&2
	die 2 "$what: does not build (log: $log)"
}

# with_progress NAME LOG CMD...: a line now and then instead of thousands, which
# the log has
with_progress() {
	local name=$1 log=$2 status=0 pid begin=$SECONDS last=$SECONDS count
	shift 2
	"$@" >"$log" 2>&1 &
	pid=$!
	# Its children, too: bwrap ends them when it goes.
	trap 'pkill -P "$pid" 2>/dev/null || true; kill "$pid" 2>/dev/null || true' EXIT
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.5
		[ $((SECONDS - last)) -ge 20 ] || continue
		last=$SECONDS
		count=$(grep -cE '^  [A-Za-z]' "$log" || true)
		say "$name: $count steps, $((SECONDS - begin)) s: $(tail -n 1 "$log" | cut -c1-70)"
	done
	wait "$pid" || status=$?
	trap - EXIT
	return "$status"
}

# A branch topic/NAME is at the last commit of each topic. This prints what comes before NAME: in
# a worktree of a user's repository nobody else's branches are called so.
topic_prefix() {
	local dir
	if tree_git rev-parse -q --verify refs/worktree/base >/dev/null; then
		dir=$(tree_git rev-parse --absolute-git-dir)
		printf 'bpf-stacks/%s/\n' "${dir##*/}"
	else
		printf 'topic/\n'
	fi
}

# topic_branches: "COMMIT NAME" of each
topic_branches() {
	local prefix
	prefix=$(topic_prefix)
	tree_git for-each-ref --format='%(objectname) %(refname)' "refs/heads/$prefix" | sed "s,refs/heads/$prefix,,"
}

# commit_like COMMIT: the one of the tree that was made of it
commit_like() {
	tree_git log --format='%an %at %s%n%H' "$(tree_base).." |
		grep -xF -A 1 -e "$(tree_git log -1 --format='%an %at %s' "$1")" | sed -n 2p
}

# commit_topics: "COMMIT TOPIC" of each commit of the tree, in order; 2 if the branches do not
# say that, and what moves them
commit_topics() {
	local base prefix commit commits topic like advice='' rows='' none=0
	local -A ends=()
	base=$(tree_base) || return
	prefix=$(topic_prefix)
	commits=$(tree_git rev-list "$base..HEAD")
	while read -r commit topic; do
		[[ $topic =~ ^[a-z0-9][a-z0-9-]*$ ]] || die 2 "'$topic' is no good name for a topic: a-z, 0-9 and '-'"
		if [[ $commits != *$commit* ]]; then
			like=$(commit_like "$commit") || true
			advice+="${like:+
git branch -f $prefix$topic ${like:0:12}}"
			[ -n "$like" ] || advice+="
git branch -D $prefix$topic # or -f and a commit: none is like its last one"
		elif [ -n "${ends[$commit]:-}" ]; then
			die 2 "$prefix$topic and $prefix${ends[$commit]} are at the same commit: 'git branch -D' removes the topic that has no commits"
		fi
		ends[$commit]=$topic
	done < <(topic_branches)
	[ -z "$advice" ] || die 2 "branches of topics are at commits that HEAD does not have. If HEAD is right, in $TREE:$advice"
	topic=''
	for commit in $commits; do
		topic=${ends[$commit]:-$topic}
		[ -n "$topic" ] || none=$((none + 1))
		rows="$commit $topic"$'\n'$rows
		[ "$none" = 0 ] || [ -z "$topic" ] || break
	done
	[ "$none" = 0 ] || die 2 "the last $none commits are in no topic. In $TREE:
git branch ${prefix}NAME # makes one of them${topic:+
git branch -f $prefix$topic # puts them in the last one}"
	printf '%s' "$rows"
}

# write_series DIR: what the tree's commits are as patches/; see scripts/export
write_series() { "$TOP/scripts/export" --into "$1"; }

# plan_needs PLAN...: the scripts that build what their tests run, from the lines
# "#NEEDS# SCRIPT...", relative to TOP
plan_needs() { sed -n 's/^#NEEDS# //p' "$@" | tr -s ' ' '\n' | sort -u; }

# unhide DIR: Debian's .gitignore hides every file of a Linux tree from git, so
# a new source file would not be seen by "git add" or "git status".
unhide() { sed -i -e '/^\/\*$/d' -e '/^!\/debian\/$/d' "$1/.gitignore"; }
