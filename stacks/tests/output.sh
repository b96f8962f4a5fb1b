#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Files that are written, and whose names frames have
. "$(dirname "$0")/lib.sh"

formats() {
	run 0 profile -o "$TMP/a.txt" -o "$TMP/a.folded" -o "$TMP/a.svg" -o "$TMP/out.json" -o \
			"$TMP/a.pb.gz" \
		-- "$WORK" shares 0.5 &&
		grep -q ';main;share_two;burn [0-9]*$' "$TMP/a.folded" &&
				grep -q '<svg' "$TMP/a.svg" &&
		gzip -t "$TMP/a.pb.gz" && gzip -dc "$TMP/a.pb.gz" | grep -qa share_two &&
		json "sum_of('samples') == $(awk '{ s += $NF } END { print s }' "$TMP/a.folded")"
}

inverted() {
	run 0 profile -I -o "$TMP/a.svg" -- "$WORK" shares 0.5 || return 1
	# Frames are written from the bottom to the top.
	awk -F'[<>(]' '/class="frame"/ { print $5 }' "$TMP/a.svg" | grep -A 30 '^burn' | grep \
			-q '^share_three'
}

# A report has the same stacks as the command, also where /proc/kallsyms has other addresses.
report() {
	run 0 profile -o "$TMP/a.stacks" -o "$TMP/a.folded" -o "$TMP/a.txt" -- "$WORK" shares 1 &&
		run 0 report -o "$TMP/b.folded" -o - -o "$TMP/b.stacks" "$TMP/a.stacks" &&
		cmp "$TMP/a.folded" "$TMP/b.folded" && cmp "$TMP/a.txt" "$TMP/out" &&
		run 0 report -f folded "$TMP/b.stacks" && cmp "$TMP/a.folded" "$TMP/out" || return 1
	setpriv --reuid=12345 --clear-groups --inh-caps=-all "$STACKS" report -f folded - \
		<"$TMP/a.stacks" >"$TMP/out" 2>&1
	# Where the files are not, functions of the kernel have names all the same.
	[ "$(grep -o '[^;]*_\[k\]' "$TMP/a.folded" | sort -u)" = \
		"$(grep -o '[^;]*_\[k\]' "$TMP/out" | sort -u)" ]
}

# What is kept, of how much; a filter that keeps nothing is an error, and leaves no file.
filters() {
	run 0 profile -o "$TMP/a.stacks" -o "$TMP/a.folded" -- "$WORK" shares 1 || return 1
	all=$(awk '{ n += $NF } END { print n }' "$TMP/a.folded")
	two=$(awk '/;share_two;/ { n += $NF } END { print n }' "$TMP/a.folded")
	run 0 report --comm work --symbol 'share_tw?' -o "$TMP/out.json" -o - "$TMP/a.stacks" &&
		json "sum_of('samples') == $two > 0 and d['with_user_stack'] == $two" &&
		json 'all("share_two" in names(s) for s in d["stacks"])' &&
		grep -q " % of $all samples, by --comm work --symbol share_tw?), .*, $two samples$" \
			"$TMP/out" || return 1
	run 0 report --dso work --symbol share_two -f folded "$TMP/a.stacks" &&
		grep -q "^stacks: kept: .* % of $all samples, by --dso work" "$TMP/err" &&
		[ "$(awk '{ n += $NF } END { print n }' "$TMP/out")" = "$two" ] &&
		run 1 report --dso 'libc*' --symbol share_two -o "$TMP/no.svg" "$TMP/a.stacks" &&
		grep -q "^stacks: no stack is kept: 0.00 % of $all samples" "$TMP/err" &&
		[ ! -e "$TMP/no.svg" ] || return 1
	run 0 profile --dso kernel -o "$TMP/out.json" -- dd if=/dev/zero of=/dev/null bs=1 count=100000 &&
		json 'all(any(f["kind"] == "kernel" for f in s["frames"]) for s in d["stacks"])' &&
		run 2 record --dso kernel -- true
}

