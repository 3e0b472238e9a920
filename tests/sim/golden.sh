#!/usr/bin/env bash
# golden.sh PROGRAM SCENARIO TRANSCRIPT [validate]: runs the scenario, or validates the suite, and compares the output
# with the transcript. Repeats it with other --jobs and compares the CSV of both runs byte by byte. UPDATE_GOLDEN=1
# records the transcript instead. Read the difference before you commit it.
set -euo pipefail
program=$1 scenario=$2 transcript=$3 command=${4:-run}
options=()
[[ $command == validate ]] || options=(--no-plot)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" "$command" "$scenario" "${options[@]}" --jobs 1 --csv "$work/first.csv" > "$work/table.txt" 2> "$work/messages.txt" ||
  { echo "exit code $?"; cat "$work/messages.txt"; exit 1; }
"$program" "$command" "$scenario" "${options[@]}" --jobs 3 --csv - > "$work/second.csv" 2>/dev/null

cmp "$work/first.csv" "$work/second.csv" || { echo "the same scenario gave two different CSVs"; exit 1; }
if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
  mkdir -p "$(dirname "$transcript")"
  cp "$work/table.txt" "$transcript"
  exit 0
fi
diff -u "$transcript" "$work/table.txt"
