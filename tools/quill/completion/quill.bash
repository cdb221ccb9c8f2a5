# bash completion of Quill's commands; loaded by bash-completion, or with: source <(quill completion bash)
_quill() {
	local line=${COMP_LINE:0:COMP_POINT} words word head
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	word=${words[-1]}
	mapfile -t COMPREPLY < <(quill complete "${words[@]}" 2>/dev/null)
	# bash replaces what stands after the last of these characters only.
	head=${word%"${word##*[@=:]}"}
	[[ $head ]] && COMPREPLY=("${COMPREPLY[@]#"$head"}")
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
	return 0
}
complete -o default -F _quill @COMMANDS@
