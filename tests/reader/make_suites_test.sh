#!/usr/bin/env bash
# make_suites_test.sh SCENARIOS: suites and tables on disk are the scripts' output.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$1/scripts/make_suites.py" "$work/validation"
diff -r --exclude=measurements "$work/validation" "$1/validation"
mkdir "$work/workloads"
python3 "$1/scripts/make_workloads.py" "$work/workloads"
for table in "$work"/workloads/*; do diff "$table" "$1/workloads/"; done
