#!/usr/bin/env bash
# readme_figures_test.sh PROJECT TRANSCRIPTS TABLE...: scenarios/README.md has the closing line of every suite's transcript, and
# README.md every row of each transcript TABLE, word for word.
set -euo pipefail
project=$1 transcripts=$2
shift 2
missing=0
expect() { grep -qF -- "$2" "$project/$1" || { echo "$1 does not say: $2"; missing=1; }; }
for transcript in "$transcripts"/*.txt; do
  closing=$(tail -1 "$transcript")
  [[ -n $closing ]] || { echo "$transcript has no closing line"; exit 1; }  # README has an empty one
  expect scenarios/README.md "$closing"
done
for table in "$@"; do
  rows=$(sed '1,/^$/d; /^note: /d' "$table")
  [[ -n $rows ]] || { echo "$table has no rows"; exit 1; }
  while IFS= read -r row; do expect README.md "$row"; done <<<"$rows"
done
exit $missing
