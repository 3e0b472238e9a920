#!/usr/bin/env bash
# readme_figures_test.sh README TRANSCRIPTS TABLE...: the README has the closing line of every suite's transcript, and every row
# of each transcript TABLE, word for word.
set -euo pipefail
readme=$1 transcripts=$2
shift 2
missing=0
expect() { grep -qF -- "$1" "$readme" || { echo "README.md does not say: $1"; missing=1; }; }
for transcript in "$transcripts"/*.txt; do
  closing=$(tail -1 "$transcript")
  [[ -n $closing ]] || { echo "$transcript has no closing line"; exit 1; }  # README has an empty one
  expect "$closing"
done
for table in "$@"; do
  rows=$(sed '1,/^$/d; /^note: /d' "$table")
  [[ -n $rows ]] || { echo "$table has no rows"; exit 1; }
  while IFS= read -r row; do expect "$row"; done <<<"$rows"
done
exit $missing
