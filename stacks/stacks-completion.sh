# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For bash: commands and options of stacks, as it lists them itself.
_stacks() {
	local words cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}

	if [ "$COMP_CWORD" = 1 ]; then
		words=$(stacks --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	elif [[ $cur == -* ]]; then
		words=$(stacks "$command" --help | grep -o -e '--[a-z-]*')
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _stacks stacks
