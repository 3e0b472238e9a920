#!/usr/bin/env bash
# A fault on a device ends stepcast-calibrate with one clear line and exit 1. Measurements are kept, but no profile,
# except that a few wrong kernels are left out of one. The same command continues from there.
set -euo pipefail
#     failures_test.sh PROGRAM-ON-A-MADE-UP-DEVICE PROGRAM
program=$1 other=$2 first=(device --quick)
source "$(dirname -- "${BASH_SOURCE[0]}")/run.sh"
# kept FILE: samples but no profile
kept() { [[ -s $1.samples.jsonl && ! -e $1.json && ! -e $1.json.partial ]] || fail "$1: $(ls)"; }

MADE_UP_FAULT=memory run 1 -o memory.json
has err "cudaErrorMemoryAllocation"; has err "measurements are kept in memory.samples.jsonl: the same command goes on from there"; kept memory
# The kept measurements are enough for a profile, also for a program without a device. The others are not in it.
"$other" device -o memory.json --fit-only >out 2>err || fail "--fit-only of what is there: exit $?"
has memory.json '"event_overhead": "'; has out "profile memory.json, samples memory.samples.jsonl"
run 0 -o memory.json; has out "profile memory.json, samples memory.samples.jsonl"; has memory.json '"schema_version": 2'
cp memory.json before.json
"$other" device -o memory.json --fit-only >out 2>err || fail "--fit-only of all: exit $?"
cmp memory.json before.json || fail "--fit-only makes another profile of the same samples"
run 1 -o none.json --fit-only; has err "--fit-only: there are no samples at none.samples.jsonl"; [[ ! -e none.json ]] || fail "a profile of nothing"
run 2 -o memory.json --fit-only --fresh; cmp memory.json before.json || fail "--fresh with --fit-only"

MADE_UP_FAULT=lost run 1 -o lost.json
has err "cudaErrorIllegalAddress"; kept lost
MADE_UP_FAULT=wrong run 1 -o wrong.json
has err "quantize/made-up gives a wrong result, so no time is taken: y[0]: expected 1, got 2"; has err "the profile is without the kernels that give wrong results"
grep -q '"name": "decode"' wrong.json || fail "the others are not in the profile"
if grep -q '"quantize"' wrong.json; then fail "a time was taken"; fi
# All twelve sizes of one pass are left out, the others are measured.
MADE_UP_FAULT=clock run 0 -o clock.json
[[ $(grep -c "quantize/made-up, size .* is left out: .*clock fell below 95 %" err) == 12 ]] || fail "not twelve left out: $(cat err)"
grep -q '"name": "decode"' clock.json || fail "the others are not in the profile"
if grep -q '"quantize"' clock.json; then fail "a time was taken at a dropped clock"; fi

# Two starts, pooled; other sizes are not mixed in, unless begun anew.
run 0 -o two.json --starts 2
grep -q '"start_spread": 0\.0' two.json || fail "no spread of starts"
run 1 -o two.json --largest 1000000; has err "options/largest: found 16777216, here 1000000"; has err "--fresh"
run 0 -o two.json --largest 1000000 --fresh

# Samples that lack one subject lead to measuring that subject alone.
grep -v '"device/single"' two.samples.jsonl >before
(($(wc -l <before) == $(wc -l <two.samples.jsonl) - 1)) || fail "samples without device/single"
cp before two.samples.jsonl
run 0 -o two.json --largest 1000000
head -n -1 two.samples.jsonl | cmp - before && tail -n 1 two.samples.jsonl | grep -q '"name":"device/single"' ||
  fail "more than device/single was measured"
sed '1s/"version":2/"version":1/' before >old.samples.jsonl
run 1 -o old.json --largest 1000000; has err "old.samples.jsonl:1: found samples of version 1; allowed: 2"; has err "--fresh"

run 2 -o missing/profile.json; has err "cannot write missing/profile.json: missing: No such file or directory"
if [[ $EUID != 0 ]]; then
  mkdir locked && chmod a-w locked
  run 1 -o locked/profile.json; has err "Permission denied"
fi
