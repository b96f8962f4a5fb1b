# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Programs with work for half a minute and more, for programs and many, in the guest, in a
# directory of their own. Before: BIN says where fzf is; HERE, where work.py is.

endless="with recursive n(i) as (select 1 union all select i + 1 from n)
	select count(distinct printf('%x', i * 7919 % 65521)) from n where hex(i) like '%3%1%'"
fibonacci='return n < 2 ? n : f(n - 1) + f(n - 2);'
# shellcheck disable=SC2016 # perl's
perl_work='sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) }
	while (1) {
		my %h; f(12);
		$h{$_ * 7919 % 1009} .= "x$_" for 1 .. 2000;
		(my $t = join ",", sort keys %h) =~ s/(\d+)/<$1>/g;
	}'

# c_source FUNCTIONS
c_source() {
	seq "$1" | awk '{
		printf "int f%d(int *a, int n) { int i, j, s = 0; for (i = 0; i < n; i++) for (j = i; j < n; j += %d)", $1, $1 % 5 + 1
		printf " s += a[j] * a[i %% 7] ^ a[j] / (i + %d); switch (s & 7) { case 1: return s * 3;", $1
		print " case 2: return a[s & 3]; case 5: return n; default: return -s; } }"
	}'
}

# java_source CLASSES: of Java, in one file
java_source() {
	echo 'import java.util.*; import java.util.function.*;'
	seq "$1" | awk '{
		printf "class C%d<T extends Comparable<T>> { final Map<String, List<T>> m = new TreeMap<>();", $1
		printf " List<T> f(Collection<? extends T> c, UnaryOperator<T> o) { List<T> r = new ArrayList<>(); for (T t : c) r.add(o.apply(t)); Collections.sort(r); return m.computeIfAbsent(\"k%d\", k -> r); }", $1
		printf " int g(int n) { int s = %d; switch (n & 3) { case 0: s += n * %d; break; case 1: return g(n - 1) ^ s; default: for (int i = 0; i < n; i++) s ^= i * %d; } return s; } }\n", $1, $1, $1 % 7
	}'
}

# when_sampled PROGRAM ARGUMENT...: executed when whoever made the pipe "go" lets it
when_sampled() {
	[ ! -p go ] || read -r _ <go
	exec "$@"
}

# java_program OPTION...: without frame pointers, with all libraries of the packages
java_program() {
	when_sampled /usr/lib/jvm/java-??-openjdk-amd64/bin/java -XX:-PreserveFramePointer -cp '/usr/share/java/*' "$@"
}

