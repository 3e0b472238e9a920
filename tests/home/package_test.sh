#!/usr/bin/env bash
# package_test.sh BUILD CPACK VERSION: the Debian packages of a tree, unpacked and used. Skipped without dpkg-shlibdeps and file.
# tests/fresh-debian.sh installs them in a bare Debian.
set -euo pipefail
build=$1 cpack=$2 version=$3
command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset STEPCAST_SCENARIOS

fail() {
  printf 'package_test: %s\n' "$*" >&2
  exit 1
}

"$cpack" --config "$build/CPackConfig.cmake" -G DEB -B "$work/packages" >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log" >&2; fail "cpack failed"; }
cd "$work"
program=("$work"/packages/stepcast_"$version"_*.deb) development=("$work"/packages/stepcast-dev_"$version"_*.deb)
for library in libc6 libsimgrid libsqlite3-0 libfmt; do
  dpkg-deb -f "${program[0]}" Depends | grep -q "$library" || fail "the package does not depend on $library"
done
dpkg-deb -x "${program[0]}" root
rows=$(root/usr/bin/stepcast run quickstart --no-plot --csv - | wc -l)
((rows > 100)) || fail "quickstart has $rows rows"
root/usr/bin/stepcast run quickstart --no-plot --evaluator replay >"$work/log" || fail "no replay"
PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 -c 'import stepcast; assert stepcast.run("quickstart", point={"workers": 16})'
dpkg-deb -c "${program[0]}" >program.txt
dpkg-deb -c "${development[0]}" >development.txt
for file in ./usr/share/man/man1/stepcast.1 ./usr/share/bash-completion/completions/stepcast; do
  grep -q " $file\$" program.txt || fail "the package lacks $file"
done
grep -q 'cmake/stepcast/stepcast-config.cmake$' development.txt || fail "stepcast-dev lacks find_package's file"
echo "packaged: $(basename "${program[0]}"), $(stat -c %s "${program[0]}") bytes"