# Not a file of another kernel, nor one that was cut off, nor random bytes
bad_report() {
	run 0 record -o "$TMP/a.stacks" -- "$WORK" shares 0.2 || return 1
	size=$(stat -c %s "$TMP/a.stacks")
	head -c $((size - 3)) "$TMP/a.stacks" >"$TMP/b.stacks"
	run 1 report "$TMP/b.stacks" && run 1 report /dev/null && run 1 report "$WORK" || return 1
	for seed in 1 2 3 4 5 6 7 8; do
		python3 -c 'import random, sys
random.seed(sys.argv[3]); d = bytearray(open(sys.argv[1], "rb").read())
for i in range(20): d[random.randrange(len(d))] = random.randrange(256)
open(sys.argv[2], "wb").write(d)' "$TMP/a.stacks" "$TMP/b.stacks" "$seed"
		status=0
		timeout 60 "$STACKS" report -n 1000000 "$TMP/b.stacks" >"$TMP/out" 2>&1 || status=$?
		[ "$status" -le 1 ] && ! grep -q "$(printf '\033')" "$TMP/out" || return 1
	done
}

compares() {
	run 0 record -o "$TMP/a.stacks" -- "$WORK" shares 1 &&
		run 0 record -o "$TMP/b.stacks" -- "$WORK" calls 10000000 &&
		run 0 diff -o - -o "$TMP/d.svg" -o "$TMP/d.folded" "$TMP/a.stacks" \
			"$TMP/b.stacks" &&
		grep -q '  before   change     self     total  function' "$TMP/out" &&
		grep -q '% *-[0-9.]* *[0-9.]* % *[0-9.]* %  burn$' "$TMP/out" &&
		grep -q '% *+[0-9.]* *[0-9.]* % *[0-9.]* %  called$' "$TMP/out" &&
		grep -q ';burn [0-9]* 0$' "$TMP/d.folded" && grep -q 'was 0.00 %' "$TMP/d.svg" &&
		run 2 diff "$TMP/a.stacks" && run 2 diff -f json "$TMP/a.stacks" "$TMP/b.stacks"
}

# On a terminal: colours, and a pager without rights
terminal() {
	run 0 record -o "$TMP/a.stacks" -- "$WORK" shares 0.5 || return 1
	STACKS_PAGER="grep CapAmb /proc/self/status >$TMP/rights; cat >$TMP/paged" \
		setpriv --inh-caps=+bpf --ambient-caps=+bpf \
		python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
		"$STACKS" report -o "$TMP/a.txt" -o - "$TMP/a.stacks" >"$TMP/out" 2>&1 </dev/null
	grep -q '^CapAmb:.0000000000000000$' "$TMP/rights" &&
		grep -q "$(printf '\033')\[31m.*burn" "$TMP/paged" && ! grep -q burn "$TMP/out" &&
		grep -q burn "$TMP/a.txt" && ! grep -q "$(printf '\033')" "$TMP/a.txt"
}

completion() {
	command -v bash >/dev/null || { skip "no bash"; return; }
	bash -c 'stacks() { "$STACKS" "$@"; }; . "$1"; COMP_WORDS=(stacks off) COMP_CWORD=1
		_stacks; [ "${COMPREPLY[*]}" = offcpu ] || exit 1
		COMP_WORDS=(stacks offcpu --wak) COMP_CWORD=2; _stacks
		[ "${COMPREPLY[*]}" = --wakers ]' - "$(dirname "$STACKS")/stacks-completion.sh"
}

# A file with large tables, of which nothing is true
hostile_file() {
	cp "$WORK" "$TMP/hostile"
	python3 - "$TMP/hostile" <<'PY'
import struct, sys
with open(sys.argv[1], "r+b") as f:
    d = bytearray(f.read())
    off, = struct.unpack_from("<Q", d, 40)
    nr, = struct.unpack_from("<H", d, 60)
    end = 200 << 20
    for i in range(nr):
        at = off + 64 * i
        kind, = struct.unpack_from("<I", d, at + 4)
        flags, = struct.unpack_from("<Q", d, at + 8)
        if kind in (2, 11) or (kind == 1 and not flags & 4):	# symbols; not code
            struct.pack_into("<QQ", d, at + 24, len(d), end - len(d))
    f.seek(0)
    f.write(d)
    f.truncate(end)
PY
	chown 12345 "$TMP/hostile"
	chmod 755 "$TMP" "$TMP/hostile"
	begin=$(date +%s)
	run 0 profile -o "$TMP/out.json" -- "$TMP/hostile" shares 0.3 || return 1
	seconds=$(($(date +%s) - begin))
	echo "# $seconds s"
	[ "$seconds" -lt 120 ]
}

