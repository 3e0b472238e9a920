#!/usr/bin/env bash
# stepcast-calibrate device --quick writes a profile with an entry for each pass, and its samples. It does not measure
# twice, and continues after an interruption. Without a device, it says so.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
quick=(device -o "$folder/profile.json" --quick --largest 4194304)
code=0
"$program" "${quick[@]}" >"$folder/out" 2>"$folder/log" || code=$?
if grep -q "no CUDA device here" "$folder/log"; then
  [[ $code == 1 && $(wc -l <"$folder/log") == 1 ]] || { echo "without a device: exit $code, $(cat "$folder/log")"; exit 1; }
  [[ ${REQUIRE_GPU:-0} == 1 ]] && { echo "no CUDA device, and REQUIRE_GPU=1"; exit 1; }
  exit 77
fi
[[ $code == 0 ]] || { cat "$folder/log"; exit 1; }
for pass in cast add quantize decode decode-add compact radix-select sgd-update/fp32 sgd_momentum-update/bf16 adam-update/fp32; do
  grep -q "\"name\": \"$pass\"" "$folder/profile.json" || { echo "no entry for $pass"; exit 1; }
done
grep -q '"event_overhead": "' "$folder/profile.json" || { echo "events add nothing to a sample"; exit 1; }
[[ -e $folder/profile.samples.jsonl ]] || { echo "no samples"; exit 1; }

# All is there: the same profile again, in no time.
cp "$folder/profile.json" "$folder/before.json"
SECONDS=0
"$program" "${quick[@]}" >/dev/null 2>"$folder/log" || { cat "$folder/log"; exit 1; }
cmp "$folder/before.json" "$folder/profile.json"
((SECONDS < 60)) || { echo "measured twice: $SECONDS s"; exit 1; }

# Interrupted, it keeps what it has, says so, and leaves no profile.
fresh=(device -o "$folder/second.json" --quick --largest 4194304)
"$program" "${fresh[@]}" >/dev/null 2>"$folder/log" &
child=$!
for _ in $(seq 6000); do
  [[ -s $folder/second.samples.jsonl && $(wc -l <"$folder/second.samples.jsonl") -gt 3 ]] && break
  sleep 0.02
done
kill -TERM "$child"
code=0
wait "$child" || code=$?
[[ $code == 1 ]] && grep -q "the same command goes on from there" "$folder/log" || { echo "interrupted: exit $code, $(cat "$folder/log")"; exit 1; }
[[ ! -e $folder/second.json && $(wc -l <"$folder/second.samples.jsonl") -gt 3 ]]
"$program" "${fresh[@]}" >/dev/null 2>"$folder/log" || { cat "$folder/log"; exit 1; }
test -s "$folder/second.json"
