#!/usr/bin/env bash
# Types the README's two commands on a fresh machine: a bare Debian root with this working tree copied in. Then makes
# the Debian package there, and installs it on another fresh machine, which has neither sources nor a compiler.
#     sudo tests/fresh-debian.sh [bookworm] [trixie]      both if none is named
# Each suite is made once by debootstrap and kept in $ROOTS (/var/tmp/stepcast-roots). Every run works on a throw-away
# layer over it in $SCRATCH (/var/tmp). Packages come from $MIRROR.
set -euo pipefail

readonly ROOTS=${ROOTS:-/var/tmp/stepcast-roots} SCRATCH=${SCRATCH:-/var/tmp} MIRROR=${MIRROR:-http://deb.debian.org/debian}
project=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/..
readonly project
suites=("$@")
((${#suites[@]})) || suites=(bookworm trixie)

say() { printf 'fresh-debian: %s\n' "$*"; }
die() { say "$*" >&2; exit 1; }

((EUID == 0)) || die "needs root, for chroot and mount: sudo $0 ${suites[*]}"

work=''  # the throw-away folder of the suite at hand
clean_up() {
  [[ -n $work ]] || return 0
  local below
  while read -r below; do umount -l "$below"; done < <(awk -v w="$work/" 'index($5, w) == 1 {print $5}' /proc/self/mountinfo | sort -r)
  rm -rf --one-file-system -- "$work"
  work=''
}
trap clean_up EXIT
trap 'exit 130' INT TERM

bare_root() {
  local suite=$1
  [[ -d $ROOTS/$suite ]] && return
  command -v debootstrap >/dev/null || die "needs debootstrap: apt-get install debootstrap"
  say "$suite: debootstrap into $ROOTS/$suite"
  mkdir -p "$ROOTS"
  rm -rf --one-file-system -- "$ROOTS/$suite.part"
  if ! debootstrap --variant=minbase "$suite" "$ROOTS/$suite.part" "$MIRROR" >"$ROOTS/$suite.log" 2>&1; then
    umount -lq "$ROOTS/$suite.part/proc" || true  # debootstrap may leave it, and then nothing can be removed
    die "debootstrap failed: $ROOTS/$suite.log"
  fi
  mv "$ROOTS/$suite.part" "$ROOTS/$suite"
}

# A writable view of the bare root at $work/root: an overlay where the kernel allows it, else a copy.
throw_away_copy() {
  local suite=$1
  mkdir "$work"/{root,upper,layer}
  if ! mount -t overlay overlay -o "lowerdir=$ROOTS/$suite,upperdir=$work/upper,workdir=$work/layer" "$work/root" 2>/dev/null; then
    cp -a --reflink=auto "$ROOTS/$suite/." "$work/root/" || return
  fi
  mount -t proc proc "$work/root/proc" && mount --rbind /dev "$work/root/dev" && mount --make-rslave "$work/root/dev" || return
  cp -L /etc/resolv.conf "$work/root/etc/resolv.conf"
  # How this machine reaches the archive (proxies, certificates, clock), not which archives it knows.
  apt-config dump | grep -E '^Acquire::((https?|ftp)::|Check-|ForceIPv|Retries)' >"$work/root/etc/apt/apt.conf.d/99fresh-debian" || true
}

copy_project() {
  local target=$1 file
  mkdir -p "$target"
  git -c safe.directory='*' -C "$project" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [[ ! -e $project/$file ]] || printf '%s\0' "$file"; done |
    tar -C "$project" --null --no-recursion -T - -cf - | tar -C "$target" --no-same-owner -xf -
}

# typed NAME COMMAND: runs the command in the fresh project; keeps stdout, stderr and the seconds it took.
typed() {
  local name=$1 proxies=() variable begin=$SECONDS status=0
  for variable in http_proxy https_proxy no_proxy; do
    [[ -z ${!variable-} ]] || proxies+=("$variable=${!variable}")
  done
  chroot "$work/root" env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${proxies[@]}" \
    bash -c "cd ~/stepcast && export DEBIAN_FRONTEND=noninteractive && $2" </dev/null >"$work/$name.out" 2>"$work/$name.err" || status=$?
  say "$suite: $2: exit $status, $((SECONDS - begin)) s"
  return "$status"
}

# complain NAME WHY: the end of that command's output.
complain() {
  say "$suite: FAIL: $2" >&2
  tail -n 30 "$work/$1.out" "$work/$1.err" >&2
  return 1
}

fresh_machine() {
  local suite=$1
  bare_root "$suite" || die "no bare root for $suite"
  work=$(mktemp -d "$SCRATCH/stepcast-fresh.XXXXXX") || die "cannot write in $SCRATCH"
  throw_away_copy "$suite" || die "no throw-away copy of $ROOTS/$suite"
  mkdir -p "$work/root/root/stepcast"
}

# check_package FOLDER: the packages there, on a machine that has nothing else.
check_package() {
  fresh_machine "$suite"
  cp "$1"/stepcast_*.deb "$work/root/root/stepcast"
  typed install 'apt-get -q update && apt-get -q -y install --no-install-recommends ./stepcast_*.deb' ||
    complain install "the package cannot be installed" || return
  typed installed 'cd / && stepcast run quickstart --no-plot --csv -' || complain installed "the installed program failed" || return
  [[ $(wc -l <"$work/installed.out") -gt 100 ]] || complain installed "the installed program has few rows" || return
  ! typed compiler 'command -v cc c++ cmake' || complain compiler "the package brings a compiler" || return
}

check() {
  local suite=$1 packages
  fresh_machine "$suite"
  copy_project "$work/root/root/stepcast" || die "could not copy the project"
  typed first './stepcast run scenarios/quickstart.json' || complain first "the first command failed" || return
  [[ -s $work/first.out ]] || complain first "nothing on stdout" || return
  sed 's/^/    /' "$work/first.out"
  typed again './stepcast run scenarios/quickstart.json' || complain again "the first command failed when repeated" || return
  # The program itself says which plot it wrote.
  ! grep -qv '^stepcast: wrote ' "$work/again.err" || complain again "a run with nothing to build wrote to stderr" || return
  typed test './stepcast test' || complain test "the tests failed" || return
  grep -E '^[0-9]+% tests passed' "$work/test.out" | sed 's/^/    /'
  typed package 'apt-get -q -y install --no-install-recommends dpkg-dev file && cpack --config build/release/CPackConfig.cmake -B packages' ||
    complain package "no package could be made" || return
  packages=$(mktemp -d "$SCRATCH/stepcast-packages.XXXXXX") || die "cannot write in $SCRATCH"
  cp "$work"/root/root/stepcast/packages/*.deb "$packages"
  clean_up
  local passed=0
  check_package "$packages" || passed=1
  rm -rf -- "$packages"
  ((passed == 0)) || return
  say "$suite: pass"
}

failed=()
for suite in "${suites[@]}"; do
  # shellcheck disable=SC2310  # check returns at its first failure by itself
  check "$suite" || failed+=("$suite")
  clean_up
done
((${#failed[@]} == 0)) || die "failed on ${failed[*]}"
