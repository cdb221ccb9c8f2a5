# fish completion of Quill's commands; a file quill.fish, or: quill completion fish | source
function __quill_complete
    set -l found (quill complete (commandline -opc) (commandline -ct) 2>/dev/null)
    if count $found >/dev/null
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
for name in @COMMANDS@
    complete -c $name -f -a '(__quill_complete)'
end
