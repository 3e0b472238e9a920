#!/usr/bin/env bash
# stepcast-calibrate device --quick writes a profile with an entry for each pass, or says that there is no device.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=0
"$program" device -o "$folder/profile.json" --quick 2>"$folder/log" || code=$?
if grep -q "no CUDA device here" "$folder/log"; then
  [[ $code == 1 && $(wc -l <"$folder/log") == 1 ]] || { echo "without a device: exit $code, $(cat "$folder/log")"; exit 1; }
  [[ ${REQUIRE_GPU:-0} == 1 ]] && { echo "no CUDA device, and REQUIRE_GPU=1"; exit 1; }
  exit 77
fi
[[ $code == 0 ]] || { cat "$folder/log"; exit 1; }
for pass in cast add quantize decode decode-add compact radix-select; do
  grep -q "\"name\": \"$pass\"" "$folder/profile.json" || { echo "no entry for $pass"; exit 1; }
done
test -s "$folder/profile.samples.jsonl"
