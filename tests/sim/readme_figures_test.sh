#!/usr/bin/env bash
# readme_figures_test.sh README TRANSCRIPTS: the README has the closing line of every suite's transcript, word for word.
set -euo pipefail
readme=$1 transcripts=$2
missing=0
for transcript in "$transcripts"/*.txt; do
  line=$(tail -1 "$transcript")
  grep -qF -- "$line" "$readme" || { echo "README.md does not say: $line"; missing=1; }
done
exit $missing
