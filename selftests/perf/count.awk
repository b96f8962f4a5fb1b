# SPDX-License-Identifier: GPL-2.0
# Counts samples by the file that the topmost user frame is in:
#
#   awk -v program=FILE -v covered="FILE..." [-v list=N] -f count.awk UNMERGED MERGED
#
# Both are output of perf script --ns -F comm,tid,time,event,ip,sym,dso; UNMERGED with
# --no-merge-callchains. Prints a table, and then lines with numbers:
#   cookies  SAMPLES WITHOUT-COOKIE WITHOUT-REASON RECORDS COOKIES-WITHOUT-RECORD
#   deferred SAMPLES IN-USER-MODE REACHED STRAY	of covered files, with a cookie
#   direct   SAMPLES IN-USER-MODE REACHED STRAY	of covered files, without one
# REACHED: main() of the program is on the user stack. STRAY: it is, and an address
# above it is in no file. WITHOUT-REASON: no cookie, and the kernel is not where it cannot
# defer the stack, see callgraph. The first N of these samples are printed, and of those of
# covered files that had a cookie and do not reach main().

BEGIN {
	RS = ""
	FS = "\n"
	split(covered, names, " ")
	for (i in names)
		is_covered[names[i]] = 1
}

# "  ADDRESS SYMBOL (FILE)"
function parse(line) {
	sub(/^[ \t]+/, "", line)
	address = symbol = file = line
	sub(/ .*/, "", address)
	sub(/^[^ ]* /, "", symbol)
	sub(/ \([^(]*\)$/, "", symbol)
	sub(/.* \(/, "", file)
	sub(/\)$/, "", file)
	sub(/.*\//, "", file)
}

function show() {
	gsub(/\n/, "\n#   ")
	print "#   " $0 "\n#"
}

# Kernel frames come first. Behind them, what looks like one is a bad user frame.
function is_kernel() { return address ~ /^f/ && length(address) == 16 }

# "COMM TID TIME: ...": the time is in nanoseconds
function key() {
	split($1, words, /[ \t]+/)
	return words[2] " " words[3]
}

FNR == NR && /DEFERRED CALLCHAIN \[cookie: / {
	cookie = $1
	sub(/.*cookie: /, "", cookie)
	sub(/\].*/, "", cookie)
	delete waits[cookie]
	records++
	next
}

# The cookie is the last frame.
FNR == NR {
	all++
	parse($NF)
	if (symbol == "(cookie)") {
		waits[address] = 1
		has_cookie[key()] = 1
	} else {
		without++
		for (i = 2; i <= NF && symbol !~ /^(exit_to_user_mode_loop|irqentry_exit|do_exit)$/; i++)
			parse($i)
		if (symbol !~ /^(exit_to_user_mode_loop|irqentry_exit|do_exit)$/ && no_reason++ < list)
			show()
	}
	next
}

{
	first = 2
	while (first <= NF) {
		parse($first)
		if (!is_kernel())
			break
		first++
	}
	top = first <= NF ? file : "(none)"
	# crti.o of the C library comes without call frame information. What begins in
	# _start is not in main() yet: there, the tables are loaded, which takes time.
	if (symbol ~ /^(_init|_start)$/ && first <= NF)
		top = symbol
	reached = unknown = 0
	for (i = first; i <= NF && !reached; i++) {
		parse($i)
		reached = symbol == "main" && file == program
		unknown += file == "[unknown]"
	}

	row = top (key() in has_cookie ? " deferred" : " direct")
	samples[row]++
	in_user[row] += first == 2 && NF > 1
	reach[row] += reached
	stray[row] += reached && unknown
	if (top in is_covered && key() in has_cookie && !reached && shown++ < list)
		show()
}

END {
	printf "#   %-24s %-9s %8s %9s %10s %6s\n", "topmost user frame in", "walk", "samples", "in user",
		"reach main", "stray"
	for (row in samples) {
		split(row, words, " ")
		printf "#   %-24s %-9s %8d %9d %10d %6d%s\n", words[1], words[2], samples[row], in_user[row],
			reach[row], stray[row], words[1] in is_covered ? "" : "  no table"
		if (words[1] in is_covered) {
			n[words[2]] += samples[row]
			u[words[2]] += in_user[row]
			r[words[2]] += reach[row]
			t[words[2]] += stray[row]
		}
	}
	for (cookie in waits)
		missing++
	print "cookies", all + 0, without + 0, no_reason + 0, records + 0, missing + 0
	for (i = split("deferred direct", names, " "); i; i--)
		print names[i], n[names[i]] + 0, u[names[i]] + 0, r[names[i]] + 0, t[names[i]] + 0
}
