#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs the fuzzer: fuzz.sh SECONDS, from a build directory. Builds it with libFuzzer,
# AddressSanitizer and UndefinedBehaviorSanitizer with FUZZ_CC. Fails at a finding, and leaves its
# input in tests/fuzz/.

set -eu
: "${srcdir:=.}" "${FUZZ_CC:=clang}"
machines=${CPUCYCLES_MACHINES-$srcdir/../shared/machines}
directory=tests/fuzz/fuzz.tmp
rm -rf "$directory"
mkdir -p "$directory/seeds"

sources='tests/fuzz/fuzz.c lib/frequency-cpuinfo.c lib/frequency-sysctl.c lib/request.c
  backends/common/cpuinfo.c backends/tsc/rate.c sys/file.c sys/parse.c sys/root.c sys/guard.c
  sys/os-thread.c sys/emulator.c sys/perf/event.c sys/perf/kernel.c'
! grep -q '^#define HAVE_PERFEX 1' config.h ||
  sources="$sources perfex/cost-file.c perfex/early.c perfex/events.c perfex/why.c sys/environment.c
    sys/trapped-call.c"
paths=
for source in $sources; do
  paths="$paths $srcdir/$source"
done
# words are meant to split
# shellcheck disable=SC2086
$FUZZ_CC -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I. -I"$srcdir" \
  -I"$srcdir/include" $paths -o "$directory/fuzz"

# An input is the number of a parser, followed by what it parses: for a parser of frequencies, a
# small file of a recorded machine.
printf '5works, no-such, does-not' >"$directory/seeds/request"
printf '6# all\n0 1 2.5 3\nbranch-misses\t0 0.125 1000000000\n' >"$directory/seeds/costs"
if [ -d "$machines" ]; then
  n=0
  find "$machines" -type f -size -64 | while IFS= read -r file; do
    n=$((n + 1))
    for parser in 0 1 2 3 4; do
      { printf %s $parser; cat "$file"; } >"$directory/seeds/$n-$parser"
    done
  done
else
  echo "fuzz: no recorded machines at $machines: the parsers of files begin without seeds"
fi

"$directory/fuzz" -max_total_time="$1" -max_len=65536 -timeout=10 -verbosity=0 \
  -print_final_stats=1 -artifact_prefix=tests/fuzz/fuzz- "$directory/seeds" \
  >"$directory/log" 2>&1 || { cat "$directory/log"; echo 'fuzz: there is a finding'; exit 1; }
tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$directory/log")
echo "fuzz: $tried inputs in $1 s, no finding"
[ "$tried" -gt 0 ]
rm -rf "$directory"