# A function without a symbol has the place where it begins, wherever its samples are.
stripped() {
	command -v strip >/dev/null || { skip "no strip"; return; }
	strip -o "$TMP/stripped" "$WORK"
	run 0 profile -o "$TMP/out.json" -o - -- "$TMP/stripped" shares 1 || return 1
	place="[stripped+0x$(nm "$WORK" | sed -n 's/^0*\(.*\) T burn$/\1/p')]"
	grep -q ' % of frames have no function name, most in stripped' "$TMP/out" &&
		json "sum_of('samples', '$place') > 50" &&
		json "len({n for s in d['stacks'] if '$place' in names(s) for n in names(s) if 'stripped+' in n}) < 8" ||
		return 1
	run 0 profile -- "$WORK" shares 0.2 && ! grep -q 'most in.* work[,:]' "$TMP/out" || return 1
	# Of others, debug files are not looked for.
	chmod 757 "$TMP/stripped"
	run 0 profile -n 0 -- "$TMP/stripped" shares 0.5 &&
		grep -q 'most in stripped (\*).*; (\*) others can change it' "$TMP/out" &&
		grep -q '^Only symbols are read of files that others can change, .*: [1-9]' "$TMP/out"
}

# A file of others has a table and symbols, too.
foreign_file() {
	cp "$WORK" "$TMP/foreign"
	chown 12345 "$TMP/foreign"
	chmod 755 "$TMP" "$TMP/foreign"
	run 0 profile -o "$TMP/out.json" -- "$TMP/foreign" shares 1 &&
		json 'sum_of("samples", "burn") > 10' &&
		json 'd["complete"] > 0.9 * d["with_user_stack"]'
}

# What a file had is there until something better is written.
kept() {
	echo old >"$TMP/kept.txt"
	run 1 profile -o "$TMP/kept.txt" -o "$TMP/new.txt" -- /no/such/command
	grep -qx old "$TMP/kept.txt" && [ ! -e "$TMP/new.txt" ] || return 1
	run 1 offcpu -o "$TMP/kept.txt" -p 999999999
	grep -qx old "$TMP/kept.txt" || return 1
	run 1 count -o "$TMP/kept.txt" no_such_function_at_all
	grep -qx old "$TMP/kept.txt" || return 1
	run 0 profile -o "$TMP/kept.txt" -- "$WORK" shares 0.2 && ! grep -qx old "$TMP/kept.txt"
}

# compile FILE FUNCTION FLAGS: a program that is in FUNCTION for a second or so
compile() {
	command -v cc >/dev/null || return 1
	file=$1 function=$2
	shift 2
	printf 'volatile long n; __attribute__((noipa)) void %s(void) { while (n < 2e8) n++; }\n' \
		"$function" >"$TMP/src.c"
	echo "int main(void) { $function(); return n == 0; }" >>"$TMP/src.c"
	cc -O1 -fno-omit-frame-pointer -o "$file" "$@" "$TMP/src.c"
}

# A file that is written anew in place has other functions, and the old ones are not called so.
changed_file() {
	compile "$TMP/one" first_function -Wl,--build-id=none || { skip "no compiler"; return; }
	compile "$TMP/two" other_function -Wl,--build-id=none
	cp "$TMP/one" "$TMP/prog"
	run 0 profile -o "$TMP/out.json" -- sh -c \
			"$TMP/prog; sleep 0.3; cat $TMP/two >$TMP/prog; $TMP/prog" &&
		json 'sum_of("samples", "other_function") > 50' &&
		json '(sum_of("samples", "other_function") <
		       0.7 * sum(s["samples"] for s in d["stacks"] if s["process"] == "prog"))'
}

