#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs the fuzzers: fuzz.sh SECONDS, from a build directory. Builds each program with libFuzzer,
# AddressSanitizer and UndefinedBehaviorSanitizer with FUZZ_CC, and runs each for SECONDS, two at a
# time. Fails at a finding, and leaves its input in tests/fuzz/.

set -eu
: "${srcdir:=.}" "${FUZZ_CC:=clang}"
machines=${CPUCYCLES_MACHINES-$srcdir/../shared/machines}
directory=tests/fuzz/fuzz.tmp

# Rows of name, longest input in bytes, and sources linked with the program
targets() {
  rates='backends/common/cpuinfo.c backends/tsc/rate.c'
  sources='lib/frequency-cpuinfo.c lib/frequency-system.c'
  cat <<END
frequency 65536 $sources lib/request.c $rates sys/file.c \
  sys/parse.c sys/root.c sys/guard.c sys/os-thread.c
END
  ! grep -q '^#define HAVE_PERFEX 1' config.h ||
    echo perfex 4096 perfex/cost-file.c perfex/events.c perfex/message.c sys/environment.c \
      sys/file.c sys/parse.c sys/root.c
}

# seed NAME: makes the initial inputs. An input for a parser of frequencies is the number of the
# parser, followed by a small file of a recorded machine.
seed() {
  mkdir -p "$directory/$1"
  [ "$1" != perfex ] ||
    printf '# all\n0 1 2.5 3\nbranch-misses\t0 0.125 1000000000\n' >"$directory/perfex/1"
  [ "$1" = frequency ] || return 0
  printf '8works, no-such, does-not' >"$directory/$1/request"
  if [ ! -d "$machines" ]; then
    echo "fuzz: no recorded machines at $machines: the parsers of files begin without seeds"
    return 0
  fi
  find "$machines" -type f -size -64 | {
    n=0
    while IFS= read -r file; do
      n=$((n + 1))
      for parser in 0 1 2 5 6 7; do
        { printf %s $parser; cat "$file"; } >"$directory/$1/$n-$parser"
      done
    done
  }
}

build() {
  name=$1
  shift
  sources=
  for source; do
    sources="$sources $srcdir/$source"
  done
  flags='-O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all'
  $FUZZ_CC $flags -I. -I"$srcdir" -I"$srcdir/include" "$srcdir/tests/fuzz/fuzz_$name.c" $sources \
    -o "$directory/fuzz_$name"
}

run() {
  "$directory/fuzz_$2" -max_total_time="$1" -max_len="$3" -timeout=10 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="tests/fuzz/fuzz_$2-" "$directory/$2" \
    >"$directory/$2.log" 2>&1 ||
    { cat "$directory/$2.log"; echo "fuzz: $2 has a finding"; return 1; }
  tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$directory/$2.log")
  echo "fuzz: $2: $tried inputs in $1 s, no finding"
  [ "$tried" -gt 0 ]
}

if [ "$1" = --one ]; then
  shift
  run "$@"
  exit
fi
rm -rf "$directory"
mkdir -p "$directory"
targets >"$directory/targets"
while read -r name _ sources; do
  seed "$name"
  # words are meant to split
  # shellcheck disable=SC2086
  build "$name" $sources
done <"$directory/targets"
sed 's/^\([^ ]* [0-9]*\).*/\1/' "$directory/targets" | xargs -n 2 -P 2 sh "$0" --one "$1"
rm -rf "$directory"
