#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests a program that gfortran compiles and that calls libperfex: names, arguments by reference,
# 64-bit counts, strings.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"

# Uses the gfortran of a cross compiler's toolchain, or the system's gfortran with other compilers.
case ${CC%% *} in
  *-linux-*gcc) fortran=${CC%%-gcc*}-gfortran ;;
  *) fortran=gfortran ;;
esac
command -v "$fortran" >/dev/null || skip "$fortran is not installed"

sanitizers=$(echo " $CFLAGS" | tr ' ' '\n' | grep '^-fsanitize=' || :)
$fortran -O2 -Wall ${CPUCYCLES_TEST_WERROR-} -c "$srcdir/tests/programs/perfex-fortran.f90" \
  -o $work/program.o ||
  { wrong "the program does not compile"; exit 1; }
# These variables are unquoted, because they hold several words.
# shellcheck disable=SC2086
"$builddir/libtool" --quiet --tag=CC --mode=link $fortran $sanitizers $work/program.o \
  -o $work/program $LDFLAGS "$builddir/libperfex.la" ||
  { wrong "the program does not link"; exit 1; }
program=$work/.libs/program
[ -f $program ] || program=$work/program
echo '0 1 1.5 2' >$work/costs
status=0
LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER ./$program \
  >$work/out 2>$work/err || status=$?
sed 's/^/perfex-fortran: /' $work/err
[ $status = 0 ] || wrong "exit status $status: see the stop with that number in perfex-fortran.f90"
grep -q '^start_counters \(refused\|counts\)$' $work/out ||
  wrong "start_counters: neither refused nor counts is printed"
grep -q '^ *0 cycles  *5000000000000$' $work/err || wrong "a count of 64 bits is not printed"
grep -q '^ *15 instructions  *7$' $work/err || wrong "the second count is not printed"
grep -q '^ *0 cycles  *5000000000000  *5000\.000000000  *7500\.0*  *10000\.0*$' $work/err ||
  wrong "the loaded costs are not used"
grep -q '^0 1\.000 1\.500 2\.000 # cycles: loaded$' $work/out || wrong "the table is not printed"
exit $failed