# Anybody can make a file with the build id of another one: it does not name root's functions.
same_build_id() {
	id=-Wl,--build-id=0x1234567890123456789012345678901234567890
	compile "$TMP/forged" forged_name "$id" || { skip "no compiler"; return; }
	compile "$TMP/real" right_name "$id"
	chmod 755 "$TMP"
	chown 12345 "$TMP/forged"
	run 0 profile -o "$TMP/out.json" -- sh -c "$TMP/forged; $TMP/real" &&
		json 'sum_of("samples", "right_name") > 50'
}

# line NUMBER: the frame at that line of the program that compile_inlined makes is in many samples
line() {
	json "sum(s['samples'] for s in d['stacks'] for f in s['frames'] if f['kind'] in
		  ('user', 'inlined') and f.get('line') == $1 and
		  f['file'].endswith('/inline.cc')) > 50"
}

# Needs a compiler of C++, whose names are mangled.
compile_inlined() {
	command -v c++ >/dev/null || { skip "no compiler"; return; }
	cat >"$TMP/inline.cc" <<'EOF'
volatile long n;
struct loop {
	static inline __attribute__((always_inline)) void spins(long end)
	{
		while (n < end)
			n = n + 1;
	}
};
__attribute__((noinline)) void outer()
{
	loop::spins(200000000);
}
int main()
{
	outer();
	return n == 0;
}
EOF
	c++ -g -O1 -fno-omit-frame-pointer -o "$TMP/prog" "$TMP/inline.cc"
}

# In all formats; --no-inline: in none, and functions have the same times.
inlined() {
	compile_inlined || return
	run 0 profile -o "$TMP/out.json" -o "$TMP/a.stacks" -o "$TMP/a.folded" -o "$TMP/a.txt" \
			-o "$TMP/a.svg" -- "$TMP/prog" &&
		json 'sum_of("samples", "loop::spins(long)", "outer()", "main") > 50' &&
		line 6 && line 11 && line 15 &&
		grep -q ';main;outer();loop::spins(long)_\[i\] [0-9]*$' "$TMP/a.folded" &&
		grep -q '^    loop::spins(long) (inlined)$' "$TMP/a.txt" &&
		grep -q 'loop::spins(long) (inlined)' "$TMP/a.svg" &&
		run 0 report -L "$TMP/a.stacks" &&
		grep -q '%  loop::spins(long) inline.cc:6 (inlined)$' "$TMP/out" &&
		grep -q '^    outer() inline.cc:11$' "$TMP/out" || return 1
	run 0 report --no-inline -o "$TMP/out.json" -o "$TMP/b.folded" "$TMP/a.stacks" &&
		json 'sum_of("samples", "outer()") > 50 and not sum_of("samples", "loop::spins(long)")' &&
		json 'not any("file" in f for s in d["stacks"] for f in s["frames"])' &&
		[ "$(awk '/;outer/ { n += $NF } END { print n }' "$TMP/a.folded")" = \
			"$(awk '/;outer/ { n += $NF } END { print n }' "$TMP/b.folded")" ] || return 1
	# Of other users' files only symbols are read.
	chown 12345 "$TMP/prog"
	chmod 755 "$TMP"
	run 0 profile -o "$TMP/out.json" -- "$TMP/prog" && json 'sum_of("samples", "outer()") > 50' &&
		json 'not any("file" in f for s in d["stacks"] for f in s["frames"])'
}

