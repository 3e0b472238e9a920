# The common start of tests of stepcast-calibrate's programs, for `source`. It enters a temporary folder, where the
# files out and err have the program's last output.
# @pre $program is the program, and the array `first` the arguments with which each run begins
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() { echo "FAILED: $*"; cat out err 2>/dev/null; exit 1; }
# run EXPECTED_CODE ARGUMENTS...
run() {
  local expected=$1 code=0
  shift
  "$program" "${first[@]}" "$@" >out 2>err || code=$?
  [[ $code == "$expected" ]] || fail "$*: exit $code, expected $expected"
}
# has FILE TEXT
has() { grep -qF -- "$2" "$1" || fail "$1 lacks \"$2\""; }
