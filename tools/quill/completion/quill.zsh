#compdef @COMMANDS@
# zsh completion of Quill's commands; a file _quill in a directory of fpath, or: source <(quill completion zsh)
_quill() {
	local -a found
	found=(${(f)"$(quill complete "${(@)words[1,CURRENT]}" 2>/dev/null)"})
	if (( $#found == 1 )) && [[ $found[1] == *= ]]; then
		compadd -Q -S '' -- $found
	elif (( $#found )); then
		compadd -Q -- $found
	else
		_files
	fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_quill "$@"
else
	compdef _quill @COMMANDS@
fi
