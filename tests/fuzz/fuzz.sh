#!/usr/bin/env bash
# fuzz.sh FUZZER SCENARIOS FOLDER: fuzzes for FUZZ_SECONDS (60), starting from seeds/ and the shipped scenarios, with
# the words of the schema as dictionary. The corpus stays in FOLDER/corpus; what crashes the fuzzer lies in FOLDER.
set -euo pipefail
fuzzer=$1 scenarios=$2 folder=$3
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

rm -rf "$folder/seeds"
mkdir -p "$folder/corpus" "$folder/seeds"
cp "$here"/seeds/* "$folder/seeds/"
# The fuzzer's library is empty: a small workload stands in for those that shipped scenarios name.
small='{"name": "w", "batch": 2, "forward": "1ms", "gradients": [{"name": "a", "elements": 9, "gap": "1ms"}]}'
for file in "$scenarios"/*.json; do
  [[ $file == *.schema.json ]] || tr -s ' \n' ' ' <"$file" | sed -E "s|\"workload\": (\"[^\"]*\"\|\[[^]]*\])|\"workload\": $small|" >"$folder/seeds/shipped-${file##*/}"
done

{
  grep -oE '"[$A-Za-z0-9_-]{2,30}"' "$scenarios/scenario.schema.json" | sort -u | sed -E 's/"(.*)"/"\\"\1\\""/'
  printf '"%s"\n' 1Gbps 25us 4MiB 0.1ns/B 312TFLOPS /cluster/workers= /strategy/kind= 1e999 9007199254740993 -0.0 '\x00/' '~1' '[[' ']]'
} >"$folder/words.dict"

exec "$fuzzer" "$folder/corpus" "$folder/seeds" -dict="$folder/words.dict" -max_len=4096 -timeout=5 -rss_limit_mb=2048 \
  -max_total_time="${FUZZ_SECONDS:-60}" -artifact_prefix="$folder/" -print_final_stats=1