# reachable DIRECTORY/: for ordinary users, who have to get to what links point to
reachable() {
	local way
	for ((way = 1; way < ${#1}; way++)); do
		[ "${1:way:1}" != / ] || chmod a+rx "${1:0:way}" 2>/dev/null
	done
}

# of_perl: the libraries of perl, and the program itself
of_perl() { ldd /usr/bin/perl | grep -oE '/[^ ]+' && echo /usr/bin/perl; }

# prepare PROGRAM: what it needs before it is started
prepare() {
	local file
	case $1 in
	cc1) c_source 4000 >work.c ;;
	clang) c_source 8000 >work.c ;;
	rustc)
		seq 3000 | awk '{
			printf "pub fn f%d(a: &[i32]) -> i32 { let mut s: i32 = %d; let mut v: Vec<i32> = a.iter().map(|x| x.wrapping_mul(%d)).collect();", $1, $1, $1
			printf " v.sort(); for (i, x) in v.iter().enumerate() { s ^= x.wrapping_add(i as i32); }"
			print " match s & 7 { 1 => s.wrapping_mul(3), 2 => v.len() as i32, _ => -s } }"
		}' >work.rs
		;;
	ocamlc)
		seq 20000 | awk '{
			printf "let f%d x y = match x, y with [], _ | _, [] -> List.map (fun z -> z * %d + 1) (x @ y)", $1, $1
			print " | a :: s, b :: t when a < b -> List.rev_append s (b :: t) | _, b :: t -> b :: List.filter (fun z -> z > b) t"
		}' | split -l 200 --additional-suffix .ml - work # the stack is as deep as a file is long
		;;
	javac | ant)
		java_source 3000 >Work.java && mkdir -p out &&
			echo '<project default="work"><target name="work"><javac srcdir="." destdir="out" includeantruntime="false"/></target></project>' >build.xml
		;;
	bsh) echo "f(n) { $fibonacci } while (true) f(12);" >work.bsh ;;
	git) for file in a b; do shuf -r -i 1-5000 -n 200000 >"$file" || return; done ;;
	postgres | postgres-jit)
		file=$(echo /usr/lib/postgresql/*/bin)
		# It looks for its libraries beside the file that a link points to.
		[ "$1" = postgres ] || {
			mkdir -p usr/lib usr/share && cp -rL /usr/lib/postgresql usr/lib/ && cp -rL /usr/share/postgresql usr/share/ || return
		}
		mkdir -m 700 data && chown 65534:65534 data && chmod a+rx . &&
			$AS_USER "$file/initdb" -D data -U postgres --no-sync --no-instructions --auth trust >initdb.log 2>&1
		;;
	# Files of a distribution that are not where they were, or not what they were
	user) mkdir -p home && cp /usr/bin/perl home/ && chmod 0775 home/perl && chown -R 65534:65534 home && chmod a+rx . ;;
	deleted | replaced) cp /usr/bin/perl "$1" ;;
	container)
		mkdir -p root/dev && : >root/dev/null && of_perl | while read -r file; do
			mkdir -p "root${file%/*}" && cp -L "$file" "root$file" || return
		done
		;;
	overlayfs)
		mkdir lower upper work merged && cp /usr/bin/perl lower/ &&
			mount -t overlay -o "lowerdir=$PWD/lower,upperdir=$PWD/upper,workdir=$PWD/work" none merged
		;;
	fuse) mkdir source mounted && cp /usr/bin/perl source/ && bindfs source mounted ;;
	esac
}

# start PROGRAM: becomes it
start() {
	local sign=+ file
	case $1 in
	python3) exec python3 "$HERE/work.py" ;;
	perl) exec perl -e "$perl_work" ;;
	sqlite3) exec sqlite3 :memory: "$endless" ;;
	cc1) exec "$(compgen -G '/usr/libexec/gcc/*/*/cc1' | head -n 1)" -quiet -O2 work.c -o /dev/null ;;
	clang) exec clang -O2 -c work.c -o /dev/null ;;
	rustc) exec rustc -O --crate-type lib work.rs -o /dev/null ;;
	goawk)
		exec goawk 'function f(n) { '"$fibonacci"' }
			BEGIN { while (1) { f(12); for (i = 0; i < 500; i++) { t = sprintf("%d-%x", i, i * 7919); gsub(/[0-9]+/, "<&>", t) } } }'
		;;
	fzf) exec "$BIN/fzf" --no-sort -f '9 8 7' < <(seq 1 100000000) ;;
	node)
		exec node -e 'function f(n) { '"$fibonacci"' }
			for (;;) {
				f(16);
				const items = [...Array(500).keys()].map(i => ({key: i * 7919 % 1009, name: "name " + i}));
				JSON.parse(JSON.stringify(items.sort((a, b) => a.key - b.key)));
				"a1 b2 ".repeat(200).replace(/(\w)(\d)/g, (all, a, b) => b + a);
			}'
		;;
	java | java-fp)
		[ "$1" = java-fp ] || sign=-
		when_sampled keytool "-J-XX:${sign}PreserveFramePointer" -genkeypair -keyalg RSA -keysize 16384 -alias a -dname CN=a \
			-keystore "$PWD/keys" -storepass password
		;;
	javac) java_program -m jdk.compiler/com.sun.tools.javac.Main -d out Work.java ;;
	ant) java_program org.apache.tools.ant.Main -q ;;
	h2)
		java_program org.h2.tools.Shell -url jdbc:h2:mem: -sql "select count(distinct substring(hash('SHA-256', cast(x as varchar)), 1, 2))
			from system_range(1, 1000000000) where cast(x as varchar) like '%3%1%'"
		;;
	groovy)
		java_program groovy.ui.GroovyMain -e 'int f(int n) { n < 2 ? n : f(n - 1) + f(n - 2) }
			while (true) { f(12); (1..500).collect { it * 7919 % 1009 }.sort { -it }.join(",").replaceAll(/[0-9]+/, "<>") }'
		;;
	clojure)
		java_program clojure.main -e '(defn f [n] (if (< n 2) n (+ (f (- n 1)) (f (- n 2)))))
			(while true (f 12) (clojure.string/replace (apply str (interpose "," (sort (map #(mod (* % 7919) 1009) (range 500))))) #"[0-9]+" "<>"))'
		;;
	jruby)
		java_program -Djruby.home=/usr/share/jruby org.jruby.Main -e 'def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end
			loop { f(12); (1..500).map { |x| x * 7919 % 1009 }.sort_by { |x| -x }.join(",").gsub(/[0-9]+/, "<>") }'
		;;
	jython)
		java_program -Dpython.home=/usr/share/jython -Dpython.cachedir.skip=true org.python.util.jython -S -c 'import re
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
while True:
    f(12); re.sub("[0-9]+", "<>", ",".join(map(str, sorted(x * 7919 % 1009 for x in range(500)))))'
		;;
	rhino)
		java_program org.mozilla.javascript.tools.shell.Main -e "function f(n) { $fibonacci }"'
			while (true) { f(12); var a = []; for (var i = 0; i < 500; i++) a.push(i * 7919 % 1009); a.sort().join(",").replace(/[0-9]+/g, "<>"); }'
		;;
	bsh) java_program bsh.Interpreter work.bsh ;;
	php)
		# shellcheck disable=SC2016 # php's
		exec "$(echo /usr/bin/php?.?)" -n -r 'function f($n) { return $n < 2 ? $n : f($n - 1) + f($n - 2); }
			while (1) {
				f(12);
				$a = range(1, 500);
				usort($a, fn($x, $y) => $x * 7919 % 1009 <=> $y * 7919 % 1009);
				preg_replace_callback("/\d+/", fn($m) => "<$m[0]>", implode(",", $a));
				md5(serialize($a));
			}'
		;;
	ocamlc) exec ocamlc.opt -c work*.ml ;;
	openssl) exec openssl speed -seconds 300 sha512 ;;
	git) exec git --no-pager diff --no-index --no-ext-diff --minimal a b ;;
	qemu-img)
		file=$(echo /usr/lib/x86_64-linux-gnu/libLLVM.so.??.*)
		file=${file%% *}
		exec qemu-img convert -f raw -c -O qcow2 "$file" "$file" "$file" "$file" out.qcow2
		;;
	ffmpeg)
		# Libraries of which there may be several
		export LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/blas:/usr/lib/x86_64-linux-gnu/lapack
		exec ffmpeg -v error -f lavfi -i testsrc2=size=640x360 -c:v libx264 -f null -
		;;
	postgres)
		exec $AS_USER "$(echo /usr/lib/postgresql/*/bin)/postgres" --single -D data postgres \
			<<<'select count(distinct md5(i::text)) from generate_series(1, 1000000000) i'
		;;
	# LLVM makes machine code of the sum
	postgres-jit)
		exec $AS_USER "$(echo usr/lib/postgresql/*/bin)/postgres" --single -D data -c jit_above_cost=0 -c jit_optimize_above_cost=0 postgres \
			<<<'select sum((a * 7919 % 65521) * (b % 13) + (a & b)) from generate_series(1, 30000) a, generate_series(1, 30000) b where (a + b) % 3 <> 1'
		;;
	python-jit) exec python3 -X perf_jit "$HERE/work.py" ;;
	static)
		# shellcheck disable=SC2016 # for that bash
		exec "$MANY/bash" -c 'f() { local n=$1 a; if ((n < 2)); then r=$n; else f $((n - 1)); a=$r; f $((n - 2)); ((r += a)); fi; }
			while :; do f 6; t+=$r; t=${t//5/<5>}; t=${t:0:90}; done'
		;;
	musl) exec "$MANY/musl" ;;
	# Below, perl again
	user) exec $AS_USER home/perl -e "$perl_work" ;;
	memfd)
		exec python3 -c 'import os, sys
fd = os.memfd_create("perl", 0)
with open("/usr/bin/perl", "rb") as file:
    os.sendfile(fd, file.fileno(), 0, os.fstat(file.fileno()).st_size)
os.execve(fd, ["perl", "-e", sys.argv[1]], os.environ)' "$perl_work"
		;;
	deleted | replaced) exec "./$1" -e "$perl_work" ;;
	container) exec unshare -Urmn chroot root /usr/bin/perl -e "$perl_work" ;;
	overlayfs) exec merged/perl -e "$perl_work" ;;
	fuse) exec mounted/perl -e "$perl_work" ;;
	esac
}

# started PROGRAM: what happens to its files when it runs
started() {
	case $1 in
	deleted) rm "$1" ;;
	replaced) cp /usr/bin/perl new && mv new "$1" ;;
	esac
}
