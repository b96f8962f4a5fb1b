# SPDX-License-Identifier: GPL-2.0
# The same as ours.awk, of a histogram of ftrace by common_stacktrace.
#
#   awk [-v from=FUNCTION] [-v depth=N] -f hist.awk
#
# from: what is more inward than FUNCTION is left out, which is what calls a kprobe.

/common_stacktrace:$/ { nr = 0; line = ""; started = from == ""; next }
/^} hitcount:/ { print $3, line; next }
/\+0x/ {
	sub(/\+0x.*/, "", $1)
	started = started || $1 == from
	if (started && !(depth && nr >= depth))
		line = line (nr++ ? ";" : "") $1
}