# A location has its lines, the innermost first; each has a function with its file.
pprof_lines() {
	compile_inlined || return
	run 0 profile -o "$TMP/a.pb.gz" -- "$TMP/prog" || return 1
	gzip -dc "$TMP/a.pb.gz" | python3 -c '
import sys
def number(b, i):
    n = s = 0
    while True:
        n |= (b[i] & 127) << s; s += 7; i += 1
        if b[i - 1] < 128: return n, i
def fields(b):
    i = 0
    while i < len(b):
        tag, i = number(b, i)
        n, i = number(b, i)
        if tag & 7 == 2: yield tag >> 3, b[i:i + n]; i += n
        else: yield tag >> 3, n
profile = list(fields(sys.stdin.buffer.read()))
text = [v.decode() for k, v in profile if k == 6]
functions = {}
for k, v in profile:
    f = dict(fields(v)) if k == 5 else {}
    if f: functions[f[1]] = text[f[2]], text[f.get(4, 0)].split("/")[-1]
found = [[(functions[dict(fields(w))[1]], dict(fields(w)).get(2)) for j, w in fields(v) if j == 4]
         for k, v in profile if k == 4]
wanted = [(("loop::spins(long)", "inline.cc"), 6), (("outer()", "inline.cc"), 11)]
sys.exit(wanted not in found and f"# {wanted} is not in {found}")'
}

# Tables refer to rows that are there. What a stack has of names, lines and weight is what JSON has.
firefox() {
	compile_inlined || return
	run 0 profile -o "$TMP/a.stacks" -- "$TMP/prog" &&
		run 0 report -o "$TMP/out.json" -o "$TMP/a.firefox.json" "$TMP/a.stacks" || return 1
	python3 - "$TMP/a.firefox.json" "$TMP/out.json" <<'EOF'
import collections, json, sys
p, d = (json.load(open(name)) for name in sys.argv[1:])
shared, texts = p["shared"], p["shared"]["stringArray"]
refers = {"stackTable": {"frame": "frameTable", "prefix": "stackTable"}, "frameTable": {"func": "funcTable"},
          "funcTable": {"resource": "resourceTable", "source": "sources"}, "resourceTable": {}, "sources": {}}
for name, columns in refers.items():
    table = shared[name]
    assert all(len(c) == table["length"] for c in table.values() if isinstance(c, list)), name
    for column, to in columns.items():
        assert all(v is None or v < shared[to]["length"] for v in table[column]), (name, column)
assert all(v is None or v < i for i, v in enumerate(shared["stackTable"]["prefix"]))
assert all(v < len(p["libs"]) for v in shared["resourceTable"]["lib"])
def frames(stack):
    while stack is not None:
        frame = shared["stackTable"]["frame"][stack]
        func = shared["frameTable"]["func"][frame]
        source = shared["funcTable"]["source"][func]
        yield (texts[shared["funcTable"]["name"][func]],
               source is not None and texts[shared["sources"]["filename"][source]] or None,
               shared["frameTable"]["line"][frame], shared["frameTable"]["inlineDepth"][frame] > 0)
        stack = shared["stackTable"]["prefix"][stack]
found, wanted = collections.Counter(), collections.Counter()
for t in p["threads"]:
    assert t["samples"]["time"] == sorted(t["samples"]["time"]) and t["samples"]["weightType"] == "samples"
    for stack, weight in zip(t["samples"]["stack"], t["samples"]["weight"]):
        found[int(t["pid"]), t["name"], *[f for f in frames(stack) if f[0] != "[incomplete]"]] += weight
for s in d["stacks"]:
    wanted[s["pid"], s["process"], *[(f["name"], f.get("file"), f.get("line") or None, f["kind"] == "inlined")
                                     for f in s["frames"]]] += s["samples"]
assert found == wanted, (found - wanted, wanted - found)
assert any(f[0] == "loop::spins(long)" and f[3] for k in found for f in k[2:])
library = next(lib for lib in p["libs"] if lib["name"] == "prog")
assert len(library["codeId"]) == 40, library
EOF
}

