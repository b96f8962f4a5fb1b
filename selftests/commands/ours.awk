# SPDX-License-Identifier: GPL-2.0
# Stacks that "stacks count" has printed: a line "COUNT FRAME;FRAME..." for each, innermost first.
#
#   awk [-v only=kernel] [-v depth=N] -f ours.awk
#
# only=kernel: user frames are left out; depth: N frames at most.

function put(count,   i, line, n) {
	for (i = 1; i <= nr && !(depth && n >= depth); i++) {
		if (only == "kernel" && !is_kernel[i])
			continue
		line = line (n++ ? ";" : "") frame[i]
	}
	print count, line
	nr = 0
}

/^    [0-9]+$/ { put($1); next }
/^  [^ ]/ {
	frame[++nr] = $1
	is_kernel[nr] = $2 == "[k]"
	next
}
# The line of a process, or the end of a stack
!/^    / { nr = 0 }
