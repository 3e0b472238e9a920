#!/usr/bin/env bash
# install_test.sh BUILD PROJECT VERSION: installs the tree, moves it, and uses it as people do. It tries the program,
# its pictures, the Python module, completions, manual pages, and the libraries by docs/example.
set -euo pipefail
build=$1 project=$2 version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset STEPCAST_SCENARIOS STEPCAST_PROGRAM
export XDG_CACHE_HOME=$work PYTHONDONTWRITEBYTECODE=1

fail() {
  printf 'install_test: %s\n' "$*" >&2
  exit 1
}
# prints TEXT COMMAND
prints() {
  local text=$1
  shift
  "$@" >"$work/out" || fail "$* fails"
  grep -qF -- "$text" "$work/out" || fail "$* does not print \"$text\""
}
is_there() { [[ -s $1 ]] || fail "$1 is not installed"; }
# one_line TEXT COMMAND: the command fails, and says one line that holds the text.
one_line() {
  local text=$1
  shift
  if "$@" >"$work/out" 2>"$work/err"; then fail "$* succeeds"; fi
  [[ $(wc -l <"$work/err") == 1 ]] || fail "$* does not say one line: $(cat "$work/err")"
  grep -qF -- "$text" "$work/err" || fail "$* does not say \"$text\": $(cat "$work/err")"
}

cmake --install "$build" --prefix "$work/first" >"$work/install.log" || fail "cmake --install failed"
mv "$work/first" "$work/moved"
home=$work/moved
stepcast=$home/bin/stepcast
cd "$work"

[[ $("$stepcast" --version) == "stepcast $version "* ]] || fail "another version: $("$stepcast" --version)"
rows=$("$stepcast" run quickstart --no-plot --csv - | wc -l)
((rows > 100)) || fail "quickstart has $rows rows"
prints 'bandwidth' "$stepcast" run quickstart --no-plot --evaluator replay
prints conv1 "$stepcast" show resnet50
one_line 'the profile "v100-datasheet" holds no measurement' "$home/bin/stepcast-calibrate" transfer v100-datasheet \
  --from v100-datasheet --to a100-datasheet -o "$work/a100.json"
if /usr/bin/python3 -c 'import matplotlib' 2>"$work/err"; then
  "$stepcast" run quickstart --plot "$work/quickstart.png" >"$work/out"
  is_there "$work/quickstart.png"
  "$stepcast" report quickstart -o "$work/quickstart.html" 2>"$work/err"
  is_there "$work/quickstart.html"
fi
"$stepcast" new ddp -o "$work/ddp.json" 2>"$work/err"
prints 'is the fastest' "$stepcast" run "$work/ddp.json"

for page in stepcast stepcast-calibrate; do is_there "$home/share/man/man1/$page.1"; done
for file in bash-completion/completions/stepcast zsh/site-functions/_stepcast fish/vendor_completions.d/stepcast.fish \
  stepcast/scenarios/scenario.schema.json stepcast/calibrate/measure_torch.py; do is_there "$home/share/$file"; done

python=$home/lib/python3/dist-packages
[[ $(PYTHONPATH=$python /usr/bin/python3 -c 'import stepcast; print(stepcast.program())') == "$stepcast" ]] ||
  fail "the Python module does not find the program beside it"
PYTHONPATH=$python /usr/bin/python3 -c 'import stepcast; assert len(stepcast.run("quickstart", point={"workers": 16})) == 18'

# The libraries. 97.0 ms of computation and 122.8 ms of halving-doubling: README, "A first forecast".
if [[ -d $home/include/stepcast ]]; then
  cat >first.json <<'JSON'
{"name": "first", "workload": "resnet50-v100", "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps", "latency": "25us"}},
 "strategy": {"kind": "all-reduce", "exchange": {"grouping": "whole-model"}}}
JSON
  cmake -S "$project/docs/example" -B example "-DCMAKE_PREFIX_PATH=$home" -DCMAKE_BUILD_TYPE=Debug >example.log 2>&1 ||
    { tail -n 20 example.log >&2; fail "docs/example is not configured"; }
  cmake --build example >>example.log 2>&1 || { tail -n 20 example.log >&2; fail "docs/example is not built"; }
  [[ $(example/step_times) == "4 workers: 0.219773 s" ]] || fail "step_times: $(example/step_times)"
  prints '219.8 ms' example/replayed
  one_line "nowhere.json" example/step_times nowhere.json
fi

# Data that are gone; the sources do not step in.
mv "$home/share/stepcast/scenarios" "$work/scenarios"
one_line "the shipped scenarios are not in $home/share/stepcast/scenarios" "$stepcast" run quickstart
one_line "the shipped scenarios are not in $work/nowhere" env "STEPCAST_SCENARIOS=$work/nowhere" "$stepcast" list
prints dgx-h100 env "STEPCAST_SCENARIOS=$work/scenarios" "$stepcast" list clusters
mv "$work/scenarios" "$home/share/stepcast/scenarios"
mv "$home/share/stepcast/notebooks" "$work/notebooks"
if "$stepcast" run quickstart --plot x.png >"$work/out" 2>"$work/err"; then fail "a plot without its script"; fi
[[ $(wc -l <"$work/err") == 1 ]] || fail "a plot without its script: $(cat "$work/err")"
rm "$stepcast"
one_line "the program stepcast is not there" env "PATH=/usr/bin:/bin" "PYTHONPATH=$python" /usr/bin/python3 -m stepcast list
echo "installed, moved, used: $rows rows"