# The debug file comes from a server, once. Nobody waits for it who writes no names.
downloads() {
	compile_inlined || return
	id=$(readelf -n "$TMP/prog" | sed -n 's/.*Build ID: //p')
	[ -n "$id" ] || { skip "no build id"; return; }
	mkdir -p "$TMP/server/buildid/$id"
	objcopy --only-keep-debug "$TMP/prog" "$TMP/server/buildid/$id/debuginfo"
	strip "$TMP/prog"
	ip link set lo up 2>/dev/null
	python3 -m http.server -b 127.0.0.1 -d "$TMP/server" 8918 >"$TMP/server.log" 2>&1 &
	server=$!
	for _ in $(seq 100); do
		python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8918))' \
			2>/dev/null && break
		sleep 0.1
	done
	export DEBUGINFOD_URLS=http://127.0.0.1:8918 DEBUGINFOD_CACHE_PATH="$TMP/cache"
	run 0 record -o "$TMP/b.stacks" -- "$TMP/prog" && ! grep GET "$TMP/server.log" &&
		run 0 profile -o "$TMP/out.json" -o "$TMP/a.stacks" -- "$TMP/prog"
	status=$?
	kill "$server"
	wait "$server" 2>/dev/null
	[ "$status" = 0 ] && line 6 && grep -q "GET /buildid/$id/debuginfo" "$TMP/server.log" &&
		run 0 report -o "$TMP/out.json" "$TMP/a.stacks" && line 6
	status=$?
	unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
	return "$status"
}

main_is_known() {
	json 'sum_of("samples", "spins") > 50' &&
		json 'any(f.get("file", "").endswith("/src.c") for s in d["stacks"] for f in s["frames"])' &&
		json 'all("note" not in s for s in d["stacks"] if "main" in names(s))'
}

# main() may be in the debug file only, and the file itself where its build id leads to.
debug_file() {
	compile "$TMP/prog" spins -g -fno-asynchronous-unwind-tables ||
		{ skip "no compiler"; return; }
	id=$(readelf -n "$TMP/prog" | sed -n 's/.*Build ID: //p')
	[ -n "$id" ] || { skip "no build id"; return; }
	debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
	mkdir -p "$debug"
	objcopy --only-keep-debug "$TMP/prog" "$debug/$(echo "$id" | cut -c3-).debug"
	strip "$TMP/prog"
	run 0 profile -o "$TMP/out.json" -- "$TMP/prog" && main_is_known &&
		run 0 record -o "$TMP/a.stacks" -- "$TMP/prog" && grep -q 'at least' "$TMP/err" &&
		run 0 report -o "$TMP/out.json" "$TMP/a.stacks" && main_is_known &&
		mv "$TMP/prog" "$TMP/moved" && ln -s "$TMP/moved" "$debug/$(echo "$id" | cut -c3-)" &&
		run 0 report -o "$TMP/out.json" "$TMP/a.stacks" && main_is_known
	status=$?
	rm -rf "$debug"
	return "$status"
}

# Names that others choose do not move the cursor.
control_characters() {
	cp "$WORK" "$TMP/$(printf 'a\033[31mb')"
	for format in text folded json svg; do
		run 0 profile -f "$format" -o - -- "$TMP/$(printf 'a\033[31mb')" shares 0.3 ||
			return 1
		! grep -q "$(printf '\033')" "$TMP/out" "$TMP/err" || return 1
	done
}

wrong() {
	run 1 profile -o /no/such/dir/x.svg -- true &&
			run 1 profile -o "$TMP/x.unknown" -- true &&
		run 2 profile -f nonsense -- true && run 2 profile -d 0 -- true &&
				run 2 profile --nonsense -- true &&
		grep -q 'stacks profile --help' "$TMP/err"
}

usage() {
	run 0 --version && grep -q '^stacks [0-9]' "$TMP/out" && run 0 --help &&
			run 2 nonsense || return 1
	sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$TMP/out" >"$TMP/commands"
	while read -r command; do
		run 0 "$command" --help || return 1
	done <"$TMP/commands"
}

rights() {
	command -v setpriv >/dev/null || { skip "no setpriv"; return; }
	chmod 777 "$TMP"
	setpriv --reuid=12345 --clear-groups --inh-caps=-all "$STACKS" profile -d 0.2 \
			>"$TMP/out" 2>"$TMP/err"
	[ $? = 1 ] && grep -q 'stacks check' "$TMP/err"
}

tests formats inverted report filters bad_report compares terminal completion \
	hostile_file stripped foreign_file kept changed_file same_build_id debug_file inlined \
	pprof_lines firefox downloads control_characters wrong usage rights
