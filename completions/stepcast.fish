# fish completion of stepcast and stepcast-calibrate: the program itself says what fits.
function __stepcast_words
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] 2>/dev/null)
    printf '%s\n' $answer[2..-1]
    if test "$answer[1]" = files
        __fish_complete_path (commandline -ct)
    end
end
complete -c stepcast -f -a '(__stepcast_words)'
complete -c stepcast-calibrate -f -a '(__stepcast_words)'
