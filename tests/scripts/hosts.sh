#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# "make check-hosts": hosts.sh TEST..., from a build directory. Runs each test on each host of
# tests/hosts, or on those that HOSTS names.
# A host is a script NAME or a C program NAME.c that runs its arguments as on the host that NAME
# describes. If this machine does not permit the host, the program prints the reason and exits with
# 77. The tests of a host run in the directory hosts.tmp/NAME, which contains a link to each file
# and directory of the build directory, except hidden ones. The logs of the tests remain there.
# Hosts may preload the modules *-module.c, compiled as $HOST_BINARIES/*-module.so.

set -eu
: "${srcdir:=.}" "${HOSTS:=}" "${SHELL:=/bin/sh}" "${CC:=cc}" "${CFLAGS:=}" "${LDFLAGS:=}"
srcdir=$(cd "$srcdir" && pwd)
build=$(pwd -P)
: "${HOST_BINARIES:=$build/hosts.tmp/.compiled}" # what this script compiles
# Repetitions end after 20 ms, because the races that they look for do not depend on the host.
: "${CPUCYCLES_TEST_MS:=20}"
export srcdir SHELL CPUCYCLES_TEST_MS HOST_BINARIES

# run PROGRAM TEST: runs the test on the host, writes its log, and appends its status to `results`.
run() {
  log=${2##*/}.log
  status=0
  case $2 in
    *.sh) timeout 600 "$1" "$SHELL" "$srcdir/$2" ;;
    *) timeout 600 "$1" "$2" ;;
  esac >"$log" 2>&1 </dev/null || status=$?
  echo "$log $status" >>results
}

if [ "${1-}" = --run ]; then
  run "$2" "$3"
  exit 0
fi

# Prints the names of all hosts.
all_hosts() {
  for file in "$srcdir"/tests/hosts/*; do
    case $file in
      *-module.c) ;;
      *.c) basename "$file" .c ;;
      *) [ ! -x "$file" ] || basename "$file" ;;
    esac
  done
}

# compile NAME OPTIONS...: compiles tests/hosts/NAME.c.
compile() {
  name=$1
  shift
  # words are meant to split
  # shellcheck disable=SC2086
  $CC $CFLAGS -Wall -Wextra -I"$srcdir" "$srcdir/tests/hosts/$name.c" $LDFLAGS "$@"
}

# Prints what the logs contain about each test that failed.
print_failures() {
  while read -r log status; do
    case $status in 0 | 77) continue ;; esac
    echo "$1: $log: status $status"
    grep -e '^[^ ]*:[0-9]*:[FE]:' -e ': FAILED: ' "$log" || tail -n 20 "$log"
  done <results
}

# print_totals NAME FILE: prints how many tests of the file passed; succeeds if there are some, and
# all passed.
print_totals() {
  awk -v name="$1" '{ tests++; failed += $2 != 0 && $2 != 77 }
    END { printf "%s: %d tests, %d failed\n", name, tests, failed
      exit !(tests > 0 && failed == 0) }' "$2"
}

rm -rf hosts.tmp
mkdir -p "$HOST_BINARIES"
for file in "$srcdir"/tests/hosts/*-module.c; do
  name=$(basename "$file" .c)
  compile "$name" -shared -fPIC -o "$HOST_BINARIES/$name.so" -ldl
done
failed=0
for host in ${HOSTS:-$(all_hosts)}; do
  program=$srcdir/tests/hosts/$host
  if [ -f "$program.c" ]; then
    program=$HOST_BINARIES/$host
    compile "$host" -o "$program"
  fi
  mkdir "hosts.tmp/$host"
  cd "hosts.tmp/$host"
  ln -s "$build"/* .
  rm hosts.tmp
  status=0
  reason=$("$program" "$(command -v env)" true 2>&1) || status=$?
  case $status in
    0)
      # These suites simulate all that they use, and take minutes under qemu.
      printf '%s\n' "$@" | grep -v -e /check_simulated_clock -e /check_grain -e '/check_bench$' |
        xargs -n 1 -P "$(nproc)" "$SHELL" "$srcdir/tests/scripts/hosts.sh" --run "$program"
      sed 's/ .*//' results | xargs grep -h 'skipped: ' | sort -u | sed "s/^/$host: /"
      print_failures "$host"
      print_totals "$host" results || failed=1
      cat results >>../totals
      ;;
    77) echo "$host: skipped: $reason" ;;
    *)
      echo "$host: failed: $reason"
      echo "$host 1" >>../totals
      ;;
  esac
  cd ../..
done

touch hosts.tmp/totals
print_totals "all hosts" hosts.tmp/totals || failed=1
exit $failed
