# To be sourced with $program, $golden and $work set.
# transcript COMMAND NAME ARGUMENTS...: what the command prints, against golden/NAME.txt. UPDATE_GOLDEN=1 records it instead: read
# the difference before you commit it.
transcript() {
  local command=$1 name=$2
  shift 2
  "$program" "$command" "$@" >"$work/$name.txt"
  if [ "${UPDATE_GOLDEN:-}" = 1 ]; then cp "$work/$name.txt" "$golden/$name.txt"; else diff -u "$golden/$name.txt" "$work/$name.txt"; fi
}
