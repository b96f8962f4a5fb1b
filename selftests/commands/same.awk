# SPDX-License-Identifier: GPL-2.0
# Are the counts in two files the same? Both have lines "COUNT WHAT". Prints what differs.
#
#   awk -v missed=N -f same.awk THEIRS OURS
#
# The kernel does not call a BPF program while another one runs on the same CPU. It counts these
# events, whoever they were of: N. OURS may lack up to N events in all, but no more than one in
# 50, and may never have one too many. Exit status: 0 the same; 1 not the same; 77 the kernel has
# missed more than one in 50, so that this says nothing and has to be repeated.

{
	count = $1
	sub(/^ *[^ ]+ */, "")
	what[$0]
	if (FILENAME == ARGV[1])
		theirs[$0] += count
	else
		ours[$0] += count
}
END {
	for (i in what) {
		all += theirs[i]
		if (theirs[i] == ours[i])
			continue
		printf "counted %d, ftrace %d: %s\n", ours[i], theirs[i], i
		if (ours[i] > theirs[i])
			more = 1
		else
			less += theirs[i] - ours[i]
	}
	if (!all || more || less > missed)
		exit 1
	exit less * 50 > all ? 77 : 0
}
