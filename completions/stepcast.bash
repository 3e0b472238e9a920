# bash completion of stepcast and stepcast-calibrate: the program itself says what fits.
_stepcast() {
  local line word words=() answer typed
  line=${COMP_LINE:0:COMP_POINT}
  # Bash's own words end at "=" and ":"; the line's end only at spaces.
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  typed=${words[-1]}
  mapfile -t answer < <("${COMP_WORDS[0]}" __complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  for word in "${answer[@]:1}"; do
    word=${word%%$'\t'*}
    [[ $word == *[/=] ]] && compopt -o nospace
    [[ $word == *[[:space:]\'\"]* ]] && printf -v word '%q' "$word"
    # Bash replaces only what follows the last "=" or ":".
    if [[ $typed == *[=:]* && $COMP_WORDBREAKS == *=* ]]; then word=${word#"${typed%"${typed##*[=:]}"}"}; fi
    COMPREPLY+=("$word")
  done
  if [[ ${answer[0]} == files ]]; then
    compopt -o filenames
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${typed##*[=:]}")
  fi
}
complete -F _stepcast stepcast stepcast-calibrate
