#!/usr/bin/env bash
# make_suites_test.sh SCENARIOS: the suites and tables on disk are those that make_suites.py writes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$1/make_suites.py" "$work"
diff -r --exclude=measurements "$work" "$1/validation"
