# SPDX-License-Identifier: GPL-2.0
# Entry points; each calls one script, which says what it does. See README.md.
#
# make ends with its own status 2 whatever went wrong. The last line of a target
# has the real one, and the scripts, called directly, return it.

V := scripts/verdict

help:
	@scripts/help

run:
	@$V run scripts/run
check:
	@$V check scripts/check
check-long:
	@$V check-long scripts/check-long
tree:
	@$V tree sh -c 'scripts/toolchain && scripts/tree'
export:
	@$V export scripts/export
kernel:
	@$V kernel sh -c 'scripts/toolchain && scripts/tree && scripts/kernel'
test:
	@$V test scripts/test
bench:
	@$V bench scripts/bench
shell:
	@$V shell scripts/shell
packages:
	@$V packages scripts/packages
check-series:
	@$V check-series sh -c 'scripts/check-series && scripts/bisect'
clean:
	@$V clean scripts/clean
distclean:
	@$V distclean scripts/clean all

.PHONY: help run check check-long tree export kernel test bench shell packages check-series clean distclean
.NOTPARALLEL:
