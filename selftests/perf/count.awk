# SPDX-License-Identifier: GPL-2.0
# Counts the samples in the output of perf script -F comm,tid,event,ip,sym,dso by
# the file that the topmost user frame is in:
#
#   awk -v program=FILE -v covered="FILE..." [-v list=N] -f count.awk OUTPUT
#
# Prints a table, and then one line with the sums of the covered files:
#   total SAMPLES IN_USER_MODE REACHED STRAY
# REACHED: main() of the program is on the user stack. STRAY: it is, and an address
# above it is in no file. The first N samples of covered files that do not reach
# main() are printed, too.

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

# Kernel frames come first. Behind them, what looks like one is a bad user frame.
function is_kernel() { return address ~ /^f/ && length(address) == 16 }

{
	first = 2
	while (first <= NF) {
		parse($first)
		if (!is_kernel())
			break
		first++
	}
	top = first <= NF ? file : "(no user frame)"
	reached = unknown = 0
	for (i = first; i <= NF && !reached; i++) {
		parse($i)
		reached = symbol == "main" && file == program
		unknown += file == "[unknown]"
	}

	samples[top]++
	in_user[top] += first == 2 && NF > 1
	reach[top] += reached
	stray[top] += reached && unknown
	if (top in is_covered && !reached && shown++ < list) {
		gsub(/\n/, "\n#   ")
		print "#   " $0 "\n#"
	}
}

END {
	printf "#   %-28s %8s %9s %10s %6s\n", "topmost user frame in", "samples", "in user", "reach main", "stray"
	for (name in samples) {
		printf "#   %-28s %8d %9d %10d %6d%s\n", name, samples[name], in_user[name],
			reach[name], stray[name], name in is_covered ? "" : "  no table"
		if (name in is_covered) {
			s += samples[name]
			u += in_user[name]
			r += reach[name]
			t += stray[name]
		}
	}
	print "total", s + 0, u + 0, r + 0, t + 0
}
