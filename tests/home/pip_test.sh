#!/usr/bin/env bash
# pip_test.sh BUILD PROJECT VERSION: pip install of a copy of the sources into an environment of its own, with the
# program of the tree BUILD. Skipped where Debian's pip, venv, setuptools or wheel are missing.
set -euo pipefail
build=$1 project=$2 version=$3
/usr/bin/python3 -c 'import setuptools, wheel, pip, ensurepip, venv' 2>/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset STEPCAST_SCENARIOS STEPCAST_PROGRAM
export XDG_CACHE_HOME=$work PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1

fail() {
  printf 'pip_test: %s\n' "$*" >&2
  exit 1
}

# pip builds among the sources, so these are copied; the tree is of the project itself.
mkdir "$work/sources"
cp -R "$project"/{pyproject.toml,setup.py,CMakeLists.txt,README.md,LICENSE,.ci} "$work/sources"
mkdir "$work/sources/sim"
cp -R "$project/sim/python" "$work/sources/sim"
/usr/bin/python3 -m venv --system-site-packages "$work/env"
cd "$work"

# Without a compiler: pip fails, and one line says why.
mkdir "$work/tools"
for tool in bash env uname; do ln -s "/usr/bin/$tool" "$work/tools/$tool"; done
if STEPCAST_TOOLS=$work/tools "$work/env/bin/python" -m pip install --no-build-isolation "$work/sources" >"$work/log" 2>&1; then
  fail "pip succeeds without CMake"
fi
[[ $(grep -c 'stepcast: building needs CMake' "$work/log") == 1 ]] || { tail -n 20 "$work/log" >&2; fail "no line on CMake"; }

STEPCAST_BUILD=$build "$work/env/bin/python" -m pip install --no-build-isolation "$work/sources" >"$work/log" 2>&1 ||
  { tail -n 30 "$work/log" >&2; fail "pip failed"; }
[[ $("$work/env/bin/stepcast" --version) == "stepcast $version "* ]] || fail "another version"
rows=$("$work/env/bin/stepcast" run quickstart --no-plot --csv - | wc -l)
((rows > 100)) || fail "quickstart has $rows rows"
"$work/env/bin/stepcast" run quickstart --no-plot --evaluator replay >"$work/log" || fail "no replay"
code=0
"$work/env/bin/stepcast" run nowhere.json 2>/dev/null || code=$?
[[ $code == 3 ]] || fail "exit code $code, not the program's 3"
"$work/env/bin/python" -c 'import stepcast; assert len(stepcast.run("quickstart", point={"workers": 16})) == 18; assert "site-packages" in stepcast.program()'
[[ $("$work/env/bin/python" -m pip show stepcast | sed -n 's/^Version: //p') == "$version" ]] || fail "pip knows another version"
echo "installed by pip: $rows rows"
