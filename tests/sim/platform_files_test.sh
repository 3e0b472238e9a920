#!/usr/bin/env bash
# platform_files_test.sh PROGRAM: what each subcommand says of platform files that make no sense. The kinds themselves are
# in platform_file_test.cpp.
set -uo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  printf 'FAILED: %s: %s\n' "$what" "$1"
  sed 's/^/    stderr: /' stderr
  failures=$((failures + 1))
}
# expect CODE ARGUMENTS...
expect() {
  local code=$1 got
  shift
  what="stepcast $*"
  timeout 120 "$program" "$@" </dev/null >stdout 2>stderr
  got=$?
  [[ $got == "$code" ]] || fail "exit code $got instead of $code"
}
# One fault at this place, and nothing else.
says() {
  local expected="stepcast: 1 fault in the scenario
$1"
  [[ $(cat stderr) == "$expected" ]] || fail "stderr is not: $expected"
}

cat >good.xml <<'EOF'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing="Full">
    <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
    <link id="l" bandwidth="1GBps" latency="10us"/>
    <route src="a" dst="b"><link_ctn id="l"/></route>
  </zone>
</platform>
EOF
cat >good.json <<'EOF'
{"name": "platform", "cluster": {"workers": 2, "link": {"bandwidth": "1Gbps"}, "topology": {"kind": "simgrid-xml", "file": "good.xml"}},
  "strategy": {"kind": "collective", "size": "1MB", "collective": {"algorithm": "ring"}}, "evaluation": {"evaluator": "replay"}}
EOF
make() { sed "$1" good.xml >"$2.xml" && sed "s/good.xml/$2.xml/" good.json >"$2.json"; }
make 's/10us/-10us/' negative
make 's/"1GBps"/"0Bps"/' still
make '/<route/d' apart
make 's/Full/Fully/' routing

expect 0 run good.json --columns step,algbw --csv with-link.csv
expect 0 show good.json
# The file has its own links: a scenario needs none, and one that it has is noted.
sed 's/ "link": {"bandwidth": "1Gbps"},//' good.json >linkless.json
expect 0 run linkless.json --columns step,algbw --csv linkless.csv
cmp with-link.csv linkless.csv || fail 'another answer without a link'
expect 0 explain linkless.json
expect 0 run good.json --set /cluster/link/bandwidth=2Gbps && grep -q 'has no effect: topology simgrid-xml has its own links' stdout stderr || fail 'no note of a link without effect'

# Every subcommand that reads a scenario.
told='negative.json: /cluster/topology/file: found "negative.xml", whose link "l" has a latency of -1e-05 s; allowed: 0 to 3600 s'
expect 3 run negative.json && says "$told"
expect 3 sweep negative.json --no-cache --csv negative.csv && says "$told"
[[ ! -e negative.csv ]] || fail 'wrote negative.csv'
expect 3 explain negative.json && says "$told"
expect 3 trace negative.json --output trace.json && says "$told"
expect 3 show negative.json && says "$told"
expect 3 crossover negative.json --along '/strategy/size=1MB..4MB:x2' && says "$told"
expect 3 solve negative.json --along '/strategy/size=1MB..4MB:x2' && says "$told"
suite() { printf '{"name": "suite", "source": "nobody", "study": %s, "measurements": [{"at": {}, "step_time": "2ms"}]}' "$(cat "$1")"; }
suite negative.json >suite.json
expect 3 validate suite.json
says "suite.json: /study${told#negative.json: }"
suite good.json >good_suite.json
expect 0 validate good_suite.json
expect 3 validate good_suite.json --set /cluster/topology/file=negative.xml
grep -qF '/cluster/topology/file: found "negative.xml", whose link "l" has a latency of -1e-05 s' stderr || fail 'not said of a changed suite'

# SimGrid's own words in one line, no backtrace.
expect 3 run routing.json
[[ $(wc -l <stderr) == 2 ]] || fail 'more than one line of fault'
grep -q '^routing.json: /cluster/topology/file: found "routing.xml", which SimGrid cannot load: .*; allowed: a platform that SimGrid loads$' stderr ||
  fail 'another fault'
expect 3 run still.json &&
  says 'still.json: /cluster/topology/file: found "still.xml", whose link "l" has a bandwidth of 0 B/s; allowed: 1e-30 to 1e+15 B/s'

# Routes and hosts: only the used ones count.
expect 3 run apart.json &&
  says 'apart.json: /cluster/topology/file: found no route from "a" to "b", for 2 workers; allowed: routes between all hosts that are used'
expect 3 run good.json --set /cluster/workers=3 &&
  says 'good.json: /cluster/topology/file: found no route from "a" to "c", for 3 workers; allowed: routes between all hosts that are used'
expect 3 run good.json --set /cluster/workers=4 &&
  says 'good.json: /cluster/topology: found 3 hosts for 4 workers; allowed: a topology with at least that many hosts'
expect 0 run good.json --set '/cluster/workers=[2,3,4]' --set /impossible=leave-out

# Errors name the place that names the file, not the place that uses it.
expect 3 run good.json --set /cluster/topology/file=negative.xml &&
  says '--set: /cluster/topology/file: found "negative.xml", whose link "l" has a latency of -1e-05 s; allowed: 0 to 3600 s'
expect 3 run good.json --set '/cluster/topology/file=["good.xml", "negative.xml"]'

# No files of ordinary kind.
mkfifo fifo.xml
for file in fifo.xml . /dev/zero /dev/null; do
  expect 3 run good.json --set /cluster/topology/file="$file"
  grep -qF "/cluster/topology/file: found \"$file\", which is no regular file; allowed: an existing SimGrid platform file" stderr ||
    fail "not said of $file"
done
expect 3 run good.json --set /cluster/topology/file=none.xml
grep -qF 'but there is no file' stderr || fail 'not said of a file that is not there'
if [[ $(id -u) != 0 ]]; then
  chmod 000 negative.xml
  expect 3 run negative.json &&
    says 'negative.json: /cluster/topology/file: found "negative.xml", which cannot be opened; allowed: a file that may be read'
fi

((failures == 0)) && echo 'all platform files are answered for'
exit $((failures > 0))
